package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/gittest"
)

// grown makes a repository with a history whose objects are worth packing.
func grown(t *testing.T, args ...string) string {
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
	repo, ok := At(dir)
	if !ok {
		t.Fatal("no repository")
	}
	s := repo.Store()
	defer s.Close()
	list := gittest.Run(t, dir, "cat-file", "--batch-all-objects", "--batch-check")
	n := 0
	for line := range strings.Lines(list) {
		f := strings.Fields(line)
		kind, data, err := s.Read(f[0], 1<<30)
		if err != nil || kind != f[1] || fmt.Sprint(len(data)) != f[2] {
			t.Fatalf("%s: %s of %d bytes, %v", strings.TrimSpace(line), kind, len(data), err)
		}
		if kind == "blob" && s.blobID(data) != f[0] {
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
		if e, err := s.Entry(repo.Head().SHA, path); err != nil || e != nil {
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
	repo, _ := At(dir)
	head := repo.Head().SHA
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
		s := repo.Store()
		defer s.Close()
		if _, data, err := s.Read(blob, 1<<20); err == nil && strings.TrimSpace(string(data)) != want && s.blobID(data) == blob {
			t.Fatal("another content for the same id")
		}
		_, _ = s.Entry(head, "src/deep/er/a.txt")
	})
}

// What is compared without git's index is what git says.
func TestQuickComparisonsAgreeWithGit(t *testing.T) {
	dir := gittest.Init(t)
	line := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "}\n", "\n", "x\r\n", "last", "\x00\n", "func f() {\n", "$Id$\n"})
	content := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(line, 0, 14).Draw(t, "lines"), "")
	})
	name := rapid.SampledFrom([]string{"a.txt", "b.txt", "src/c.go", "src/d.png", "new.txt"})
	attribute := rapid.SampledFrom([]string{"* text=auto", "*.txt text", "*.png binary", "*.go -diff", "*.txt ident", "src/* eol=crlf",
		"*.txt diff=x", "*.go linguist-generated", "[attr]odd -diff", "*.txt odd", "a.txt merge=union", "* filter=none"})
	fast, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		all++
		for _, p := range []string{"src", "a.txt", "b.txt", "new.txt", ".gitattributes"} {
			_ = os.RemoveAll(filepath.Join(dir, p))
		}
		fill := func(label, without string) {
			for i := range rapid.IntRange(1, 4).Draw(t, label) {
				p := filepath.Join(dir, name.Draw(t, fmt.Sprint(label, i)))
				if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(p, []byte(strings.ReplaceAll(content.Draw(t, fmt.Sprint(label, "text", i)), without, "")), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		fill("base", "\r") // else new attributes alone would change what git makes of a file
		tree := commitAll(t, dir)
		fill("edit", "\x02")
		lines := rapid.SliceOfN(attribute, 0, 2).Draw(t, "attributes")
		if err := os.WriteFile(filepath.Join(dir, ".gitattributes"), []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		paths := rapid.SliceOfNDistinct(name, 1, 4, rapid.ID[string]).Draw(t, "paths")
		quickly, err := quickDeltas(context.Background(), dir, tree, paths)
		if errors.Is(err, errSlow) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		fast++
		w := &worktree{ctx: context.Background(), root: dir, base: tree, found: map[string]*Delta{}}
		w.sort(paths)
		slowly, err := w.ask()
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(slowly, quickly); d != "" {
			t.Fatalf("-git +ours\n%s", d)
		}
	})
	if fast < all/4 {
		t.Errorf("only %d of %d cases were quick", fast, all)
	}
}

// commitAll commits everything in dir and returns the commit.
func commitAll(t *rapid.T, dir string) string {
	for _, args := range [][]string{{"add", "-A"},
		{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--allow-empty", "-m", "x"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	repo, _ := At(dir)
	return repo.Head().SHA
}
