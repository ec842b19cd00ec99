package mcpserver

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// words makes a renderer of one type a renderer of any answer.
func words[T any](f func(T) string) func(any, coord.Time) string {
	return timed(func(out T, _ coord.Time) string { return f(out) })
}

// timed is words for what tells times: as they are seen from now.
func timed[T any](f func(T, coord.Time) string) func(any, coord.Time) string {
	return func(out any, now coord.Time) string {
		v, ok := out.(T)
		if !ok {
			return ""
		}
		return f(v, now)
	}
}

const more = "\n(cut; the whole is in the structured content)"

// cut keeps a text within what a model reads with profit. It never cuts
// between the marks of a teammate's text, or what follows would seem theirs.
func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	s = excerpt.Chars(s, most-utf8.RuneCountInString(more))
	if open := strings.LastIndex(s, "⟦peer:"); open > strings.LastIndex(s, "⟦/peer:") {
		s = s[:open]
	} else if open := strings.LastIndex(s, "⟦/"); open >= 0 && !strings.Contains(s[open:], "⟧") {
		s = s[:strings.LastIndex(s[:open], "⟦peer:")]
	}
	return strings.TrimRight(s, " \n") + more
}

// A sheet is a text made line by line.
type sheet struct{ strings.Builder }

func (s *sheet) line(format string, args ...any) { fmt.Fprintf(s, format+"\n", args...) }

func (s *sheet) done() string { return strings.TrimRight(s.String(), "\n") }

// counted says how many there are of something.
func counted(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func title(t *string) string {
	if t == nil {
		return ""
	}
	return " " + *t
}

// said tells what an agent said last.
func said(status *string) string {
	if status == nil {
		return ""
	}
	return "; said last: " + *status
}

func party(p coord.Party) string {
	var parts []string
	if p.Intent != nil {
		parts = append(parts, p.Intent.Ref)
	}
	switch {
	case p.Outside != nil:
		parts = append(parts, p.Outside.Name(), p.Outside.Author)
	case p.User != nil:
		parts = append(parts, p.User.Name)
	}
	if p.Branch != nil {
		parts = append(parts, "branch "+*p.Branch)
	}
	if len(parts) == 0 {
		return "code in " + p.Repo.FullName
	}
	return strings.Join(parts, ", ")
}

// addConflicts lists some; the rest is where others says.
func addConflicts(s *sheet, cs []coord.Conflict, now coord.Time, others string) {
	for i, c := range cs {
		if i == wire.ToldConflicts {
			s.line("and %d more%s.", len(cs)-i, others)
			return
		}
		next := ""
		if c.Status.Live() { // of one that is settled nothing is left to do
			next = " " + c.Suggestion.Text
		}
		s.line("- %s %s (%s, %s): %s%s", c.Ref, c.Kind, c.Severity, c.Status, coord.AsSeen(c.Explanation, now), next)
	}
}

const (
	byTool      = ": call conflicts"
	inStructure = " in the structured content"
)

func declared(d wire.Declared, now coord.Time) string {
	var s sheet
	i := d.Intent
	s.line("%s %s in %s, status %s.", i.Ref, i.Title, i.Repo.FullName, i.Status)
	if i.ModeNote != nil {
		s.line("Mode is %s, not %s: %s", i.EffectiveMode, i.Mode, *i.ModeNote)
	}
	for _, l := range i.Leases {
		if l.Resource != nil {
			s.line("You have %s until this intent ends: use %s.", *l.Resource, *l.Name)
		} else {
			s.line("You wait for %s: %s. Call wait_for with symbol %s.", l.Asked, *l.Note, l.Asked)
		}
	}
	for _, b := range i.BlockedBy {
		s.line("Blocked by %s %s: call wait_for.", b.Kind, b.Ref)
	}
	if len(d.Conflicts) == 0 {
		s.line("No conflicts. Go ahead, and call intent_update when your scope changes.")
		return s.done()
	}
	s.line("%s:", counted(len(d.Conflicts)+d.MoreConflicts, "conflict", "conflicts"))
	addConflicts(&s, d.Conflicts, now, byTool)
	if d.MoreConflicts > 0 {
		s.line("And %d more that are no worse: call conflicts.", d.MoreConflicts)
	}
	s.line("Answer each with conflict_respond.")
	return s.done()
}

func handedOff(h wire.HandedOff) string {
	if h.Handoff != nil {
		return fmt.Sprintf("%s is %s's now; they were told in a thread.", h.Intent.Ref, h.Handoff.To.Name)
	}
	return fmt.Sprintf("%s is closed as %s; its claims are released.", h.Intent.Ref, h.Intent.Status)
}

func teamContext(t wire.TeamPicture, now coord.Time) string {
	var s sheet
	s.line("Repository %s.", t.Repo.FullName)
	if t.Intent != nil {
		s.line("Your intent: %s %s (%s).", t.Intent.Ref, t.Intent.Title, t.Intent.Status)
	} else {
		s.line("You have no intent here: call intent_declare before you edit.")
	}
	own, others := ownConflicts(t)
	if len(own) > 0 {
		s.line("Your live conflicts:")
		addConflicts(&s, own, now, byTool)
	}
	if t.Landing != nil {
		s.line("%s", *t.Landing)
	}
	if len(others) > 0 {
		s.line("Live conflicts of your other agents:")
		addConflicts(&s, others, now, byTool)
	}
	for i, n := range t.Nearby {
		if i == 0 {
			s.line("Others at work here:")
		}
		if i == 6 {
			s.line("and %d more in the structured content.", len(t.Nearby)-i)
			break
		}
		text := n.User.Name + ": no intent yet"
		switch {
		case n.Outside != nil:
			text = n.User.Name + ": " + n.Outside.Name() + ", without svc"
		case n.Intent != nil:
			text = n.User.Name + ": " + n.Intent.Ref + title(n.Intent.Title)
		}
		if n.Overlaps {
			text += " OVERLAPS your paths (" + strings.Join(n.Kinds, ", ") + ")"
		}
		if len(n.Paths) > 0 {
			text += ": " + strings.Join(n.Paths[:min(3, len(n.Paths))], ", ")
			if more := len(n.Paths) - 3; more > 0 {
				text += fmt.Sprintf(" and %d more", more)
			}
		}
		s.line("- %s%s", text, said(n.StatusText))
	}
	if len(t.Nearby) == 0 {
		s.line("Nobody else is at work here.")
	}
	for i, c := range t.CrossRepoChanges {
		if i == 5 {
			s.line("and %d more changes in linked repos in the structured content.", len(t.CrossRepoChanges)-i)
			break
		}
		s.line("Linked repo %s: %s is being changed (%s, %s) in %s.", c.Repo.FullName, c.Contract, c.Change, c.Compatibility, c.Path)
	}
	if t.UnreadMessages > 0 {
		s.line("%s unread: call inbox.", counted(t.UnreadMessages, "message", "messages"))
	}
	return s.done()
}

// ownConflicts tells the conflicts of the agent's own work from those of its
// person's other agents.
func ownConflicts(t wire.TeamPicture) (own, others []coord.Conflict) {
	for _, c := range t.Conflicts {
		mine := slices.ContainsFunc(c.Parties, func(p coord.Party) bool {
			if t.Intent == nil {
				return p.Intent == nil && p.SessionID != nil
			}
			return p.Intent != nil && p.Intent.Ref == t.Intent.Ref
		})
		if mine {
			own = append(own, c)
		} else {
			others = append(others, c)
		}
	}
	return own, others
}

func scopeChecked(c wire.ScopeChecked) string {
	var s sheet
	s.line("%s: %s", strings.ToUpper(string(c.Decision)), c.Reason)
	for i, f := range c.Findings {
		if strings.Contains(peertext.Unmarked(c.Reason), peertext.Unmarked(f.Explanation)) { // it was just said
			continue
		}
		if i == 6 {
			s.line("and %d more in the structured content.", len(c.Findings)-i)
			break
		}
		s.line("- %s (%s) with %s: %s %s", f.Kind, f.Severity, party(f.With), f.Explanation, f.Suggestion.Text)
	}
	return s.done()
}

func conflictPage(p wire.Page[coord.Conflict], now coord.Time) string {
	if len(p.Items) == 0 {
		return "No such conflicts."
	}
	var s sheet
	addConflicts(&s, p.Items, now, inStructure)
	return s.done()
}

func conflictWords(c coord.Conflict) string {
	var s sheet
	s.line("%s is %s.", c.Ref, c.Status)
	if c.Resolution != nil && *c.Resolution == coord.ResolvedWithdrawn {
		s.line("Your attempt is taken back and the holder is told. The claim stands: do not edit there.")
	}
	if c.OverrideRequested != nil && c.Status.Live() {
		s.line("A human was asked to override it. Until then do not edit there; wait_for conflict %s.", c.Ref)
	}
	return s.done()
}

func online(p wire.Page[wire.Online]) string {
	if len(p.Items) == 0 {
		return "No teammate's agent is online."
	}
	var s sheet
	for i, o := range p.Items {
		if i == 15 {
			s.line("and %d more in the structured content.", len(p.Items)-i)
			break
		}
		branch, intent := "", ""
		if o.Branch != nil {
			branch = " on " + *o.Branch
		}
		if o.Intent != nil {
			intent = ", " + o.Intent.Ref + title(o.Intent.Title)
		}
		s.line("- %s (%s) in %s%s, %s%s%s", o.Developer.Name, o.Tool, o.Repo.FullName, branch, o.Status, intent, said(o.StatusText))
	}
	return s.done()
}

func waited(w wire.Waited) string {
	if w.Status == "free" {
		text := fmt.Sprintf("%s is free (%s) after %d ms. %s", w.Target, *w.Outcome, w.WaitedMS, w.Suggestion)
		switch {
		case w.Lease != nil && w.Lease.Resource != nil:
			text += fmt.Sprintf(" You have %s: use %s.", *w.Lease.Resource, *w.Lease.Name)
		case w.Granted:
			text += " Your exclusive claim is honoured now."
		}
		return text
	}
	holder := "somebody"
	if w.Holder != nil {
		holder = party(w.Holder.Party)
	}
	return fmt.Sprintf("%s is still busy: held by %s. %s", w.Target, holder, w.Suggestion)
}
