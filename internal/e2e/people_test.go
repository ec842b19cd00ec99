package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/gittest"
)

// Where a person wants it, hooks start a watcher that tells of the person's own
// edits; agents' edits stay agents', and what git ignores is nobody's business.
func TestPeoplesEditsAreTold(t *testing.T) {
	x := newScenes(t)
	gittest.Write(t, x.clone.dir, ".git/info/exclude", "*.log\n")
	told := func(name string) bool {
		text, failed := x.bob.tool("scope_check", map[string]any{"paths": []string{name}})
		return !failed && strings.Contains(text, "Olga Oak")
	}
	running := func() bool {
		var out struct{ On, Running bool }
		if err := json.Unmarshal([]byte(x.clone.svc(t, "watch-tree", "--json")), &out); err != nil {
			t.Fatal(err)
		}
		return out.Running
	}
	x.one.hook("UserPromptSubmit", map[string]any{"prompt": "go on"})
	if running() {
		t.Fatal("somebody watches whom nobody asked to")
	}
	x.want("svc watch-tree on", x.clone.svc(t, "watch-tree", "on"), "from the next prompt")
	t.Cleanup(func() { // before the folders go
		x.clone.svc(t, "watch-tree", "off")
		await.True(t, "the watcher has ended", func() bool { return !running() })
	})
	x.one.hook("UserPromptSubmit", map[string]any{"prompt": "go on"})
	await.True(t, "the hook has started a watcher", running)

	// An agent that is about to write, and one that has written.
	x.calls++
	x.tool(x.two, "PreToolUse", "Write", map[string]any{"file_path": x.clone.dir + "/coming.txt", "content": "by two\n"})
	gittest.Write(t, x.clone.dir, "coming.txt", "by two\n")
	x.edit(x.one, "ledger.txt", "line 2", "by one 2")
	gittest.Write(t, x.clone.dir, "debug.log", "noise\n")
	gittest.Write(t, x.clone.dir, "notes.txt", "by Olga herself\n")
	start := time.Now()
	await.True(t, "the person's edit is told", func() bool { return told("notes.txt") })
	t.Logf("told after %v", time.Since(start))
	for _, name := range []string{"coming.txt", "debug.log"} {
		if told(name) {
			t.Errorf("%s was told of as the person's", name)
		}
	}
	// It is a worker like others: its lines are guarded, and it is shown as an editor.
	x.want("git stash", x.command(x.one, "git stash"), `"deny"`, "notes.txt", "git stash push -- ledger.txt")
	x.quiet("an agent's own file", x.command(x.one, "git stash push -- ledger.txt"))
	if text, _ := x.bob.tool("who_is_online", map[string]any{}); !strings.Contains(text, "editor") {
		t.Errorf("online is %s", text)
	}
	// One watches, however many are started.
	x.clone.svc(t, "watch-tree", "run", x.clone.dir)
	// It gives up a tree that becomes too large, and says so until that is over.
	for i := range 4200 {
		if err := os.MkdirAll(filepath.Join(x.clone.dir, "many", fmt.Sprint(i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	await.True(t, "the watcher has given up", func() bool {
		return strings.Contains(x.clone.svc(t, "watch-tree"), "watching it failed (more than 4096 folders")
	})
	if err := os.RemoveAll(filepath.Join(x.clone.dir, "many")); err != nil {
		t.Fatal(err)
	}
	x.want("svc watch-tree on", x.clone.svc(t, "watch-tree", "on"), "from the next prompt")
}
