package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/presence"
)

// tool plays an event of Claude Code about one file.
func (l *laptop) tool(session, event, file string) string {
	l.t.Helper()
	payload, err := json.Marshal(map[string]any{"session_id": session, "cwd": l.clone, "hook_event_name": event, "tool_name": "Write",
		"tool_use_id": session + file, "tool_input": map[string]any{"file_path": filepath.Join(l.clone, file), "content": "x\n"},
		"tool_response": map[string]any{}})
	if err != nil {
		l.t.Fatal(err)
	}
	return l.run(string(payload), "svc", "hook", "--tool", "claude_code", "--event", event)
}

var sessionID = regexp.MustCompile(`session_id is ([0-9a-f-]{36})`)

// Two agents are at work in one clone when their person shares it: each keeps
// its own claim, what both wrote before is the team's to know, and teammates
// meet it.
func TestSharingMovesAgentsAtWork(t *testing.T) {
	l := newLaptop(t)
	l.write("b.txt", "one\n")
	l.run("", "git", "add", ".")
	l.run("", "git", "commit", "-qm", "two")
	l.run("", "git", "remote", "add", "origin", "https://github.com/acme/secret")
	l.run("", "svc", "up", "--yes")
	for _, agent := range []struct{ name, file string }{{"A", "a.txt"}, {"B", "b.txt"}} {
		told := l.hook(agent.name, "SessionStart", "")
		found := sessionID.FindStringSubmatch(told)
		if found == nil {
			t.Fatalf("session %s is told no session_id: %s", agent.name, told)
		}
		l.declare(agent.name, found[1], agent.file)
		l.tool(agent.name, "PreToolUse", agent.file)
		l.write(agent.file, "x\n")
		l.tool(agent.name, "PostToolUse", agent.file)
	}
	team := newServer(t, t.TempDir())
	l.run(team.token("olga@example.com"), "svc", "login", "--server", team.URL, "--token", "-")
	if out := l.run("", "svc", "share", "--yes"); !strings.Contains(out, "INT-1, INT-2") {
		t.Fatalf("svc share says\n%s", out)
	}
	for _, agent := range []struct{ name, own, other, ref string }{{"B", "b.txt", "a.txt", "INT-2"}, {"A", "a.txt", "b.txt", "INT-1"}} {
		if out := l.tool(agent.name, "PreToolUse", agent.own); strings.Contains(out, "deny") || strings.Contains(out, "svc warn") {
			t.Errorf("%s is in its own way after svc share:\n%s", agent.name, out)
		}
		if out := l.tool(agent.name, "PreToolUse", agent.other); !strings.Contains(out, `"deny"`) {
			t.Errorf("%s may write what the other claimed after svc share:\n%s", agent.name, out)
		}
		out := l.tool(agent.name, "PostToolUse", agent.own)
		if !strings.Contains(out, "session_id is") || !strings.Contains(out, "intent is "+agent.ref) {
			t.Errorf("%s is not told who it is now:\n%s", agent.name, out)
		}
		if out := l.tool(agent.name, "UserPromptSubmit", agent.own); strings.Contains(out, "session_id is") {
			t.Errorf("%s is told twice who it is:\n%s", agent.name, out)
		}
	}
	bob := newLaptop(t)
	bob.run("", "git", "remote", "add", "origin", "https://github.com/acme/secret")
	bob.run(team.token("bob@example.com"), "svc", "login", "--server", team.URL, "--token", "-")
	bob.run("", "svc", "init", "--user", "--tools", "claude_code", "--yes")
	bob.hook("C", "SessionStart", "")
	if out := bob.tool("C", "PreToolUse", "a.txt"); !strings.Contains(out, `"deny"`) || !strings.Contains(out, "INT-1") {
		t.Errorf("a teammate may write what was claimed before svc share:\n%s", out)
	}
}

// declare claims a file for a session of the local service, as svc mcp does for
// the agent that its host knows by name.
func (l *laptop) declare(name, session, file string) {
	t := l.t
	t.Helper()
	s, ok := l.service()
	if !ok {
		t.Fatal("no local service")
	}
	token, err := os.ReadFile(filepath.Join(l.home, ".local", "share", "svc", "local", "owner-token"))
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(map[string]any{"title": "Rewrite " + file, "repo": "github.com/acme/secret", "mode": "exclusive",
		"scope": map[string]any{"paths": []string{file}}})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest("POST", s.Server+"/v1/intents", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Svc-Session", session)
	req.Header.Set("X-Svc-Session-Key", presence.Key(login.Store{Dir: filepath.Join(l.home, ".config", "svc")}.Machine(), "claude_code", name))
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); res.StatusCode != http.StatusCreated {
		t.Fatalf("declare: %s %s", res.Status, text)
	}
}
