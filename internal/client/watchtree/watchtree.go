// Package watchtree looks on while a person edits: it hears of changes in a
// working copy and has what no agent did told to the service, within two
// seconds. One process watches a working copy; it ends when nothing has
// happened for a while, and the next hook starts it again. Where the system tells
// of changes only to those that hold every file open, it looks now and then.
package watchtree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook"
)

const (
	// settle is how long nothing must change before the tree is looked at:
	// editors write in several steps, and an agent's hook comes after its edit.
	settle = 700 * time.Millisecond
	// longest is how long that is put off while changes go on.
	longest = 1200 * time.Millisecond
	// retry is when to look again after the service was away, or an agent at work.
	retry = 5 * time.Second
	// calm is how many times longer than a look took it is left alone after it:
	// a file that changes all the time must not keep git busy all the time.
	calm = 4
	// maxFolders is how many folders are watched. The system has a limit for all
	// programs together, and what is not watched is told with the next hook.
	maxFolders = 4096
	// rarely is calm where it looks without having heard anything.
	rarely = 50
)

// Every is how often to look on this system, zero where it tells of changes. On
// macOS fsnotify opens every file of every folder that it watches.
func Every() time.Duration {
	if runtime.GOOS == "darwin" {
		return 1500 * time.Millisecond
	}
	return 0
}

// ErrTooLarge is the error of a working copy with too many folders.
var ErrTooLarge = fmt.Errorf("more than %d folders: not watched, changes are told at the next hook", maxFolders)

// A Watch is what is watched, and how.
type Watch struct {
	Root  string
	Mark  string        // the file that says that the person wants it; without it the watch ends
	Idle  time.Duration // after which it ends
	Every time.Duration // how often to look; zero to be told of changes
	Look  func(context.Context) (hook.Observation, error)
	Log   func(error)
	Ready func() // called once changes are heard; may be nil
}

type watcher struct {
	Watch
	fs      *fsnotify.Watcher
	ignored map[string]bool // folders, from the root
	folders int
	due     <-chan time.Time
	first   time.Time // of the changes that were not looked at yet
	rest    time.Time // before which not to look again
}

// Run watches until ctx ends, nothing happened for Idle, or the person wants it
// no more.
func (w Watch) Run(ctx context.Context) error {
	if w.Every > 0 {
		return (&watcher{Watch: w, ignored: map[string]bool{}}).poll(ctx)
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", w.Root, err)
	}
	defer notify.Close()
	s := &watcher{Watch: w, fs: notify, ignored: map[string]bool{}}
	if err := notify.Add(filepath.Dir(w.Mark)); err != nil {
		return fmt.Errorf("watch %s: %w", w.Root, err)
	}
	s.look(ctx) // what was changed before, and which folders git leaves out
	if err := s.add(w.Root); err != nil {
		return err
	}
	if w.Ready != nil {
		w.Ready()
	}
	s.changed() // while the folders were being added
	return s.listen(ctx)
}

// poll looks every now and then. In a large tree, where a look takes long, it does
// so less often.
func (s *watcher) poll(ctx context.Context) error {
	if s.Ready != nil {
		s.Ready()
	}
	for last := time.Now(); ; {
		if _, err := os.Lstat(s.Mark); err != nil || !gitrepo.Is(s.Root) {
			return nil
		}
		start := time.Now()
		seen, err := s.look(ctx)
		wait := max(s.Every, rarely*time.Since(start))
		if err != nil {
			wait = max(wait, retry)
		}
		if seen.Told > 0 || seen.Later {
			last = time.Now()
		} else if time.Since(last) >= s.Idle { // by a look, however late it came
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

func (s *watcher) listen(ctx context.Context) error {
	idle := time.NewTimer(s.Idle)
	defer idle.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-idle.C:
			return nil
		case e, ok := <-s.fs.Events:
			if !ok || e.Name == s.Mark && e.Has(fsnotify.Remove) {
				return nil
			}
			if s.concerns(e) {
				idle.Reset(s.Idle)
				s.changed()
			}
		case err, ok := <-s.fs.Errors:
			if !ok {
				return nil
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				s.Log(err)
			}
			s.changed() // something was missed: the tree says what
		case <-s.due:
			s.due, s.first = nil, time.Time{}
			if !gitrepo.Is(s.Root) {
				return nil // the working copy is gone
			}
			s.look(ctx)
			if err := s.add(s.Root); err != nil {
				return err
			}
		}
	}
}

// concerns reports whether an event may be about a file that git does not leave
// out.
func (s *watcher) concerns(e fsnotify.Event) bool {
	rel, err := filepath.Rel(s.Root, e.Name)
	if err != nil || strings.HasPrefix(rel, "..") || e.Op == fsnotify.Chmod {
		return false
	}
	return !gitrepo.Keeps(rel) && !s.ignored[filepath.ToSlash(rel)]
}

// changed sees to it that the tree is looked at soon.
func (s *watcher) changed() {
	now := time.Now()
	if s.first.IsZero() {
		s.first = now
	}
	s.in(min(settle, time.Until(s.first.Add(longest))))
}

// in sees to it that the tree is looked at after a while.
func (s *watcher) in(d time.Duration) { s.due = time.After(max(d, time.Until(s.rest), 0)) }

// look has told what is missing.
func (s *watcher) look(ctx context.Context) (seen hook.Observation, err error) {
	start := time.Now()
	seen, err = s.Look(ctx)
	s.rest = time.Now().Add(calm * time.Since(start))
	if err != nil {
		s.Log(err)
	}
	if err != nil || seen.Later {
		s.in(retry)
	}
	if seen.Ignored != nil {
		clear(s.ignored)
		for _, dir := range seen.Ignored {
			s.ignored[dir] = true
		}
	}
	return seen, err
}

// add watches the folders at and below dir, without those that git leaves out
// and those of other repositories. Those that are watched already stay so.
func (s *watcher) add(dir string) error {
	known := map[string]bool{}
	for _, name := range s.fs.WatchList() {
		known[name] = true
	}
	s.folders = len(known)
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone meanwhile, or not ours to read
		}
		if !e.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(s.Root, path)
		if err != nil || gitrepo.Keeps(e.Name()) || s.ignored[filepath.ToSlash(rel)] {
			return filepath.SkipDir
		}
		if rel != "." && gitrepo.Is(path) {
			return filepath.SkipDir
		}
		if known[path] {
			return nil
		}
		if s.folders++; s.folders > maxFolders {
			return ErrTooLarge
		}
		if err := s.fs.Add(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("watch %s: %w", rel, err)
		}
		return nil
	})
}
