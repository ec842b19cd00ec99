package daemon_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// An agent sends hook events as one session in one worktree.
type agent struct {
	*daemontest.Person
	session, branch, worktree string
}

func (a agent) hook(e wire.HookRequest) wire.HookReply {
	e.Session = wire.HookSession{ExternalID: a.session, Tool: "claude_code"}
	e.Repo.RemoteFingerprints = []string{"git@github.com:acme/api.git"}
	e.Repo.Branch, e.Repo.WorktreeHash = a.branch, a.worktree
	return daemontest.Do[wire.HookReply](a.Person, 200, "POST /v1/hooks/evaluate", e, "X-Svc-Protocol", "1")
}

func (a agent) event(e wire.HookEvent, paths ...string) wire.HookReply {
	return a.hook(wire.HookRequest{Event: e, Paths: paths})
}

func TestAnExclusiveClaimBlocksAnothersEdit(t *testing.T) {
	daemontest.Each(t, func(t *testing.T, s *daemontest.Team) {
		ana := agent{s.Add("Ana", coord.Member), "s-ana", "api-v2", "wt-ana"}
		bob := agent{s.Add("Bob", coord.Member), "s-bob", "logout", "wt-bob"}
		start := ana.event(wire.HookSessionStart)
		if start.SessionID == nil || !strings.Contains(start.InjectContext, *start.SessionID) {
			t.Fatalf("the briefing does not name the session: %+v", start)
		}
		bob.event(wire.HookSessionStart)
		declared := daemontest.Do[wire.Declared](ana.Person, 201, "POST /v1/intents", map[string]any{
			"title":      "Rework login",
			"mode":       "exclusive",
			"session_id": *start.SessionID,
			"scope":      map[string]any{"paths": []string{"auth/login.go"}},
		})
		if declared.Intent.EffectiveMode != coord.Exclusive || *declared.Intent.Branch != "api-v2" {
			t.Fatalf("declared %+v", declared.Intent)
		}
		if r := ana.event(wire.HookPreEdit, "auth/login.go"); r.Decision != wire.Allow {
			t.Errorf("the holder's own edit: %+v", r)
		}
		if r := bob.event(wire.HookPreEdit, "auth/logout.go"); r.Decision != wire.Allow {
			t.Errorf("an edit beside the claim: %+v", r)
		}
		blocked := bob.event(wire.HookPreEdit, "auth/login.go")
		if blocked.Decision != wire.Block || !strings.Contains(blocked.Reason, "INT-1") || !strings.Contains(blocked.Reason, "CF-1") ||
			len(blocked.Conflicts) != 1 {
			t.Fatalf("the edit of a claimed file: %+v", blocked)
		}
		if again := bob.event(wire.HookPreEdit, "auth/login.go"); again.Reason != blocked.Reason {
			t.Errorf("a retry says\n%s\nfirst said\n%s", again.Reason, blocked.Reason)
		}
		if r := bob.event(wire.HookPreShell, "auth/login.go"); r.Decision != wire.Block {
			t.Errorf("a shell command that writes the file: %+v", r)
		}
		// An agent cannot override, whichever way it comes.
		over := "POST /v1/conflicts/CF-1/override"
		if a := bob.Call(over, `{"reason":"let me"}`); a.Status != 403 {
			t.Errorf("override by a member = %d", a.Status)
		}
		ownerSession := agent{s.Owner, "s-owner", "main", "wt-o"}.event(wire.HookSessionStart)
		if a := s.Owner.Call(over, `{"reason":"let me"}`, "X-Svc-Session", *ownerSession.SessionID); a.Status != 403 {
			t.Errorf("override from an agent's session = %d", a.Status)
		}
		daemontest.Do[coord.Conflict](bob.Person, 200, "POST /v1/conflicts/CF-1/actions", map[string]any{
			"action": "request_override",
			"note":   "urgent fix",
		})
		if a := s.Owner.Call(over, `{"reason":"let me"}`); a.Status != 403 {
			t.Errorf("override by a token that agents use = %d", a.Status)
		}
		desk := func(headers ...string) []string {
			made := daemontest.Do[wire.CreatedToken](s.Owner, 201, "POST /v1/tokens", map[string]any{
				"name":   "desk",
				"scopes": []coord.Scope{coord.ScopeConflictsWrite},
			}, headers...)
			return []string{"Authorization", "Bearer " + made.Plaintext}
		}
		if a := s.Owner.Call(over, `{"reason":"let me"}`, desk()...); a.Status != 403 {
			t.Errorf("override by a token that a token of agents made = %d", a.Status)
		}
		daemontest.Do[coord.Conflict](s.Owner, 200, over, map[string]any{"reason": "both know"}, desk(s.SignIn()...)...)
		if r := bob.event(wire.HookPreEdit, "auth/login.go"); r.Decision == wire.Block {
			t.Errorf("after the override: %+v", r)
		}
	})
}

func TestEditsOfTheSameLinesAreWarnedAbout(t *testing.T) {
	daemontest.Each(t, func(t *testing.T, s *daemontest.Team) {
		ana := agent{s.Add("Ana", coord.Member), "s-ana", "api-v2", "wt-ana"}
		bob := agent{s.Add("Bob", coord.Member), "s-bob", "logout", "wt-bob"}
		edit := func(a agent, start, count int, hash string) wire.HookReply {
			blob := "b10b"
			return a.hook(wire.HookRequest{
				Event: wire.HookPostEdit,
				Paths: []string{"src/jwt.go"},
				Analysis: &coord.Analysis{Files: []coord.FileFacts{{
					Path:     "src/jwt.go",
					Status:   coord.FileModified,
					Language: "go",
					BaseBlob: &blob,
					Hunks:    []coord.Hunk{{Start: start, Count: count, LinesHash: hash}},
				}}},
			})
		}
		ana.event(wire.HookPrompt)
		if r := edit(ana, 40, 10, "aa"); len(r.Conflicts) != 0 {
			t.Fatalf("the first edit: %+v", r)
		}
		if r := edit(bob, 80, 2, "bb"); strings.Contains(r.InjectContext, "edit_overlap") {
			t.Errorf("an edit elsewhere in the file: %+v", r)
		}
		r := edit(bob, 45, 10, "cc")
		if !strings.Contains(r.InjectContext, "edit_overlap") || !strings.Contains(r.InjectContext, "INT-1") {
			t.Fatalf("an edit of the same lines: %+v", r)
		}
		if again := edit(bob, 45, 10, "cc"); again.InjectContext != "" {
			t.Errorf("the same warning twice: %q", again.InjectContext)
		}
		if r := edit(ana, 40, 10, "aa"); !strings.Contains(r.InjectContext, "edit_overlap") {
			t.Errorf("the first side is not told at its next event: %+v", r)
		}
		// Undoing the edit clears the conflict.
		bob.hook(wire.HookRequest{
			Event:    wire.HookPostEdit,
			Analysis: &coord.Analysis{Files: []coord.FileFacts{{Path: "src/jwt.go", Status: coord.FileUnchanged}}},
		})
		list := daemontest.Do[wire.Page[coord.Conflict]](s.Owner, 200, "GET /v1/conflicts?status=resolved", nil)
		found := false
		for _, c := range list.Items {
			found = found || c.Kind == coord.EditOverlap && *c.Resolution == coord.ResolvedCleared
		}
		if !found {
			t.Errorf("after the edit was undone: %+v", list.Items)
		}
	})
}

func TestARetriedEventChangesNothing(t *testing.T) {
	daemontest.Each(t, func(t *testing.T, s *daemontest.Team) {
		ana := agent{s.Add("Ana", coord.Member), "s-ana", "b", "wt"}
		prompt := wire.HookRequest{Event: wire.HookPrompt, PromptExcerpt: "Fix the login. Then rest.", DedupeKey: "k1"}
		first := ana.hook(prompt)
		before := daemontest.Do[wire.Page[coord.Event]](s.Owner, 200, "GET /v1/events", nil)
		second := ana.hook(prompt)
		after := daemontest.Do[wire.Page[coord.Event]](s.Owner, 200, "GET /v1/events", nil)
		if first.Intent == nil || second.Intent == nil || first.Intent.Ref != second.Intent.Ref || len(before.Items) != len(after.Items) {
			t.Errorf("first %+v, second %+v, events %d and %d", first, second, len(before.Items), len(after.Items))
		}
		i := daemontest.Do[coord.Intent](ana.Person, 200, "GET /v1/intents/"+first.Intent.Ref, nil)
		if i.Title != "Fix the login" || i.Status != coord.IntentDraft {
			t.Errorf("drafted %q, %s", i.Title, i.Status)
		}
		if seen := daemontest.Do[coord.Intent](s.Owner, 200, "GET /v1/intents/"+first.Intent.Ref, nil); seen.Title == i.Title {
			t.Errorf("a draft's title is shown to others")
		}
	})
}

// A client that lost an answer asks again and must get the one it missed: the
// warning is told once, so a second evaluation would keep it from the agent.
func TestARetriedEventGetsTheAnswerItMissed(t *testing.T) {
	daemontest.Each(t, func(t *testing.T, s *daemontest.Team) {
		ana := agent{s.Add("Ana", coord.Member), "s-ana", "api-v2", "wt-ana"}
		bob := agent{s.Add("Bob", coord.Member), "s-bob", "logout", "wt-bob"}
		ana.hook(edited("k-ana", 40))
		missed := bob.hook(edited("k-bob", 42))
		if !strings.Contains(missed.InjectContext, "edit_overlap") {
			t.Fatalf("bob is not warned: %+v", missed)
		}
		if again := bob.hook(edited("k-bob", 42)); again.InjectContext != missed.InjectContext {
			t.Errorf("the retry is told %q, the first was told %q", again.InjectContext, missed.InjectContext)
		}
		if next := bob.hook(edited("k-bob-2", 42)); next.InjectContext != "" {
			t.Errorf("another event is told the same again: %q", next.InjectContext)
		}
	})
}

// Keys are the clients' own words: two people may have the same one.
func TestDedupeKeysOfTwoPeopleAreTwoKeys(t *testing.T) {
	daemontest.Each(t, func(t *testing.T, s *daemontest.Team) {
		ana := agent{s.Add("Ana", coord.Member), "s-ana", "api-v2", "wt-ana"}
		bob := agent{s.Add("Bob", coord.Member), "s-bob", "logout", "wt-bob"}
		first := ana.hook(edited("k", 40))
		second := bob.hook(edited("k", 42))
		if first.SessionID == nil || second.SessionID == nil || *first.SessionID == *second.SessionID {
			t.Errorf("sessions %v and %v", first.SessionID, second.SessionID)
		}
		if !strings.Contains(second.InjectContext, "edit_overlap") {
			t.Errorf("bob's event was taken for ana's: %+v", second)
		}
	})
}

// edited tells of an edit of two lines.
func edited(key string, line int) wire.HookRequest {
	blob := "b1"
	return wire.HookRequest{Event: wire.HookPostEdit, DedupeKey: key, Paths: []string{"src/jwt.go"}, Analysis: &coord.Analysis{
		Files: []coord.FileFacts{{
			Path:     "src/jwt.go",
			Status:   coord.FileModified,
			BaseBlob: &blob,
			Hunks:    []coord.Hunk{{Start: line, Count: 5, LinesHash: key}},
		}},
	}}
}

// Merged work is told for two weeks. A service that has it in memory forgets it
// with the event at which one that has just started would not read it any more:
// both answer alike, before and after.
func TestServicesOfDifferentAgeAnswerAlike(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		x := teamtest.New(t, daemontest.Start(t, dsn), "Acme")
		young := func() *teamtest.Team {
			there := *x
			if x.W.Store.Name() == "postgres" {
				there.W = x.W.Replica()
			} else {
				x.W.Restart()
			}
			return &there
		}
		edits := func(x *teamtest.Team, a teamtest.Agent, path, blob string) wire.HookReply {
			return x.Hook(a, wire.HookPostEdit, map[string]any{"paths": []string{path}, "analysis": coord.Analysis{Files: []coord.FileFacts{{
				Path: path, Status: coord.FileModified, Language: "go", BaseBlob: new("base"), NewBlob: &blob,
				Hunks: []coord.Hunk{{Start: 40, Count: 10, LinesHash: blob}},
			}}}})
		}
		ada := x.Agent(x.Ada, teamtest.APIRepo)
		var work *wire.HookIntent
		for i := range 4 {
			work = edits(x, ada, fmt.Sprintf("f%d.go", i), "ada's").Intent
		}
		x.W.Must(200, daemontest.Request{Method: "POST", Path: "/v1/intents/" + work.Ref + "/close", Token: x.Ada.Token,
			Body: map[string]any{"outcome": "merged"}}, nil)
		file := 0
		tells := func(x *teamtest.Team) bool {
			path := fmt.Sprintf("f%d.go", file)
			file++
			return strings.Contains(edits(x, x.Agent(x.Newcomer(), teamtest.APIRepo), path, "theirs").InjectContext, "rebase_needed")
		}
		for _, c := range []struct {
			days int
			want bool
		}{{13, true}, {2, false}} {
			x.W.Advance(time.Duration(c.days) * 24 * time.Hour)
			if old, fresh := tells(x), tells(young()); old != c.want || fresh != c.want {
				t.Errorf("%d days later merged work is told by the old one: %v, by the young one: %v, want %v", c.days, old, fresh, c.want)
			}
		}
	})
}
