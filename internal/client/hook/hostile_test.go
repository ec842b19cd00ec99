//go:build unix

package hook

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// Whoever made a working copy must not be able to hold up or to use the agent
// that opens it.
func TestAHostileWorkingCopy(t *testing.T) {
	for _, name := range []string{"HEAD", "config", "index", "packed-refs"} {
		t.Run("a pipe for "+name, func(t *testing.T) {
			w := newWorld(t)
			repo := newRepo(t, filepath.Join(w.home, "app"))
			file := filepath.Join(repo, ".git", name)
			_ = os.Remove(file)
			if err := syscall.Mkfifo(file, 0o644); err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			for _, event := range []string{"PreToolUse", "PostToolUse"} {
				w.run("claude_code", event, claude(repo, event, m{"tool_name": "Bash", "tool_input": m{"command": "make"}, "tool_use_id": "t"}))
			}
			if d := time.Since(start); d > 8*time.Second {
				t.Errorf("the agent waited %v", d)
			}
		})
	}
	t.Run("a program to start", func(t *testing.T) {
		w := newWorld(t)
		repo := newRepo(t, filepath.Join(w.home, "app"))
		marker := filepath.Join(w.home, "started")
		gittest.Run(t, repo, "config", "core.fsmonitor", "touch '"+marker+"';")
		gittest.Run(t, repo, "config", "filter.x.clean", "touch '"+marker+"'; cat")
		gittest.Write(t, repo, ".gitattributes", "* filter=x\n")
		for _, event := range []string{"PreToolUse", "PostToolUse"} {
			w.run("claude_code", event, claude(repo, event, m{
				"tool_name":   "Bash",
				"tool_input":  m{"command": "make && git checkout -- ."},
				"tool_use_id": "t",
			}))
			gittest.Write(t, repo, "a.txt", "new\n")
		}
		if _, err := os.Stat(marker); err == nil {
			t.Error("the hook started a program that the working copy names")
		}
	})
	t.Run("an object that is a difference of itself", func(t *testing.T) {
		w := newWorld(t)
		w.base = gitrepo.Base
		repo := newRepo(t, filepath.Join(w.home, "app"))
		blob := gittest.Run(t, repo, "rev-parse", "HEAD:a.txt")
		gittest.DeltaPack(t, repo, map[string]string{blob: blob})
		w.reply = func(in wire.HookRequest) any {
			id := "s"
			return wire.HookReply{Decision: wire.Allow, SessionID: &id, WantLines: in.Paths}
		}
		for _, event := range []string{"PreToolUse", "PostToolUse"} {
			got := w.run("claude_code", event, claude(repo, event, m{
				"tool_name":   "Write",
				"tool_input":  m{"file_path": filepath.Join(repo, "a.txt"), "content": "new\n"},
				"tool_use_id": "t",
			}))
			if got.code != 0 {
				t.Errorf("%s ends with %d: %s", event, got.code, got.stderr)
			}
		}
	})
}
