package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Hooks run in parallel; whatever is queued must be delivered exactly once.
func TestQueuedContextIsDeliveredOnceByParallelHooks(t *testing.T) {
	temp := t.TempDir()
	const n = 40
	var wait sync.WaitGroup
	var mu sync.Mutex
	var got []string
	for i := range n {
		wait.Go(func() { openSpool(temp, "h", "s").queueContext(fmt.Sprintf("note%02d", i)) })
		wait.Go(func() {
			text := openSpool(temp, "h", "s").takeContext("", 6000)
			mu.Lock()
			defer mu.Unlock()
			got = append(got, strings.Fields(text)...)
		})
	}
	wait.Wait()
	got = append(got, strings.Fields(openSpool(temp, "h", "s").takeContext("", 1<<20))...)
	slices.Sort(got)
	if len(got) != n || len(slices.Compact(got)) != n {
		t.Errorf("%d of %d notes were delivered: %v", len(got), n, got)
	}
}

func TestContextThatDoesNotFitStays(t *testing.T) {
	s := openSpool(t.TempDir(), "h", "s")
	s.queueContext(strings.Repeat("a", 60))
	s.queueContext(strings.Repeat("b", 60))
	if got := s.takeContext("", 100); got != strings.Repeat("a", 60) {
		t.Errorf("first: %q", got)
	}
	if got := s.takeContext("", 100); got != strings.Repeat("b", 60) {
		t.Errorf("then: %q", got)
	}
	// What there is to say now is never cut for what was queued before.
	s.queueContext(strings.Repeat("ä", 60))
	now := strings.Repeat("c", 60)
	if got := s.takeContext(now, 100); got != now {
		t.Errorf("with something to say now: %q", got)
	}
	if got := s.takeContext("", 100); got != strings.Repeat("ä", 60) {
		t.Errorf("and after it: %q", got)
	}
}

func TestSpoolIsPrivate(t *testing.T) {
	temp := t.TempDir()
	s := openSpool(temp, "h", "s")
	s.queueContext("x")
	err := filepath.WalkDir(temp, func(p string, e os.DirEntry, err error) error {
		if err != nil || p == temp {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", p, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.base, 0o777); err != nil {
		t.Fatal(err)
	}
	other := openSpool(temp, "h", "s")
	other.queueContext("y")
	if got := other.takeContext("", 100); got != "" {
		t.Errorf("a folder that others can write to was used: %q", got)
	}
}

func TestPruneRemovesOldSessionsOnly(t *testing.T) {
	temp := t.TempDir()
	old, fresh := openSpool(temp, "h", "old"), openSpool(temp, "h", "fresh")
	old.put("x", "1")
	fresh.put("x", "1")
	then := time.Now().Add(-spoolAge - time.Hour)
	for _, p := range []string{filepath.Join(old.session, "x"), old.session, fresh.session} {
		if err := os.Chtimes(p, then, then); err != nil {
			t.Fatal(err)
		}
	}
	fresh.prune()
	if old.has("x") || !fresh.has("x") {
		t.Errorf("old kept: %v, fresh kept: %v", old.has("x"), fresh.has("x"))
	}
}

func TestSessionsDoNotShareTheirQueues(t *testing.T) {
	temp := t.TempDir()
	openSpool(temp, "h", "one").queueContext("x")
	for _, s := range []*spool{openSpool(temp, "h", "two"), openSpool(temp, "g", "one")} {
		if got := s.takeContext("", 100); got != "" {
			t.Errorf("got %q of another session", got)
		}
	}
}
