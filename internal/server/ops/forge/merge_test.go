package forge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// claims has somebody hold files exclusively.
func (x *team) claims(p person, branch string, paths ...string) (agent, coord.Intent) {
	x.Helper()
	a := x.Agent(p, apiRepo)
	var out wire.Declared
	x.W.Must(201, request{Method: "POST", Path: "/v1/intents", Token: a.Token, Header: map[string]string{"X-Svc-Session": a.Session},
		Body: map[string]any{"title": "Hold " + branch, "repo": apiRepo, "branch": branch, "mode": "exclusive",
			"scope": map[string]any{"paths": paths}}}, &out)
	return a, out.Intent
}

func (x *team) setRules(rules map[string]any) {
	x.Helper()
	x.W.Must(200, request{Method: "PUT", Path: "/v1/policies", Token: x.Ada.Token, Body: map[string]any{"rules": rules}}, nil)
}

func (x *team) close(a agent, ref string) {
	x.Helper()
	x.W.Must(200, request{Method: "POST", Path: "/v1/intents/" + ref + "/close", Token: a.Token,
		Header: map[string]string{"X-Svc-Session": a.Session}, Body: map[string]any{"outcome": "abandoned"}}, nil)
}

// conclusion is what the check of a pull request says.
func (x *githubTeam) conclusion() (state, text string) {
	check := x.gh.lastCheck()
	out, _ := check["output"].(map[string]any)
	return fmt.Sprint(check["conclusion"]), fmt.Sprint(out["summary"])
}

func (x *githubTeam) wantCheck(state string, says ...string) {
	x.Helper()
	await.True(x, "the check is "+state, func() bool {
		now, text := x.conclusion()
		for _, s := range says {
			if !strings.Contains(text, s) {
				return false
			}
		}
		return now == state
	})
}

// A pull request that changes what somebody else holds exclusively does not pass
// the check, though no hook ever told of the edit; the check names who to ask. It
// passes when the claim ends, and fails again when another comes.
func TestAClaimHoldsAtThePullRequest(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		x.setRules(map[string]any{"pull_request_report": "check"})
		bob, held := x.claims(x.Bob, "bobs", "a.go")
		x.gh.set(func() {
			x.gh.touched = []map[string]any{{"filename": "b.go", "previous_filename": "a.go", "status": "renamed"}}
		})
		x.tell(x.gh.pullRequest("opened", 12, "feature", t0, nil))
		x.wantCheck("action_required", held.Ref, x.Bob.Name, "a.go")

		x.close(bob, held.Ref)
		x.wantCheck("success")

		_, again := x.claims(x.Bob, "bobs2", "b.go")
		x.wantCheck("action_required", again.Ref)

		x.setRules(map[string]any{"pull_request_report": "check", "claims_at_merge": "warn"})
		x.tell(x.gh.pullRequest("synchronize", 12, "feature", t0.Add(time.Minute), nil))
		x.wantCheck("neutral", again.Ref)
		x.setRules(map[string]any{"pull_request_report": "check", "claims_at_merge": "off"})
		x.tell(x.gh.pullRequest("synchronize", 12, "feature", t0.Add(2*time.Minute), nil))
		x.wantCheck("success")
	})
}

// The holder's own pull request passes, and one whose meeting with the claim a
// person has overridden. A fork's branch of the same name is not the holder's.
func TestWhoseClaimLetsAPullRequestThrough(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		x.setRules(map[string]any{"pull_request_report": "check"})
		_, held := x.claims(x.Bob, "bobs", "a.go")
		cyd, _ := x.works(x.Cyd, "feature", "c.go")
		x.gh.set(func() { x.gh.touched = []map[string]any{{"filename": "a.go", "status": "modified"}} })
		x.tell(x.gh.pullRequest("opened", 12, "bobs", t0, nil))
		x.wantCheck("success")

		x.tell(x.gh.pullRequest("opened", 13, "feature", t0, nil))
		x.wantCheck("action_required", held.Ref)

		reply := x.Hook(cyd, wire.HookPreEdit, map[string]any{"paths": []string{"a.go"}})
		if reply.Decision != wire.Block || len(reply.Conflicts) != 1 {
			t.Fatalf("the claim does not hold: %+v", reply)
		}
		x.W.Must(200, request{Method: "POST", Path: "/v1/conflicts/" + reply.Conflicts[0].Ref + "/override", Cookie: x.W.Cookie(x.Ada.User),
			Body: map[string]any{"reason": "agreed with Bob"}}, nil)
		x.wantCheck("success")
	})
}

// The same on GitLab, as a commit status.
func TestAClaimHoldsAtTheMergeRequest(t *testing.T) {
	onGitLab(t, func(t *testing.T, x *gitlabTeam) {
		x.to, x.secret = x.gitlab(nil)
		x.setRules(map[string]any{"pull_request_report": "check"})
		x.connect(t)
		bob, held := x.claims(x.Bob, "bobs", "a.go")
		x.lab.set(func() { x.lab.touched = []map[string]any{{"old_path": "a.go", "new_path": "a.go"}} })
		x.merge("open", "opened", "feature", t0)
		want := func(state string) {
			t.Helper()
			await.True(t, "the status is "+state, func() bool {
				x.lab.mu.Lock()
				defer x.lab.mu.Unlock()
				return len(x.lab.states) > 0 && x.lab.states[len(x.lab.states)-1]["state"] == state
			})
		}
		want("failed")
		x.close(bob, held.Ref)
		want("success")
	})
}

// pushes asks whether a push may arrive.
func (x *team) pushes(in map[string]any) (out wire.PushChecked) {
	x.Helper()
	in["repo"] = apiRepo
	x.W.Must(200, request{Method: "POST", Path: "/v1/push-check", Token: x.Ada.Token, Body: in}, &out)
	return out
}

// A push that changes what somebody else holds exclusively is refused, whoever
// the commits say they are of; what one's own other agent holds is refused where
// an edit went past it.
func TestAClaimHoldsAtThePush(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		bob, held := x.claims(x.Bob, "bobs", "a.go")
		cyd, _ := x.works(x.Cyd, "feature", "c.go")
		files := []string{"a.go", "z.go"}
		for name, in := range map[string]map[string]any{
			"nobody known":           {"paths": files},
			"somebody else":          {"paths": files, "pusher": x.Cyd.Email},
			"with forged addresses":  {"paths": files, "pusher": x.Cyd.Email, "emails": []string{x.Bob.Email}},
			"on the holder's branch": {"paths": files, "pusher": x.Cyd.Email, "branch": "bobs"},
			"a stranger":             {"paths": files, "pusher": "stranger@example.com"},
			"files not listed":       {"paths": []string{}, "more": true, "pusher": x.Cyd.Email},
		} {
			got := x.pushes(in)
			if got.Decision != wire.Block || len(got.Held) != 1 || got.Held[0].Intent == nil || got.Held[0].Intent.Ref != held.Ref ||
				!strings.Contains(got.Reason, "Ask "+x.Bob.Name) || !strings.Contains(got.Reason, "holds a.go exclusively") {
				t.Errorf("%s = %+v", name, got)
			}
		}
		for name, in := range map[string]map[string]any{
			"the holder":  {"paths": files, "pusher": strings.ToUpper(x.Bob.Email)},
			"other files": {"paths": []string{"z.go"}, "pusher": x.Cyd.Email},
		} {
			if got := x.pushes(in); got.Decision != wire.Allow {
				t.Errorf("%s = %+v", name, got)
			}
		}
		second := x.Agent(x.Bob, apiRepo) // Bob's other agent goes past the claim
		x.changes(second, "other", lines("a.go", "b1", "n1", 3, 1))
		got := x.pushes(map[string]any{"paths": files, "pusher": x.Bob.Email})
		if got.Decision != wire.Block || !got.Held[0].Untold || !strings.Contains(got.Reason, "without a check") {
			t.Errorf("past one's own agent's claim = %+v", got)
		}
		x.setRules(map[string]any{"enforcement": "warn"})
		if got := x.pushes(map[string]any{"paths": files, "pusher": x.Cyd.Email}); got.Decision != wire.Warn {
			t.Errorf("where hooks only warn = %+v", got)
		}
		x.setRules(map[string]any{})
		x.close(bob, held.Ref)
		if got := x.pushes(map[string]any{"paths": files, "pusher": x.Cyd.Email}); got.Decision != wire.Allow {
			t.Errorf("after the claim = %+v", got)
		}
		_ = cyd
	})
}
