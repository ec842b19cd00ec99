package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// in returns the same agent's host in another repo, with a session of its own.
func (a *agent) in(repo string) *agent {
	a.t.Helper()
	other := *a
	other.repo = repo
	other.begin()
	return &other
}

func TestWhichSessionACallActsAs(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		ana := s.agent("Ana", "acme/api")
		repo := func(in args) string {
			t.Helper()
			return do[wire.TeamPicture](ana, "team_context", in).Repo.FullName
		}
		if got := repo(nil); got != "acme/api" {
			t.Errorf("the only session is in %s", got)
		}
		web := ana.in("acme/web")
		both := ana.fails("team_context", nil, "bad-request")
		if len(both.Candidates) != 2 || !strings.Contains(both.Candidates[0]+both.Candidates[1], ana.session) ||
			!strings.Contains(both.Candidates[0]+both.Candidates[1], "acme/web") {
			t.Errorf("candidates: %q", both.Candidates)
		}
		has(t, ana.call("team_context", nil).Text, ana.session, web.session, "acme/api", "acme/web", "session_id")
		if got := repo(args{"repo": "acme/web"}); got != "acme/web" {
			t.Errorf("by repo: %s", got)
		}
		if got := repo(args{"repo": "github.com/acme/web"}); got != "acme/web" {
			t.Errorf("by fingerprint: %s", got)
		}
		if got := repo(args{"session_id": ana.session}); got != "acme/api" {
			t.Errorf("by session: %s", got)
		}
		ana.fails("team_context", args{"session_id": ana.session, "repo": "acme/web"}, "validation")

		// An intent says in which repo it is, so that its session is clear.
		d := do[wire.Declared](ana, "intent_declare", args{"title": "x", "repo": "acme/web"})
		if *d.Intent.SessionID != web.session {
			t.Errorf("declared by %s", *d.Intent.SessionID)
		}
		do[wire.Declared](ana, "intent_update", args{"intent": d.Intent.Ref, "note": "y"})
		if by := s.lastActor(coord.EventIntentUpdated); by != web.session {
			t.Errorf("updated by %s, want the session in its repo", by)
		}

		// Another token of the same person drives no session.
		other := *ana
		other.token = s.Token(s.org, &ana.user, coord.Scopes()...)
		other.fails("team_context", nil, "validation")
		if got := do[wire.TeamPicture](&other, "team_context", args{"repo": "acme/api"}); got.Repo.FullName != "acme/api" {
			t.Errorf("without a session: %+v", got)
		}

		// A session that has been quiet for longer than the repo's idle time is
		// acted as only when it is named.
		s.Advance(20 * time.Minute)
		ana.hook(wire.HookRequest{Event: wire.HookPrompt})
		s.Advance(20 * time.Minute)
		if got := repo(nil); got != "acme/api" {
			t.Errorf("after the other went idle: %s", got)
		}
		s.Advance(20 * time.Minute)
		ana.fails("team_context", nil, "validation")
		if got := repo(args{"session_id": web.session}); got != "acme/web" {
			t.Errorf("an idle session by its id: %s", got)
		}
	})
}

// Two agents of one person in one repository: a call acts as the one that is
// named, in its arguments or by who brings it. Otherwise a program acts as the
// latest, and a model as neither.
func TestTwoAgentsOfOnePerson(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		one := s.agent("Ana", "acme/api")
		two := *one
		two.branch = "other"
		two.begin()
		for _, tool := range []string{"team_context", "intent_declare", "scope_check", "message_send"} {
			in := args{"title": "x", "paths": []string{"a.go"}, "to": "channel:team", "body": "hi"}
			body, err := json.Marshal(args{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
				"params": args{"name": tool, "arguments": pick(in, tool)}})
			if err != nil {
				t.Fatal(err)
			}
			said := string(s.lean(one.token, string(body)))
			for _, want := range []string{`"isError":true`, "several agents of yours", one.session, two.session} {
				if !strings.Contains(said, want) {
					t.Errorf("%s: %q is not in %s", tool, want, said)
				}
			}
		}
		byHeader, other := *one, two
		byHeader.bridge, other.bridge = one.session, two.session
		for _, a := range []*agent{&byHeader, &other} {
			d := do[wire.Declared](a, "intent_declare", args{"title": "by " + a.branch})
			if *d.Intent.SessionID != a.session || s.lastActor(coord.EventIntentDeclared) != a.session {
				t.Errorf("%s declared as %s", a.branch, *d.Intent.SessionID)
			}
			if got := do[wire.TeamPicture](a, "team_context", nil); got.Intent == nil || got.Intent.Ref != d.Intent.Ref {
				t.Errorf("%s reads of %+v", a.branch, got.Intent)
			}
		}
		if got := do[wire.TeamPicture](one, "team_context", nil); got.Intent == nil || *got.Intent.SessionID != two.session {
			t.Errorf("a program that names none reads of %+v, not of the latest", got.Intent)
		}
		// Arguments go before who brings the call.
		d := do[wire.Declared](&byHeader, "intent_declare", args{"title": "again", "session_id": two.session})
		if *d.Intent.SessionID != two.session {
			t.Errorf("declared as %s", *d.Intent.SessionID)
		}
		// Another repo: the same agent's session there, if it has one.
		if got := do[wire.TeamPicture](&byHeader, "team_context", args{"repo": "acme/api"}); got.Repo.FullName != "acme/api" {
			t.Errorf("its own repo: %+v", got.Repo)
		}
		s.agent("Bob", "acme/web")
		web := do[wire.TeamPicture](&byHeader, "team_context", args{"repo": "acme/web"})
		if web.Repo.FullName != "acme/web" || web.Intent != nil {
			t.Errorf("elsewhere: %+v", web)
		}
		// A session of somebody else's is nobody's.
		bob := s.agent("Cyd", "acme/api")
		bob.bridge = one.session
		for _, tool := range []string{"channels", "team_context", "who_is_online"} {
			bob.fails(tool, nil, "not-found")
		}
	})
}

// pick leaves what a tool takes.
func pick(in args, tool string) args {
	keys := map[string][]string{"intent_declare": {"title"}, "scope_check": {"paths"}, "message_send": {"to", "body"}}[tool]
	out := args{}
	for _, k := range keys {
		out[k] = in[k]
	}
	return out
}

// lastActor returns who the latest event of a type is by.
func (s *team) lastActor(t coord.EventType) string {
	s.t.Helper()
	var page struct{ Items []coord.Event }
	s.Must(200, daemontest.Request{Method: "GET", Path: "/v1/events?type=" + string(t) + "&limit=1", Token: s.org.Owner()}, &page)
	if len(page.Items) == 0 {
		s.t.Fatalf("no event %s", t)
	}
	return page.Items[0].Actor.ID
}

func TestEveryCallCountsItsCaller(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		usage := func() (u wire.Usage) {
			s.Must(200, daemontest.Request{Method: "GET", Path: "/v1/usage", Token: s.org.Owner()}, &u)
			return u
		}
		ana := s.agent("Ana", "acme/api")
		before := usage().ActiveDevelopers
		ana.call("channels", nil)
		ana.call("channels", nil)
		cyd := s.org.Users[coord.Viewer]
		viewer := &agent{s: s, t: t, at: s.World, user: cyd, token: s.org.Tokens[coord.Viewer]}
		viewer.fails("intent_adopt", args{"ref": "INT-9"}, "not-found") // a failure counts too
		if got := usage().ActiveDevelopers; got > before+2 || got < before+1 {
			t.Errorf("%d active, before %d", got, before)
		}
		found := false
		for _, d := range usage().Developers {
			found = found || d.User.ID == cyd.ID
		}
		if !found {
			t.Error("the viewer was not counted")
		}
		// In the next month the count begins anew.
		s.Advance(32 * 24 * time.Hour)
		ana.call("channels", nil)
		if got := usage().ActiveDevelopers; got != 1 {
			t.Errorf("next month: %d", got)
		}
	})
}

func TestThePlanLimitsDevelopers(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		s.Write(s.org.ID, func(ctx ctx, x *tx) error {
			_, err := x.ExecContext(ctx, `UPDATE orgs SET plan = 'free' WHERE id = $1`, s.org.ID)
			return err
		})
		var limits struct{ Limits wire.UsageLimits }
		s.Must(200, daemontest.Request{Method: "GET", Path: "/v1/usage", Token: s.org.Owner()}, &limits)
		room := *limits.Limits.Developers
		var in []*agent
		for range room {
			u := s.Member(s.org, coord.Member)
			a := &agent{s: s, t: t, at: s.World, user: u, token: s.Token(s.org, &u, coord.Scopes()...)}
			a.call("channels", nil)
			in = append(in, a)
		}
		u := s.Member(s.org, coord.Member)
		late := &agent{s: s, t: t, at: s.World, user: u, token: s.Token(s.org, &u, coord.Scopes()...)}
		before := s.events()
		for range 2 { // nothing is done; that the limit is reached is told once
			b := late.fails("message_send", args{"to": "channel:team", "body": "x"}, "plan_limit")
			if b.Status != 402 || s.events() != before+1 {
				t.Errorf("over the limit: %+v, %d events became %d", b, before, s.events())
			}
		}
		if said := in[0].call("channels", nil); said.IsError {
			t.Errorf("one who is counted: %s", said.Text)
		}
	})
}

// A session's last tool call is noted, without a write for each call.
func TestToolCallsAreNoted(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		ana := s.agent("Ana", "acme/api")
		last := func() (at *coord.Time) {
			s.Write(s.org.ID, func(ctx ctx, x *tx) error {
				row, err := x.Session(ctx, s.org.ID, ana.session)
				at = row.LastToolAt
				return err
			})
			return at
		}
		if at := last(); at != nil {
			t.Fatalf("before any call: %v", at)
		}
		ana.call("team_context", nil)
		if at := last(); at != nil {
			t.Error("a call wrote at once")
		}
		s.Advance(time.Minute)
		ana.call("inbox", nil)
		want := s.D.Now()
		if err := s.D.Ops.Work.FlushBeats(context.Background()); err != nil {
			t.Fatal(err)
		}
		if at := last(); at == nil || want.Sub(*at) > 10*time.Second {
			t.Errorf("noted %v, the last call was at %v", at, want)
		}
	})
}
