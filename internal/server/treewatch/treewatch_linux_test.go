package treewatch

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

var testTime = time.Unix(1_700_000_000, 0)

func write(t testing.TB, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// begin watches a folder and returns the question about what changes from now on.
func begin(t testing.TB, w *Watcher, root string, skip ...string) wire.TreeQuery {
	t.Helper()
	q := wire.TreeQuery{Root: root, Skip: skip}
	await.True(t, "it is watched", func() bool {
		q.Since = w.Changed(q).Token
		return q.Since != ""
	})
	return q
}

// What was written before a question is in its answer, at once and without
// waiting; what git leaves out is not.
func TestChangesAreKnownTheMomentTheyAreMade(t *testing.T) {
	root := t.TempDir()
	put := func(name, text string) { write(t, root, name, text) }
	put("src/a.go", "1")
	put("out/big", "1")
	put(".git/index", "1")
	put("sub/.git/HEAD", "1")
	w := New(filepath.Join(t.TempDir(), "cookies"))
	defer w.Close()
	q := begin(t, w, root, "out")
	if got := w.Changed(q); !got.Known || got.Paths != nil {
		t.Fatalf("nothing changed, and it says %+v", got)
	}
	for i, step := range []struct {
		do   func()
		want []string
	}{
		{func() { put("src/a.go", "2") }, []string{"src/a.go"}},
		{func() { put("out/big", "2"); put(".git/index", "2"); put("sub/x", "2") }, nil},
		{func() { os.Remove(filepath.Join(root, "src/a.go")) }, []string{"src/a.go"}},
		{func() { put("new/deep/er/b.go", "1") }, []string{"new", "new/deep", "new/deep/er", "new/deep/er/b.go"}},
		{func() { put("new/deep/er/b.go", "2") }, []string{"new/deep/er/b.go"}},
		{func() { os.Chtimes(filepath.Join(root, "new/deep/er/b.go"), testTime, testTime) }, []string{"new/deep/er/b.go"}},
		{func() { os.RemoveAll(filepath.Join(root, "new")) }, []string{"new", "new/deep/er/b.go"}},
		{func() { put("new/deep/er/b.go", "1") }, []string{"new/deep/er/b.go"}}, // the same names, other folders
	} {
		step.do()
		got := w.Changed(q)
		missing := slices.DeleteFunc(slices.Clone(step.want), func(p string) bool { return slices.Contains(got.Paths, p) })
		if !got.Known || len(missing) > 0 || step.want == nil && got.Paths != nil {
			t.Errorf("step %d: %+v, want %v", i, got, step.want)
		}
		q.Since = got.Token
	}
	q.Since = "somebody.1"
	if got := w.Changed(q); got.Known {
		t.Errorf("a token of another time is known: %+v", got)
	}
	// Of more than it can tell of, it does not tell a part.
	q.Since = w.Changed(q).Token
	for i := range wire.MaxTreePaths + 1 {
		put(fmt.Sprintf("many/%d", i), "1")
	}
	if got := w.Changed(q); got.Known {
		t.Errorf("of too many changes %d are told", len(got.Paths))
	}
}

// A folder that is moved takes its watch with it, under a name that is not true
// any more: then nothing is known until everything was looked at.
func TestAMovedFolderEndsWhatIsKnown(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a/b/c.go", "1")
	w := New(filepath.Join(t.TempDir(), "cookies"))
	defer w.Close()
	q := begin(t, w, root)
	if err := os.Rename(filepath.Join(root, "a"), filepath.Join(root, "z")); err != nil {
		t.Fatal(err)
	}
	if got := w.Changed(q); got.Known {
		t.Fatalf("a folder was moved, and it says %+v", got)
	}
	q.Since = begin(t, w, root).Since
	write(t, root, "z/b/c.go", "2")
	if got := w.Changed(q); !got.Known || !slices.Contains(got.Paths, "z/b/c.go") {
		t.Errorf("watched anew it says %+v", got)
	}
}

// A file with two names changes under both, and only one of them is heard of.
func TestAFileWithTwoNamesIsNotKnown(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a", "1")
	write(t, root, "b/c", "1")
	if err := os.Link(filepath.Join(root, "a"), filepath.Join(root, "b/a")); err != nil {
		t.Fatal(err)
	}
	w := New(filepath.Join(t.TempDir(), "cookies"))
	defer w.Close()
	q := begin(t, w, root)
	write(t, root, "b/c", "2")
	if got := w.Changed(q); !got.Known {
		t.Errorf("of a file with one name it says %+v", got)
	}
	write(t, root, "b/a", "2")
	if got := w.Changed(q); got.Known {
		t.Errorf("a is another, and it says %+v", got)
	}
}

// look is what a scan of everything sees: the oracle.
func look(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.Name() == ".git" {
			return fs.SkipDir
		}
		info, err := e.Info()
		if err != nil || e.IsDir() {
			return err
		}
		st := info.Sys().(*syscall.Stat_t)
		rel, err := filepath.Rel(root, path)
		out[rel] = fmt.Sprint(st.Ino, st.Size, st.Mtim, st.Ctim, st.Mode)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Whatever is done to a working copy, no path that differs is missed: files and
// folders are made, written, moved and removed at random, and git checks
// out another branch, while somebody else keeps writing.
func TestNoPathIsEverMissed(t *testing.T) {
	root := gittest.Init(t)
	for i := range 30 {
		write(t, root, fmt.Sprintf("d%d/e%d/f%d", i%3, i%5, i), "main")
	}
	gittest.Run(t, root, "add", ".")
	gittest.Run(t, root, "commit", "-qm", "x")
	gittest.Run(t, root, "checkout", "-qb", "other")
	for i := range 20 {
		write(t, root, fmt.Sprintf("d%d/e%d/f%d", i%3, i%5, i), "other")
	}
	write(t, root, "only/here/x", "other")
	gittest.Run(t, root, "add", ".")
	gittest.Run(t, root, "commit", "-qm", "y")

	w := New(filepath.Join(t.TempDir(), "cookies"))
	defer w.Close()
	seed := uint64(20261117)
	if os.Getenv("CI") == "" {
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	outside := t.TempDir()
	q, known, rounds := begin(t, w, root), 0, 400
	was := look(t, root)
	for range rounds {
		for range r.IntN(4) + 1 {
			change(t, r, root, outside)
		}
		got := w.Changed(q)
		now := look(t, root)
		if got.Known {
			known++
			for path := range differing(was, now) {
				if !slices.Contains(got.Paths, path) {
					t.Fatalf("%s changed, and is not among %v", path, got.Paths)
				}
			}
		}
		if q.Since = got.Token; q.Since == "" {
			q = begin(t, w, root)
		}
		was = now
	}
	if known < rounds/3 {
		t.Errorf("only %d of %d answers knew anything", known, rounds)
	}
}

func differing(was, now map[string]string) map[string]bool {
	out := map[string]bool{}
	for p, s := range was {
		if now[p] != s {
			out[p] = true
		}
	}
	for p, s := range now {
		if was[p] != s {
			out[p] = true
		}
	}
	return out
}

// change does one thing to a working copy.
func change(t *testing.T, r *rand.Rand, root, outside string) {
	t.Helper()
	name := func() string { return fmt.Sprintf("d%d/e%d/f%d", r.IntN(4), r.IntN(5), r.IntN(30)) }
	folder := func() string { return filepath.Join(root, fmt.Sprintf("d%d/e%d", r.IntN(4), r.IntN(5))) }
	at := func(n string) string { return filepath.Join(root, n) }
	// Most of these may meet nothing to work on, or something that is in the way.
	switch r.IntN(24) {
	case 0:
		os.RemoveAll(folder())
	case 1:
		os.Rename(folder(), folder())
	case 2:
		os.Rename(folder(), filepath.Join(outside, fmt.Sprint(r.Uint64())))
	case 3:
		made := filepath.Join(outside, fmt.Sprint(r.Uint64()))
		write(t, made, "deep/in", "moved in")
		os.Rename(made, folder())
	case 4:
		gittest.Run(t, root, "checkout", "-qf", []string{"main", "other"}[r.IntN(2)])
	case 5, 6:
		os.Rename(at(name()), at(name()))
	case 7:
		os.Remove(at(name()))
	case 9:
		os.Symlink("f1", at(name()))
	case 10:
		os.Chmod(at(name()), 0o755)
	case 11:
		dir := folder()
		os.RemoveAll(dir)
		write(t, dir, "again/x", strings.Repeat("x", r.IntN(9)))
	case 12:
		if f, err := os.OpenFile(at(name()), os.O_APPEND|os.O_WRONLY, 0); err == nil {
			f.WriteString("more")
			f.Close()
		}
	case 13:
		os.Truncate(at(name()), int64(r.IntN(3)))
	default:
		n := name()
		if os.MkdirAll(filepath.Dir(at(n)), 0o755) == nil {
			os.WriteFile(at(n), []byte(fmt.Sprint(r.IntN(100))), 0o644)
		}
	}
}
