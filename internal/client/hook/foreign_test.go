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
	for _, x := range []struct {
		host, event, tool string
		want              bool
	}{
		{"claude_code", "PostToolUse", "mcp__writer__put_note", true},
		{"claude_code", "PostToolUse", "mcp__svc__inbox", false},
		{"codex", "PostToolUse", "mcp__writer__put_note", true},
		{"cursor", "postToolUse", "MCP:put_note", true},
		{"copilot_cli", "postToolUse", "writer-put_note", true},
		{"copilot_cli", "postToolUse", "svc-inbox", false},
		{"copilot_cli", "postToolUse", "report_intent", false},
		{"vscode", "PostToolUse", "mcp_writer_put_note", true},
		{"gemini_cli", "AfterTool", "mcp_writer_put_note", true},
		{"gemini_cli", "AfterTool", "mcp_svc_inbox", false},
		{"opencode", "tool.execute.after", "writer_put_note", true},
		{"opencode", "tool.execute.after", "svc_inbox", false},
		{"kilo_code", "tool.execute.after", "writer_put_note", true},
		{"omp", "tool_result", "mcp__writer_put_note", true},
		{"qwen_code", "PostToolUse", "mcp__writer__put_note", true},
		{"factory_droid", "PostToolUse", "mcp__writer__put_note", true},
	} {
		t.Run(x.host+" "+x.tool, func(t *testing.T) { otherServer(t, x.host, x.event, x.tool, x.want) })
	}
}

func otherServer(t *testing.T, host, event, tool string, want bool) {
	w := newWorld(t)
	truthful(w)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	gittest.Write(t, repo, "a.txt", "first\n")
	gittest.Run(t, repo, "add", "-A")
	gittest.Run(t, repo, "commit", "-q", "-m", "text")
	args := m{"path": "a.txt", "text": "two\n"}
	after := func(call string) m { // with the names of every host
		return m{"session_id": "s1", "sessionId": "s1", "cwd": repo, "directory": repo, "hook_event_name": event,
			"type": event, "tool_name": tool, "toolName": tool, "tool_use_id": call, "tool_input": args, "toolArgs": args,
			"tool_response": m{"content": "ok"}, "input": m{"sessionID": "s1", "tool": tool, "callID": call, "args": args},
			"event": m{"type": event, "toolName": tool, "toolCallId": call, "input": args}, "ctx": m{"sessionId": "s1", "cwd": repo}}
	}
	w.run(host, event, after("call-1"))
	w.requests()
	w.reply = func(wire.HookRequest) any {
		return wire.HookReply{Decision: wire.Allow, InjectContext: "svc CF-1 block: a.txt is claimed."}
	}
	gittest.Write(t, repo, "a.txt", "two\n")
	said := w.run(host, event, after("call-2")).stdout
	got := w.requests()
	told := len(got) == 1 && got[0].Event == wire.HookPostEdit && len(got[0].Paths) == 1 && got[0].Paths[0] == "a.txt"
	if told != want || strings.Contains(said, "a.txt is claimed") != want {
		t.Errorf("the service was told %+v, the model %q", got, said)
	}
	w.run(host, event, after("call-3"))
	if got := w.requests(); len(got) > 0 {
		t.Errorf("nothing was written since, and the service was told %+v", got)
	}
}
