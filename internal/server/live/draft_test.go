package live_test

import (
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/server/live"
)

// What is tried on a draft is undone. The index has more ways to be changed,
// which are not: a draft must not offer them.
func TestADraftOffersOnlyWhatIsUndone(t *testing.T) {
	undone := []string{"PutWorker", "RemoveWorker", "PutChange", "PutBranch", "PutLineMap", "SetUses", "SetPaths", "PutMerged", "SetMerged",
		"SetRules", "SetLinks", "SetPrefixes", "Suppress"}
	changes := regexp.MustCompile(`^(Put|Set|Remove|Suppress)([A-Z]|$)`)
	offered := reflect.TypeFor[*live.Draft]()
	n := 0
	for m := range offered.Methods() {
		if changes.MatchString(m.Name) {
			n++
			if !slices.Contains(undone, m.Name) {
				t.Errorf("Draft.%s changes the index beyond the transaction", m.Name)
			}
		}
	}
	if n != len(undone) {
		t.Errorf("%d ways to change a draft, want %d", n, len(undone))
	}
	index := 0
	for m := range reflect.TypeFor[*engine.Index]().Methods() {
		if changes.MatchString(m.Name) {
			index++
		}
	}
	if index <= n/2 {
		t.Errorf("only %d ways to change an index are recognized by their names", index)
	}
}
