package engine

import (
	"cmp"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A Target is what somebody waits for: a path or a symbol.
type Target struct {
	Path   string
	Symbol string
}

// A Hold is one worker in the way of a target.
type Hold struct {
	Worker   *Worker
	Since    coord.Time
	Evidence []HoldEvidence
}

// HoldEvidence tells by what a worker holds a target.
type HoldEvidence struct {
	Via       coord.EvidenceVia `json:"via"`
	Selector  string            `json:"selector"`
	Mode      *coord.Mode       `json:"mode"`
	ExpiresAt *coord.Time       `json:"expires_at"`
}

// Holders returns who holds a live claim on a path or symbol, or has recorded
// changes to it, except those of the given lineages and the worker itself;
// the earliest first.
func Holders(ix *Index, self *Worker, target Target) []Hold {
	g := gatherer{ix: ix, self: self, repo: ix.known(self.Repo.ID)}
	found := map[string]*Hold{}
	take := func(e *entry) {
		it, w := g.theirs(g.repo, e)
		if w == nil || !w.Live() {
			return
		}
		h := found[w.ID]
		if h == nil {
			h = &Hold{Worker: w, Since: w.Since}
			found[w.ID] = h
		}
		ev := HoldEvidence{Via: coord.ViaChange, Selector: it.file()}
		if it.claim != nil {
			ev = HoldEvidence{Via: coord.ViaClaim, Selector: it.claim.Selector, Mode: &it.claim.Mode, ExpiresAt: it.claim.ExpiresAt}
		} else if it.kind == symbolEntry {
			ev.Selector = it.key()
		}
		if !slices.ContainsFunc(h.Evidence, func(o HoldEvidence) bool { return o.Via == ev.Via && o.Selector == ev.Selector }) {
			h.Evidence = append(h.Evidence, ev)
		}
	}
	if sym, err := scope.ParseSymbol(target.Symbol); err == nil {
		g.repo.tree.definitions(sym, func(e *entry, _ bool) {
			if e.kind == claimEntry || e.kind == symbolEntry {
				take(e)
			}
		})
		// Whoever claims the whole file, or changed it nobody knows where,
		// holds what is in it.
		g.repo.tree.matching(sym.Path, func(e *entry) {
			it, w := g.theirs(g.repo, e)
			if w != nil && (it.claim != nil || symbolsUnknown(it)) {
				take(e)
			}
		})
	} else if path, err := scope.CleanPath(target.Path); err == nil {
		g.holdersOfPath(path, take)
	}
	out := make([]Hold, 0, len(found))
	for _, h := range found {
		slices.SortFunc(h.Evidence, func(a, b HoldEvidence) int {
			return cmp.Or(strings.Compare(string(a.Via), string(b.Via)), strings.Compare(a.Selector, b.Selector))
		})
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b Hold) int {
		return cmp.Or(cmp.Compare(a.Since, b.Since), strings.Compare(a.Worker.ID, b.Worker.ID))
	})
	return out
}

func (g *gatherer) holdersOfPath(path string, take func(*entry)) {
	glob, err := scope.ParseGlob(path)
	if err != nil {
		return
	}
	for _, p := range glob.Patterns() {
		if scope.HasWildcard(p) {
			g.repo.tree.overlapping(p, func(e *entry, inFile bool) {
				if !inFile || e.kind == claimEntry {
					take(e)
				}
			})
			continue
		}
		literal, _ := scope.SplitPattern(p)
		g.repo.tree.matching(literal, take)
	}
}
