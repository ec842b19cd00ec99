//go:build unix

package gitrepo_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/gittest"
)

// hostile returns a repository whose configuration names a program wherever
// git would start one, and the file that such a program leaves.
func hostile(t *testing.T) (root, marker string) {
	t.Helper()
	root = gittest.Init(t)
	marker = filepath.Join(t.TempDir(), "started")
	program := gittest.Write(t, t.TempDir(), "program", "#!/bin/sh\necho \"$0 $*\" >> '"+marker+"'\ncat 2>/dev/null\n")
	if err := os.Chmod(program, 0o755); err != nil {
		t.Fatal(err)
	}
	gittest.Write(t, root, "a.txt", "one\ntwo\nthree\n")
	gittest.Write(t, root, "b.txt", "one\n")
	gittest.Write(t, root, ".gitattributes", "*.txt filter=evil diff=evil merge=evil\n")
	gittest.Run(t, root, "add", ".")
	gittest.Run(t, root, "commit", "-q", "-m", "first")
	gittest.Run(t, root, "branch", "side")
	gittest.Write(t, root, "a.txt", "one\n2\nthree\n")
	gittest.Run(t, root, "commit", "-q", "-a", "-m", "second")
	gittest.Run(t, root, "checkout", "-q", "side")
	gittest.Write(t, root, "a.txt", "one\nzwei\nthree\n")
	gittest.Run(t, root, "commit", "-q", "-a", "-m", "third")
	gittest.Write(t, root, ".git/info/attributes", "* filter=evil diff=evil merge=evil\n")
	included := gittest.Write(t, t.TempDir(), "included", "[core]\n\tfsmonitor = "+program+"\n[filter \"more\"]\n\tclean = "+program+"\n")
	config := fmt.Sprintf(`
[include]
	path = %[2]s
[core]
	fsmonitor = %[1]s
	hooksPath = %[3]s
	pager = %[1]s
	sshCommand = %[1]s
	editor = %[1]s
	askPass = %[1]s
[filter "evil"]
	clean = %[1]s
	smudge = %[1]s
	process = %[1]s
	required = true
[diff]
	external = %[1]s
[diff "evil"]
	command = %[1]s
	textconv = %[1]s
[merge "evil"]
	driver = %[1]s
[pager]
	diff = %[1]s
	status = %[1]s
	log = %[1]s
[gpg]
	program = %[1]s
[log]
	showSignature = true
[credential]
	helper = %[1]s
[alias]
	status = !%[1]s
	diff = !%[1]s
`, program, included, filepath.Dir(program))
	for _, hook := range []string{"post-index-change", "pre-commit", "reference-transaction", "fsmonitor-watchman", "post-checkout"} {
		data, _ := os.ReadFile(program)
		if err := os.WriteFile(filepath.Join(filepath.Dir(program), hook), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(root, ".git", "config")
	old, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, append(old, config...), 0o644); err != nil {
		t.Fatal(err)
	}
	return root, marker
}

// Looking at a working copy must not run what its configuration names.
func TestAWorkingCopyCannotMakeUsRunPrograms(t *testing.T) {
	root, marker := hostile(t)
	ctx := t.Context()
	gittest.Write(t, root, "a.txt", "one\nzwo\nthree\n")
	gittest.Write(t, root, "new.txt", "one\ntwo\nthree\nfour\n")
	if err := os.Remove(filepath.Join(root, "b.txt")); err != nil {
		t.Fatal(err)
	}
	repo, ok := gitrepo.At(root)
	if !ok {
		t.Fatal("no repository")
	}
	check := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if ran, err := os.ReadFile(marker); err == nil {
			t.Fatalf("%s started a program of the working copy: %s", what, ran)
		}
	}
	base, err := gitrepo.Base(ctx, root, "")
	check("Base", err)
	deltas, err := gitrepo.WorkingTree(ctx, root, base, nil)
	check("WorkingTree", err)
	if len(deltas) != 3 {
		t.Errorf("%d files differ, want 3: %+v", len(deltas), deltas)
	}
	for _, d := range deltas {
		if d.Path == "a.txt" && (len(d.Hunks) != 1 || d.Hunks[0].OldStart != 2 || d.Hunks[0].OldCount != 1) {
			t.Errorf("a.txt: %+v", d.Hunks)
		}
	}
	_, err = gitrepo.WorkingTree(ctx, root, base, []string{"a.txt", "new.txt", "b.txt"})
	check("WorkingTree of files", err)
	names, err := repo.Status(ctx)
	check("Status", err)
	if strings.Join(names, " ") != "a.txt b.txt new.txt" {
		t.Errorf("status %q", names)
	}
	_, err = repo.Staged(ctx)
	check("Staged", err)
	_, err = repo.Changed(ctx, base, repo.Head().SHA)
	check("Changed", err)
	_, err = gitrepo.Entries(ctx, root, base, nil)
	check("Entries", err)
	_, err = gitrepo.Files(ctx, root)
	check("Files", err)
	objects := gitrepo.NewObjects(ctx, root)
	_, err = objects.Blob(base+":a.txt", 1<<20)
	check("Blob", err)
	trees := gitrepo.NewTrees(ctx, root, objects)
	_, err = trees.Deltas(repo.Ref("refs/heads/main"), repo.Head().SHA)
	check("Trees", err)
	check("Close", trees.Close())
	check("Close", objects.Close())
	merges, err := repo.MergePairs(ctx, t.TempDir(), [][2]string{{repo.Ref("refs/heads/main"), repo.Head().SHA}})
	check("MergePairs", err)
	if len(merges) != 1 || merges[0].Clean {
		t.Errorf("merges %+v", merges)
	}
	check("Log", repo.Log(ctx, []string{"HEAD"}, func(gitrepo.Commit) {}))
	_, err = repo.Refs(ctx, []string{"refs/heads"})
	check("Refs", err)
}

// A partial clone has objects that only a fetch could get: nothing is fetched.
func TestAMissingObjectIsNotFetched(t *testing.T) {
	root := gittest.Init(t)
	gittest.Write(t, root, "c.txt", "c\n")
	gittest.Run(t, root, "add", ".")
	gittest.Run(t, root, "commit", "-q", "-m", "c")
	marker := filepath.Join(t.TempDir(), "started")
	blob := gittest.Run(t, root, "rev-parse", "HEAD:c.txt")
	if err := os.Remove(filepath.Join(root, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"remote.origin.url": "ssh://example.com/x", "remote.origin.promisor": "true",
		"remote.origin.partialclonefilter": "blob:none", "extensions.partialClone": "origin", "core.sshCommand": "touch '" + marker + "';",
		"core.repositoryFormatVersion": "1"} {
		gittest.Run(t, root, "config", name, value)
	}
	objects := gitrepo.NewObjects(t.Context(), root)
	defer objects.Close()
	if _, err := objects.Blob(blob, 1<<20); err == nil {
		t.Error("the object is not there")
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("git started the program that fetches")
	}
}

// Whatever lies where git has its files, reading it ends, and soon.
func TestGitFilesThatAreNone(t *testing.T) {
	for _, name := range []string{"HEAD", "config", "packed-refs", "index", "refs/heads/main", "commondir", "logs/HEAD",
		"refs/remotes/origin/HEAD", "info/exclude", "info/attributes", "shallow"} {
		for _, kind := range []string{"pipe", "huge", "link"} {
			t.Run(kind+" "+name, func(t *testing.T) {
				root := gittest.Init(t)
				gittest.Write(t, root, "a.txt", "a\n")
				gittest.Run(t, root, "add", ".")
				gittest.Run(t, root, "commit", "-q", "-m", "first")
				file := filepath.Join(root, ".git", filepath.FromSlash(name))
				plant(t, file, kind)
				done := make(chan struct{})
				go func() {
					defer close(done)
					ask(t, root)
				}()
				select {
				case <-done:
				case <-time.After(await.Patience):
					t.Fatal("still waiting for it")
				}
			})
		}
	}
}

// plant puts something at file that git would not have put there.
func plant(t *testing.T, file, kind string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(file)
	var err error
	switch kind {
	case "pipe":
		err = syscall.Mkfifo(file, 0o644)
	case "huge":
		if err = os.WriteFile(file, nil, 0o644); err == nil {
			err = os.Truncate(file, 1<<40) // holes: it takes no room on disk
		}
	case "link":
		err = os.Symlink("/dev/zero", file)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// ask reads everything that a hook reads without git.
func ask(t *testing.T, root string) {
	repo, ok := gitrepo.Find(filepath.Join(root, "a.txt"))
	if !ok {
		return
	}
	repo.Head()
	repo.Remotes()
	repo.DefaultBranch()
	repo.Ref("refs/heads/none")
	repo.LastCommitted()
	_, _ = repo.Status(t.Context())
	_, _ = gitrepo.Base(t.Context(), root, "")
}
