package coord_test

import (
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
)

func TestWhatSavedTime(t *testing.T) {
	how := func(r coord.Resolution) *coord.Resolution { return &r }
	cleared, agreed := how(coord.ResolvedCleared), how(coord.ResolvedAgreed)
	for _, tt := range []struct {
		name string
		e    coord.Ended
		want coord.SavedBy
	}{
		{"a note that ended", coord.Ended{Severity: coord.SeverityInfo, Status: coord.ConflictResolved, Resolution: cleared}, ""},
		{"a note that people agreed on", coord.Ended{Severity: coord.SeverityInfo, Status: coord.ConflictResolved, Resolution: agreed}, ""},
		{"a warning that gave way to worse", coord.Ended{Severity: coord.SeverityWarn, Status: coord.ConflictResolved, Resolution: cleared,
			Outlived: true}, ""},
		{"agreed", coord.Ended{Severity: coord.SeverityWarn, Status: coord.ConflictResolved, Resolution: agreed}, coord.SavedByPerson},
		{"came into one hand", coord.Ended{Severity: coord.SeverityWarn, Status: coord.ConflictStale,
			Resolution: how(coord.ResolvedHandedOver)}, coord.SavedByPerson},
		{"overridden", coord.Ended{Severity: coord.SeverityBlock, Status: coord.ConflictOverridden}, ""},
		{"narrowed", coord.Ended{Severity: coord.SeverityWarn, Status: coord.ConflictResolved, Resolution: cleared}, coord.SavedByPlan},
		{"attempt taken back", coord.Ended{Severity: coord.SeverityBlock, Status: coord.ConflictResolved,
			Resolution: how(coord.ResolvedWithdrawn)}, coord.SavedByPlan},
		{"promised to rebase", coord.Ended{Severity: coord.SeverityWarn, Status: coord.ConflictResolved, Resolution: cleared,
			Actions: []coord.ConflictAction{coord.ActionAck, coord.ActionWillRebase}}, coord.SavedByRebase},
		{"rebased", coord.Ended{Kind: coord.RebaseNeeded, Severity: coord.SeverityWarn, Status: coord.ConflictResolved, Resolution: cleared},
			coord.SavedByRebase},
		{"promised, and the work ended", coord.Ended{Severity: coord.SeverityWarn, Status: coord.ConflictStale,
			Actions: []coord.ConflictAction{coord.ActionWillRebase}}, ""},
		{"stopped until the other had landed", coord.Ended{Severity: coord.SeverityBlock, Status: coord.ConflictStale, HolderOver: true},
			coord.SavedByWait},
		{"stopped, and gave up", coord.Ended{Severity: coord.SeverityBlock, Status: coord.ConflictStale}, ""},
		{"stopped until it was released", coord.Ended{Severity: coord.SeverityBlock, Status: coord.ConflictResolved, Resolution: cleared},
			coord.SavedByWait},
		{"warned, and the other landed", coord.Ended{Severity: coord.SeverityWarn, Status: coord.ConflictStale, HolderOver: true}, ""},
		{"called false", coord.Ended{Severity: coord.SeverityWarn, Status: coord.ConflictResolved,
			Resolution: how(coord.ResolvedFalsePositive)}, coord.FalseAlarm},
		{"judged false", coord.Ended{Severity: coord.SeverityWarn, Status: coord.ConflictResolved, Resolution: cleared,
			Verdicts: []coord.Verdict{coord.VerdictFalsePositive}}, coord.FalseAlarm},
		{"judged too late", coord.Ended{Severity: coord.SeverityWarn, Status: coord.ConflictResolved, Resolution: agreed,
			Verdicts: []coord.Verdict{coord.VerdictTooLate}}, ""},
	} {
		by, counts := coord.Saving(tt.e)
		if by != tt.want || counts != (tt.want != "") {
			t.Errorf("%s: %q, %v", tt.name, by, counts)
		}
	}
}
