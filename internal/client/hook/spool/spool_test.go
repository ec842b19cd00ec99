package spool

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
		wait.Go(func() { Open(temp, "h", "s").QueueContext(fmt.Sprintf("note%02d", i)) })
		wait.Go(func() {
			text := Open(temp, "h", "s").TakeContext("", 6000)
			mu.Lock()
			defer mu.Unlock()
			got = append(got, strings.Fields(text)...)
		})
	}
	wait.Wait()
	got = append(got, strings.Fields(Open(temp, "h", "s").TakeContext("", 1<<20))...)
	slices.Sort(got)
	if len(got) != n || len(slices.Compact(got)) != n {
		t.Errorf("%d of %d notes were delivered: %v", len(got), n, got)
	}
}

func TestContextThatDoesNotFitStays(t *testing.T) {
	s := Open(t.TempDir(), "h", "s")
	s.QueueContext(strings.Repeat("a", 60))
	s.QueueContext(strings.Repeat("b", 60))
	if got := s.TakeContext("", 100); got != strings.Repeat("a", 60) {
		t.Errorf("first: %q", got)
	}
	if got := s.TakeContext("", 100); got != strings.Repeat("b", 60) {
		t.Errorf("then: %q", got)
	}
	// What there is to say now is never cut for what was queued before.
	s.QueueContext(strings.Repeat("ä", 60))
	now := strings.Repeat("c", 60)
	if got := s.TakeContext(now, 100); got != now {
		t.Errorf("with something to say now: %q", got)
	}
	if got := s.TakeContext("", 100); got != strings.Repeat("ä", 60) {
		t.Errorf("and after it: %q", got)
	}
}

func TestSpoolIsPrivate(t *testing.T) {
	temp := t.TempDir()
	s := Open(temp, "h", "s")
	s.QueueContext("x")
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
	other := Open(temp, "h", "s")
	other.QueueContext("y")
	if got := other.TakeContext("", 100); got != "" {
		t.Errorf("a folder that others can write to was used: %q", got)
	}
}

func TestPruneRemovesOldSessionsOnly(t *testing.T) {
	temp := t.TempDir()
	old, fresh := Open(temp, "h", "old"), Open(temp, "h", "fresh")
	old.Put("x", "1")
	fresh.Put("x", "1")
	then := time.Now().Add(-spoolAge - time.Hour)
	for _, p := range []string{filepath.Join(old.session, "x"), old.session, fresh.session} {
		if err := os.Chtimes(p, then, then); err != nil {
			t.Fatal(err)
		}
	}
	fresh.Prune()
	if old.Has("x") || !fresh.Has("x") {
		t.Errorf("old kept: %v, fresh kept: %v", old.Has("x"), fresh.Has("x"))
	}
}

func TestSessionsDoNotShareTheirQueues(t *testing.T) {
	temp := t.TempDir()
	Open(temp, "h", "one").QueueContext("x")
	for _, s := range []*Spool{Open(temp, "h", "two"), Open(temp, "g", "one")} {
		if got := s.TakeContext("", 100); got != "" {
			t.Errorf("got %q of another session", got)
		}
	}
}
