package hook

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/gittest"
)

// A fan is a session whose sub-agents work in worktrees of its clone.
type fan struct {
	*world
	repo string
}

func newFan(t *testing.T, agents ...string) fan {
	t.Helper()
	f := fan{newWorld(t), ""}
	f.repo = newRepo(t, filepath.Join(f.home, "app"))
	gittest.Write(t, f.repo, "list.txt", gittest.Numbered(20, nil))
	gittest.Run(t, f.repo, "add", "-A")
	gittest.Run(t, f.repo, "commit", "-q", "-m", "a list")
	f.run("claude_code", "SessionStart", claude(f.repo, "SessionStart", m{"source": "startup"}))
	for _, name := range agents {
		gittest.Run(t, f.repo, "worktree", "add", "-q", "-b", name, f.at(name))
	}
	return f
}

func (f fan) at(name string) string { return filepath.Join(f.home, "trees", name) }

// works has a sub-agent change lines of a file in its worktree.
func (f fan) works(name, file string, lines map[int]string, commit bool) {
	f.t.Helper()
	gittest.Write(f.t, f.at(name), file, gittest.Numbered(20, lines))
	f.run("claude_code", "PostToolUse", claude(f.at(name), "PostToolUse", m{"agent_id": name, "tool_name": "Edit", "tool_use_id": name + file,
		"tool_input": m{"file_path": filepath.Join(f.at(name), file), "old_string": "x", "new_string": "y"}}))
	if commit {
		gittest.Run(f.t, f.at(name), "add", "-A")
		gittest.Run(f.t, f.at(name), "commit", "-q", "-m", name)
	}
}

// shell is what the parent reads before a command of its own.
func (f fan) shell(command string) string {
	f.t.Helper()
	return f.run("claude_code", "PreToolUse", claude(f.repo, "PreToolUse", m{"tool_name": "Bash", "tool_use_id": command,
		"tool_input": m{"command": command}})).stdout
}

func (f fan) prompt() string {
	return f.run("claude_code", "UserPromptSubmit", claude(f.repo, "UserPromptSubmit", m{"prompt": "merge them"})).stdout
}

func says(t *testing.T, said string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(said, want) {
			t.Errorf("without %q: %s", want, said)
		}
	}
}

// Two of three sub-agents change the same line. Their parent is told before it
// merges the first of them, once, and not again of what it knows.
func TestAParentIsToldWhichSubAgentsCollide(t *testing.T) {
	f := newFan(t, "one", "two", "three")
	f.works("one", "list.txt", map[int]string{7: "by one\n"}, true)
	f.works("two", "list.txt", map[int]string{7: "by two\n"}, true)
	f.works("three", "list.txt", map[int]string{15: "by three\n"}, false)
	if said := f.shell("git log --oneline one two"); strings.Contains(said, "forecast") {
		t.Errorf("nothing is merged: %s", said)
	}
	before := gittest.Run(t, f.repo, "count-objects", "-v") + gittest.Run(t, f.at("three"), "status", "--porcelain")
	said := f.shell("git merge --no-edit one && git merge --no-edit two")
	says(t, said, `"permissionDecision":"deny"`, "svc merge forecast", "one", "with", "two", "list.txt line 7",
		"Not committed in", "three", "1 files")
	if strings.Contains(said, "15") {
		t.Errorf("the third collides with nobody: %s", said)
	}
	if after := gittest.Run(t, f.repo, "count-objects", "-v") + gittest.Run(t, f.at("three"), "status", "--porcelain"); after != before {
		t.Errorf("something was written: %s, before %s", after, before)
	}
	if said := f.shell("git merge --no-edit one"); strings.Contains(said, "forecast") {
		t.Errorf("told twice: %s", said)
	}
	gittest.Run(t, f.repo, "merge", "-q", "--no-edit", "one")
	if said := f.shell("git merge --no-edit two") + f.prompt(); strings.Contains(said, "forecast") {
		t.Errorf("that the other now meets what was merged is no news: %s", said)
	}
	f.works("three", "list.txt", map[int]string{7: "also by three\n", 15: "by three\n"}, false)
	if said := f.prompt(); !strings.Contains(said, "svc merge forecast") || strings.Contains(said, "deny") {
		t.Errorf("a prompt tells what is new: %s", said)
	}
}

// Worktrees that the session made itself count without sub-agents that svc knows
// of, as do work that is copied instead of merged, and work of the parent.
func TestAForecastOfWorktreesThatTheParentMade(t *testing.T) {
	f := newFan(t)
	f.shell("for n in one two; do git worktree add -b $n ../trees/$n; done")
	for _, name := range []string{"one", "two"} {
		gittest.Run(t, f.repo, "worktree", "add", "-q", "-b", name, f.at(name))
		gittest.Write(t, f.at(name), name+".txt", "new\n")
	}
	gittest.Write(t, f.at("one"), "list.txt", gittest.Numbered(20, map[int]string{3: "by one\n"}))
	gittest.Write(t, f.repo, "list.txt", gittest.Numbered(20, map[int]string{3: "mine\n"}))
	f.run("claude_code", "PostToolUse", claude(f.repo, "PostToolUse", m{"tool_name": "Edit", "tool_use_id": "mine",
		"tool_input": m{"file_path": filepath.Join(f.repo, "list.txt"), "old_string": "line 3", "new_string": "mine"}}))
	says(t, f.shell("cp ../trees/one/list.txt list.txt"), `"permissionDecision":"deny"`, "with your own work here", "list.txt line 3")

	// In the worktree itself nothing is merged with the others.
	if said := f.shell("git -C ../trees/two rebase main"); strings.Contains(said, "forecast") {
		t.Errorf("not where it is told: %s", said)
	}
}

// Where nothing collides, the merge goes on and the forecast comes with it.
func TestAForecastOfACleanFan(t *testing.T) {
	f := newFan(t, "one", "two")
	f.works("one", "list.txt", map[int]string{3: "by one\n"}, true)
	f.works("two", "list.txt", map[int]string{13: "by two\n"}, true)
	if said := f.prompt(); strings.Contains(said, "forecast") {
		t.Errorf("there is nothing to do about it: %s", said)
	}
	said := f.shell("git cherry-pick one")
	says(t, said, "merge without a conflict", "one", "two")
	if strings.Contains(said, "deny") {
		t.Errorf("refused: %s", said)
	}
	gittest.Run(t, f.repo, "cherry-pick", "one")
	gittest.Run(t, f.repo, "merge", "-q", "--squash", "two")
	gittest.Run(t, f.repo, "commit", "-q", "-m", "two")
	f.works("one", "list.txt", map[int]string{3: "by one\n"}, false) // as it was
	if said := f.shell("git merge two"); strings.Contains(said, "forecast") {
		t.Errorf("all is merged: %s", said)
	}
}
