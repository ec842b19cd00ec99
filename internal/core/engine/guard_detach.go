package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// A claim holds an agent back only as long as svc is asked, about the repository
// that the claim is in. So what would end that is refused to agents while others
// have claims there: as strictly as an edit of what they claim.

// away says what a command would do to svc's sight of a working copy.
var away = map[SweepEffect]string{
	Renames: " would change which repository this clone belongs to",
	Leaves:  " would disconnect this clone from svc",
	Blinds:  " would change files that svc needs to check edits here",
}

// detached says whose claims stand in the way of such a command, "" for nobody's,
// and whether it is stopped.
func (g *guard) detached(s *Sweep) (text string, stops bool) {
	level := lower(g.repo.rules.Enforcement, g.repo.rules.SeverityOf(coord.ExclusiveClaim, false))
	if level.Rank() < coord.SeverityWarn.Rank() {
		return "", false
	}
	var holders []*Worker
	for i := range g.ix.slots {
		w := g.ix.slots[i].w
		if HoldsExclusively(w) && w.Repo.ID == g.repo.id && meets(g.self, w) {
			holders = append(holders, w)
		}
	}
	if len(holders) == 0 {
		return "", false
	}
	slices.SortFunc(holders, func(a, b *Worker) int { return cmp.Or(cmp.Compare(a.Since, b.Since), strings.Compare(a.ID, b.ID)) })
	v := voice{f: &Finding{}, viewer: g.self.ID, me: g.self}
	var by, what []string
	for _, w := range holders {
		by = append(by, v.who(w))
		for _, c := range w.Claims {
			if isExclusive(c) && !slices.Contains(what, place(c.Selector)) {
				what = append(what, place(c.Selector))
			}
		}
	}
	return act(s.Verb) + away[s.Effect] + " while " + listing(by) + " " + holds(len(by)) + " " + listing(what) + " exclusively.",
		level == coord.SeverityBlock
}

// HoldsExclusively reports whether a worker keeps others out of something.
func HoldsExclusively(w *Worker) bool { return w != nil && slices.ContainsFunc(w.Claims, isExclusive) }

func isExclusive(c coord.Claim) bool { return c.Mode == coord.Exclusive }

func holds(n int) string {
	if n == 1 {
		return "holds"
	}
	return "hold"
}

// act is what a client calls a command or an edit.
func act(s string) string {
	plain := func(r rune) rune {
		if r == ' ' || r < 0x7f && strings.ContainsRune("-_./='", r) || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}
	if s = strings.Map(plain, s); len(s) > 40 || strings.TrimSpace(s) == "" {
		return "`" + peertext.Name(s) + "`"
	}
	if rest, ok := strings.CutPrefix(s, "writing "); ok {
		return "Writing " + rest
	}
	return "`" + s + "`"
}
