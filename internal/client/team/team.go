// Package team works out what a team is up to from its records: what each agent
// does and what its trouble is, where a conflict is and between whom. It decides
// nothing and asks nobody; the texts that it returns are clean and in one line.
package team

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// An Agent is a session with what is known of it.
type Agent struct {
	ID     string           `json:"id"`
	State  coord.AgentState `json:"state"`
	Who    string           `json:"who"`
	Email  string           `json:"email"`
	Tool   string           `json:"tool"`
	Repo   string           `json:"repo"`
	Branch string           `json:"branch"`
	Intent string           `json:"intent"` // its ref
	Title  string           `json:"title"`
	File   string           `json:"file"`
	Why    string           `json:"why"`     // what its trouble is; empty without any
	WhyRef string           `json:"why_ref"` // the conflict or intent behind it
	Words  string           `json:"words"`   // what it said last
	Since  coord.Time       `json:"since"`
	// Unchecked is how many of its events nobody answered, if it was of late: its
	// edits went on unchecked.
	Unchecked int `json:"unchecked"`
}

// lately is how long it is shown that an agent went on unchecked.
const lately = 24 * time.Hour

// Agents returns what each session is up to, the worst trouble first.
func Agents(sessions []coord.Session, intents []coord.Intent, conflicts []coord.Conflict) []Agent {
	byRef := map[string]*coord.Intent{}
	for i := range intents {
		byRef[intents[i].Ref] = &intents[i]
	}
	out := make([]Agent, 0, len(sessions))
	for _, s := range sessions {
		a := Agent{ID: s.ID, Who: Person(&s.User), Email: s.User.Email, Tool: peertext.Name(s.Tool), Repo: peertext.Path(s.Repo.FullName),
			File: line(s.File), Branch: line(s.Branch), Words: line(s.StatusText), State: s.State, Since: s.Since, Why: why(s, byRef, conflicts)}
		if s.FailOpensAt != nil && s.LastHeartbeatAt.Std().Sub(s.FailOpensAt.Std()) < lately {
			a.Unchecked = s.FailOpens
		}
		if s.Intent != nil {
			a.Intent, a.Title = peertext.Name(s.Intent.Ref), line(s.Intent.Title)
		}
		if s.Ref != nil {
			a.WhyRef = *s.Ref
		}
		out = append(out, a)
	}
	slices.SortStableFunc(out, func(a, b Agent) int {
		rank := func(s coord.AgentState) int { return slices.Index(coord.AgentStates(), s) }
		since := b.Since.Std().Compare(a.Since.Std())
		if a.Why != "" { // who has been in it longest
			since = -since
		}
		return cmp.Or(cmp.Compare(rank(a.State), rank(b.State)), since, cmp.Compare(a.ID, b.ID))
	})
	return out
}

// States are what the states are called.
var States = map[coord.AgentState]string{
	coord.AgentBlocked: "blocked", coord.AgentAsks: "asks", coord.AgentCollides: "collides", coord.AgentWaits: "waits",
	coord.AgentSilent: "silent", coord.AgentWorking: "working", coord.AgentStopped: "stopped", coord.AgentGone: "gone",
	Outside: "outside",
}

// Outside is the state of work whose people do not use svc, beside those that
// the server tells of agents.
const Outside coord.AgentState = "outside"

// OutsideWork returns such work as rows beside those of agents.
func OutsideWork(all []wire.Branch) []Agent {
	out := make([]Agent, 0, len(all))
	for _, b := range all {
		out = append(out, Agent{ID: b.ID, State: Outside, Who: peertext.Person(b.Outside.Author), Tool: b.Outside.Name(),
			Repo: peertext.Path(b.Repo.FullName), Branch: peertext.Branch(b.Branch), Title: b.Outside.Name() + ", without svc", Since: b.PushedAt})
	}
	return out
}

// Side names one side of a conflict: its person, what it is where nobody there
// uses svc, or the repository whose code it is.
func Side(p coord.Party) string {
	switch {
	case p.Outside != nil && p.Outside.Number == nil:
		return "branch " + line(p.Branch)
	case p.Outside != nil:
		return p.Outside.Name()
	case p.User == nil:
		return peertext.Path(p.Repo.FullName)
	}
	return Person(p.User)
}

// Says is what a row tells of an agent: how many of its events nobody answered,
// and its question, its trouble, its last words, or else what it works on.
func (a Agent) Says() string {
	if a.Unchecked > 0 {
		checked := a
		checked.Unchecked = 0
		return strings.TrimSuffix(fmt.Sprintf("%d unchecked: %s", a.Unchecked, checked.Says()), ": ")
	}
	quoted := ""
	if a.Words != "" {
		quoted = "“" + a.Words + "”"
	}
	if a.State == coord.AgentAsks {
		return cmp.Or(quoted, a.Why, "asks its person", a.Title)
	}
	return cmp.Or(strings.TrimSpace(a.Why+" "+quoted), a.Title)
}

// why says what is behind an agent's state: with whom it collides and over what,
// or what it waits for.
func why(s coord.Session, intents map[string]*coord.Intent, conflicts []coord.Conflict) string {
	switch s.State {
	case coord.AgentSilent:
		return "no hook since then"
	case coord.AgentWaits:
		if s.Ref == nil {
			return "waits for other work"
		}
		if other := intents[*s.Ref]; other != nil {
			return "waits for " + Person(&other.Owner) + ": " + line(&other.Title) + " (" + peertext.Name(*s.Ref) + ")"
		}
		return "waits for " + peertext.Name(*s.Ref)
	}
	for _, c := range conflicts {
		if s.Ref != nil && c.Ref == *s.Ref {
			return clash(c, s)
		}
	}
	return ""
}

func isSide(p coord.Party, s coord.Session) bool {
	return p.SessionID != nil && *p.SessionID == s.ID || p.Intent != nil && s.Intent != nil && p.Intent.Ref == s.Intent.Ref
}

// Matters reports whether a conflict asks for anything: info never interrupts.
func Matters(c coord.Conflict) bool {
	return c.Severity == coord.SeverityWarn || c.Severity == coord.SeverityBlock
}

var kinds = map[coord.ConflictKind]string{
	coord.ExclusiveClaim: "exclusive claim", coord.EditOverlap: "same lines", coord.SymbolOverlap: "same symbol",
	coord.ContractOverlap: "same contract", coord.ContractBreak: "contract break", coord.DependencyOrder: "dependency order",
	coord.PathOverlap: "same files", coord.DuplicateWork: "duplicate work", coord.RebaseNeeded: "rebase needed",
}

// Kind is a kind of conflict as the dashboard calls it.
func Kind(k coord.ConflictKind) string {
	if name, ok := kinds[k]; ok {
		return name
	}
	return peertext.Name(string(k))
}

// clash says with whom an agent collides, and over what.
func clash(c coord.Conflict, s coord.Session) string {
	other := "somebody"
	for _, p := range c.Parties {
		if !isSide(p, s) {
			other = Person(p.User)
			if p.Outside != nil {
				other = Side(p)
			} else if p.User != nil && p.User.ID == s.User.ID {
				other = "your other agent"
				if p.Intent != nil {
					other = peertext.Name(p.Intent.Ref)
				}
			}
		}
	}
	return Kind(c.Kind) + " with " + other
}

// Where returns where a conflict is, as briefly as one can say it: the file and
// the lines where both sides meet, or the contract or definition.
func Where(c coord.Conflict) string {
	for _, e := range c.Evidence {
		if (c.Kind == coord.ContractOverlap || c.Kind == coord.ContractBreak) && e.Contract != nil && *e.Contract != "" {
			return peertext.Path(*e.Contract)
		}
		if c.Kind == coord.SymbolOverlap && e.Symbol != nil && *e.Symbol != "" {
			return symbol(*e.Symbol)
		}
	}
	files := Files(c)
	if len(files) > 0 {
		f := files[0]
		out := f.Path
		if f.Lines != nil {
			out += fmt.Sprintf(":%d-%d", f.Lines.Start, f.Lines.End)
		}
		if more := len(files) - 1; more > 0 {
			out += fmt.Sprintf(" +%d", more)
		}
		return out
	}
	for _, e := range c.Evidence {
		for _, s := range []*string{e.Symbol, e.Contract, e.Selector} {
			if s != nil && *s != "" {
				return symbol(*s)
			}
		}
	}
	return "-"
}

// symbol is a definition without its language: sym:go:a.go#F is a.go#F.
func symbol(s string) string {
	if rest, ok := strings.CutPrefix(s, "sym:"); ok {
		if _, name, ok := strings.Cut(rest, ":"); ok {
			s = name
		}
	}
	return peertext.Path(s)
}

// A File is one that a conflict is about, with the lines where both sides are.
type File struct {
	Path  string
	Lines *coord.Lines
}

// Files returns the files of a conflict; those in which both sides have lines
// come first, with the lines where they meet.
func Files(c coord.Conflict) []File {
	type sides map[coord.PartyRole][]coord.Lines
	lines, order := map[string]sides{}, []string{}
	for _, e := range c.Evidence {
		if e.Path == nil || *e.Path == "" {
			continue
		}
		if lines[*e.Path] == nil {
			lines[*e.Path] = sides{}
			order = append(order, *e.Path)
		}
		if e.Lines != nil {
			lines[*e.Path][e.Party] = append(lines[*e.Path][e.Party], *e.Lines)
		}
	}
	out := make([]File, 0, len(order))
	for _, path := range order {
		f := File{Path: peertext.Path(path)}
		for _, h := range lines[path][coord.Holder] {
			for _, k := range lines[path][coord.Challenger] {
				if both := (coord.Lines{Start: max(h.Start, k.Start), End: min(h.End, k.End)}); both.Start <= both.End && f.Lines == nil {
					f.Lines = &both
				}
			}
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b File) int {
		return cmp.Compare(b2i(a.Lines == nil), b2i(b.Lines == nil))
	})
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Between names both sides of a conflict. Two agents of one person are told
// apart by what they work on.
func Between(c coord.Conflict) string {
	names := make([]string, 0, len(c.Parties))
	for _, p := range c.Parties {
		names = append(names, Side(p))
	}
	if len(c.Parties) == 2 && c.Parties[0].User != nil && c.Parties[1].User != nil && c.Parties[0].User.ID == c.Parties[1].User.ID {
		first, second := work(c.Parties[0]), work(c.Parties[1])
		if first != second {
			return names[0] + "'s " + first + " / " + second
		}
		return "two agents of " + names[0]
	}
	return strings.Join(names, " / ")
}

// work is what a side works on.
func work(p coord.Party) string {
	switch {
	case p.Intent != nil:
		return peertext.Name(p.Intent.Ref)
	case p.Branch != nil && *p.Branch != "":
		return peertext.Branch(*p.Branch)
	}
	return "agent"
}

// Person is how a person is called.
func Person(u *coord.User) string {
	if u == nil {
		return "-"
	}
	if u.Name != "" {
		return peertext.Person(u.Name)
	}
	return peertext.Person(u.Email)
}

// Pairs counts the pieces of work that collide so that somebody should care: the
// one number of conflicts, as the dashboard has it.
func Pairs(conflicts []coord.Conflict) int {
	seen := map[string]bool{}
	for _, c := range conflicts {
		if !Matters(c) {
			continue
		}
		var sides []string
		for _, p := range c.Parties {
			key := p.Repo.ID
			switch {
			case p.Intent != nil:
				key = p.Intent.Ref
			case p.SessionID != nil:
				key = *p.SessionID
			case p.User != nil:
				key = p.User.ID
			}
			sides = append(sides, key)
		}
		slices.Sort(sides)
		seen[strings.Join(sides, " ")] = true
	}
	return len(seen)
}

// Why is a sentence of the record on one line, with its moments as they are seen
// from now.
func Why(now time.Time, text string, most int) string {
	return peertext.Line(coord.AsSeen(text, coord.Time(now.UnixMilli())), most)
}

// Age says how long ago something was, in as few letters as there are.
func Age(now time.Time, t coord.Time) string {
	if t.Std().IsZero() {
		return ""
	}
	switch d := now.Sub(t.Std()); {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

func line(s *string) string {
	if s == nil {
		return ""
	}
	return peertext.Line(*s, 300)
}
