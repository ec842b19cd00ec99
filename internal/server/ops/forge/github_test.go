package forge_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A githubTeam is a team whose repositories are on a GitHub.
type githubTeam struct {
	*team
	gh *fakeGitHub
}

// onGitHub runs a test with a team that has made its app, on every database.
func onGitHub(t *testing.T, test func(*testing.T, *githubTeam)) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		gh := newFakeGitHub(t)
		w := daemontest.StartWith(t, daemon.Config{Database: dsn, Allow: "127.0.0.1", GitHubURL: gh.URL})
		x := &githubTeam{newTeam(t, w, "Acme"), gh}
		x.makeApp()
		test(t, x)
	})
}

func (x *githubTeam) manifest(query string) (out wire.GitHubManifest) {
	x.Helper()
	x.W.Must(200, request{Method: "GET", Path: "/v1/github/app/manifest" + query, Token: x.Ada.Token}, &out)
	return out
}

// callback is where GitHub sends the browser to.
func callback(m wire.GitHubManifest, code string) request {
	u, _ := url.Parse(m.URL)
	return request{Method: "GET", Path: "/v1/github/app/callback?" + url.Values{"code": {code}, "state": {u.Query().Get("state")}}.Encode()}
}

func (x *githubTeam) makeApp() {
	x.Helper()
	res := x.W.Must(302, callback(x.manifest(""), x.gh.code()), nil)
	if to := res.Header.Get("Location"); !strings.HasSuffix(to, "/settings/github?made=app") {
		x.Fatalf("the browser goes on to %s", to)
	}
}

func (x *githubTeam) status() (out wire.GitHubStatus) {
	x.Helper()
	x.W.Must(200, request{Method: "GET", Path: "/v1/github/app", Token: x.Ada.Token}, &out)
	return out
}

// changes tells of an agent's edit of a file.
func (x *team) changes(a agent, branch string, f coord.FileFacts) wire.HookReply {
	x.Helper()
	body := teamtest.HookRequest(a, wire.HookPostEdit, nil).Body.(map[string]any)["repo"].(map[string]any)
	body["branch"] = branch
	return x.Hook(a, wire.HookPostEdit, map[string]any{
		"repo":     body,
		"paths":    []string{f.Path},
		"analysis": coord.Analysis{Files: []coord.FileFacts{f}},
	})
}

// lines is a file with some lines of a base replaced.
func lines(path, base, fresh string, start, count int) coord.FileFacts {
	return coord.FileFacts{
		Path:       path,
		Status:     coord.FileModified,
		Language:   "go",
		BaseBlob:   &base,
		NewBlob:    &fresh,
		Hunks:      []coord.Hunk{{Start: start, Count: count, LinesHash: uuid.NewString()[:8]}},
		Symbols:    []coord.SymbolFacts{},
		Contracts:  []coord.ContractFacts{},
		References: []coord.Reference{},
	}
}

// works makes an agent of a person with an intent on a branch.
func (x *team) works(p person, branch string, paths ...string) (agent, coord.Intent) {
	x.Helper()
	a := x.Agent(p, apiRepo)
	var out wire.Declared
	x.W.Must(201, request{Method: "POST", Path: "/v1/intents", Token: a.Token, Header: map[string]string{"X-Svc-Session": a.Session},
		Body: map[string]any{"title": "Work on " + branch, "repo": apiRepo, "branch": branch, "scope": map[string]any{"paths": paths}}}, &out)
	return a, out.Intent
}

func (x *team) intentNow(ref string) (i coord.Intent) {
	x.Helper()
	x.W.Must(200, request{Method: "GET", Path: "/v1/intents/" + ref, Token: x.Ada.Token}, &i)
	return i
}

func (x *team) conflicts(query string) (out wire.Page[coord.Conflict]) {
	x.Helper()
	x.W.Must(200, request{Method: "GET", Path: "/v1/conflicts" + query, Token: x.Ada.Token}, &out)
	return out
}

var t0 = time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)

// The story of a pull request: it opens and gets a comment that tells of a
// conflict, the conflict ends and the comment says so, it merges, the intent
// closes, who waited for it goes on, and who worked on the same lines is asked
// to rebase.
func TestAPullRequestFromOpeningToMerge(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		ana, mine := x.works(x.Cyd, "feature", "a.go")
		bob, theirs := x.works(x.Bob, "bobs", "a.go")
		x.changes(ana, "feature", lines("a.go", "b1", "n1", 10, 3))
		x.changes(bob, "bobs", lines("a.go", "b1", "n2", 11, 1))
		var overlap coord.Conflict
		for _, c := range x.conflicts("").Items {
			if c.Kind == coord.EditOverlap {
				overlap = c
			}
		}
		if overlap.Ref == "" {
			t.Fatal("the two edits do not collide")
		}

		x.tell(x.gh.pullRequest("opened", 12, "feature", t0, nil))
		if i := x.intentNow(mine.Ref); i.Status != coord.IntentInReview || i.PRNumber == nil || *i.PRNumber != 12 {
			t.Fatalf("after the pull request opened the intent is %s, number %v", i.Status, i.PRNumber)
		}
		await.True(t, "the pull request tells of the conflict", func() bool {
			said := x.gh.said(12)
			return len(said) == 1 && strings.Contains(said[0], overlap.Ref) && strings.Contains(said[0], "1 conflict with other work") &&
				strings.Contains(said[0], theirs.Ref)
		})

		x.W.Must(200, request{
			Method: "POST",
			Path:   "/v1/conflicts/" + overlap.Ref + "/actions",
			Token:  x.Bob.Token,
			Body:   map[string]any{"action": "resolved", "note": "agreed by voice"},
		}, nil)
		await.True(t, "the comment says that the conflict is over", func() bool {
			said := x.gh.said(12)
			return len(said) == 1 && strings.Contains(said[0], "No conflicts with other work any more") &&
				strings.Contains(said[0], "resolved (agreed)")
		})

		waited := make(chan wire.Waited, 1)
		go func() {
			var w wire.Waited
			for w.Status != "free" {
				if bad := x.Tool(bob.Token, "wait_for", map[string]any{"intent": mine.Ref, "timeout_seconds": 20}, &w); bad != nil {
					t.Errorf("wait_for: %+v", bad)
					break
				}
			}
			waited <- w
		}()
		await.True(t, "somebody waits", func() bool { return x.W.D.Ops.Moments.OpenWaits() == 1 })
		x.tell(x.gh.pullRequest("closed", 12, "feature", t0.Add(time.Hour), map[string]any{"merged": true, "merge_commit_sha": "m1"}))
		if i := x.intentNow(mine.Ref); i.Status != coord.IntentMerged || i.Outcome == nil || *i.Outcome != coord.OutcomeMerged {
			t.Errorf("after the merge the intent is %s", i.Status)
		}
		if w := <-waited; w.Status != "free" {
			t.Errorf("whoever waited got %+v", w)
		}
		x.wantRebase(theirs.Ref, mine.Ref, 1)

		// The push that the merge made tells nothing new.
		x.gh.set(func() {
			x.gh.files, x.gh.blobs["a.go"] = []map[string]any{{
				"filename": "a.go",
				"status":   "modified",
				"sha":      "n1",
				"patch":    "@@ -9,4 +9,4 @@\n x\n-a\n-b\n-c\n+d",
			}}, "b1"
		})
		x.tell(x.gh.push("main", "p0", "m1", "a.go"))
		x.settled()
		x.wantRebase(theirs.Ref, mine.Ref, 1)
	})
}

// settled waits until no job of a git host is left to do.
func (x *team) settled() {
	x.Helper()
	await.True(x, "the git host's jobs are done", func() bool {
		page := x.W.Metrics()
		for _, kind := range []string{"push", "pull", "merge_group", "branch"} {
			for _, state := range []string{"due", "running", "scheduled"} {
				if strings.Contains(page, `svc_jobs{kind="`+kind+`",state="`+state+`"}`) {
					return false
				}
			}
		}
		return true
	})
}

// wantRebase checks that an intent is asked n times to rebase, by work that a
// text names.
func (x *team) wantRebase(ref, by string, n int) {
	x.Helper()
	found := 0
	for _, c := range x.conflicts("").Items {
		if c.Kind == coord.RebaseNeeded && c.Status.Live() && strings.Contains(c.Explanation, ref) && strings.Contains(c.Explanation, by) {
			found++
		}
	}
	if found != n {
		text, _ := json.Marshal(x.conflicts("").Items)
		x.Errorf("%d times is %s asked to rebase on %s, want %d\n%s", found, ref, by, n, text)
	}
}

// Of a push of many files each is looked up that somebody works on.
func TestALargePushAsksForARebase(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		var pushed []string
		x.gh.set(func() {
			for i := range 60 {
				p := fmt.Sprintf("f%02d.go", i)
				pushed = append(pushed, p)
				x.gh.files = append(x.gh.files, map[string]any{"filename": p, "status": "modified", "sha": "n1",
					"patch": "@@ -9,4 +9,2 @@\n x\n-a\n-b\n-c\n+d"})
				x.gh.blobs[p] = "b1"
			}
		})
		bob, theirs := x.works(x.Bob, "bobs", "*.go")
		x.changes(bob, "bobs", lines("f59.go", "b1", "n2", 11, 1))
		x.tell(x.gh.push("main", "p0", "m1", pushed...))
		x.settled()
		x.wantRebase(theirs.Ref, "Somebody merged a change of f59.go", 1)
	})
}

// A push that no intent accounts for asks for a rebase, in its own name; the
// pull request that turns out to be its cause takes it over.
func TestAPushAsksForARebase(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		bob, theirs := x.works(x.Bob, "bobs", "a.go")
		x.changes(bob, "bobs", lines("a.go", "b1", "n2", 11, 1))
		x.gh.set(func() {
			x.gh.files = []map[string]any{{"filename": "a.go", "status": "modified", "sha": "n1", "patch": "@@ -9,4 +9,2 @@\n x\n-a\n-b\n-c\n+d"},
				{"filename": "other.go", "status": "modified", "sha": "o1", "patch": "@@ -1 +1 @@\n-a\n+b"}}
			x.gh.blobs["a.go"] = "b1"
		})
		if got := x.tell(x.gh.push("main", "p0", "m0", "other.go")); got.Status != "ignored" {
			t.Errorf("a push of what nobody works on = %+v", got)
		}
		x.tell(x.gh.push("main", "p0", "m1", "a.go", "other.go"))
		await.True(t, "a rebase is needed", func() bool { return strings.Contains(x.explanations(), "Somebody merged a change of a.go") })
		x.wantRebase(theirs.Ref, "Somebody merged", 1)
		other := x.W.Replica()
		var seen wire.Page[coord.Conflict]
		other.Must(200, request{Method: "GET", Path: "/v1/conflicts", Token: x.Ada.Token}, &seen)
		if len(seen.Items) == 0 {
			t.Error("another replica knows nothing of it")
		}

		// The pull request was merged from an intent that changed the file.
		ana, mine := x.works(x.Cyd, "feature", "a.go")
		x.changes(ana, "feature", lines("a.go", "b1", "n1", 10, 3))
		x.tell(x.gh.pullRequest("closed", 12, "feature", t0, map[string]any{"merged": true, "merge_commit_sha": "m1"}))
		x.settled()
		x.wantRebase(theirs.Ref, mine.Ref, 1)
		x.wantRebase(theirs.Ref, "erged work merged", 0)

		// Rebased, it has nothing to do any more.
		x.changes(bob, "bobs", lines("a.go", "n1", "n3", 30, 1))
		x.wantRebase(theirs.Ref, "", 0)
	})
}

func (x *team) explanations() string {
	var b strings.Builder
	for _, c := range x.conflicts("").Items {
		b.WriteString(c.Explanation + "\n")
	}
	return b.String()
}

func TestWhatPullRequestsDoToIntents(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		fork := map[string]any{"ref": "forked", "sha": "f", "repo": map[string]any{"full_name": "mallory/api"}}
		for n, tt := range []struct {
			name     string
			branch   string
			events   []delivery
			want     coord.IntentStatus
			number   bool
			messages int
		}{
			{"opened", "opened", []delivery{x.gh.pullRequest("opened", 1, "opened", t0, nil)}, coord.IntentInReview, true, 0},
			{
				"a draft is stored and moves nothing",
				"drafted",
				[]delivery{x.gh.pullRequest("opened", 2, "drafted", t0, map[string]any{"draft": true})},
				coord.IntentActive,
				true,
				0,
			},
			{"a draft that is ready moves on", "ready", []delivery{x.gh.pullRequest("opened", 3, "ready", t0, map[string]any{"draft": true}),
				x.gh.pullRequest("ready_for_review", 3, "ready", t0.Add(time.Minute), nil)}, coord.IntentInReview, true, 0},
			{"closed unmerged leaves it and says so", "closed", []delivery{x.gh.pullRequest("opened", 4, "closed", t0, nil),
				x.gh.pullRequest("closed", 4, "closed", t0.Add(time.Minute),
					nil), x.gh.pullRequest("edited", 4, "closed", t0.Add(time.Hour), map[string]any{"state": "closed"})}, coord.IntentInReview,
				true, 1},
			{
				"reopened",
				"reopened",
				[]delivery{x.gh.pullRequest("closed", 5, "reopened", t0, nil), x.gh.pullRequest("reopened", 5, "reopened", t0, nil)},
				coord.IntentInReview,
				true,
				1,
			},
			{
				"merged",
				"merged",
				[]delivery{x.gh.pullRequest("closed", 6, "merged", t0, map[string]any{"merged": true})},
				coord.IntentMerged,
				true,
				0,
			},
			{"opened after it merged", "late", []delivery{x.gh.pullRequest("closed", 7, "late", t0.Add(time.Minute), map[string]any{"merged": true}),
				x.gh.pullRequest("opened", 7, "late", t0, nil)}, coord.IntentMerged, true, 0},
			{"opened after it closed", "order", []delivery{x.gh.pullRequest("closed", 8, "order", t0.Add(time.Minute), nil),
				x.gh.pullRequest("opened", 8, "order", t0, nil)}, coord.IntentActive, false, 1},
			{
				"a fork with a branch of the same name",
				"forked",
				[]delivery{x.gh.pullRequest("opened", 9, "forked", t0, map[string]any{"head": fork})},
				coord.IntentActive,
				false,
				0,
			},
			{"opened and closed within a second, in the wrong order", "second", []delivery{x.gh.pullRequest("closed", 10, "second", t0, nil),
				x.gh.pullRequest("opened", 10, "second", t0, nil)}, coord.IntentActive, false, 1},
			{"another branch", "mine", []delivery{x.gh.pullRequest("opened", 11, "yours", t0, nil)}, coord.IntentActive, false, 0},
		} {
			t.Run(tt.name, func(t *testing.T) {
				owner := x.Newcomer()
				_, i := x.works(owner, tt.branch, "dir"+string(rune('a'+n))+"/**")
				for _, d := range tt.events {
					x.tell(d)
				}
				now := x.intentNow(i.Ref)
				if now.Status != tt.want || (now.PRNumber != nil) != tt.number {
					t.Errorf("the intent is %s with number %v, want %s (number: %v)", now.Status, now.PRNumber, tt.want, tt.number)
				}
				if inbox := x.Inbox(owner, ""); len(inbox.Items) != tt.messages {
					t.Errorf("its owner has %d messages, want %d: %v", len(inbox.Items), tt.messages, teamtest.Bodies(inbox.Items))
				}
			})
		}
	})
}

// Whoever takes the work back from review is not put there again by the next
// commit.
func TestASecondCommitDoesNotPutAnIntentBackIntoReview(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		_, i := x.works(x.Cyd, "feature", "a.go")
		x.tell(x.gh.pullRequest("opened", 1, "feature", t0, nil))
		x.W.Must(200, request{Method: "PATCH", Path: "/v1/intents/" + i.Ref, Token: x.Cyd.Token, Body: map[string]any{"status": "active"}}, nil)
		x.tell(x.gh.pullRequest("synchronize", 1, "feature", t0.Add(time.Hour), nil))
		if now := x.intentNow(i.Ref); now.Status != coord.IntentActive {
			t.Errorf("after another commit the intent is %s", now.Status)
		}
	})
}
