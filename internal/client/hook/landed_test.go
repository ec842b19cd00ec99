package hook

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/gittest"
)

// Two sessions in worktrees of one clone. What one of them merges, or a fetch
// brings, the other hears of at its next hook: whether its own work still
// applies. It hears it once, and nothing where nothing landed.
func TestASessionLearnsWhetherItsWorkStillApplies(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	gittest.Run(t, repo, "update-ref", "refs/remotes/origin/main", "main")
	beside := filepath.Join(w.home, "beside")
	gittest.Run(t, repo, "worktree", "add", "-q", "-b", "mine", beside)
	prompt := func() string {
		t.Helper()
		return w.run("claude_code", "UserPromptSubmit", claude(beside, "UserPromptSubmit", m{"prompt": "go on"})).stdout
	}
	w.run("claude_code", "SessionStart", claude(beside, "SessionStart", m{"source": "startup"}))
	gittest.Write(t, beside, "a.txt", "mine\n")
	if said := prompt(); strings.Contains(said, "moved") {
		t.Errorf("nothing landed: %s", said)
	}

	gittest.Write(t, repo, "b.txt", "beside it\n")
	gittest.Run(t, repo, "add", "-A")
	gittest.Run(t, repo, "commit", "-q", "-m", "another file")
	if said := prompt(); !strings.Contains(said, "main moved to") || !strings.Contains(said, "your work still applies") {
		t.Errorf("clean: %s", said)
	}
	if said := prompt(); strings.Contains(said, "moved") {
		t.Errorf("said twice: %s", said)
	}

	// The same commit by its other name is no news; the next one is.
	gittest.Run(t, repo, "update-ref", "refs/remotes/origin/main", "main")
	if said := prompt(); strings.Contains(said, "moved") {
		t.Errorf("the same commit: %s", said)
	}
	gittest.Write(t, repo, "a.txt", "theirs\n")
	gittest.Run(t, repo, "commit", "-q", "-a", "-m", "theirs")
	gittest.Run(t, repo, "update-ref", "refs/remotes/origin/main", "main")
	edited := w.run("claude_code", "PostToolUse", claude(beside, "PostToolUse", m{
		"tool_name": "Edit", "tool_use_id": "t1",
		"tool_input": m{"file_path": filepath.Join(beside, "c.txt"), "old_string": "x", "new_string": "y"},
	})).stdout
	if !strings.Contains(edited, "git cannot merge your work with it at") || !strings.Contains(edited, "a.txt") ||
		!strings.Contains(edited, "line 1") {
		t.Errorf("a conflict: %s", edited)
	}
	if said := gittest.Run(t, beside, "status", "--porcelain"); strings.TrimSpace(said) != "M a.txt" {
		t.Errorf("the working copy: %s", said)
	}
}

// Where git takes too long for an agent that waits, the end of a turn tries
// again.
func TestAVerdictThatTakesLongWaitsForTheEndOfATurn(t *testing.T) {
	defer func(d time.Duration) { landedTimeout = d }(landedTimeout)
	landedTimeout = time.Nanosecond
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	gittest.Run(t, repo, "update-ref", "refs/remotes/origin/main", "main")
	gittest.Run(t, repo, "checkout", "-q", "-b", "mine")
	w.run("claude_code", "SessionStart", claude(repo, "SessionStart", m{"source": "startup"}))
	gittest.Write(t, repo, "b.txt", "mine\n")
	tree := strings.TrimSpace(gittest.Run(t, repo, "rev-parse", "main^{tree}"))
	landed := strings.TrimSpace(gittest.Run(t, repo, "commit-tree", tree, "-p", "main", "-m", "landed"))
	gittest.Run(t, repo, "update-ref", "refs/remotes/origin/main", landed)
	for range 2 {
		if said := w.run("claude_code", "UserPromptSubmit", claude(repo, "UserPromptSubmit", m{"prompt": "go on"})).stdout; strings.Contains(
			said, "moved") {
			t.Errorf("no time for it: %s", said)
		}
	}
	w.run("claude_code", "Stop", claude(repo, "Stop", m{}))
	if said := w.run("claude_code", "UserPromptSubmit", claude(repo, "UserPromptSubmit", m{"prompt": "go on"})).stdout; !strings.Contains(
		said, "your work still applies") {
		t.Errorf("after the turn: %s", said)
	}
}
