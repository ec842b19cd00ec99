package local

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// Hooks and commands change the routes at once: none undoes what another kept.
func TestRoutesWithManyWriters(t *testing.T) {
	dir := t.TempDir()
	const writers, choices = 4, 25
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range choices {
				_, err := ChangeRoutes(dir, time.Minute, func(r *Routes) { r.Choose(fmt.Sprintf("github.com/acme/%d-%d", w, i), i%2 == 0) })
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	r, err := LoadRoutes(dir)
	if err != nil || r.Mended != "" {
		t.Fatalf("the routes cannot be read: %v %s", err, r.Mended)
	}
	for w := range writers {
		for i := range choices {
			name := []string{fmt.Sprintf("github.com/acme/%d-%d", w, i)}
			if !r.Chosen(name) || r.Kept(name) != (i%2 == 1) {
				t.Errorf("what was said of %s is lost", name[0])
			}
		}
	}
}
