package forge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store"
)

// livesAt notes that the team's repository is cloned from a host.
func (x *team) livesAt(host string) {
	x.Helper()
	u, err := url.Parse(host)
	if err != nil {
		x.Fatal(err)
	}
	x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO repo_remotes (org_id, fingerprint, repo_id, position)
			SELECT org_id, $1, id, 5 FROM repos WHERE full_name = $2`, u.Hostname()+u.Path+"/acme/api", apiRepo)
		return err
	})
}

// broken are the connections that admins are told do not work.
func (x *team) broken() (titles []string) {
	x.Helper()
	var out wire.Attention
	x.W.Must(200, request{Method: "GET", Path: "/v1/attention", Token: x.Ada.Token}, &out)
	for _, i := range out.Items {
		if i.Kind == coord.AttentionIntegration {
			titles = append(titles, i.Title)
		}
	}
	return titles
}

func (g *fakeGitHub) checkOn(sha string) (out map[string]any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.checks {
		if c["head_sha"] == sha {
			out = c
		}
	}
	return out
}

func (g *fakeGitHub) group(action, sha string, number int) delivery {
	return g.delivery("merge_group", map[string]any{"action": action, "installation": map[string]any{"id": 77},
		"merge_group": map[string]any{"head_sha": sha, "base_ref": "refs/heads/main",
			"head_ref": fmt.Sprintf("refs/heads/gh-readonly-queue/main/pr-%d-%s", number, sha)},
		"repository": hosted("acme/api", 99)})
}

// A queue waits for a required check until it is there, so every group gets
// one: that of the pull request it ends with.
func TestAMergeGroupHasACheck(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		x.tell(x.gh.group("checks_requested", "g0", 4))
		x.settled()
		if c := x.gh.checkOn("g0"); c != nil {
			t.Errorf("where pull requests get comments, a group has the check %v", c)
		}
		x.W.Must(200, request{Method: "PUT", Path: "/v1/policies", Token: x.Ada.Token, Body: map[string]any{"rules": map[string]any{
			"pull_request_report": "check", "severity": map[string]any{"edit_overlap": "block"}}}}, nil)
		x.overlapping()
		await.True(t, "the pull request asks for action", func() bool {
			c := x.gh.checkOn("head-1")
			return c != nil && c["conclusion"] == "action_required"
		})
		for sha, number := range map[string]int{"g1": 12, "g2": 4711, "g3": 0} {
			if got := x.tell(x.gh.group("checks_requested", sha, number)); got.Status != "done" {
				t.Errorf("group %s = %+v", sha, got)
			}
		}
		x.settled()
		for sha, want := range map[string]string{"g1": "action_required", "g2": "success", "g3": "success"} {
			if c := x.gh.checkOn(sha); c == nil || c["conclusion"] != want || c["name"] != "svc" || c["status"] != "completed" {
				t.Errorf("the group %s has the check %v, want %s", sha, c, want)
			}
		}
		if got := x.tell(x.gh.group("destroyed", "g1", 12)); got.Status != "ignored" {
			t.Errorf("a group that is gone = %+v", got)
		}
		before := 0
		x.gh.set(func() { before = x.gh.writes })
		suite := map[string]any{"head_branch": "gh-readonly-queue/main/pr-12-g1", "head_sha": "g1"}
		x.tell(x.gh.delivery("check_run", map[string]any{"action": "rerequested", "repository": hosted("acme/api", 99),
			"installation": map[string]any{"id": 77}, "check_run": map[string]any{"id": 9, "check_suite": suite, "pull_requests": []any{}}}))
		// A pull request from a fork has no number in such an event.
		x.tell(x.gh.delivery("check_suite", map[string]any{"action": "rerequested", "repository": hosted("acme/api", 99),
			"installation": map[string]any{"id": 77}, "check_suite": map[string]any{"head_sha": "head-1", "pull_requests": []any{}}}))
		await.True(t, "both run again", func() (again bool) {
			x.gh.set(func() { again = x.gh.writes == before+2 })
			return again
		})
	})
}

// While an app is suspended nothing is sent; afterwards what was missed is
// made up for, in both directions.
func TestASuspendedInstallation(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		x.livesAt(x.gh.URL)
		event := func(action string, at time.Time, more map[string]any) wire.HookReceipt {
			i := installation(77, at)
			for k, v := range more {
				i[k] = v
			}
			return x.tell(x.gh.delivery("installation", map[string]any{"action": action, "installation": i,
				"repositories": []any{map[string]any{"full_name": "acme/api"}}}))
		}
		pull := func(number int, branch, state string, at time.Time, more map[string]any) map[string]any {
			p := map[string]any{"number": number, "state": state, "html_url": fmt.Sprintf("%s/acme/api/pull/%d", x.gh.URL, number),
				"updated_at": at, "head": map[string]any{"ref": branch, "sha": "h", "repo": map[string]any{"full_name": "acme/api"}},
				"base": map[string]any{"ref": "main"}}
			for k, v := range more {
				p[k] = v
			}
			return p
		}
		_, early := x.works(x.Ada, "early", "e.go")
		x.gh.set(func() { x.gh.pulls = []map[string]any{pull(7, "early", "open", t0.Add(-time.Hour), nil)} })
		event("created", t0, nil)
		await.True(t, "a pull request from before the app is known", func() bool { return x.intentNow(early.Ref).Status == coord.IntentInReview })

		since := t0.Add(time.Minute)
		if got := event("suspend", since, map[string]any{"suspended_at": since}); !strings.Contains(got.Reason, "suspended") {
			t.Errorf("suspended = %+v", got)
		}
		if got := x.broken(); len(got) != 1 || !strings.Contains(got[0], "suspended on acme") || !x.status().Installations[0].Suspended {
			t.Errorf("admins are told %v", got)
		}
		x.overlapping()
		x.settled()
		if said := x.gh.said(12); len(said) != 0 {
			t.Errorf("a suspended app says %v", said)
		}
		x.gh.set(func() {
			x.gh.pulls = []map[string]any{pull(7, "early", "closed", t0.Add(2*time.Hour), map[string]any{
				"merged_at": t0.Add(2 * time.Hour), "merge_commit_sha": "m7"})}
		})
		event("unsuspend", t0.Add(3*time.Hour), nil)
		await.True(t, "the pull request tells of the conflict", func() bool { return len(x.gh.said(12)) == 1 })
		await.True(t, "what was merged meanwhile is known", func() bool { return x.intentNow(early.Ref).Status == coord.IntentMerged })
		if got := x.broken(); len(got) != 0 {
			t.Errorf("after it, admins are told %v", got)
		}
	})
}

const person5 = "github_pat_0123456789abcdef"

// A company that allows no apps sets up a webhook and gives a token.
func TestGitHubWithoutAnApp(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		x.livesAt(x.gh.URL)
		x.policy("check")
		put := func(path string, body any) (out wire.HostStatus) {
			x.W.Must(200, request{Method: "PUT", Path: "/v1/integrations/github" + path, Token: x.Own(x.Ada), Body: body}, &out)
			return out
		}
		hook := put("", nil)
		_, query, _ := strings.Cut(*hook.WebhookURL, "?")
		send := func(secret string, d delivery) (int, wire.HookReceipt) {
			r := x.gh.request(d)
			r.Path += "?" + query
			r.Header["X-Hub-Signature-256"] = signature(secret, d.body)
			r.Header["X-GitHub-Hook-Installation-Target-Type"] = "repository"
			res := x.W.Do(r)
			var got wire.HookReceipt
			if res.Status == 200 {
				res.JSON(t, &got)
			}
			return res.Status, got
		}
		opened := func(action string, at time.Time) delivery {
			d := x.gh.pullRequest(action, 12, "feature", at, map[string]any{"html_url": x.gh.URL + "/acme/api/pull/12"})
			d.body = []byte(strings.Replace(string(d.body), `"installation":{"id":77},`, "", 1))
			return d
		}
		if status, _ := send("guess", opened("opened", t0)); status != 403 {
			t.Errorf("signed with another secret = %d", status)
		}
		if status, _ := send(x.gh.secret, opened("opened", t0)); status != 403 {
			t.Errorf("signed with the app's secret = %d", status)
		}
		ana, i := x.works(x.Cyd, "feature", "a.go")
		bob, _ := x.works(x.Bob, "bobs", "a.go")
		if status, got := send(*hook.Secret, opened("opened", t0)); status != 200 || got.Status != "done" {
			t.Fatalf("opened = %d %+v", status, got)
		}
		x.is("opened", i.Ref, coord.IntentInReview)
		if _, got := send(*hook.Secret, x.gh.delivery("installation", map[string]any{"action": "created",
			"installation": installation(78, t0)})); got.Status != "ignored" {
			t.Errorf("an app of somebody else's = %+v", got)
		}

		bad := x.W.Do(request{Method: "PUT", Path: "/v1/integrations/github/token", Token: x.Own(x.Ada),
			Body: map[string]any{"token": "ghp_mistyped"}})
		if bad.Status != 400 || !strings.Contains(string(bad.Body), "does not take it") {
			t.Errorf("a wrong token = %d %s", bad.Status, bad.Body)
		}
		x.gh.set(func() { x.gh.person = person5 })
		if got := put("/token", map[string]any{"token": person5}).Token; got == nil || got.Name != "ada-lovelace" || got.ExpiresAt == nil {
			t.Fatalf("with a token = %+v", got)
		}
		last := func(state string) func() bool {
			return func() (there bool) {
				x.gh.set(func() {
					if n := len(x.gh.statuses); n > 0 {
						got := x.gh.statuses[n-1]
						there = got["state"] == state && got["sha"] == "head-1" && got["context"] == "svc"
					}
				})
				return there
			}
		}
		await.True(t, "the commit has a status", last("success"))
		x.W.Must(200, request{Method: "PUT", Path: "/v1/policies", Token: x.Ada.Token, Body: map[string]any{"rules": map[string]any{
			"pull_request_report": "check", "severity": map[string]any{"edit_overlap": "block"}}}}, nil)
		x.changes(ana, "feature", lines("a.go", "b1", "n1", 10, 3))
		x.changes(bob, "bobs", lines("a.go", "b1", "n2", 11, 1))
		await.True(t, "the status says that it is stopped", last("failure"))
		x.policy("comment")
		if status, got := send(*hook.Secret, opened("edited", t0.Add(time.Minute))); status != 200 || got.Status != "done" {
			t.Errorf("edited = %d %+v", status, got)
		}
		await.True(t, "with the other policy there is a comment", func() bool { return len(x.gh.said(12)) == 1 })

		x.settled()
		x.gh.set(func() { x.gh.person = "" })
		x.W.Advance(16 * time.Minute)
		await.True(t, "admins are told that the token is refused", func() bool {
			got := x.broken()
			return len(got) == 1 && strings.Contains(got[0], "does not take its token")
		})
		teamtest.Contains(t, "the log", x.W.Log.String(), "does not take its token any more")
		for _, hush := range []string{person5, *hook.Secret} {
			if strings.Contains(x.W.Log.String(), hush) {
				t.Error("a secret is in the log")
			}
		}
		x.W.Must(204, request{Method: "DELETE", Path: "/v1/integrations/github", Token: x.Own(x.Ada)}, nil)
		if status, _ := send(*hook.Secret, opened("closed", t0.Add(time.Hour))); status != 403 {
			t.Errorf("after it was disconnected = %d", status)
		}
	})
}

// What GitLab could not deliver it never sends again; with a token we ask.
func TestMissedMergeRequestsAreAskedFor(t *testing.T) {
	onGitLab(t, func(t *testing.T, x *gitlabTeam) {
		x.livesAt(x.lab.URL + "/lab")
		x.to, x.secret = x.gitlab(nil)
		x.W.Must(200, request{Method: "PUT", Path: "/v1/policies", Token: x.Ada.Token, Body: map[string]any{"rules": map[string]any{
			"pull_request_report": "check"}}}, nil)
		_, i := x.works(x.Cyd, "feature", "a.go")
		merge := func(state string, draft bool, at time.Time) {
			x.lab.set(func() {
				x.lab.merges = []map[string]any{{"iid": 12, "state": state, "draft": draft, "source_branch": "feature", "target_branch": "main",
					"source_project_id": 5, "target_project_id": 5, "sha": "c1", "merge_commit_sha": "m1", "updated_at": at,
					"web_url": x.lab.URL + "/lab/acme/api/-/merge_requests/12"}}
			})
		}
		merge("opened", false, t0)
		if res := x.put(labToken, x.lab.URL+"/lab"); res.Status != 200 {
			t.Fatalf("the token = %d %s", res.Status, res.Body)
		}
		await.True(t, "what is open already is known", func() bool { return x.intentNow(i.Ref).Status == coord.IntentInReview })
		await.True(t, "its head has a status", func() (there bool) {
			x.lab.set(func() {
				there = len(x.lab.states) == 1 && x.lab.states[0]["sha"] == "c1" && x.lab.states[0]["state"] == "success" &&
					x.lab.states[0]["name"] == "svc" && x.lab.states[0]["ref"] == "feature"
			})
			return there
		})
		merge("opened", true, t0.Add(time.Hour))
		x.W.Advance(16 * time.Minute)
		await.True(t, "a draft takes its intent back", func() bool { return x.intentNow(i.Ref).Status == coord.IntentActive })
		x.merge("update", "opened", "feature", t0.Add(2*time.Hour)) // its webhooks come again, without draft
		x.is("ready", i.Ref, coord.IntentInReview)
		for minute, draft := range []bool{true, false} {
			var body map[string]any
			json.Unmarshal(mergeRequest("update", "opened", "feature", 12, t0.Add(2*time.Hour+time.Duration(minute+1)*time.Minute), "acme/api",
				map[string]any{"draft": draft, "url": x.lab.URL + "/lab/acme/api/-/merge_requests/12"}), &body)
			x.send(body)
			x.is(fmt.Sprint("draft: ", draft), i.Ref, map[bool]coord.IntentStatus{true: coord.IntentActive, false: coord.IntentInReview}[draft])
		}
		merge("merged", false, t0.Add(3*time.Hour))
		x.W.Advance(16 * time.Minute)
		await.True(t, "what was merged meanwhile is known", func() bool { return x.intentNow(i.Ref).Status == coord.IntentMerged })
	})
}
