package engine_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
)

// Files come and go. What an index keeps is what is there, not what was.
func TestUsesThatAreGoneTakeNoRoom(t *testing.T) {
	repo := coord.RepoName{ID: "r", FullName: "acme/api"}
	ix := engine.New()
	rounds := func(from, to int) {
		for n := from; n < to; n++ {
			path := fmt.Sprintf("src/file%d.go", n)
			ix.SetUses(repo, path, []engine.Use{{Key: "http GET /x"}})
			if got := ix.Uses("r", path); len(got) != 1 {
				t.Fatalf("%s uses %v", path, got)
			}
			ix.SetUses(repo, path, nil)
			if got := ix.Uses("r", path); got != nil {
				t.Fatalf("%s still uses %v", path, got)
			}
		}
	}
	rounds(0, 2000)
	before := heap()
	rounds(2000, 50_000)
	if grown := heap() - before; grown > 500_000 {
		t.Errorf("48,000 files that are gone take %.0f bytes", grown)
	}
	runtime.KeepAlive(ix)
}

func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
