package hook

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// A tool of another tool server writes a file and tells nobody. The hook after
// it finds that, tells the service, and the model that called the tool reads what
// the service has to say; where nothing was written nobody is asked.
func TestAToolOfAnotherServerThatWritesIsToldOf(t *testing.T) {
	for tool, want := range map[string]bool{"mcp__writer__put_note": true, "mcp__svc__inbox": false} {
		w := newWorld(t)
		truthful(w)
		repo := newRepo(t, filepath.Join(w.home, "app"))
		gittest.Write(t, repo, "a.txt", "first\n")
		gittest.Run(t, repo, "add", "-A")
		gittest.Run(t, repo, "commit", "-q", "-m", "text")
		in := m{"session_id": "s1", "cwd": repo, "hook_event_name": "PostToolUse", "tool_name": tool, "tool_use_id": "call-1",
			"tool_input": m{"path": "a.txt", "text": "two\n"}, "tool_response": m{"content": "ok"}}
		w.run("claude_code", "PostToolUse", in)
		w.requests()
		w.reply = func(wire.HookRequest) any {
			return wire.HookReply{Decision: wire.Allow, InjectContext: "svc CF-1 block: a.txt is claimed."}
		}
		gittest.Write(t, repo, "a.txt", "two\n")
		in["tool_use_id"] = "call-2"
		p := &player{world: w}
		said := p.contextOf(w.run("claude_code", "PostToolUse", in))
		got := w.requests()
		told := len(got) == 1 && got[0].Event == wire.HookPostEdit && len(got[0].Paths) == 1 && got[0].Paths[0] == "a.txt"
		if told != want || strings.Contains(said, "a.txt is claimed") != want {
			t.Errorf("%s: the service was told %+v, the model %q", tool, got, said)
		}
		in["tool_use_id"] = "call-3"
		w.run("claude_code", "PostToolUse", in)
		if got := w.requests(); len(got) > 0 {
			t.Errorf("%s: nothing was written since, and the service was told %+v", tool, got)
		}
	}
}
