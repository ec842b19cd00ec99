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
		{"git add a.txt", "", nil},
		{"git commit -m done", "", nil},
		{"git stash list", "", nil},
		{"git stash pop", "", nil},
		{"git checkout -b topic", "", nil},
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
	})
	want := []wire.HookGit{
		{Verb: "stash", Effect: wire.GitDiscards, All: true},
		{Verb: "restore", Effect: wire.GitDiscards, Files: []wire.GitFile{{Path: "a.txt"}}},
		{Verb: "restore", Effect: wire.GitDiscards, All: true},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
