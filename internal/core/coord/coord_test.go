package coord_test

import (
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A sentence of the record is read minutes or days later: its moments are told
// as they are seen then, never older than they are.
func TestMomentsOfTheRecordAsTheyAreSeen(t *testing.T) {
	at := time.Date(2026, 11, 17, 18, 26, 40, 0, time.UTC)
	stamped := "You claimed a.go exclusively at " + at.Format(coord.Stamp) + "; meet at noon."
	for _, tc := range []struct {
		later time.Duration
		want  string
	}{
		{0, "just now"}, {30 * time.Second, "just now"}, {3 * time.Minute, "two minutes ago"}, {5 * time.Hour, "four hours ago"},
	} {
		want := "You claimed a.go exclusively " + tc.want + "; meet at noon."
		if got := coord.AsSeen(stamped, coord.Time(at.Add(tc.later).UnixMilli())); got != want {
			t.Errorf("%v later: %s", tc.later, got)
		}
	}
	for _, as := range []string{"", "at", "look at ", "look at 2026-13-99 99:99 UTC, all"} {
		if got := coord.AsSeen(as, 0); got != as {
			t.Errorf("%q became %q", as, got)
		}
	}
}
