package coord_test

import (
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
)

func TestWhatAnAgentIsDoing(t *testing.T) {
	now := coord.TimeOf(time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC))
	ago := func(d time.Duration) *coord.Time { return now.Add(-d).Ptr() }
	at := func(status coord.SessionStatus, change func(*coord.Session)) coord.Session {
		s := coord.Session{Status: status, LastHeartbeatAt: *ago(time.Minute)}
		change(&s)
		return s
	}
	clash := func(sev coord.Severity, holds bool, ref string, since time.Duration) coord.Snag {
		return coord.Snag{Ref: ref, Severity: sev, Holds: holds, Since: *ago(since)}
	}
	refused := clash(coord.SeverityBlock, false, "CF-1", time.Hour)
	busy := func(*coord.Session) {}
	for _, tt := range []struct {
		name    string
		session coord.Session
		snags   []coord.Snag
		want    coord.AgentState
		since   time.Duration
		ref     string
	}{
		{"at work", at(coord.SessionActive, busy), nil, coord.AgentWorking, time.Minute, ""},
		{"turn over", at(coord.SessionActive, func(s *coord.Session) { s.StoppedAt = ago(time.Minute) }),
			nil, coord.AgentStopped, time.Minute, ""},
		{"turn over long ago", at(coord.SessionIdle, func(s *coord.Session) { s.StoppedAt = ago(2 * time.Hour) }), nil, coord.AgentStopped,
			2 * time.Hour, ""},
		{"asked", at(coord.SessionIdle, func(s *coord.Session) { s.StoppedAt, s.AskedAt = ago(time.Hour), ago(time.Hour) }), nil,
			coord.AgentAsks, time.Hour, ""},
		{"asked because it is refused", at(coord.SessionActive, func(s *coord.Session) { s.AskedAt = ago(time.Second) }), []coord.Snag{refused},
			coord.AgentAsks, time.Second, "CF-1"},
		{"refused, turn over", at(coord.SessionActive, func(s *coord.Session) { s.StoppedAt = ago(time.Second) }), []coord.Snag{refused},
			coord.AgentBlocked, time.Hour, "CF-1"},
		{"in the other's way", at(coord.SessionActive, busy), []coord.Snag{clash(coord.SeverityBlock, true, "CF-2", time.Hour)},
			coord.AgentCollides, time.Hour, "CF-2"},
		{"being refused is worse", at(coord.SessionActive, busy), []coord.Snag{clash(coord.SeverityBlock, true, "CF-2", time.Second), refused},
			coord.AgentBlocked, time.Hour, "CF-1"},
		{"for information", at(coord.SessionActive, busy), []coord.Snag{clash(coord.SeverityInfo, false, "CF-3", time.Hour)},
			coord.AgentWorking, time.Minute, ""},
		{"waits", at(coord.SessionActive, busy), []coord.Snag{{Ref: "INT-4", Since: *ago(time.Hour)}}, coord.AgentWaits, time.Hour, "INT-4"},
		{"waits for an edit", at(coord.SessionActive, busy), []coord.Snag{{Since: *ago(time.Hour)}}, coord.AgentWaits, time.Hour, ""},
		{"heard of nothing in the middle of a turn", at(coord.SessionIdle, busy), nil, coord.AgentSilent, time.Minute, ""},
		{"calls tools without hooks", at(coord.SessionActive, func(s *coord.Session) {
			s.LastHeartbeatAt, s.LastToolAt = *ago(2 * time.Hour), ago(0)
		}), nil, coord.AgentSilent, 2 * time.Hour, ""},
		{"over", at(coord.SessionEnded, func(s *coord.Session) { s.EndedAt, s.AskedAt = ago(time.Hour), ago(2*time.Hour) }),
			[]coord.Snag{refused}, coord.AgentGone, time.Hour, ""},
		{"not heard of for half a day", at(coord.SessionExpired, busy), nil, coord.AgentGone, time.Minute, ""},
	} {
		got := coord.StandingOf(tt.session, tt.snags)
		ref := ""
		if got.Ref != nil {
			ref = *got.Ref
		}
		if got.State != tt.want || got.Since != *ago(tt.since) || ref != tt.ref {
			t.Errorf("%s: %s since %s, %q", tt.name, got.State, now.Sub(got.Since), ref)
		}
	}
}

func TestWhetherAnAgentAsks(t *testing.T) {
	for said, want := range map[string]bool{
		"Do you want me to keep the old flag?":                               true,
		"Done. Shall I also drop the column?**":                              true,
		"Which one?\n\n1. Keep it\n2. Drop it":                               true,
		"Which one?\n- a) keep it\n- b) drop it\n":                           true,
		"هل أحتفظ بالعلم القديم؟":                                            true,
		"古いフラグを残しますか？":                                                       true,
		"":                                                                   false,
		"All tests pass.":                                                    false,
		"Why did it fail? The lock was never released. I mended it.":         false,
		"Does it build?\n\nIt does: 40 tests pass.":                          false,
		"I added the route.\n```sh\ncurl localhost/orders?\n":                false,
		"- one\n- two?":                                                      false,
		"Fixed. See https://example.com/a?b=c":                               false,
		"Everything is in place; let me know if you want something changed.": false,
	} {
		if got := coord.AsksPerson(said); got != want {
			t.Errorf("%q: %v", said, got)
		}
	}
}
