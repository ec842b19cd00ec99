package team_test

import (
	"strings"
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
	in := func(state coord.AgentState, ref string) coord.Standing {
		if ref == "" {
			return coord.Standing{State: state}
		}
		return coord.Standing{State: state, Ref: &ref}
	}
	words := ptr("Keep the old flag?")
	for _, tt := range []struct {
		name     string
		session  coord.Session
		conflict coord.Conflict
		says     string
	}{
		{"at work", coord.Session{Standing: in(coord.AgentWorking, "")}, coord.Conflict{}, ""},
		{"stopped", coord.Session{StatusText: words, Standing: in(coord.AgentStopped, "")}, coord.Conflict{}, "“Keep the old flag?”"},
		{"refused", coord.Session{ID: "s2", User: bo, Standing: in(coord.AgentBlocked, "CF-1")}, clash(coord.SeverityBlock, holder, challenger),
			"same lines with Ann"},
		{"refused, and asks", coord.Session{ID: "s2", User: bo, StatusText: words, Standing: in(coord.AgentAsks, "CF-1")},
			clash(coord.SeverityBlock, holder, challenger), "“Keep the old flag?”"},
		{"asks, and its words stay at home", coord.Session{Standing: in(coord.AgentAsks, "")}, coord.Conflict{}, "asks its person"},
		{"waits", coord.Session{Standing: in(coord.AgentWaits, "INT-5")}, coord.Conflict{}, "waits for Ann: Tax table (INT-5)"},
		{"waits for an edit", coord.Session{Standing: in(coord.AgentWaits, "")}, coord.Conflict{}, "waits for other work"},
		{"one's own other agent", coord.Session{ID: "s1", User: ann, Standing: in(coord.AgentCollides, "CF-1")},
			clash(coord.SeverityWarn, holder, side(coord.Challenger, ann, "s3", "INT-3")), "same lines with INT-3"},
	} {
		intents := []coord.Intent{{Ref: "INT-5", Title: "Tax table", Owner: ann}}
		got := team.Agents([]coord.Session{tt.session}, intents, []coord.Conflict{tt.conflict})[0]
		if got.Says() != tt.says || got.State != tt.session.State {
			t.Errorf("%s: %s, %q", tt.name, got.State, got.Says())
		}
	}
}

func TestHowManyWentUnchecked(t *testing.T) {
	at := coord.TimeOf(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC))
	for _, tt := range []struct {
		later time.Duration
		want  int
	}{{time.Minute, 3}, {25 * time.Hour, 0}} {
		s := coord.Session{ID: "s1", User: ann, FailOpens: 3, FailOpensAt: &at, LastHeartbeatAt: at.Add(tt.later)}
		got := team.Agents([]coord.Session{s}, nil, nil)[0]
		if got.Unchecked != tt.want || strings.Contains(got.Says(), "3 unchecked") != (tt.want == 3) {
			t.Errorf("%s later %d are shown, not %d", tt.later, got.Unchecked, tt.want)
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
