package hook

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// What a limit cuts off is unknown to the service, and never nothing.
func TestWhatIsCutIsToldAsUnknown(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	for i := range 600 {
		gittest.Write(t, repo, fmt.Sprintf("big/%03d/f.txt", i), "x\n")
	}
	gittest.Write(t, repo, "small/f.txt", "x\n")
	var patched strings.Builder
	for i := range 600 {
		fmt.Fprintf(&patched, "--- a/p/%d/a.txt\n+++ b/p/%d/a.txt\n@@ -1 +1 @@\n-a\n+b\n", i, i)
	}
	gittest.Write(t, repo, "many.patch", patched.String())
	gittest.Write(t, repo, "huge.patch", patched.String()+strings.Repeat("#", maxPatch))
	for command, want := range map[string][]string{
		"rm -rf big small":       {"big/**"},
		"rm -rf small big/599":   nil,
		"cp -r big copy":         {"copy/**"},
		"rm big/*/f.txt":         {"big/**"},
		"git apply many.patch":   {"p/**"},
		"patch -p1 < huge.patch": {"**"},
		"rm -rf big && rm a.txt": {"big/**"},
		"mv big elsewhere":       {"big/**"},
		"rm -rf missing":         nil,
	} {
		w.run("claude_code", "PreToolUse",
			claude(repo, "PreToolUse", m{"tool_name": "Bash", "tool_input": m{"command": command}, "tool_use_id": command}))
		got := w.one()
		slices.Sort(got.Folders)
		if !slices.Equal(got.Folders, want) || len(got.Paths) > wire.MaxHookPaths {
			t.Errorf("%s: %d paths and the folders %q, want %q", command, len(got.Paths), got.Folders, want)
		}
	}
	if got := wireHunks(make([]diff.Hunk, maxHunks+1)); got != nil {
		t.Errorf("of more lines than an event takes %d are told, as if the others were untouched", len(got))
	}
}

// Half a call of a host says nothing of what its tool will do, and that is told.
func TestHalfAnInputIsNoAllow(t *testing.T) {
	defer func(d time.Duration) { stdinTimeout = d }(stdinTimeout)
	stdinTimeout = time.Millisecond
	w := newWorld(t)
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	if _, err := out.WriteString(`{"session_id":"s","tool_name":"Wri`); err != nil { // and no more: it stays open
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	env := w.env("claude_code", "PreToolUse", "", &stdout, &stderr)
	env.Stdin = in
	const said = "svc could not check this tool call: read standard input"
	if code := Run(t.Context(), env); code != 0 || !strings.Contains(stdout.String(), said) {
		t.Errorf("left %d, %s", code, stdout.String())
	}
}

// Files that an analysis did not come to are still to be told, and a git that
// fails is noted and counted.
func TestWhatWasNotLookedAtIsOwed(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	head := gittest.Run(t, repo, "rev-parse", "HEAD")
	w.base = func(context.Context, string, string) (string, error) { return head, nil }
	cut := true
	w.facts = func(_ context.Context, _, _ string, paths, _ []string, _ bool) (*coord.Analysis, error) {
		a := &coord.Analysis{Truncated: cut}
		for _, p := range paths {
			if !cut || p == "a.txt" {
				a.Files = append(a.Files, coord.FileFacts{Path: p, Status: coord.FileModified})
			}
		}
		return a, nil
	}
	gittest.Write(t, repo, "a.txt", "changed\n")
	gittest.Write(t, repo, "b.txt", "new\n")
	post := func(event string) {
		w.run("claude_code", event, claude(repo, event, m{"tool_name": "Write", "tool_use_id": event, "prompt": "x",
			"tool_input": m{"file_path": filepath.Join(repo, "a.txt"), "content": "changed\n"}, "tool_response": m{}}))
	}
	post("PostToolUse")
	w.requests()
	told := func() (out []string) {
		for _, r := range w.requests() {
			if r.Event == wire.HookPostEdit {
				out = append(out, r.Paths...)
			}
		}
		return out
	}
	post("UserPromptSubmit")
	if got := told(); !slices.Equal(got, []string{"a.txt", "b.txt"}) {
		t.Errorf("after an edit whose analysis was cut short the turn tells %v", got)
	}
	cut = false
	post("UserPromptSubmit")
	if got := told(); !slices.Equal(got, []string{"b.txt"}) {
		t.Errorf("after a turn whose analysis was cut short the next tells %v", got)
	}
	post("UserPromptSubmit")
	if got := told(); len(got) > 0 {
		t.Errorf("when all is told, it is told again: %v", got)
	}
	gittest.Write(t, repo, "a.txt", "changed again\n")
	if err := os.WriteFile(filepath.Join(repo, ".git", "index"), []byte("no index"), 0o600); err != nil {
		t.Fatal(err)
	}
	post("UserPromptSubmit")
	log, err := os.ReadFile(filepath.Join(w.config, "hook.log"))
	if err != nil || !strings.Contains(string(log), "git did not say what changed in "+repo) {
		t.Errorf("a git that fails is not noted: %s (%v)", log, err)
	}
	if n := spool.Open(w.temp, "claude_code", "s1").TakeCount(spool.FailOpens); n == 0 {
		if n := w.requests(); len(n) == 0 || n[len(n)-1].FailOpens == 0 {
			t.Error("a git that fails is not counted as missed")
		}
	}
}
