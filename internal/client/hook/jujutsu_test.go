package hook

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// A workspace of Jujutsu's, beside .git or without, is a working copy like
// others: what is told of an edit there says which repository it is, on which
// bookmark or change, and from which commit.
func TestAnEditInAWorkspaceOfJujutsu(t *testing.T) {
	for _, name := range []string{"plain", "added", "both"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.base = gitrepo.Base
			dir := gittest.Jujutsu(t)
			root := filepath.Join(dir, name)
			w.run("claude_code", "SessionStart", claude(root, "SessionStart", m{"source": "startup"}))
			gittest.Operate(t, dir, "named")
			file := gittest.Write(t, root, "a.txt", "one\ntwo\nTHREE\nfour\n")
			w.requests()
			got := w.run("claude_code", "PostToolUse", claude(root, "PostToolUse", m{"tool_name": "Write", "tool_use_id": "t1",
				"tool_input": m{"file_path": file, "content": "one\ntwo\nTHREE\nfour\n"}}))
			if got.stderr != "" {
				t.Error(got.stderr)
			}
			_, _, base := gittest.Changes(t, dir, "fresh", name)
			_, _, head := gittest.Changes(t, dir, "named", name)
			var told wire.HookRequest
			for _, r := range w.requests() {
				if r.Event == wire.HookPostEdit {
					told = r
				}
			}
			if r := told.Repo; len(r.RemoteFingerprints) != 1 || r.RemoteFingerprints[0] != "github.com/acme/api" ||
				r.Branch != "feat-"+name || r.DefaultBranch != "main" || r.BaseSHA != base || r.HeadSHA != head {
				t.Fatalf("told of %+v", told.Repo)
			}
			if !slices.Equal(told.Paths, []string{"a.txt"}) {
				t.Errorf("told of %v", told.Paths)
			}
		})
	}
}

// Work that gets a name, or another change on top, has not gone anywhere. A
// workspace that is taken to other work has.
func TestOperationsOfJujutsuUnderASession(t *testing.T) {
	for _, name := range []string{"plain", "both"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			dir := gittest.Jujutsu(t)
			root := filepath.Join(dir, name)
			prompt := func() string {
				t.Helper()
				return w.run("claude_code", "UserPromptSubmit", claude(root, "UserPromptSubmit", m{"prompt": "go on"})).stdout
			}
			w.run("claude_code", "SessionStart", claude(root, "SessionStart", m{"source": "startup"}))
			for _, step := range []string{"committed", "named", "committed", "named"} {
				gittest.Operate(t, dir, step)
				if said := prompt(); strings.Contains(said, "switched") {
					t.Errorf("%s: %s", step, said)
				}
			}
			gittest.Operate(t, dir, "elsewhere")
			change, _, _ := gittest.Changes(t, dir, "elsewhere", name)
			said := prompt()
			for _, want := range []string{"switched this working copy from", "feat-" + name, change, "jj new"} {
				if !strings.Contains(said, want) {
					t.Errorf("without %q: %s", want, said)
				}
			}
			if again := prompt(); strings.Contains(again, "switched") {
				t.Errorf("said twice: %s", again)
			}
		})
	}
}

// An agent that would make the workspace another repository is seen doing so.
func TestJujutsusFilesSayWhichRepositoryItIs(t *testing.T) {
	w := newWorld(t)
	root := filepath.Join(gittest.Jujutsu(t), "plain")
	w.run("claude_code", "SessionStart", claude(root, "SessionStart", m{"source": "startup"}))
	w.requests()
	for i, command := range []string{"echo elsewhere > .jj/repo/store/git_target", "jj git remote set-url origin x", "rm -rf .jj", "jj log"} {
		w.run("claude_code", "PreToolUse", claude(root, "PreToolUse", m{"tool_name": "Bash", "tool_use_id": command,
			"tool_input": m{"command": command}}))
		renames := 0
		for _, r := range w.requests() {
			if len(r.Paths) > 0 {
				t.Errorf("%s: told of %v", command, r.Paths)
			}
			for _, g := range r.Shell.Git {
				if g.Effect == wire.GitRenames {
					renames++
				}
			}
		}
		if want := i < 3; renames > 0 != want {
			t.Errorf("%s: makes it another repository: %v, want %v", command, renames > 0, want)
		}
	}
}
