package hook

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/shellscan"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// In a working copy with two agents, git commands that take all that is
// uncommitted take the other's work along. The service is told before.
func TestGitCommandsThatTakeWhatIsUncommitted(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	gittest.Write(t, repo, "src/b.txt", "b\n")
	gittest.Run(t, repo, "add", "-A")
	gittest.Run(t, repo, "commit", "-q", "-m", "second")
	gittest.Write(t, repo, ".git/info/exclude", "*.patch\n")
	gittest.Write(t, repo, "one.patch", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-a\n+c\n")
	gittest.Write(t, repo, "a.txt", "changed\n")
	gittest.Write(t, repo, "src/b.txt", "changed\n")
	gittest.Write(t, repo, "src/new.txt", "new\n")
	all := []string{"a.txt", "src/b.txt", "src/new.txt"}
	src := all[1:]
	cases := []struct {
		command string
		effect  wire.GitEffect
		files   []string
	}{
		{"git stash", wire.GitDiscards, all},
		{"git stash push -u -m wip", wire.GitDiscards, all},
		{"git stash push -- src", wire.GitDiscards, src},
		{"git reset --hard", wire.GitDiscards, all},
		{"git reset --hard HEAD~1", wire.GitDiscards, all},
		{"git checkout -- .", wire.GitDiscards, all},
		{"git checkout .", wire.GitDiscards, all},
		{"git checkout -f main", wire.GitDiscards, all},
		{"git checkout HEAD -- src/", wire.GitDiscards, src},
		{"git restore .", wire.GitDiscards, all},
		{"git restore src/b.txt", wire.GitDiscards, src[:1]},
		{"git clean -fd", wire.GitDiscards, all},
		{"cd src && git clean -fdx", wire.GitDiscards, src},
		{"git -C src restore .", wire.GitDiscards, src},
		{"make && git add -A && git commit -m done", wire.GitSweeps, all},
		{"git add .", wire.GitSweeps, all},
		{"git add src/", wire.GitSweeps, src},
		{"git add -u", wire.GitSweeps, all},
		{"git commit -am done", wire.GitSweeps, all},
		{"git commit --all -m done", wire.GitSweeps, all},
		{"git switch main", wire.GitMoves, all},
		{"git checkout main", wire.GitMoves, all},
		{"git rebase main", wire.GitMoves, all},
		{"git pull --rebase", wire.GitMoves, all},
		{"git pull", wire.GitMoves, all},
		{"git merge topic", wire.GitMoves, all},
		{"git cherry-pick topic", wire.GitMoves, all},
		{"git revert HEAD", wire.GitMoves, all},
		{"git am < series.mbox", wire.GitMoves, all},
		{"git checkout -b topic origin/main", wire.GitMoves, all},
		{"git bisect start HEAD HEAD~1", wire.GitMoves, all},
		{"git rebase --abort", wire.GitDiscards, all},
		{"git rebase --skip", wire.GitDiscards, all},
		{"git read-tree --reset -u HEAD", wire.GitDiscards, all},
		{"git checkout-index -f -a", wire.GitDiscards, all},
		{"git rm -rf src", wire.GitDiscards, src},
		{"git restore sr*", wire.GitDiscards, src},
		{"git restore '*b.txt'", wire.GitDiscards, all[1:2]},
		{"git checkout -- s[r]c", wire.GitDiscards, src},
		{"cd src && git restore :/", wire.GitDiscards, all},
		{"cd src && git restore :/a.txt", wire.GitDiscards, all[:1]},
		{"git add -A -- ':!a.txt'", wire.GitSweeps, all},
		{"git -C src -C .. clean -fd", wire.GitDiscards, all},
		{"git --work-tree=src restore .", wire.GitDiscards, src},
		{"git apply one.patch", wire.GitMoves, all[:1]},
		{"git apply <<'X'\n--- a/src/b.txt\n+++ b/src/b.txt\n@@ -1 +1 @@\n-b\n+c\nX", wire.GitMoves, src[:1]},
		{"git add a.txt", "", nil},
		{"git commit -m done", "", nil},
		{"git stash list", "", nil},
		{"git stash pop", "", nil},
		{"git checkout -b topic", "", nil},
		{"git switch -c topic", "", nil},
		{"git rebase --quit", "", nil},
		{"git merge --abort", "", nil}, // nothing is staged
		{"git apply --check one.patch", "", nil},
		{"git worktree remove ../other", "", nil},
		{"git reset a.txt", "", nil},
		{"git restore --staged .", "", nil},
		{"git clean -n", "", nil},
		{"git status", "", nil},
	}
	for i, c := range cases {
		w.run("claude_code", "PreToolUse", claude(repo, "PreToolUse",
			m{"tool_name": "Bash", "tool_input": m{"command": c.command}, "tool_use_id": fmt.Sprint(i)}))
		got := w.one().Shell
		if c.effect == "" {
			if len(got.Git) > 0 {
				t.Errorf("%s: %+v, want nothing", c.command, got.Git)
			}
			continue
		}
		if len(got.Git) != 1 || got.Git[0].Effect != c.effect {
			t.Errorf("%s: %+v, want %s", c.command, got.Git, c.effect)
			continue
		}
		var files []string
		for _, f := range got.Git[0].Files {
			files = append(files, f.Path)
			if (f.CommittedAt == nil) != strings.HasSuffix(f.Path, "new.txt") {
				t.Errorf("%s: %s was committed at %v", c.command, f.Path, f.CommittedAt)
			}
		}
		slices.Sort(files)
		if !slices.Equal(files, c.files) {
			t.Errorf("%s hits %v, want %v", c.command, files, c.files)
		}
	}
}

// What is staged, and what a stash holds, is hit by commands that leave the rest
// alone.
func TestGitCommandsThatTakeWhatIsStagedOrStashed(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	gittest.Write(t, repo, "b.txt", "b\n")
	gittest.Write(t, repo, "c.txt", "c\n")
	gittest.Run(t, repo, "add", "-A")
	gittest.Run(t, repo, "commit", "-q", "-m", "second")
	gittest.Write(t, repo, "b.txt", "stashed first\n")
	gittest.Run(t, repo, "stash", "-q")
	gittest.Write(t, repo, "c.txt", "stashed second\n")
	gittest.Run(t, repo, "stash", "-q")
	for _, name := range []string{"a.txt", "b.txt", "c.txt"} {
		gittest.Write(t, repo, name, "changed\n")
	}
	gittest.Run(t, repo, "add", "a.txt")
	for i, c := range []struct {
		command, verb string
		effect        wire.GitEffect
		file          string
	}{
		{"git commit -m done", "commit", wire.GitSweeps, "a.txt"},
		{"git commit --amend --no-edit", "commit", wire.GitSweeps, "a.txt"},
		{"git commit -m done b.txt", "", "", ""},
		{"git merge --continue", "merge --continue", wire.GitSweeps, "a.txt"},
		{"git rebase --continue", "rebase --continue", wire.GitSweeps, "a.txt"},
		{"git merge --abort", "merge --abort", wire.GitDiscards, "a.txt"},
		{"git cherry-pick --abort", "cherry-pick --abort", wire.GitDiscards, "a.txt"},
		{"git am --skip", "am --skip", wire.GitDiscards, "a.txt"},
		{"git reset --merge", "reset", wire.GitDiscards, "a.txt"},
		{"git stash push --staged", "stash", wire.GitDiscards, "a.txt"},
		{"git stash pop", "stash pop", wire.GitMoves, "c.txt"},
		{"git stash apply stash@{1}", "stash apply", wire.GitMoves, "b.txt"},
		{"git stash pop 1", "stash pop", wire.GitMoves, "b.txt"},
		{"git stash pop stash@{7}", "", "", ""},
		{"git stash pop '--output=x'", "stash pop", wire.GitMoves, "c.txt"},
	} {
		w.run("claude_code", "PreToolUse", claude(repo, "PreToolUse",
			m{"tool_name": "Bash", "tool_input": m{"command": c.command}, "tool_use_id": fmt.Sprint(i)}))
		got := w.one().Shell.Git
		if c.verb == "" {
			if len(got) > 0 {
				t.Errorf("%s: %+v, want nothing", c.command, got)
			}
			continue
		}
		if len(got) != 1 || got[0].Verb != c.verb || got[0].Effect != c.effect || len(got[0].Files) != 1 || got[0].Files[0].Path != c.file {
			t.Errorf("%s: %+v, want %s of %s", c.command, got, c.effect, c.file)
		}
	}
}

// A command may reach a working copy that it is not run in: another worktree, a
// submodule. There the service is asked, in that working copy's name.
func TestGitCommandsInOtherWorkingCopies(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	part := newRepo(t, filepath.Join(w.home, "part"))
	gittest.Run(t, repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", part, "sub")
	gittest.Run(t, repo, "commit", "-q", "-m", "with a part")
	gittest.Run(t, repo, "worktree", "add", "-q", "-b", "other", "../other")
	other, sub := filepath.Join(w.home, "other"), filepath.Join(repo, "sub")
	gittest.Run(t, sub, "remote", "set-url", "origin", "https://github.com/acme/part.git")
	gittest.Write(t, other, "a.txt", "changed\n")
	gittest.Write(t, sub, "a.txt", "changed\n")
	for i, c := range []struct {
		command, verb string
		effect        wire.GitEffect
		at            string
	}{
		{"git -C ../other reset --hard", "reset", wire.GitDiscards, other},
		{"cd ../other && git stash", "stash", wire.GitDiscards, other},
		{"cd sub; git checkout -- .", "checkout", wire.GitDiscards, sub},
		{"(cd sub && git add -A)", "add", wire.GitSweeps, sub},
		{"git worktree remove --force ../other", "worktree remove", wire.GitDiscards, other},
		{"git submodule update --force", "submodule update", wire.GitDiscards, sub},
		{"git submodule update --init", "submodule update", wire.GitMoves, sub},
		{"git submodule deinit -f sub", "submodule deinit", wire.GitDiscards, sub},
		{"git submodule foreach --recursive 'git reset --hard'", "reset", wire.GitDiscards, sub},
		{"git submodule foreach git clean -fd", "clean", wire.GitDiscards, sub},
		{"git reset --hard --recurse-submodules", "reset", wire.GitDiscards, sub},
		{"git reset --hard", "", "", ""},
		{"git submodule status", "", "", ""},
		{"git submodule deinit -f elsewhere", "", "", ""},
	} {
		w.run("claude_code", "PreToolUse", claude(repo, "PreToolUse",
			m{"tool_name": "Bash", "tool_input": m{"command": c.command}, "tool_use_id": fmt.Sprint(i)}))
		var found []string
		for _, req := range w.requests() {
			for _, g := range req.Shell.Git {
				found = append(found, fmt.Sprintln(g.Verb, g.Effect, g.Files[0].Path, req.Repo.WorktreeHash == CopyHash("machine-1", realPath(c.at))))
			}
		}
		var want []string
		if c.verb != "" {
			want = []string{fmt.Sprintln(c.verb, c.effect, "a.txt", true)}
		}
		if !slices.Equal(found, want) {
			t.Errorf("%s: %q, want %q", c.command, found, want)
		}
	}
}

// A git that does not answer in time says nothing of what is uncommitted; the
// command is then taken to hit what it names, or everything.
func TestGitCommandsWhenGitDoesNotAnswer(t *testing.T) {
	dir := newRepo(t, filepath.Join(t.TempDir(), "app"))
	gittest.Write(t, dir, "a.txt", "changed\n")
	repo, ok := gitrepo.Find(dir)
	if !ok {
		t.Fatal("no repository")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := swept(ctx, repo, dir, []shellscan.Sweep{
		{Verb: "stash", Effect: shellscan.Discards, Paths: []string{""}},
		{Verb: "restore", Effect: shellscan.Discards, Paths: []string{"a.txt"}},
		{Verb: "restore", Effect: shellscan.Discards, Paths: []string{"a.txt", "."}},
	}, nil)
	want := []wire.HookGit{
		{Verb: "stash", Effect: wire.GitDiscards, All: true},
		{Verb: "restore", Effect: wire.GitDiscards, Files: []wire.GitFile{{Path: "a.txt"}}},
		{Verb: "restore", Effect: wire.GitDiscards, All: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
