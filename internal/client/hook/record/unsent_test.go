package record

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/svc-hq/svc/internal/client/patience"
)

// While one hook notes that the service missed an edit, another tells of those
// before: what was added in between is still to be told.
func TestUnsentWithManyWriters(t *testing.T) {
	t.Setenv(patience.Variable, "100")
	file := filepath.Join(t.TempDir(), "trees", "x")
	const writers, edits = 3, 40
	told := make(chan []string, 10_000)
	done := make(chan struct{})
	var adders, tellers sync.WaitGroup
	for w := range writers {
		adders.Go(func() {
			for i := range edits {
				if err := Read(file).AddUnsent(Owner{"tool", fmt.Sprint(w), ""}, []string{fmt.Sprintf("%d/%d", w, i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		tellers.Go(func() {
			for over := false; !over; {
				select {
				case <-done:
					over = true
				default:
				}
				rec := Read(file)
				paths := slices.Collect(maps.Keys(rec.Unsent()))
				told <- paths
				if len(paths)%2 == 0 {
					rec.AllSent()
				} else {
					rec.Sent(paths)
				}
			}
		})
	}
	adders.Wait()
	close(done)
	tellers.Wait()
	close(told)
	heard := map[string]bool{}
	for paths := range told {
		for _, p := range paths {
			heard[p] = true
		}
	}
	for p := range Read(file).Unsent() {
		heard[p] = true
	}
	if len(heard) != writers*edits {
		t.Errorf("of %d edits %d were told or are still to be", writers*edits, len(heard))
	}
}
