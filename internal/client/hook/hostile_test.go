//go:build unix

package hook

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

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
}
