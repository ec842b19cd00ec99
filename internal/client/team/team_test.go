package team_test

import (
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
)

var (
	ann = coord.User{ID: "a", Name: "Ann"}
	bo  = coord.User{ID: "b", Name: "Bo"}
)

func ptr[T any](v T) *T { return &v }

func side(role coord.PartyRole, u coord.User, session, intent string) coord.Party {
	p := coord.Party{Role: role, User: &u, SessionID: &session}
	if intent != "" {
		p.Intent = &coord.IntentName{Ref: intent}
	}
	return p
}

func clash(sev coord.Severity, parties ...coord.Party) coord.Conflict {
	return coord.Conflict{Ref: "CF-1", Kind: coord.EditOverlap, Severity: sev, Parties: parties}
}

func TestWhatAnAgentIsIn(t *testing.T) {
	holder, challenger := side(coord.Holder, ann, "s1", "INT-1"), side(coord.Challenger, bo, "s2", "INT-2")
	for _, tt := range []struct {
		name      string
		session   coord.Session
		intent    coord.Intent
		conflict  coord.Conflict
		want      team.State
		why, from string
	}{
		{"at work", coord.Session{ID: "s9"}, coord.Intent{}, coord.Conflict{}, team.Working, "", ""},
		{"idle", coord.Session{ID: "s9", Status: coord.SessionIdle}, coord.Intent{}, coord.Conflict{}, team.Idle, "", ""},
		{"stopped", coord.Session{ID: "s2", User: bo}, coord.Intent{}, clash(coord.SeverityBlock, holder, challenger), team.Blocked,
			"same lines with Ann", "CF-1"},
		{"in the way", coord.Session{ID: "s1", User: ann}, coord.Intent{}, clash(coord.SeverityBlock, holder, challenger), team.Colliding,
			"same lines with Bo", "CF-1"},
		{"by its intent", coord.Session{ID: "x", User: bo, Intent: &coord.IntentName{Ref: "INT-2"}}, coord.Intent{},
			clash(coord.SeverityWarn, holder, challenger), team.Colliding, "same lines with Ann", "CF-1"},
		{"info does not interrupt", coord.Session{ID: "s1"}, coord.Intent{}, clash(coord.SeverityInfo, holder, challenger), team.Working, "", ""},
		{"waits", coord.Session{ID: "x", Intent: &coord.IntentName{Ref: "INT-5"}},
			coord.Intent{Ref: "INT-5", Status: coord.IntentBlocked, BlockedBy: []coord.Blocker{{Ref: "INT-1"}}}, coord.Conflict{}, team.Waiting,
			"waits for INT-1", "INT-1"},
		{"one's own other agent", coord.Session{ID: "s1", User: ann}, coord.Intent{},
			clash(coord.SeverityWarn, holder, side(coord.Challenger, ann, "s3", "INT-3")), team.Colliding, "same lines with INT-3", "CF-1"},
	} {
		got := team.Agents([]coord.Session{tt.session}, []coord.Intent{tt.intent}, []coord.Conflict{tt.conflict})[0]
		if got.State != tt.want || got.Why != tt.why || got.WhyRef != tt.from {
			t.Errorf("%s: %s, %q (%s)", tt.name, got.State, got.Why, got.WhyRef)
		}
	}
}

func TestWhereAndBetweenWhom(t *testing.T) {
	lines := func(role coord.PartyRole, path string, from, to int) coord.Evidence {
		return coord.Evidence{Party: role, Path: &path, Lines: &coord.Lines{Start: from, End: to}}
	}
	for _, tt := range []struct {
		name string
		c    coord.Conflict
		want string
	}{
		{"the lines where both are", coord.Conflict{Evidence: []coord.Evidence{lines("holder", "b.go", 1, 2), lines("holder", "a.go", 3, 9),
			lines("challenger", "a.go", 7, 12)}}, "a.go:7-9 +1"},
		{"no common lines", coord.Conflict{Evidence: []coord.Evidence{lines("holder", "a.go", 3, 4), lines("challenger", "a.go", 7, 9)}}, "a.go"},
		{"a contract", coord.Conflict{Kind: coord.ContractBreak, Evidence: []coord.Evidence{{Path: ptr("a.go"), Contract: ptr("GET /users")}}},
			"GET /users"},
		{"a definition", coord.Conflict{Kind: coord.SymbolOverlap, Evidence: []coord.Evidence{{Symbol: ptr("sym:go:a.go#Load")}}}, "a.go#Load"},
		{"a claim", coord.Conflict{Evidence: []coord.Evidence{{Selector: ptr("auth/**")}}}, "auth/**"},
		{"nothing", coord.Conflict{}, "-"},
	} {
		if got := team.Where(tt.c); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for want, c := range map[string]coord.Conflict{
		"Ann / Bo":               clash("warn", side("holder", ann, "1", ""), side("challenger", bo, "2", "")),
		"Ann's INT-1 / INT-2":    clash("warn", side("holder", ann, "1", "INT-1"), side("challenger", ann, "2", "INT-2")),
		"two agents of Ann":      clash("warn", side("holder", ann, "1", ""), side("challenger", ann, "2", "")),
		"two agents of Ann \x00": clash("warn", side("holder", ann, "1", "INT-1"), side("challenger", ann, "2", "INT-1")),
	} {
		if got := team.Between(c); got != want && got+" \x00" != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if n := team.Pairs([]coord.Conflict{
		clash("warn", side("holder", ann, "1", "INT-1"), side("challenger", bo, "2", "INT-2")),
		clash("block", side("holder", bo, "2", "INT-2"), side("challenger", ann, "1", "INT-1")),
		clash("info", side("holder", bo, "2", "INT-2"), side("challenger", ann, "1", "INT-9")),
	}); n != 1 {
		t.Errorf("%d pairs", n)
	}
	at := time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{0: "now", time.Minute: "1m", time.Hour: "1h", 50 * time.Hour: "2d"} {
		if got := team.Age(at.Add(d), coord.TimeOf(at)); got != want {
			t.Errorf("%s: %s", d, got)
		}
	}
}
