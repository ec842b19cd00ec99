package forge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
)

// pushedLines is what GitHub tells of a push that changes lines 10 to 12 of
// a.go.
func (x *githubTeam) pushedLines() {
	x.gh.set(func() {
		x.gh.files = []map[string]any{{"filename": "a.go", "status": "modified", "sha": "n1", "patch": "@@ -9,4 +9,2 @@\n x\n-a\n-b\n-c\n+d"}}
		x.gh.blobs["a.go"] = "b1"
	})
}

// A direct push whose webhook never came is found by the next one, which does
// not begin where the branch was; should its webhook come after all, it is
// not told twice.
func TestTheNextPushTellsOfOneThatWasMissed(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		bob, theirs := x.works(x.Bob, "bobs", "a.go")
		x.changes(bob, "bobs", lines("a.go", "b1", "n2", 11, 1))
		x.tell(x.gh.push("main", "m0", "m1", "other.go"))
		x.pushedLines()
		x.gh.set(func() { x.gh.head, x.gh.between = "m3", []string{"m2", "m3"} })
		missed := x.gh.push("main", "m1", "m2", "a.go")
		if got := x.tell(x.gh.push("main", "m2", "m3", "other.go")); got.Status != "done" {
			t.Errorf("a push after one that was missed = %+v", got)
		}
		await.True(t, "a rebase is needed", func() bool { return strings.Contains(x.explanations(), "Somebody merged a change of a.go") })
		x.wantRebase(theirs.Ref, "Somebody merged", 1)
		x.gh.set(func() {
			if !slices.Contains(x.gh.compared, "m1...m3") {
				t.Errorf("compared was %v", x.gh.compared)
			}
		})
		if got := x.tell(missed); got.Status != "ignored" || !strings.Contains(got.Reason, "with a later push") {
			t.Errorf("the missed one, late = %+v", got)
		}
		x.settled()
		x.wantRebase(theirs.Ref, "Somebody merged", 1)
		x.gh.set(func() { x.gh.files = nil })
		if got := x.tell(x.gh.push("main", "m3", "m4", "other.go")); got.Status != "ignored" {
			t.Errorf("the next in order = %+v", got)
		}
	})
}

// A push of thousands of commits is a webhook of as much as GitHub sends. One
// that is larger still is none of GitHub's.
func TestAPushMayBeLarge(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		bob, theirs := x.works(x.Bob, "bobs", "a.go")
		x.changes(bob, "bobs", lines("a.go", "b1", "n2", 11, 1))
		x.pushedLines()
		x.gh.set(func() { x.gh.head, x.gh.between = "m1", []string{"m1"} })
		pushed := func(megabytes int) delivery {
			paths := []string{"a.go"}
			for i := range megabytes << 10 {
				paths = append(paths, fmt.Sprintf("generated/%0*d.txt", 1<<10-20, i)) // a kilobyte each
			}
			return x.gh.push("main", "m0", "m1", paths...)
		}
		x.W.Must(413, x.gh.request(pushed(26)), nil)
		forged := pushed(9)
		forged.header = map[string]string{"X-Hub-Signature-256": signature("another", forged.body)}
		for range 3 { // more than are looked at at a time
			x.W.Must(403, x.gh.request(forged), nil)
		}
		if got := x.tell(pushed(24)); got.Status != "done" {
			t.Errorf("a push of 24 MB = %+v", got)
		}
		await.True(t, "a rebase is needed", func() bool { return strings.Contains(x.explanations(), "Somebody merged a change of a.go") })
		x.wantRebase(theirs.Ref, "Somebody merged", 1)
	})
}

// What a pull request was told to have merged is not told again in the name
// of the push that brought it, if that is found by a later one.
func TestAMissedPushOfAMergeIsToldOnce(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		bob, theirs := x.works(x.Bob, "bobs", "a.go")
		x.changes(bob, "bobs", lines("a.go", "b1", "n2", 11, 1))
		x.tell(x.gh.push("main", "m0", "m1", "other.go"))
		ana, mine := x.works(x.Cyd, "feature", "a.go")
		x.changes(ana, "feature", lines("a.go", "b1", "n1", 10, 3))
		x.tell(x.gh.pullRequest("closed", 12, "feature", t0, map[string]any{"merged": true, "merge_commit_sha": "m2"}))
		x.settled()
		x.wantRebase(theirs.Ref, mine.Ref, 1)
		x.pushedLines()
		x.gh.set(func() { x.gh.head, x.gh.between = "m3", []string{"m2", "m3"} })
		x.tell(x.gh.push("main", "m2", "m3", "other.go"))
		x.settled()
		x.wantRebase(theirs.Ref, "Somebody merged", 0)
		x.wantRebase(theirs.Ref, mine.Ref, 1)
	})
}

// Without another push, a host that is asked with a token tells of it.
func TestAMissedPushIsAskedFor(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		x.livesAt(x.gh.URL)
		bob, theirs := x.works(x.Bob, "bobs", "a.go")
		x.changes(bob, "bobs", lines("a.go", "b1", "n2", 11, 1))
		x.gh.set(func() { x.gh.person, x.gh.head = person5, "m1" })
		x.W.Must(200, request{Method: "PUT", Path: "/v1/integrations/github", Token: x.Own(x.Ada)}, nil)
		x.W.Must(200, request{Method: "PUT", Path: "/v1/integrations/github/token", Token: x.Own(x.Ada),
			Body: map[string]any{"token": person5}}, nil)
		x.asked()
		if got := x.explanations(); got != "" {
			t.Errorf("where the branch is at first tells %s", got)
		}
		x.pushedLines()
		x.gh.set(func() { x.gh.head, x.gh.between = "m2", []string{"m2"} })
		x.W.Advance(16 * time.Minute)
		await.True(t, "a rebase is needed", func() bool { return strings.Contains(x.explanations(), "Somebody merged a change of a.go") })
		x.settled()
		x.gh.set(func() { x.gh.compared = nil })
		x.W.Advance(16 * time.Minute)
		x.asked()
		x.settled()
		x.wantRebase(theirs.Ref, "Somebody merged", 1)
		x.gh.set(func() {
			if len(x.gh.compared) != 0 {
				t.Errorf("asked again, it was compared %v", x.gh.compared)
			}
		})
	})
}

// asked waits until a host was asked for what was missed.
func (x *team) asked() {
	x.Helper()
	await.True(x, "the host was asked", func() bool {
		page := x.W.Metrics()
		return strings.Contains(page, `svc_jobs{kind="missed",state="scheduled"}`) &&
			!strings.Contains(page, `svc_jobs{kind="missed",state="running"}`)
	})
}

// GitLab never sends again what failed.
func TestAMissedPushIsAskedForOnGitLab(t *testing.T) {
	onGitLab(t, func(t *testing.T, x *gitlabTeam) {
		x.livesAt(x.lab.URL + "/lab")
		x.to, x.secret = x.gitlab(nil)
		bob, theirs := x.works(x.Bob, "bobs", "a.go")
		x.changes(bob, "bobs", lines("a.go", "b1", "n2", 11, 1))
		x.lab.set(func() { x.lab.head = "p0" })
		if res := x.put(labToken, x.lab.URL+"/lab"); res.Status != 200 {
			t.Fatalf("the token = %d %s", res.Status, res.Body)
		}
		x.asked()
		x.lab.set(func() {
			x.lab.head = "p1"
			x.lab.diffs = []map[string]any{{"old_path": "a.go", "new_path": "a.go", "diff": "@@ -9,4 +9,2 @@\n x\n-a\n-b\n-c\n+d\n"}}
			x.lab.blobs["a.go@p0"], x.lab.blobs["a.go@p1"] = "b1", "n1"
		})
		x.W.Advance(16 * time.Minute)
		await.True(t, "a rebase is needed", func() bool { return strings.Contains(x.explanations(), "Somebody merged a change of a.go") })
		x.wantRebase(theirs.Ref, "Somebody merged", 1)
	})
}
