package gitrepo_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/gittest"
)

// An agent's own git must never find a lock of ours, so nothing of ours may
// refresh the index, though git diff likes to when times on disk are newer.
func TestTheIndexIsLeftAsItIs(t *testing.T) {
	dir := gittest.Init(t)
	gittest.Write(t, dir, "a.txt", "one\n")
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-q", "-m", "one")
	base := gittest.Run(t, dir, "rev-parse", "HEAD")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "a.txt"), later, later); err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(dir, ".git", "index")
	before, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gitrepo.WorkingTree(t.Context(), dir, base, []string{"a.txt"}); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("the index was written")
	}
}

// A file may be called what git takes for a pattern, or for an order to leave
// files out.
func TestPathsAreReadLiterally(t *testing.T) {
	dir := gittest.Init(t)
	names := []string{":!b.txt", ":(top,icase)A.TXT", "*.md", "a.txt", "b.txt", "x.md"}
	for _, name := range names {
		gittest.Write(t, dir, name, "one\n")
	}
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-q", "-m", "one")
	base := gittest.Run(t, dir, "rev-parse", "HEAD")
	for _, name := range names {
		gittest.Write(t, dir, name, "two\n")
	}
	for _, asked := range names {
		deltas, err := gitrepo.WorkingTree(t.Context(), dir, base, []string{asked})
		if err != nil {
			t.Errorf("%s: %v", asked, err)
			continue
		}
		if len(deltas) != 1 || deltas[0].Path != asked || deltas[0].Status != diff.Modified {
			t.Errorf("asked for %s: %+v", asked, deltas)
		}
	}
}

// A file whose time alone is newer has not changed.
func TestATouchedFileIsUnchanged(t *testing.T) {
	dir := gittest.Init(t)
	names := []string{"a.txt", "b.txt", "q\"\t \x01é\\.txt", "z.txt"}
	for _, name := range names {
		gittest.Write(t, dir, name, "one\n")
	}
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-q", "-m", "one")
	base := gittest.Run(t, dir, "rev-parse", "HEAD")
	later := time.Now().Add(time.Hour)
	for _, changed := range names {
		for _, name := range names {
			gittest.Write(t, dir, name, "one\n")
			if err := os.Chtimes(filepath.Join(dir, name), later, later); err != nil {
				t.Fatal(err)
			}
		}
		gittest.Write(t, dir, changed, "two\n")
		for _, name := range names {
			want := diff.Unchanged
			if name == changed {
				want = diff.Modified
			}
			deltas, err := gitrepo.WorkingTree(t.Context(), dir, base, []string{name})
			if err != nil || len(deltas) != 1 || deltas[0].Status != want {
				t.Errorf("%q of which %q changed: %+v, %v", name, changed, deltas, err)
			}
		}
		deltas, err := gitrepo.WorkingTree(t.Context(), dir, base, nil)
		if err != nil || len(deltas) != 1 || deltas[0].Path != changed || len(deltas[0].Hunks) != 1 {
			t.Errorf("all, of which %q changed: %+v, %v", changed, deltas, err)
		}
	}
}

// Whatever git command we come to need, it runs with what keeps it harmless.
func TestEveryGitRunsWithTheHarmlessEnvironment(t *testing.T) {
	dir := gittest.Init(t)
	gittest.Write(t, dir, "a.txt", "one\n")
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-q", "-m", "one")
	base := gittest.Run(t, dir, "rev-parse", "HEAD")
	gittest.Write(t, dir, "a.txt", "two\n")

	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin, seen := t.TempDir(), filepath.Join(t.TempDir(), "seen")
	script := "#!/bin/sh\necho \"locks=$GIT_OPTIONAL_LOCKS prompt=$GIT_TERMINAL_PROMPT lazy=$GIT_NO_LAZY_FETCH" +
		" protocol=$GIT_ALLOW_PROTOCOL literal=$GIT_LITERAL_PATHSPECS\" >>'" + seen + "'\nexec '" + real + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if _, err := gitrepo.WorkingTree(t.Context(), dir, base, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := gitrepo.Files(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line != "locks=0 prompt=0 lazy=1 protocol=none literal=1\n" {
			t.Errorf("git ran with %s", line)
		}
	}
}
