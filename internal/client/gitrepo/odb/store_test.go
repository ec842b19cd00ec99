package odb

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/gittest"
)

// open opens the objects of the repository at dir.
func open(t interface{ Helper() }, dir string) *Store {
	t.Helper()
	width := 20
	if config, _ := os.ReadFile(filepath.Join(dir, ".git", "config")); bytes.Contains(config, []byte("sha256")) {
		width = 32
	}
	return Open(filepath.Join(dir, ".git", "objects"), width)
}

// grown makes a repository with a history whose objects are worth packing.
func grown(t testing.TB, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	gittest.Run(t, dir, append([]string{"init", "-q", "-b", "main"}, args...)...)
	text := strings.Repeat("a line that repeats\n", 400)
	for i := range 12 {
		text = fmt.Sprintf("line %d\n", i) + text + fmt.Sprintf("end %d\n", i)
		gittest.Write(t, dir, "src/deep/er/a.txt", text)
		gittest.Write(t, dir, fmt.Sprintf("src/f%d.txt", i), fmt.Sprintf("file %d\n", i))
		gittest.Write(t, dir, "bin.dat", "\x00\x01"+text)
		gittest.Run(t, dir, "add", "-A")
		gittest.Run(t, dir, "commit", "-q", "-m", fmt.Sprint("commit ", i))
	}
	gittest.Run(t, dir, "tag", "-a", "-m", "tag", "v1")
	return dir
}

// agrees reads every object of a repository and compares with git.
func agrees(t *testing.T, dir string) {
	t.Helper()
	s := open(t, dir)
	defer s.Close()
	list := gittest.Run(t, dir, "cat-file", "--batch-all-objects", "--batch-check")
	n := 0
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		kind, data, err := s.Read(f[0], 1<<30)
		if err != nil || kind != f[1] || fmt.Sprint(len(data)) != f[2] {
			t.Fatalf("%s: %s of %d bytes, %v", strings.TrimSpace(line), kind, len(data), err)
		}
		if kind == "blob" && s.BlobID(data) != f[0] {
			t.Fatalf("%s: wrong content", f[0])
		}
		n++
	}
	if n == 0 {
		t.Fatal("no objects")
	}
	for line := range strings.Lines(gittest.Run(t, dir, "ls-tree", "-r", "HEAD~3")) {
		head, path, _ := strings.Cut(strings.TrimSpace(line), "\t")
		e, err := s.Entry(gittest.Run(t, dir, "rev-parse", "HEAD~3"), path)
		if err != nil || e == nil || e.ID != strings.Fields(head)[2] {
			t.Errorf("%s: %+v, %v; git says %s", path, e, err, head)
		}
	}
	for _, path := range []string{"none", "src/none", "src/f0.txt/under", "src/deep/none/x"} {
		if e, err := s.Entry(gittest.Run(t, dir, "rev-parse", "HEAD"), path); err != nil || e != nil {
			t.Errorf("%s: %+v %v", path, e, err)
		}
	}
}

func TestTheStoreReadsWhatGitWrote(t *testing.T) {
	t.Run("loose", func(t *testing.T) { agrees(t, grown(t)) })
	t.Run("packed", func(t *testing.T) {
		dir := grown(t)
		gittest.Run(t, dir, "repack", "-a", "-d", "-q", "--depth=50", "--window=50")
		agrees(t, dir)
	})
	t.Run("differences by id", func(t *testing.T) {
		dir := grown(t)
		gittest.Run(t, dir, "-c", "repack.useDeltaBaseOffset=false", "repack", "-a", "-d", "-q")
		agrees(t, dir)
	})
	t.Run("several packs and a list of them", func(t *testing.T) {
		dir := grown(t)
		gittest.Run(t, dir, "repack", "-d", "-q")
		gittest.Write(t, dir, "more.txt", "more\n")
		gittest.Run(t, dir, "add", "-A")
		gittest.Run(t, dir, "commit", "-q", "-m", "more")
		gittest.Run(t, dir, "repack", "-d", "-q")
		gittest.Run(t, dir, "multi-pack-index", "write")
		agrees(t, dir)
	})
	t.Run("borrowed", func(t *testing.T) {
		dir := grown(t)
		gittest.Run(t, dir, "repack", "-a", "-d", "-q")
		other := filepath.Join(t.TempDir(), "other")
		gittest.Run(t, dir, "clone", "-q", "--shared", dir, other)
		agrees(t, other)
	})
	t.Run("sha256", func(t *testing.T) {
		dir := grown(t, "--object-format=sha256")
		agrees(t, dir)
		gittest.Run(t, dir, "repack", "-a", "-d", "-q")
		agrees(t, dir)
	})
}

// A damaged pack is an error, never a wrong answer or a crash.
func TestDamagedPacks(t *testing.T) {
	dir := grown(t)
	gittest.Run(t, dir, "repack", "-a", "-d", "-q")
	files, _ := filepath.Glob(filepath.Join(dir, ".git", "objects", "pack", "pack-*"))
	head := gittest.Run(t, dir, "rev-parse", "HEAD")
	blob := gittest.Run(t, dir, "rev-parse", "HEAD:src/deep/er/a.txt")
	want := gittest.Run(t, dir, "cat-file", "blob", blob)
	originals := map[string][]byte{}
	for _, f := range files {
		if err := os.Chmod(f, 0o644); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		originals[f] = data
	}
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.SampledFrom(files).Draw(t, "file")
		data := bytes.Clone(originals[f])
		for range rapid.IntRange(1, 4).Draw(t, "times") {
			data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] ^= byte(rapid.IntRange(1, 255).Draw(t, "bits"))
		}
		data = data[:rapid.IntRange(0, len(data)).Draw(t, "length")]
		if err := os.WriteFile(f, data, 0o644); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.WriteFile(f, originals[f], 0o644) }()
		s := open(t, dir)
		defer s.Close()
		if _, data, err := s.Read(blob, 1<<20); err == nil && strings.TrimSpace(string(data)) != want && s.BlobID(data) == blob {
			t.Fatal("another content for the same id")
		}
		_, _ = s.Entry(head, "src/deep/er/a.txt")
	})
}

// Differences that lead in a circle end: without an end the process would, and
// the host of a hook takes that for a refusal.
func TestDifferencesInACircle(t *testing.T) {
	dir := gittest.Init(t)
	gittest.Write(t, dir, "a.txt", "a\n")
	gittest.Write(t, dir, "b.txt", "b\n")
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-q", "-m", "first")
	a, b := gittest.Run(t, dir, "rev-parse", "HEAD:a.txt"), gittest.Run(t, dir, "rev-parse", "HEAD:b.txt")
	for name, base := range map[string]map[string]string{
		"of itself":        {a: a},
		"of one another":   {a: b, b: a},
		"of what is there": {a: gittest.Run(t, dir, "hash-object", "-w", "--stdin")},
	} {
		t.Run(name, func(t *testing.T) {
			gittest.DeltaPack(t, dir, base)
			s := open(t, dir)
			defer s.Close()
			if _, data, err := s.Read(a, 1<<20); !errors.Is(err, errObject) {
				t.Errorf("read %q, %v", data, err)
			}
		})
	}
}

// A repository that borrows from itself, or from too many, is looked through
// once and no further.
func TestBorrowedFoldersEnd(t *testing.T) {
	dir := gittest.Init(t)
	objects := filepath.Join(dir, ".git", "objects")
	for _, lines := range []string{objects + "\n", strings.Repeat(objects+"\n", 10_000), "../objects\n../../.git/objects\n"} {
		gittest.Write(t, objects, "info/alternates", lines)
		if n := len(open(t, dir).dirs); n > maxFolders {
			t.Errorf("%d folders are looked into", n)
		}
	}
}

// References that lead in a circle lead nowhere.
func TestReferencesInACircle(t *testing.T) {
	dir := filepath.Join(gittest.Init(t), ".git")
	gittest.Write(t, dir, "refs/heads/a", "ref: refs/heads/b\n")
	gittest.Write(t, dir, "refs/heads/b", "ref: refs/heads/a\n")
	if id := (Refs{Dir: dir, Common: dir}).Commit("refs/heads/a"); id != "" {
		t.Errorf("leads to %s", id)
	}
}

// FuzzStore damages a pack anywhere: whatever both git and we can read is the
// same.
func FuzzStore(f *testing.F) {
	dir := grown(f)
	gittest.Run(f, dir, "-c", "repack.useDeltaBaseOffset=false", "repack", "-a", "-d", "-q")
	files, _ := filepath.Glob(filepath.Join(dir, ".git", "objects", "pack", "pack-*.pack"))
	if len(files) != 1 {
		f.Fatalf("packs: %v", files)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil || os.Chmod(files[0], 0o644) != nil {
		f.Fatal(err)
	}
	blob := gittest.Run(f, dir, "rev-parse", "HEAD~3:src/deep/er/a.txt")
	f.Add(uint32(0), []byte{})
	f.Add(uint32(12), []byte{0x70})
	f.Add(uint32(len(whole)/2), []byte("\x7f\xff"))
	f.Fuzz(func(t *testing.T, at uint32, put []byte) {
		data := bytes.Clone(whole)
		copy(data[int(at)%len(data):], put)
		if err := os.WriteFile(files[0], data, 0o644); err != nil {
			t.Fatal(err)
		}
		s := open(t, dir)
		defer s.Close()
		kind, ours, err := s.Read(blob, 1<<20)
		if err != nil {
			return
		}
		cmd := exec.Command("git", "cat-file", kind, blob)
		cmd.Dir = dir
		if theirs, err := cmd.Output(); err == nil && !bytes.Equal(ours, theirs) {
			t.Errorf("read %d bytes, git %d", len(ours), len(theirs))
		}
	})
}
