// Package treewatch knows what changed in the working copies of this machine, so
// that a hook in a repository of 100,000 files need not look at each of them. It
// reads no file and asks no git: it says which paths to look at. Whatever it is
// not sure of it does not know, and then everything has to be looked at.
package treewatch

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/wire"
)

const (
	// maxFolders is how many folders of a working copy are watched, and maxTrees
	// how many working copies. The system has a limit for all programs together.
	maxFolders = 20_000
	maxTrees   = 8
	// maxChanges is how many paths are remembered of a working copy. Beyond, the
	// memory begins anew, and those who ask about before look for themselves.
	maxChanges = 20_000
	// patience is how long a question waits until everything that was written
	// before it has been heard of.
	patience = 100 * time.Millisecond
	// again is how long a working copy is left alone that could not be watched.
	again = 10 * time.Minute
)

// A Watcher watches working copies as long as somebody asks about them.
type Watcher struct {
	cookies string // a folder of our own

	mu    sync.Mutex
	trees map[string]*tree
	asked uint64
}

// New returns a watcher that keeps its marks in a folder.
func New(folder string) *Watcher {
	os.RemoveAll(folder) // of one that was killed
	return &Watcher{cookies: folder, trees: map[string]*tree{}}
}

// Changed says what changed in a working copy since an answer before. The first
// question about one begins to watch it.
func (w *Watcher) Changed(q wire.TreeQuery) wire.TreeChanges {
	if !filepath.IsAbs(q.Root) {
		return wire.TreeChanges{}
	}
	t := w.tree(q)
	select {
	case <-t.ready:
	default:
		return wire.TreeChanges{} // the next question finds it watched
	}
	if !t.settle() {
		return wire.TreeChanges{}
	}
	return t.since(q.Since)
}

// tree returns the watched working copy, begun anew where other folders of it
// are ignored now, or where the watch had to be given up.
func (w *Watcher) tree(q wire.TreeQuery) *tree {
	skip := slices.Sorted(slices.Values(q.Skip))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	t := w.trees[q.Root]
	if t != nil && slices.Equal(t.skip, skip) && (!t.over() || t.refused()) {
		t.asked = w.asked
		return t
	}
	if t != nil {
		t.end()
		delete(w.trees, q.Root)
	}
	for len(w.trees) >= maxTrees {
		oldest := ""
		for root, t := range w.trees {
			if oldest == "" || t.asked < w.trees[oldest].asked {
				oldest = root
			}
		}
		w.trees[oldest].end()
		delete(w.trees, oldest)
	}
	t = newTree(filepath.Clean(q.Root), w.cookies, skip)
	t.asked = w.asked
	w.trees[q.Root] = t
	go t.run()
	return t
}

// Close ends all watching.
func (w *Watcher) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.trees {
		t.end()
	}
	clear(w.trees)
}

// A tree is one working copy.
type tree struct {
	root    string
	skip    []string // folders, sorted
	cookies string
	asked   uint64        // of the watcher
	ready   chan struct{} // closed once all folders are watched
	gone    chan struct{} // closed when it is watched no more
	once    sync.Once

	mu      sync.Mutex
	until   time.Time // before which it is not to be tried again
	name    string    // of this memory: tokens of another one mean nothing to it
	seq     uint64
	changes map[string]uint64 // when a path was last heard of
	heard   map[string]chan struct{}
}

func newTree(root, cookies string, skip []string) *tree {
	return &tree{root: root, skip: skip, cookies: cookies, name: rand.Text(), ready: make(chan struct{}), gone: make(chan struct{}),
		changes: map[string]uint64{}, heard: map[string]chan struct{}{}}
}

func (t *tree) end() { t.once.Do(func() { close(t.gone) }) }

func (t *tree) over() bool {
	select {
	case <-t.gone:
		return true
	default:
		return false
	}
}

// refuse ends a tree that cannot be watched, for a while.
func (t *tree) refuse() {
	t.mu.Lock()
	t.until = time.Now().Add(again)
	t.mu.Unlock()
	t.end()
}

func (t *tree) refused() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Now().Before(t.until)
}

func (t *tree) skips(rel string) bool {
	_, found := slices.BinarySearch(t.skip, rel)
	return found
}

func (t *tree) note(rel string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seq++
	t.changes[rel] = t.seq
	if len(t.changes) > maxChanges {
		t.renew()
	}
}

// forget has everybody look for themselves once.
func (t *tree) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renew()
}

func (t *tree) renew() {
	t.name = rand.Text()
	clear(t.changes)
}

// settle waits until everything that was written before has been heard of: the
// system tells of changes in order, so a file that we write now is told last.
func (t *tree) settle() bool {
	name := rand.Text()
	heard := make(chan struct{})
	t.mu.Lock()
	t.heard[name] = heard
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.heard, name)
	}()
	cookie := filepath.Join(t.cookies, name)
	defer os.Remove(cookie)
	if os.WriteFile(cookie, nil, 0o600) != nil {
		return false
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-heard:
		return !t.over()
	case <-t.gone:
	case <-timer.C:
	}
	return false
}

// cookie takes the event of a file in the folder of cookies in.
func (t *tree) cookie(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if heard, ok := t.heard[name]; ok {
		delete(t.heard, name)
		close(heard)
	}
}

// since returns what changed after a token.
func (t *tree) since(token string) wire.TreeChanges {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := wire.TreeChanges{Token: t.name + "." + strconv.FormatUint(t.seq, 10)}
	name, at, _ := strings.Cut(token, ".")
	seq, err := strconv.ParseUint(at, 10, 64)
	if name != t.name || err != nil {
		return out
	}
	for path, when := range t.changes {
		if when > seq {
			out.Paths = append(out.Paths, path)
		}
	}
	if len(out.Paths) > wire.MaxTreePaths {
		out.Paths = nil
		return out
	}
	slices.Sort(out.Paths)
	out.Known = true
	return out
}
