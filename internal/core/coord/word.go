package coord

import "slices"

// This file is the one place that says whose word ends what. Operations ask
// it; none decides by itself.

// A Stake is somebody's part in a conflict: the work, and the person behind
// it.
type Stake struct{ Worker, User string }

// SideOf tells for which side of a conflict somebody speaks, "" for neither.
// Their work decides, then their person. Who stands behind both sides speaks
// for the holder only as a person: an agent of theirs that does not say for
// which of the two it works is taken for the one that wants in.
func SideOf(holder, challenger, who Stake, person bool) PartyRole {
	isHolder, isChallenger := holder.User == who.User && who.User != "", challenger.User == who.User && who.User != ""
	switch {
	case who.Worker != "" && who.Worker == holder.Worker:
		return Holder
	case who.Worker != "" && who.Worker == challenger.Worker:
		return Challenger
	case isHolder && isChallenger && person, isHolder && !isChallenger:
		return Holder
	case isChallenger:
		return Challenger
	}
	return ""
}

// Guarded reports whether a conflict keeps work out, so that only the holder's
// side, or a person's override, lets it in.
func (c *Conflict) Guarded() bool { return c.Kind == ExclusiveClaim || c.Severity == SeverityBlock }

// An Effect is what an action on a conflict comes to.
type Effect struct {
	Status     ConflictStatus
	Resolution *Resolution // of one that ends
}

// A Refusal is why an action has no effect.
type Refusal int

const (
	Granted     Refusal = iota
	NotPossible         // the conflict's state does not allow it
	NotTheirs           // it is not for the caller to say
)

// Effect returns what an action by one side, or by neither, comes to. The word
// of the side that is kept out takes back its own attempt and nothing else.
func (c *Conflict) Effect(a ConflictAction, by PartyRole) (Effect, Refusal) {
	next, ok := c.Status.After(a)
	if !ok {
		return Effect{}, NotPossible
	}
	out := Effect{Status: next}
	if next.Live() {
		return out, Granted
	}
	how := ResolvedAgreed
	if a == ActionFalsePositive {
		how = ResolvedFalsePositive
	}
	if c.Guarded() {
		switch by {
		case Challenger:
			how = ResolvedWithdrawn
		case Holder:
		default:
			return Effect{}, NotTheirs
		}
	}
	out.Resolution = &how
	return out, Granted
}

// IsPerson reports whether a call is surely a person's own word: from the
// dashboard, or with a personal token that no agent works with, nor made.
func (c Caller) IsPerson() bool {
	if !c.Personal() || c.IsAgent() {
		return false
	}
	return c.Via == ViaCookie || c.Via == ViaToken && !c.ByAgent && !slices.Contains(c.Scopes, ScopeHooks) && !slices.Contains(c.Scopes,
		ScopeTools)
}

// MayJudge reports whether a person's verdict on a conflict counts: that of its
// parties, who saw it, and of admins.
func MayJudge(side PartyRole, role Role) bool { return side != "" || role.IsAdmin() }
