package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// A Heard is what a session was told of a conflict last, so that what has
// happened since can be told, and told once.
type Heard struct {
	Ref      string         `json:"ref"`
	Severity coord.Severity `json:"severity"`
	Keys     []string       `json:"keys,omitempty"`
	Forms    []Form         `json:"forms,omitempty"`
	Owner    string         `json:"owner,omitempty"` // of the other side's work
	Gone     bool           `json:"gone,omitempty"`  // nobody was at the other side's work
	Over     bool           `json:"over,omitempty"`
}

// A Form is how something that a conflict is about was and is.
type Form struct {
	Of     string `json:"of"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// HeardOf returns what who hears of a finding has heard.
func HeardOf(ref string, f *Finding, viewer string) Heard {
	other, owner := f.Other(viewer), ""
	if other.Live() { // code that nobody is at work on is handed to nobody
		owner = other.User.ID
	}
	return Heard{Ref: ref, Severity: f.Severity, Keys: f.Keys, Forms: FormsOf(f.Evidence), Owner: owner,
		Gone: other.Gone > 0 && f.Kind == coord.ExclusiveClaim && f.Holder == other}
}

// formsOf returns the forms that evidence tells of: those of definitions and
// contracts.
func FormsOf(all []coord.Evidence) (out []Form) {
	for _, e := range all {
		of := first(e.Contract, e.Symbol)
		if of == nil || e.Via == coord.ViaClaim || e.Party != coord.Challenger {
			continue
		}
		text := func(s *string) string {
			if s == nil {
				return ""
			}
			return *s
		}
		out = append(out, Form{Of: *of, Before: text(e.Before), After: text(e.After), Detail: text(e.Detail)})
	}
	return out
}

// A Turn is a turning point of a conflict.
type Turn string

const (
	TurnNone    Turn = ""
	TurnNew     Turn = "new"
	TurnBack    Turn = "back"    // it was over and has returned
	TurnGrown   Turn = "grown"   // there is more to it
	TurnChanged Turn = "changed" // what it is about has another form now
	TurnGone    Turn = "gone"    // the holder's last session has ended
	TurnHanded  Turn = "handed"  // the other side has another owner
	TurnOver    Turn = "over"
)

// TurnOf returns what has happened to a conflict that is live since it was
// heard of; heard is nil for who has not.
func TurnOf(heard *Heard, now Heard) Turn {
	switch {
	case heard == nil:
		return TurnNew
	case heard.Over, heard.Ref != "" && now.Ref != "" && heard.Ref != now.Ref: // it may have been over in between
		return TurnBack
	case heard.Owner != "" && heard.Owner != now.Owner:
		return TurnHanded
	case now.Severity.Rank() > heard.Severity.Rank() || Grown(heard.Keys, now.Keys):
		return TurnGrown
	case len(now.Forms) > 0 && changedForms(heard.Forms, now.Forms) != "":
		return TurnChanged
	case now.Gone && !heard.Gone:
		return TurnGone
	}
	return TurnNone
}

// TellTurn puts a turning point of a live conflict into words: one sentence on
// what is so now, and the next step. order says that the sides had agreed on
// one, and who proposed it.
func TellTurn(t Turn, heard *Heard, f Finding, viewer string, now coord.Time, order string) string {
	text, step := Explain(f, viewer, now)
	words := text + " " + step.Text
	switch t {
	case TurnBack:
		words = fmt.Sprintf("This was over (%s) and is back. %s", heard.Ref, words)
	case TurnHanded:
		v := voice{f: &f, viewer: viewer, now: now}
		other := f.Other(viewer)
		return fmt.Sprintf("The other side was handed over: %s is %s's now. %s Whatever was agreed, agree on it with %s.", other.Ref(),
			name(other), text, v.otherName())
	case TurnGrown:
		words = "There is more to it now. " + words
	case TurnChanged:
		words = "It has changed: " + changedForms(heard.Forms, FormsOf(f.Evidence)) + " " + words
	case TurnGone:
		words = "The holder has gone. " + words
	}
	if order != "" && t != TurnHanded {
		words += " The order that " + peertext.QuotedName(order) + " proposed still holds."
	}
	return words
}

func (v *voice) otherName() string { return name(v.other()) }

// changedForms tells old and new of what has another form now, "" if there is
// nothing that could be told: of a definition only a hash may be known.
func changedForms(old, now []Form) string {
	var parts []string
	for _, n := range now {
		is, was := formText(n), ""
		if at := slices.IndexFunc(old, func(o Form) bool { return o.Of == n.Of }); at >= 0 {
			was = formText(old[at])
		}
		switch {
		case is == was || is == "":
		case was == "":
			parts = append(parts, code(n.Of)+" is now "+is)
		default:
			parts = append(parts, code(n.Of)+" was "+was+", is now "+is)
		}
	}
	if len(parts) == 0 {
		if slices.ContainsFunc(old, func(o Form) bool { return !slices.ContainsFunc(now, func(n Form) bool { return n.Of == o.Of }) }) {
			return "less is in the way."
		}
		return ""
	}
	if len(parts) > 3 {
		parts = append(parts[:3], "and more")
	}
	return strings.Join(parts, "; ") + "."
}

// formText tells a form by its text, else by what became of it, if that is known.
func formText(f Form) string {
	for _, text := range []string{f.After, f.Detail} {
		if q := form(&text); q != "" && text != "" {
			return q
		}
	}
	return ""
}

// An Ending is how a conflict came to an end.
type Ending struct {
	Ref        string
	Kind       coord.ConflictKind
	Status     coord.ConflictStatus
	Resolution coord.Resolution // "" where it has none
	By         string           // whose word ended it, if somebody's did
	Holds      bool             // the reader is the side that holds
	Other      *Worker          // the other side, as it is or was
	Reader     coord.User       // who reads: work of their own is no stranger's
	Became     coord.IntentStatus
	Shared     bool   // the holder's claim is exclusive no longer
	Meets      string // a file in which merged work meets the reader's lines
	Order      string // who proposed the order that had been agreed on
	Place      string
}

// TellEnding says that a conflict is over, why, and what to do now.
func TellEnding(e Ending, viewer string) string {
	v := voice{f: &Finding{Kind: e.Kind, Holder: e.Other, Challenger: e.Other}, viewer: viewer, me: &Worker{ID: viewer, User: e.Reader}}
	other := v.who(e.Other)
	agreed := ""
	if e.Order != "" {
		agreed = " as agreed"
	}
	why, next := e.why(upper(other), agreed)
	return fmt.Sprintf("svc %s (%s) is over: %s %s", e.Ref, e.Kind, why, next)
}

func (e *Ending) why(other, agreed string) (why, next string) {
	by := "somebody"
	if e.By != "" {
		by = peertext.QuotedName(e.By)
	}
	goOn := "Go on."
	switch {
	case e.Status == coord.ConflictOverridden && e.Holds:
		return by + " overrode it.", "Both sides go on; expect work at the merge."
	case e.Status == coord.ConflictOverridden:
		return by + " overrode it.", "You may go on there."
	case e.Resolution == coord.ResolvedWithdrawn && e.Holds:
		return by + " took the attempt back.", "Your claim stands; nothing to do."
	case e.Resolution == coord.ResolvedWithdrawn:
		return "the attempt was taken back.", "The claim still stands: do not edit there."
	case e.Resolution == coord.ResolvedAgreed:
		return by + " says that it is settled.", goOn
	case e.Resolution == coord.ResolvedFalsePositive:
		return by + " says that it is none.", goOn
	case e.Resolution == coord.ResolvedHandedOver:
		return "both sides are in one hand now.", "Nothing to do."
	case e.Became == coord.IntentMerged && e.Meets != "":
		return other + " merged" + agreed + ", and its lines meet yours in " + place(e.Meets) + ".",
			"Rebase onto the default branch now, before you go on."
	case e.Became == coord.IntentMerged:
		return other + " merged" + agreed + "; nothing of it meets your lines.", "Pull, and go on."
	case e.Became == coord.IntentAbandoned:
		return other + " was abandoned.", "It is free: go on."
	case e.Became == coord.IntentExpired:
		return other + " expired.", "It is free: go on."
	case e.Status == coord.ConflictStale:
		return other + " has ended.", goOn
	case e.Shared && e.Holds:
		return "your claim is shared now: nobody answered for it.", "Declare it again (`intent_declare`) if you still need it."
	case e.Shared:
		return "the claim of " + other + " is shared now.", "You may go on there; pull first."
	}
	return "you and " + other + " no longer meet there.", goOn
}
