package coord

import "slices"

// A SavedBy is how a conflict that was told in time came to its end, as far as
// that counts as time saved.
type SavedBy string

const (
	SavedByPerson SavedBy = "person"      // people or agents agreed, or work changed hands
	SavedByRebase SavedBy = "rebase"      // one side said that it would rebase, or had to and did
	SavedByWait   SavedBy = "wait"        // who was stopped went on once the place was free
	SavedByPlan   SavedBy = "plan"        // one side changed what it does, while both worked on
	FalseAlarm    SavedBy = "false_alarm" // it cost time instead
)

// Enum lists the values for the API document.
func (SavedBy) Enum() []string {
	return enum([]SavedBy{SavedByPerson, SavedByRebase, SavedByWait, SavedByPlan, FalseAlarm})
}

// MinutesPerFalseAlarm is what a false alarm costs whoever reads it.
const MinutesPerFalseAlarm = 5

// An Ended is a conflict that is over, with what says whether it saved time.
type Ended struct {
	Kind       ConflictKind
	Severity   Severity
	Status     ConflictStatus
	Resolution *Resolution
	Actions    []ConflictAction
	Verdicts   []Verdict
	HolderOver bool // who was there first ended its work, and the other worked on
	Outlived   bool // another conflict between the same two went on
}

// Saving returns how an ended conflict saved time, and whether it did. It is the
// only place that decides so; docs/time-saved.md says it for people.
//
// A note for information interrupts nobody and saves nothing. What gave way to
// another conflict of the same two is counted with that one. An override lets the
// harm happen, and work that ended by itself proves nothing.
func Saving(e Ended) (by SavedBy, counts bool) {
	is := func(r Resolution) bool { return e.Resolution != nil && *e.Resolution == r }
	switch {
	case e.Severity.Rank() < SeverityWarn.Rank():
		return "", false
	case is(ResolvedFalsePositive), slices.Contains(e.Verdicts, VerdictFalsePositive):
		return FalseAlarm, true
	case e.Status == ConflictOverridden, slices.Contains(e.Verdicts, VerdictTooLate), e.Outlived:
		return "", false
	case is(ResolvedAgreed), is(ResolvedHandedOver):
		return SavedByPerson, true
	case is(ResolvedWithdrawn):
		return SavedByPlan, true
	case e.Status == ConflictStale && !(e.HolderOver && e.Severity == SeverityBlock):
		return "", false
	case slices.Contains(e.Actions, ActionWillRebase), e.Kind == RebaseNeeded && is(ResolvedCleared):
		return SavedByRebase, true
	case e.Severity == SeverityBlock:
		return SavedByWait, true
	case is(ResolvedCleared):
		return SavedByPlan, true
	}
	return "", false
}
