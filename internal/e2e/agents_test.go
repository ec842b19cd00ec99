package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// agentHost is a coding agent's host as far as svc sees one: a process that
// starts svc hook by a shell for what happens, and keeps a svc mcp. It takes
// lines, each a JSON array: ["hook", event, payload] or ["tool", name,
// arguments], and answers each with a line.
func agentHost() {
	mcp := exec.Command("svc", "mcp")
	in, _ := mcp.StdinPipe()
	out, _ := mcp.StdoutPipe()
	if err := mcp.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	replies := bufio.NewScanner(out)
	replies.Buffer(nil, 1<<20)
	rpc := func(message string) string {
		fmt.Fprintln(in, message)
		replies.Scan()
		return replies.Text()
	}
	rpc(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
		`"clientInfo":{"name":"claude-code","version":"1"}}}`)
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var order []json.RawMessage
		var kind, name string
		if json.Unmarshal(lines.Bytes(), &order) != nil || json.Unmarshal(order[0], &kind) != nil || json.Unmarshal(order[1], &name) != nil {
			os.Exit(1)
		}
		if kind == "tool" {
			fmt.Println(rpc(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, name, order[2])))
			continue
		}
		hook := exec.Command("sh", "-c", "svc hook --tool claude_code --event "+name+"; true")
		hook.Stdin = bytes.NewReader(order[2])
		said, _ := hook.Output()
		answer, _ := json.Marshal(string(said))
		fmt.Println(string(answer))
	}
}

// An agent is a running host with one conversation.
type agent struct {
	t       testing.TB
	session string
	dir     string
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
}

// A clone is a working copy and the configuration of the person at it.
type clone struct {
	dir, config, temp string
	env               []string
}

func newClone(t testing.TB, s *server, token string) *clone {
	t.Helper()
	dir := gittest.Init(t)
	gittest.Run(t, dir, "remote", "add", "origin", "https://github.com/acme/shop.git")
	gittest.Write(t, dir, "README.md", "shop\n")
	gittest.Run(t, dir, "add", ".")
	gittest.Run(t, dir, "commit", "-qm", "first")
	config, temp := t.TempDir(), t.TempDir()
	return &clone{dir, config, temp, append(os.Environ(), "SVC_SERVER="+s.URL, "SVC_TOKEN="+token, "SVC_CONFIG_DIR="+config, "HOME="+config,
		"TMPDIR="+temp, "SVC_NO_UPDATE_CHECK=1", patient)}
}

func (c *clone) agent(t testing.TB, session string) *agent {
	t.Helper()
	a := &agent{t: t, session: session, dir: c.dir, cmd: exec.Command("agenthost")}
	a.cmd.Dir, a.cmd.Env, a.cmd.Stderr = c.dir, c.env, os.Stderr
	in, err := a.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	a.in, a.out = in, bufio.NewScanner(out)
	a.out.Buffer(nil, 1<<20)
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.kill)
	return a
}

// kill ends a host without a chance to say so.
func (a *agent) kill() {
	_ = a.cmd.Process.Kill()
	_ = a.cmd.Wait()
}

func (a *agent) order(parts ...any) []byte {
	a.t.Helper()
	line, err := json.Marshal(parts)
	if err != nil {
		a.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(a.in, "%s\n", line); err != nil {
		a.t.Fatal(err)
	}
	if !a.out.Scan() {
		a.t.Fatal("the host is gone")
	}
	return a.out.Bytes()
}

// hook plays one event of Claude Code, and returns what the model reads.
func (a *agent) hook(event string, more map[string]any) string {
	a.t.Helper()
	payload := map[string]any{"session_id": a.session, "cwd": a.dir, "hook_event_name": event}
	for k, v := range more {
		payload[k] = v
	}
	var said string
	if err := json.Unmarshal(a.order("hook", event, payload), &said); err != nil {
		a.t.Fatal(err)
	}
	return said
}

func (a *agent) begin() {
	a.t.Helper()
	if a.hook("SessionStart", nil) == "" {
		a.t.Fatal("no briefing")
	}
	a.hook("UserPromptSubmit", map[string]any{"prompt": "work of " + a.session})
}

// tool calls a tool and returns the words of the answer.
func (a *agent) tool(name string, args map[string]any) (text string, failed bool) {
	a.t.Helper()
	var out struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
		Error *struct{ Message string }
	}
	line := a.order("tool", name, args)
	if err := json.Unmarshal(line, &out); err != nil {
		a.t.Fatalf("%v: %s", err, line)
	}
	if out.Error != nil {
		return out.Error.Message, true
	}
	for _, c := range out.Result.Content {
		text += c.Text + "\n"
	}
	return text, out.Result.IsError
}

// get reads what a member's token sees.
func get[T any](t *testing.T, s *server, token, path string) (out T) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode != 200 {
		t.Fatalf("GET %s: %s %v", path, res.Status, err)
	}
	return out
}

// Two agents of one person in one clone: each call of a tool is by the agent
// whose host started the bridge, though none says which one it is.
func TestTheBridgeKnowsItsSession(t *testing.T) {
	s := newServer(t, t.TempDir())
	olga := s.token("olga@example.com")
	c := newClone(t, s, olga)
	one, two := c.agent(t, "one"), c.agent(t, "two")
	one.begin()
	two.begin()
	for i, a := range []*agent{one, two, one} {
		path := []string{"ledger.txt", "notes.txt", "ledger.txt"}[i]
		text, failed := a.tool("intent_declare", map[string]any{"title": "by " + a.session, "scope": map[string]any{"paths": []string{path}}})
		if want := []string{"INT-1", "INT-2", "INT-1"}[i]; failed || !strings.Contains(text, want) {
			t.Errorf("%s declares %s: %s", a.session, path, text)
		}
	}
	for a, want := range map[*agent]string{one: "INT-1", two: "INT-2"} {
		if text, failed := a.tool("team_context", nil); failed || !strings.Contains(text, "Your intent: "+want) {
			t.Errorf("%s is told: %s", a.session, text)
		}
	}

	// What one of them holds exclusively, the other cannot end, whatever it says
	// it is: the ids of sessions are shown to everybody, their keys to nobody.
	if text, failed := one.tool("intent_declare", map[string]any{"title": "by one", "mode": "exclusive",
		"scope": map[string]any{"paths": []string{"ledger.txt"}}}); failed {
		t.Errorf("one claims: %s", text)
	}
	held := map[string]any{"intent": "INT-1", "outcome": "abandoned"}
	for _, x := range sessionsOf(t, s, olga, true) {
		held["session_id"] = x.ID
		if text, failed := two.tool("intent_close", held); !failed {
			t.Errorf("two closes what one holds: %s", text)
		}
	}
	if text, failed := one.tool("intent_update", map[string]any{"intent": "INT-1",
		"patch": map[string]any{"scope_remove": map[string]any{"paths": []string{"ledger.txt"}}}}); failed {
		t.Errorf("one narrows what it holds: %s", text)
	}

	// A host without hooks is nobody's session: it is told so, and by whom it
	// may be meant.
	strange := c.agent(t, "three")
	if text, failed := strange.tool("intent_declare", map[string]any{"title": "by whom"}); !failed || !strings.Contains(text, "session_id") ||
		!strings.Contains(text, "several agents of yours are at work in acme/shop") {
		t.Errorf("a stranger declares: %s", text)
	}
	intents := get[wire.Page[coord.Intent]](t, s, olga, "/v1/intents").Items
	if len(intents) != 2 {
		t.Errorf("%d intents", len(intents))
	}

	// With the other's host gone there is nobody to be mixed up with: the next
	// hook of this machine ends what it left.
	two.kill()
	one.hook("UserPromptSubmit", map[string]any{"prompt": "go on"})
	if live := sessionsOf(t, s, olga, true); len(live) != 1 || live[0].ID == sessionsOf(t, s, olga, false)[0].ID {
		t.Errorf("live are %+v", live)
	}
	if text, failed := strange.tool("team_context", nil); failed || !strings.Contains(text, "Your intent: INT-1") {
		t.Errorf("of the one who is left: %s", text)
	}
}

// sessionsOf returns a member's sessions that are live, or that have ended.
func sessionsOf(t *testing.T, s *server, token string, live bool) (out []coord.Session) {
	t.Helper()
	for _, x := range get[wire.Page[coord.Session]](t, s, token, "/v1/sessions").Items {
		if (x.EndedAt == nil) == live {
			out = append(out, x)
		}
	}
	return out
}

// What one agent wrote while the service was away is told in its name, though
// its host was killed and another agent is the first to get through.
func TestLostEditsAreTheirWritersOwn(t *testing.T) {
	s := newServer(t, t.TempDir())
	olga := s.token("olga@example.com")
	c := newClone(t, s, olga)
	one, two := c.agent(t, "one"), c.agent(t, "two")
	one.begin()
	two.begin()
	s.stop()
	gittest.Write(t, c.dir, "lost.txt", "by one\n")
	one.hook("PostToolUse", map[string]any{"tool_name": "Write", "tool_use_id": "t1",
		"tool_input": map[string]any{"file_path": c.dir + "/lost.txt", "content": "by one\n"}})
	one.hook("SessionEnd", nil)
	one.kill()
	s.start()
	two.hook("UserPromptSubmit", map[string]any{"prompt": "go on"})
	live, over := sessionsOf(t, s, olga, true), sessionsOf(t, s, olga, false)
	if len(live) != 1 || len(over) != 1 {
		t.Fatalf("%d sessions are live, %d are over", len(live), len(over))
	}
	if over[0].File == nil || *over[0].File != "lost.txt" || live[0].File != nil {
		t.Errorf("the writer was at %v, the other at %v", over[0].File, live[0].File)
	}
}

// Agents go on when the service is away, and that is said wherever their person
// looks, also if the agent itself never got through again.
func TestAnOutageIsNotSilent(t *testing.T) {
	s := newServer(t, t.TempDir())
	olga := s.token("olga@example.com")
	c := newClone(t, s, olga)
	a := c.agent(t, "one")
	a.begin()
	s.as(s.token("bob@example.com"), "POST", "/v1/intents",
		`{"title":"Rewrite a","mode":"exclusive","scope":{"paths":["a.txt"]},"repo":"acme/shop","branch":"rewrite"}`)
	edit := func(a *agent, id string) string {
		return a.hook("PreToolUse", map[string]any{"tool_name": "Write", "tool_use_id": id,
			"tool_input": map[string]any{"file_path": c.dir + "/a.txt", "content": "x"}})
	}
	s.stop()
	for i := range 2 {
		if said := edit(a, fmt.Sprint("t", i)); !strings.Contains(said, "svc could not check this edit") {
			t.Errorf("edit %d in the outage: %s", i, said)
		}
	}
	a.kill()
	if out := c.svc(t, "doctor"); !strings.Contains(out, "went unanswered") {
		t.Errorf("doctor in the outage: %s", out)
	}
	s.start()
	b := c.agent(t, "two")
	if said := b.hook("SessionStart", nil); strings.Contains(said, "unchecked") {
		t.Errorf("the next agent is told %s", said)
	}
	if said := edit(b, "back"); !strings.Contains(said, `"deny"`) {
		t.Errorf("the first edit after the outage: %s", said)
	}
	over := sessionsOf(t, s, olga, false)
	if len(over) != 1 || over[0].FailOpens != 2 || over[0].FailOpensAt == nil {
		t.Errorf("the session is %+v", over)
	}
	for _, x := range sessionsOf(t, s, olga, true) {
		if x.FailOpens != 0 {
			t.Errorf("another agent has %d", x.FailOpens)
		}
	}
	for _, command := range []string{"status", "doctor"} {
		if out := c.svc(t, command); !strings.Contains(out, "claude_code in acme/shop went on unchecked") {
			t.Errorf("svc %s: %s", command, out)
		}
	}
}

// svc runs the client as the person at the clone, and returns all it prints.
func (c *clone) svc(t *testing.T, args ...string) string {
	t.Helper()
	return c.svcIn(t, "", args...)
}

// svcIn is svc with something to read.
func (c *clone) svcIn(t *testing.T, in string, args ...string) string {
	t.Helper()
	cmd := exec.Command("svc", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = c.dir, c.env, strings.NewReader(in)
	out, _ := cmd.CombinedOutput()
	return string(out)
}
