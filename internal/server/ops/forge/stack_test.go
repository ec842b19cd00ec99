package forge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// into is a pull request to another branch than the default.
func into(branch, sha string) map[string]any {
	return map[string]any{"merged": true, "merge_commit_sha": sha, "base": map[string]any{"ref": branch}}
}

// merged tells that a pull request was merged.
func (x *githubTeam) merged(number int, head, base string, minute int) wire.HookReceipt {
	x.Helper()
	return x.tell(x.gh.pullRequest("closed", number, head, t0.Add(time.Duration(minute)*time.Minute),
		into(base, fmt.Sprint("merge-", number))))
}

// is checks what became of an intent.
func (x *team) is(what, ref string, want coord.IntentStatus) {
	x.Helper()
	if i := x.intentNow(ref); i.Status != want {
		x.Errorf("%s: %s is %s, want %s", what, ref, i.Status, want)
	}
}

// A pull request that is merged into the branch of another has arrived when
// that one has.
func TestPullRequestsThatStandOnOneAnother(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		intent := func(branch string) string {
			_, i := x.works(x.Cyd, branch, branch+".go")
			return i.Ref
		}
		low, mid, top := intent("low"), intent("mid"), intent("top")
		x.merged(3, "top", "mid", 1)
		x.is("merged into another branch", top, coord.IntentInReview)
		if i := x.intentNow(top); i.PRNumber == nil || *i.PRNumber != 3 {
			t.Errorf("its number is %v", i.PRNumber)
		}
		said := x.Inbox(x.Cyd, "").Items
		if len(said) != 1 || !strings.Contains(said[0].Body,
			"was merged into mid, not into main. "+top+" stays in review and closes by itself when mid arrives on main") {
			t.Errorf("its owner is told %+v", said)
		}
		x.merged(2, "mid", "low", 2)
		x.is("the one below is merged into a third", top, coord.IntentInReview)
		x.is("merged into the third", mid, coord.IntentInReview)
		if got := x.merged(1, "low", "main", 3); got.Reason != low+", "+mid+", "+top+": the pull request is merged" {
			t.Errorf("the lowest is merged: %+v", got)
		}
		for _, ref := range []string{low, mid, top} {
			x.is("the lowest is merged", ref, coord.IntentMerged)
		}

		// The same, told in another order.
		first, second := intent("first"), intent("second")
		x.merged(11, "first", "main", 12)
		x.is("the base is told first", first, coord.IntentMerged)
		x.merged(12, "second", "first", 11)
		x.is("what was merged before it is told after", second, coord.IntentMerged)

		// What is merged into a branch after that has landed is not on main.
		late := intent("late")
		x.merged(13, "late", "first", 13)
		x.is("merged into a branch that had landed", late, coord.IntentInReview)

		// A fork's branch of the same name is another one.
		forked := intent("forked")
		x.merged(21, "forked", "shared", 20)
		d := x.gh.pullRequest("closed", 22, "shared", t0.Add(21*time.Minute), into("main", "merge-22"))
		// the head's, which comes after the base's
		d.body = []byte(strings.Replace(string(d.body), `"full_name":"acme/api"`, `"full_name":"mallory/api"`, 1))
		x.tell(d)
		x.is("a fork's branch is merged", forked, coord.IntentInReview)

		// A branch can come to main by a push.
		x.tell(x.gh.push("main", "a", "merge-21", "other.go"))
		x.is("its merge commit is pushed to main", forked, coord.IntentMerged)
	})
}

// Who went on after their pull request was merged into another branch is left
// alone when that lands.
func TestWhoWentOnIsNotClosed(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		_, back := x.works(x.Cyd, "back", "a.go")
		_, again := x.works(x.Bob, "again", "b.go")
		x.merged(1, "back", "base", 1)
		x.merged(2, "again", "base", 1)
		x.W.Must(200, request{
			Method: "PATCH",
			Path:   "/v1/intents/" + back.Ref,
			Token:  x.Cyd.Token,
			Body:   map[string]any{"status": "active"},
		}, nil)
		x.tell(x.gh.pullRequest("opened", 3, "again", t0.Add(2*time.Minute), nil))
		x.merged(4, "base", "main", 3)
		x.is("went back to work", back.Ref, coord.IntentActive)
		x.is("opened another pull request", again.Ref, coord.IntentInReview)
		x.merged(3, "again", "main", 4)
		x.is("the other pull request is merged", again.Ref, coord.IntentMerged)
	})
}

// What a pushed branch brings along is told in the name of the intents that
// it lands, not a second time as a push.
func TestLandedWorkIsToldOnce(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		ana, _ := x.works(x.Cyd, "upper", "a.go")
		bob, _ := x.works(x.Bob, "bobs", "a.go")
		x.changes(ana, "upper", lines("a.go", "b1", "n1", 10, 3))
		x.changes(bob, "bobs", lines("a.go", "b1", "n2", 11, 1))
		x.merged(2, "upper", "lower", 1)
		x.gh.set(func() {
			x.gh.blobs["a.go"] = "b1"
			x.gh.files = []map[string]any{{"filename": "a.go", "status": "modified", "sha": "n1", "patch": "@@ -10,3 +10,1 @@\n-a\n-b\n-c\n+d"}}
		})
		x.tell(x.gh.push("main", "before", "merge-1", "a.go"))
		x.settled()
		x.merged(1, "lower", "main", 2)
		x.settled()
		n := 0
		for _, c := range x.conflicts("?status=live").Items {
			if c.Kind == coord.RebaseNeeded {
				n++
			}
		}
		if n != 1 {
			t.Errorf("bob is told %d times to rebase", n)
		}
	})
}
