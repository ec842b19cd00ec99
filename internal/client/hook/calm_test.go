package hook

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// A turn in which nothing changed asks git nothing, and whatever changes is
// seen: in a file, a folder, an index, a list of what is ignored.
func TestACalmWorkingCopyStartsNoGit(t *testing.T) {
	w := newWorld(t)
	truthful(w)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	gittest.Write(t, repo, ".gitignore", "out/\n")
	gittest.Write(t, repo, "dir/a.txt", "a\n")
	gittest.Write(t, repo, "out/big.bin", "x\n")
	gittest.Run(t, repo, "add", "-A")
	gittest.Run(t, repo, "commit", "-qm", "files")
	gittest.Run(t, repo, "update-ref", "refs/remotes/origin/main", "HEAD")
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin, log := t.TempDir(), filepath.Join(t.TempDir(), "git.log")
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte("#!/bin/sh\necho \"$*\" >> "+log+"\nexec "+real+" \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	longAgo := time.Now().Add(-time.Hour)
	prompt := func() []string {
		t.Helper()
		w.run("claude_code", "UserPromptSubmit", claude(repo, "UserPromptSubmit", m{"prompt": "go on"}))
		var told []string
		for _, req := range w.requests() {
			if req.Event == wire.HookPostEdit {
				told = append(told, req.Paths...)
			}
		}
		slices.Sort(told)
		return told
	}
	looks := func() int { // times are coarse: wait until what was written is old enough
		files, _ := filepath.Glob(filepath.Join(w.config, "trees", "*.calm"))
		return len(files)
	}
	calmDown := func() {
		t.Helper()
		deadline := time.Now().Add(10 * time.Second)
		for files, _ := filepath.Glob(filepath.Join(w.config, "trees", "*.calm")); time.Now().Before(deadline); {
			for _, f := range files {
				os.Remove(f)
			}
			files = nil
			if prompt(); looks() == 1 {
				if _, err := os.Stat(log); err != nil {
					t.Fatal("git was never asked")
				}
				return
			}
		}
		t.Fatal("it never calms down")
	}
	calmDown()
	os.Remove(log)
	if got := prompt(); got != nil {
		t.Errorf("told %v", got)
	}
	if asked, err := os.ReadFile(log); err == nil {
		t.Errorf("git was asked: %s", asked)
	}
	for _, change := range []struct {
		name string
		do   func()
		want []string
	}{
		{"a change", func() { gittest.Write(t, repo, "dir/a.txt", "b\n") }, []string{"dir/a.txt"}},
		{"a change of the same size and time", func() {
			gittest.Write(t, repo, "dir/a.txt", "c\n")
			os.Chtimes(filepath.Join(repo, "dir/a.txt"), longAgo, longAgo)
		}, []string{"dir/a.txt"}},
		{"a new file", func() { gittest.Write(t, repo, "new/deep/b.txt", "b\n") }, []string{"new/deep/b.txt"}},
		{"a file in a folder that was empty", func() {
			os.MkdirAll(filepath.Join(repo, "empty/er"), 0o755)
			prompt()
			calmDown()
			gittest.Write(t, repo, "empty/er/c.txt", "c\n")
		}, []string{"empty/er/c.txt"}},
		{"a removed file", func() { os.Remove(filepath.Join(repo, "new/deep/b.txt")) }, []string{"new/deep/b.txt"}},
		{"put back", func() { gittest.Run(t, repo, "checkout", "-q", "--", "dir") }, []string{"dir/a.txt"}},
		{"no longer ignored", func() { gittest.Write(t, repo, ".gitignore", "\n") }, []string{".gitignore", "out/big.bin"}},
		{"ignored", func() { gittest.Write(t, repo, "other.txt", "x\n"); gittest.Run(t, repo, "add", "other.txt") }, []string{"other.txt"}},
	} {
		change.do()
		if got := prompt(); !slices.Equal(got, change.want) {
			t.Errorf("%s: told %v, want %v", change.name, got, change.want)
		}
		calmDown()
	}
}
