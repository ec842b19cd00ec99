package watchtree_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/svc-hq/svc/internal/client/hook"
	"github.com/svc-hq/svc/internal/client/watchtree"
	"github.com/svc-hq/svc/internal/gittest"
)

// A look is one comparison of the tree, and what to answer to it.
type look chan hook.Observation

// start watches a working copy and returns when changes are heard.
func start(t *testing.T, root string, idle time.Duration, ignored ...string) (looks look, mark string, ended chan error) {
	t.Helper()
	mark = filepath.Join(t.TempDir(), "mark")
	gittest.Write(t, filepath.Dir(mark), "mark", "")
	looks, ended = make(look, 100), make(chan error, 1)
	ready := make(chan struct{})
	w := watchtree.Watch{Root: root, Mark: mark, Idle: idle, Log: func(err error) { t.Error(err) }, Ready: func() { close(ready) },
		Look: func(context.Context) (hook.Observation, error) {
			o := hook.Observation{Ignored: append([]string{}, ignored...)}
			looks <- o
			return o, nil
		}}
	go func() { ended <- w.Run(t.Context()) }()
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
	}
	return looks, mark, ended
}

// next waits for the next look.
func (l look) next(t *testing.T, ended chan error) {
	t.Helper()
	select {
	case <-l:
	case err := <-ended:
		t.Fatalf("it ended: %v", err)
	}
}

// Every change is looked at, in folders that came later too, and what git
// leaves out is not.
func TestChangesAreLookedAt(t *testing.T) {
	root := gittest.Init(t)
	gittest.Write(t, root, "a.txt", "a\n")
	gittest.Write(t, root, "built/x.o", "x\n")
	looks, mark, ended := start(t, root, time.Hour, "built")
	looks.next(t, ended) // at the start
	looks.next(t, ended) // for what changed while the folders were added
	for i, name := range []string{"a.txt", "new/deep/b.txt", "new/deep/c.txt", "d.txt"} {
		for n := range 200 { // which nobody looks at
			gittest.Write(t, root, "built/x.o", fmt.Sprint(n))
		}
		if len(looks) > 0 {
			t.Fatalf("before %s: something was looked at that git leaves out", name)
		}
		gittest.Write(t, root, name, fmt.Sprint(i))
		looks.next(t, ended)
	}
	if err := os.Remove(mark); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("switched off: %v", err)
	}
}

// Where the system would have every file open to tell of changes, it looks every
// now and then and opens none; and it ends as it does elsewhere. However late a
// look comes, what it finds keeps the watch going.
func TestLookingNowAndThen(t *testing.T) {
	root := gittest.Init(t)
	mark := filepath.Join(t.TempDir(), "mark")
	gittest.Write(t, filepath.Dir(mark), "mark", "")
	const idle = 10 * time.Minute
	synctest.Test(t, func(t *testing.T) {
		looks, ended := make(look), make(chan error, 1)
		told := 1
		var takes atomic.Int64
		w := watchtree.Watch{Root: root, Mark: mark, Idle: idle, Every: time.Second, Log: func(err error) { t.Error(err) },
			Look: func(context.Context) (hook.Observation, error) {
				o := hook.Observation{Told: told}
				time.Sleep(time.Duration(takes.Load()))
				looks <- o
				return o, nil
			}}
		start := func() { go func() { ended <- w.Run(t.Context()) }() }
		start() // something is told all the time
		for began := time.Now(); time.Since(began) < 4*idle; {
			looks.next(t, ended)
		}
		takes.Store(int64(idle / 10)) // in a tree so large that five idle times lie between two looks
		for range 3 {
			looks.next(t, ended)
		}
		open, err := os.ReadDir("/proc/self/fd")
		for _, fd := range open {
			if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(to, root) {
				t.Errorf("%s is open", to)
			}
		}
		if err := os.Remove(mark); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("switched off: %v", err)
		}
		gittest.Write(t, filepath.Dir(mark), "mark", "")
		told = 0
		takes.Store(0)
		start()
		for began := time.Now(); ; {
			select {
			case <-looks:
				continue
			case err := <-ended:
				if lasted := time.Since(began); err != nil || lasted != idle {
					t.Errorf("idle, after %v: %v", lasted, err)
				}
			}
			return
		}
	})
}

// It ends by itself when nothing happens.
func TestAnIdleWatchEnds(t *testing.T) {
	_, _, ended := start(t, gittest.Init(t), 50*time.Millisecond)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A working copy that is removed is not watched any more.
func TestAWatchEndsWithItsWorkingCopy(t *testing.T) {
	root := filepath.Join(t.TempDir(), "copy")
	if err := os.Rename(gittest.Init(t), root); err != nil {
		t.Fatal(err)
	}
	_, _, ended := start(t, root, time.Hour)
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A tree with too many folders is left to the hooks; one in a folder that git
// leaves out, or of another repository, does not count.
func TestATreeWithTooManyFolders(t *testing.T) {
	root := gittest.Init(t)
	for i := range 4200 {
		if err := os.MkdirAll(filepath.Join(root, "many", fmt.Sprint(i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	_, _, ended := start(t, root, time.Hour)
	if err := <-ended; !errors.Is(err, watchtree.ErrTooLarge) {
		t.Errorf("ended with %v", err)
	}
	looks, mark, ended := start(t, root, time.Hour, "many")
	looks.next(t, ended)
	if err := os.Mkdir(filepath.Join(root, "many", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	other, _, over := start(t, root, time.Hour)
	other.next(t, over)
	for _, ended := range []chan error{ended, over} {
		select {
		case err := <-ended:
			t.Errorf("ended with %v", err)
		default:
		}
	}
	os.Remove(mark)
}
