package e2e

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// A reader is who reads a text: an agent, or a person at a terminal.
type reader struct {
	person *person
	agent  *teller // nil for a person
}

// A truthRecord is what the service holds at one moment.
type truthRecord struct {
	intents   []coord.Intent
	conflicts []coord.Conflict
}

func (r *truthRecord) intent(ref string) *coord.Intent {
	if i := slices.IndexFunc(r.intents, func(i coord.Intent) bool { return i.Ref == ref }); i >= 0 {
		return &r.intents[i]
	}
	return nil
}

func (r *truthRecord) conflict(ref string) *coord.Conflict {
	if i := slices.IndexFunc(r.conflicts, func(c coord.Conflict) bool { return c.Ref == ref }); i >= 0 {
		return &r.conflicts[i]
	}
	return nil
}

// A truthCheck holds one text to the record, and gathers what it states that the
// record does not.
type truthCheck struct {
	w    *truthWalk
	who  reader
	door string
	rec  *truthRecord
	past bool // what is shown has ended, and was as it is shown
	lies []string
}

func (h *truthCheck) untrue(line, format string, args ...any) {
	h.lies = append(h.lies, fmt.Sprintf(format, args...)+": "+line)
}

var (
	intentRef   = regexp.MustCompile(`INT-\d+`)
	conflictRef = regexp.MustCompile(`CF-\d+`)
	namedPerson = regexp.MustCompile(`Olga Oak|Bob Birch`)
	truthTitle  = regexp.MustCompile(`Rework \w+\.py no\. \d+|work of (?:olg|bob)\d`)
	truthPath   = regexp.MustCompile(`\b\w+\.py\b`)
	named       = regexp.MustCompile(`(INT-\d+) \(((?:[^()]|\([^()]*\))*)\)`)
	asIs        = regexp.MustCompile(`(CF-\d+) (\w+) \((\w+), (\w+)\)|svc (CF-\d+) (\w+) \((\w+)\)|^(CF-\d+) (\w+) (\w+), (\w+)$`)
	isOver      = regexp.MustCompile(`(CF-\d+) \((\w+)\) is over`)
	ownIntent   = regexp.MustCompile(`Your intent: (INT-\d+)  (.*)  \((\w+)\)`)
	hasClaimed  = regexp.MustCompile(`(?:(INT-\d+) \((?:[^()]|\([^()]*\))*\)|(You)) claimed (\S+) exclusively`)
	staleLines  = regexp.MustCompile(`^.* changed lines? ([\d, and-]+) of (\S+?)(?: since you last saw it|, not committed and not)`)
	quotedLine  = regexp.MustCompile(`^(\d+): (.*)$`)
	addressed   = regexp.MustCompile(`\b(You|you) (and INT|changed|claimed|both)|\byour (edit|work|claim)\b|and you both`)
	handedOver  = regexp.MustCompile(`[Hh]anded |about  ?(?:Handoff of )?INT-`)
	madeUp      = regexp.MustCompile(`\d\d:\d\d UTC|\(you[,)]|last wrote|another form|%!`)
)

// hold reads a text line by line.
func (h *truthCheck) hold(text string) []string {
	h.lies, h.past = nil, h.door == "svc feed"
	file := ""
	for line := range strings.Lines(peertext.Unmarked(text)) {
		line = strings.TrimRight(line, "\n")
		if madeUp.MatchString(line) {
			h.untrue(line, "no sentence says %q", madeUp.FindString(line))
		}
		for _, p := range truthPath.FindAllString(line, -1) {
			if !slices.Contains(truthFiles, p) {
				h.untrue(line, "there is no %s", p)
			}
		}
		if h.door == "svc prompt" {
			h.statusLine(line)
		}
		h.conflicts(line)
		h.refs(line)
		h.names(line)
		h.claims(line)
		file = h.stale(line, file)
	}
	h.negations(text)
	return h.lies
}

// refs: what is named is there, and a title is that of its intent.
func (h *truthCheck) refs(line string) {
	refs := slices.Compact(slices.Sorted(slices.Values(intentRef.FindAllString(line, -1))))
	for _, ref := range refs {
		if h.rec.intent(ref) == nil {
			h.untrue(line, "there is no %s", ref)
			return
		}
	}
	for _, ref := range conflictRef.FindAllString(line, -1) {
		if h.rec.conflict(ref) == nil {
			h.untrue(line, "there is no %s", ref)
		}
	}
	past := h.past || handedOver.MatchString(line) // who did it, not whose it is
	for _, title := range truthTitle.FindAllString(line, -1) {
		of := slices.IndexFunc(h.rec.intents, func(i coord.Intent) bool { return i.Title == title })
		if of < 0 && !past {
			h.untrue(line, "nothing is called %q", title)
		} else if len(refs) == 1 && !past && h.rec.intents[of].Ref != refs[0] {
			h.untrue(line, "%s is not called %q", refs[0], title)
		}
	}
	people := slices.Compact(slices.Sorted(slices.Values(namedPerson.FindAllString(line, -1))))
	if len(refs) == 1 && len(people) == 1 && !past && h.rec.intent(refs[0]).Owner.Name != people[0] {
		h.untrue(line, "%s is not %s's", refs[0], people[0])
	}
}

// names: whose an intent is called, it is.
func (h *truthCheck) names(line string) {
	for _, m := range named.FindAllStringSubmatch(line, -1) {
		i := h.rec.intent(m[1])
		if i == nil || h.past {
			continue
		}
		own := i.Owner.Name == h.who.person.name
		switch name := namedPerson.FindString(m[2]); {
		case strings.Contains(m[2], "your other"):
			if !own || h.who.agent != nil && h.works(i) {
				h.untrue(line, "%s is no other agent of the reader's", i.Ref)
			}
		case name != "" && i.Owner.Name != name:
			h.untrue(line, "%s is not %s's", i.Ref, name)
		case name != "" && own && h.who.agent != nil && strings.HasPrefix(line, "svc "):
			h.untrue(line, "%s is called a stranger's", i.Ref)
		}
		if title := truthTitle.FindString(m[2]); title != "" && i.Title != title {
			h.untrue(line, "%s is not called %q", i.Ref, title)
		}
	}
	if m := ownIntent.FindStringSubmatch(line); m != nil {
		if i := h.rec.intent(m[1]); i != nil && (!h.works(i) || i.Title != m[2] || string(i.Status) != m[3]) {
			h.untrue(line, "the reader's intent is another")
		}
	}
}

// works reports whether an intent is the reader's work.
func (h *truthCheck) works(i *coord.Intent) bool {
	if h.who.agent == nil {
		return i.Owner.Name == h.who.person.name
	}
	return i.SessionID != nil && *i.SessionID == h.who.agent.id
}

// conflicts: what is said of them is so, and "you" is for a side.
func (h *truthCheck) conflicts(line string) {
	for _, m := range asIs.FindAllStringSubmatch(line, -1) {
		ref, kind, severity, status := m[1], m[2], m[3], m[4]
		if m[5] != "" {
			ref, severity, kind = m[5], m[6], m[7]
		} else if m[8] != "" {
			ref, severity, kind, status = m[8], m[9], m[10], m[11]
		}
		c := h.rec.conflict(ref)
		if c == nil {
			continue
		}
		if string(c.Kind) != kind || string(c.Severity) != severity || status != "" && string(c.Status) != status {
			h.untrue(line, "%s is a %s %s, %s", ref, c.Severity, c.Kind, c.Status)
		}
		h.past = h.past || m[8] != "" && !c.Status.Live()
		if addressed.MatchString(line) && !h.isParty(c) {
			h.untrue(line, "the reader is no side of %s", ref)
		}
	}
	for _, m := range isOver.FindAllStringSubmatch(line, -1) {
		if c := h.rec.conflict(m[1]); c != nil && (c.Status.Live() || string(c.Kind) != m[2]) {
			h.untrue(line, "%s is a %s, %s", c.Ref, c.Kind, c.Status)
		}
	}
}

func (h *truthCheck) isParty(c *coord.Conflict) bool {
	return slices.ContainsFunc(c.Parties, func(p coord.Party) bool {
		if p.Intent != nil {
			if i := h.rec.intent(p.Intent.Ref); i != nil && h.works(i) {
				return true
			}
		}
		return h.who.agent == nil && p.User != nil && p.User.Name == h.who.person.name ||
			h.who.agent != nil && p.SessionID != nil && *p.SessionID == h.who.agent.id
	})
}

// claims: who is said to claim something exclusively does.
func (h *truthCheck) claims(line string) {
	for _, m := range hasClaimed.FindAllStringSubmatch(line, -1) {
		holds := slices.ContainsFunc(h.rec.intents, func(i coord.Intent) bool {
			is := m[1] == i.Ref || m[2] != "" && h.works(&i)
			return is && slices.ContainsFunc(i.Claims, func(c coord.Claim) bool { return c.Mode == coord.Exclusive && c.Selector == m[3] })
		})
		if !holds {
			h.untrue(line, "nobody claims it so")
		}
	}
}

// stale: lines that others changed are theirs, and the reader has not seen them.
// It returns the file whose lines are quoted next.
func (h *truthCheck) stale(line, file string) string {
	if m := quotedLine.FindStringSubmatch(line); m != nil && file != "" {
		n, _ := strconv.Atoi(m[1])
		if now := h.w.lines(h.who.person, file); n < 1 || n > len(now) || now[n-1] != m[2] {
			h.untrue(line, "line %d of %s is another", n, file)
		}
		return file
	}
	m := staleLines.FindStringSubmatch(line)
	if m == nil || h.who.agent == nil || !slices.Contains(truthFiles, m[2]) {
		return ""
	}
	now, seen := h.w.lines(h.who.person, m[2]), h.who.agent.memory[m[2]]
	for _, n := range numbersIn(m[1]) {
		switch {
		case n > len(now):
			h.untrue(line, "there is no line %d", n)
		case !strings.Contains(now[n-1], " wrote ") || strings.Contains(now[n-1], h.who.agent.session+" wrote"):
			h.untrue(line, "line %d is not the other's: %s", n, now[n-1])
		case slices.Contains(seen, now[n-1]):
			h.untrue(line, "the reader has seen line %d: %s", n, now[n-1])
		}
	}
	if strings.Contains(line, "not read by you") && seen != nil {
		h.untrue(line, "the reader has read %s", m[2])
	}
	return m[2]
}

// numbersIn lists the lines that "3-5, 7 and 9" names.
func numbersIn(text string) (out []int) {
	for _, part := range regexp.MustCompile(`(\d+)(?:-(\d+))?`).FindAllStringSubmatch(text, -1) {
		from, _ := strconv.Atoi(part[1])
		to := from
		if part[2] != "" {
			to, _ = strconv.Atoi(part[2])
		}
		for n := from; n <= to; n++ {
			out = append(out, n)
		}
	}
	return out
}

// statusLine: what agents of the clone were told is over is not shown any more.
// It tells what hooks heard last, not more.
func (h *truthCheck) statusLine(line string) {
	for _, ref := range conflictRef.FindAllString(line, -1) {
		if h.who.person.over[ref] {
			h.untrue(line, "%s is over, and was told to be", ref)
		}
	}
}

// negations: what is said not to be is not.
func (h *truthCheck) negations(text string) {
	live := slices.ContainsFunc(h.rec.conflicts, func(c coord.Conflict) bool {
		return c.Status.Live() && (h.who.agent == nil || h.isParty(&c))
	})
	if live && strings.Contains(text, "No conflicts.") {
		h.untrue(text, "there are conflicts")
	}
	if strings.Contains(text, "Nobody else is at work here") { // four agents are, throughout
		h.untrue(text, "others are at work")
	}
}
