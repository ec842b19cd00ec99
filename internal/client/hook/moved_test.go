package hook

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/gittest"
)

// Two sessions share a clone. One switches to another branch; before the other
// commits there, it is refused once and told why. Who switched is not.
func TestHeadMovesUnderASession(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	gittest.Run(t, repo, "branch", "other")
	shell := func(session, event, command string) string {
		t.Helper()
		return w.run("claude_code", event, claude(repo, event, m{
			"session_id": session, "tool_name": "Bash", "tool_use_id": session + command + event, "tool_input": m{"command": command},
		})).stdout
	}
	for _, session := range []string{"s1", "s2"} {
		w.run("claude_code", "SessionStart", claude(repo, "SessionStart", m{"session_id": session, "source": "startup"}))
	}
	const commit = "git add -A && git commit -m done"
	if said := shell("s1", "PreToolUse", commit); strings.Contains(said, "switched") {
		t.Errorf("nobody moved it: %s", said)
	}
	shell("s2", "PreToolUse", "git switch other")
	gittest.Run(t, repo, "switch", "-q", "other")
	shell("s2", "PostToolUse", "git switch other")
	if said := shell("s2", "PreToolUse", commit+" -q"); strings.Contains(said, "switched") {
		t.Errorf("it switched itself: %s", said)
	}
	said := shell("s1", "PreToolUse", commit)
	for _, want := range []string{`"permissionDecision":"deny"`, "switched this working copy from", "main", "other", "git switch"} {
		if !strings.Contains(said, want) {
			t.Errorf("without %q: %s", want, said)
		}
	}
	if said := shell("s1", "PreToolUse", commit+" -q"); strings.Contains(said, "deny") {
		t.Errorf("refused twice: %s", said)
	}

	// Back again: who goes there by the same command is not stopped, and a prompt tells as well.
	gittest.Run(t, repo, "switch", "-q", "main")
	if said := shell("s1", "PreToolUse", "git switch other && git commit -m more"); strings.Contains(said, "deny") {
		t.Errorf("it says where: %s", said)
	}
	prompt := func() string {
		return w.run("claude_code", "UserPromptSubmit", claude(repo, "UserPromptSubmit", m{"session_id": "s2", "prompt": "go on"})).stdout
	}
	if said := prompt(); !strings.Contains(said, "switched this working copy from") {
		t.Errorf("at a prompt: %s", said)
	}
	if said := shell("s2", "PreToolUse", commit) + prompt(); strings.Contains(said, "switched") {
		t.Errorf("said twice: %s", said)
	}
}
