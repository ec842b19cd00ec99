package forge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// branches are the work of people who do not use svc, by what they are called.
func (x *team) branches() (out []string) {
	x.Helper()
	x.settled()
	var page wire.Page[wire.Branch]
	x.W.Must(200, request{Method: "GET", Path: "/v1/branches?repo=" + apiRepo, Token: x.Ada.Token}, &page)
	for _, b := range page.Items {
		out = append(out, b.Outside.Name()+" "+b.Branch+" by "+b.Outside.Author)
	}
	return out
}

// outside are the live conflicts with such work.
func (x *team) outside() (out []coord.Conflict) {
	x.Helper()
	x.settled()
	for _, c := range x.conflicts("").Items {
		for _, p := range c.Parties {
			if p.Outside != nil && c.Status.Live() {
				out = append(out, c)
			}
		}
	}
	return out
}

// comparing has GitHub say that a branch replaces lines 10 to 12 of a.go.
func (x *githubTeam) comparing(email string, more ...map[string]any) {
	x.gh.set(func() {
		x.gh.files = append([]map[string]any{{"filename": "a.go", "status": "modified", "sha": "n1",
			"patch": "@@ -9,4 +9,2 @@\n x\n-a\n-b\n-c\n+d"}}, more...)
		x.gh.blobs["a.go"], x.gh.between, x.gh.email = "b1", []string{"c1"}, email
	})
}

func (x *githubTeam) opened(number int, branch string, more map[string]any) {
	x.Helper()
	all := map[string]any{"user": map[string]any{"login": "octocat"}}
	for k, v := range more {
		all[k] = v
	}
	x.tell(x.gh.pullRequest("opened", number, branch, time.Now(), all))
}

// An open pull request of somebody who does not use svc is a worker: it is
// listed, whoever changes the same lines is warned and never stopped, it has its
// place in the landing order, and it is forgotten when it closes.
func TestWorkOfPeopleWithoutSvc(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		x.W.Must(200, request{Method: "PUT", Path: "/v1/policies", Token: x.Ada.Token,
			Body: map[string]any{"rules": map[string]any{"severity": map[string]any{"edit_overlap": "block", "path_overlap": "warn"}}}}, nil)
		bob, theirs := x.works(x.Bob, "bobs", "a.go")
		x.comparing("mona@elsewhere.example")
		x.opened(40, "fix-it", nil)
		if got := x.branches(); len(got) != 1 || got[0] != "pull request #40 fix-it by octocat" {
			t.Fatalf("the work outside is %q", got)
		}
		if got := x.outside(); len(got) != 0 {
			t.Errorf("a scope that meets a pull request is a conflict: %+v", got)
		}
		if said := x.changes(bob, "bobs", lines("a.go", "b1", "n2", 10, 1)); said.Decision == wire.Block ||
			!strings.Contains(said.InjectContext, "ull request #40 (octocat, branch fix-it)") {
			t.Errorf("the edit is answered with %+v", said)
		}
		got := x.outside()
		if len(got) != 1 || got[0].Kind != coord.EditOverlap || got[0].Severity != coord.SeverityWarn {
			t.Fatalf("the conflicts with it are %+v", got)
		}
		for _, want := range []string{"pull request #40 (octocat, branch fix-it)", "a.go", theirs.Ref} {
			if !strings.Contains(strings.ToLower(got[0].Explanation), strings.ToLower(want)) {
				t.Errorf("it does not say %q: %s", want, got[0].Explanation)
			}
		}
		if s := got[0].Suggestion; s.WaitFor != nil || !strings.Contains(s.Text, "does not use svc") {
			t.Errorf("the step is %+v", s)
		}
		var picture wire.TeamPicture
		x.W.Must(200, request{Method: "POST", Path: "/v1/team-context", Token: x.Cyd.Token,
			Body: map[string]any{"repo": apiRepo, "paths": []string{"a.go"}}}, &picture)
		if n := picture.Nearby; len(n) != 2 || n[0].Outside == nil && n[1].Outside == nil {
			t.Errorf("who is about to change the file hears of %+v", n)
		}
		cyd := x.Agent(x.Cyd, apiRepo)
		asked := x.Hook(cyd, wire.HookPreEdit, map[string]any{"paths": []string{"a.go"}, "pending": []map[string]any{
			{"path": "a.go", "base_blob": "b1", "new_blob": "n5", "hunks": []map[string]any{{"start": 12, "count": 1, "lines_hash": "h"}}}}})
		if asked.Decision != wire.Warn || !strings.Contains(asked.Reason, "Pull request #40 (octocat, branch fix-it) changed a.go lines 10-12") {
			t.Errorf("before an edit of its lines: %+v", asked)
		}
		landing := request{Method: "GET", Path: "/v1/repos/" + strings.ReplaceAll(apiRepo, "/", "%2F") + "/landing", Token: x.Ada.Token}
		var l wire.Landing
		x.W.Must(200, landing, &l)
		if len(l.Steps) != 2 || l.Steps[0].Outside == nil || *l.Steps[0].Outside.Number != 40 ||
			l.Steps[1].Redo[0].After != "pull request #40 fix-it" {
			t.Errorf("the landing order is %+v", l.Steps)
		}

		other := x.W.Replica() // reads all of it anew
		var seen wire.Landing
		other.Must(200, landing, &seen)
		if len(seen.Steps) != 2 {
			t.Errorf("another replica's landing order is %+v", seen.Steps)
		}
		x.tell(x.gh.pullRequest("closed", 40, "fix-it", time.Now().Add(time.Second), nil))
		if left, over := x.branches(), x.outside(); len(left) != 0 || len(over) != 0 {
			t.Errorf("after it closed: %q, %+v", left, over)
		}
	})
}

// Nobody is told of what they pushed themselves, or of the branch they are on.
func TestNobodyIsToldOfTheirOwnPush(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		bob, _ := x.works(x.Bob, "bobs", "a.go")
		x.comparing(x.Bob.Email)
		x.opened(41, "by-hand", nil)
		x.changes(bob, "bobs", lines("a.go", "b1", "n2", 11, 1))
		if got := x.branches(); len(got) != 1 {
			t.Errorf("the work outside is %q", got)
		}
		if got := x.outside(); len(got) != 0 {
			t.Errorf("Bob is told of his own pull request: %+v", got)
		}
		cyd, _ := x.works(x.Cyd, "cyds", "b.go")
		x.changes(cyd, "cyds", lines("a.go", "b1", "n3", 10, 1))
		if got := x.outside(); len(got) != 1 {
			t.Errorf("Cyd is told of Bob's pull request %d times", len(got))
		}
		ada := x.Agent(x.Ada, apiRepo) // who takes it up, so that svc knows it from there
		x.changes(ada, "by-hand", lines("a.go", "b1", "n4", 10, 3))
		if got := x.outside(); len(got) != 0 {
			t.Errorf("it is told beside the work of who is on its branch: %+v", got)
		}
	})
}

// A branch that was only pushed counts, as an agent in the cloud without hooks
// pushes one: until it is deleted, merged, or nobody goes on with it. One that is
// a line of development of its own does not.
func TestPushedBranches(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		x.comparing("agent@cloud.example")
		bob, _ := x.works(x.Bob, "bobs", "z.go")
		x.changes(bob, "bobs", lines("a.go", "b1", "n2", 11, 1))
		x.tell(x.gh.push("bobs", "0", "h0", "a.go"))
		x.tell(x.gh.push("gh-readonly-queue/main/pr-1-x", "0", "h1", "a.go"))
		if got := x.branches(); len(got) != 0 {
			t.Errorf("what svc knows is outside: %q", got)
		}
		x.tell(x.gh.push("agent/fix", "0", "h2", "a.go"))
		if got := x.branches(); len(got) != 1 || got[0] != "a pushed branch agent/fix by octocat" || len(x.outside()) != 1 {
			t.Errorf("a pushed branch is %q, conflicts %+v", got, x.outside())
		}
		x.opened(42, "agent/fix", map[string]any{"head": map[string]any{"ref": "agent/fix", "sha": "h2",
			"repo": map[string]any{"full_name": "acme/api"}}})
		if got := x.branches(); len(got) != 1 || !strings.HasPrefix(got[0], "pull request #42 ") || len(x.outside()) != 1 {
			t.Errorf("with its pull request it is %q, conflicts %+v", got, x.outside())
		}
		x.tell(x.gh.delivery("push", map[string]any{"ref": "refs/heads/agent/fix", "before": "h2", "after": strings.Repeat("0", 40),
			"deleted": true, "installation": map[string]any{"id": 77}, "repository": map[string]any{"full_name": "acme/api",
				"html_url": "https://github.com/acme/api", "default_branch": "main", "private": true}}))
		if got := x.branches(); len(got) != 0 {
			t.Errorf("after it was deleted: %q", got)
		}
		x.tell(x.gh.push("agent/next", "0", "h3", "a.go"))
		if got := x.branches(); len(got) != 1 {
			t.Errorf("the next is %q", got)
		}
		x.tell(x.gh.push("main", "p0", "h3", "q.go")) // it was merged without a pull request
		if got := x.branches(); len(got) != 0 {
			t.Errorf("after it was merged: %q", got)
		}
		var many []map[string]any
		for i := range 60 {
			many = append(many, map[string]any{"filename": strings.Repeat("x", i+1) + ".go", "status": "added", "sha": "n",
				"patch": "@@ -0,0 +1 @@\n+a"})
		}
		x.comparing("agent@cloud.example", many...)
		x.tell(x.gh.push("release/1.x", "0", "h4", "a.go"))
		if got := x.branches(); len(got) != 0 {
			t.Errorf("a line of development is work outside: %q", got)
		}
		x.comparing("agent@cloud.example")
		x.tell(x.gh.push("agent/left", "0", "h5", "a.go"))
		if got := x.branches(); len(got) != 1 {
			t.Errorf("the last is %q", got)
		}
		x.W.Advance(15 * 24 * time.Hour)
		if err := x.W.D.Ops.Work.Sweep(t.Context()); err != nil || len(x.branches()) != 0 {
			t.Errorf("after two weeks without a push: %q (%v)", x.branches(), err)
		}
	})
}

// A merge request of GitLab is a worker, too, also from a fork.
func TestAMergeRequestOfSomebodyWithoutSvc(t *testing.T) {
	onGitLab(t, func(t *testing.T, x *gitlabTeam) {
		x.to, x.secret = x.gitlab(nil)
		x.connect(t)
		x.lab.set(func() {
			x.lab.diffs = []map[string]any{{"old_path": "a.go", "new_path": "a.go", "diff": "@@ -10,3 +10,1 @@\n-a\n-b\n-c\n+d\n"}}
			x.lab.blobs["a.go@parted"], x.lab.blobs["a.go@c1"] = "b1", "n9"
		})
		bob, _ := x.works(x.Bob, "fix-it", "z.go") // a branch of a fork that is called alike is another
		x.changes(bob, "fix-it", lines("a.go", "b1", "n2", 11, 1))
		x.merge("open", "opened", "fix-it", time.Now(), map[string]any{"source_project_id": 6})
		if got := x.branches(); len(got) != 1 || got[0] != "merge request !12 fix-it by Mona" {
			t.Errorf("the work outside is %q", got)
		}
		if got := x.outside(); len(got) != 1 || got[0].Severity != coord.SeverityWarn ||
			!strings.Contains(got[0].Explanation, "merge request !12 (Mona, branch fix-it)") {
			t.Errorf("the conflicts with it are %+v", got)
		}
		x.merge("merge", "merged", "fix-it", time.Now().Add(time.Second), map[string]any{"source_project_id": 6})
		if left, over := x.branches(), x.outside(); len(left) != 0 || len(over) != 0 {
			t.Errorf("after it was merged: %q, %+v", left, over)
		}
	})
}
