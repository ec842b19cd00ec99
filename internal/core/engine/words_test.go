package engine_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
)

// The story words.txt is where people read what the service says; it must
// show every kind to each reader, and no template may show through.
func TestWordsAreShownForEveryKind(t *testing.T) {
	text, err := os.ReadFile("testdata/words.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range coord.ConflictKinds() {
		want := 3
		if kind == coord.RebaseNeeded {
			want = 2 // merged work hears nothing
		}
		if got := len(regexp.MustCompile(`(?m)^`+string(kind)+` `).FindAll(text, -1)); got < want {
			t.Errorf("%s is shown %d times, want %d", kind, got, want)
		}
	}
	for _, file := range []string{"words", "lines", "structure", "exclusive", "contracts", "cross_repo", "rebase", "other_base", "same_copy"} {
		story, err := os.ReadFile("testdata/" + file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(story)) {
			if strings.HasPrefix(line, "  ") && regexp.MustCompile(`\{[A-Za-z:]+\}`).MatchString(line) {
				t.Errorf("%s: a template shows through: %s", file, line)
			}
		}
	}
}

// A conflict record shows both sides, and the title of a draft to nobody.
func TestParties(t *testing.T) {
	ix := engine.New()
	claims := engine.ClaimsOf(coord.ScopeSet{Paths: []string{"a.go"}}, coord.Shared)
	ix.PutWorker(&engine.Worker{ID: "1", Repo: repoName("shop"), User: user("ana"), Branch: "api", Since: 1, Claims: claims,
		Intent: &engine.Intent{Number: 1, Status: coord.IntentDraft, Title: "private"}})
	ix.PutWorker(&engine.Worker{ID: "2", Repo: repoName("shop"), User: user("bob"), Session: "s2", Since: 2, Claims: claims,
		Intent: &engine.Intent{Number: 2, Status: coord.IntentActive, Title: "public"}})
	found := engine.Detect(ix, "2")
	if len(found) != 1 {
		t.Fatalf("found %v", found)
	}
	ana, bob, api, s2, public := user("ana"), user("bob"), "api", "s2", "public"
	want := []coord.Party{
		{Role: coord.Holder, User: &ana, Repo: repoName("shop"), Branch: &api, Intent: &coord.IntentName{Ref: "INT-1", Number: 1, Status: coord.IntentDraft}},
		{Role: coord.Challenger, User: &bob, Repo: repoName("shop"), SessionID: &s2, Intent: &coord.IntentName{Ref: "INT-2", Number: 2, Status: coord.IntentActive, Title: &public}},
	}
	if diff := cmp.Diff(want, found[0].Parties()); diff != "" {
		t.Error(diff)
	}
}
