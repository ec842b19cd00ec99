package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/textproto"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/gittest"
)

// An editor is a client of the Language Server Protocol with svc lsp beside it.
type editor struct {
	t       testing.TB
	dir     string
	cmd     *exec.Cmd
	in      io.WriteCloser
	ids     int
	texts   map[string]string
	version int

	mu      sync.Mutex
	marks   map[string][]lspMark
	told    map[string]int // notifications by method
	answers map[string]json.RawMessage
	shown   []string         // what window/showMessage said
	asked   []string         // what the server asked of the editor
	waiting []map[string]any // what svc/attention last said
}

type lspMark struct {
	Range struct {
		Start, End struct{ Line, Character int }
	}
	Severity        int
	Source, Message string
}

// newEditor starts svc lsp in a clone, as an editor does.
func newEditor(t testing.TB, c *clone, settings map[string]any) *editor {
	t.Helper()
	return startEditor(t, "svc", c, settings)
}

func startEditor(t testing.TB, program string, c *clone, settings map[string]any) *editor {
	t.Helper()
	e := &editor{t: t, dir: c.dir, cmd: exec.Command(program, "lsp"), texts: map[string]string{}, marks: map[string][]lspMark{},
		told: map[string]int{}, answers: map[string]json.RawMessage{}}
	e.cmd.Dir, e.cmd.Env, e.cmd.Stderr = c.dir, c.env, os.Stderr
	var err error
	if e.in, err = e.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go e.listen(bufio.NewReader(out))
	t.Cleanup(func() {
		e.in.Close()
		_ = e.cmd.Wait()
	})
	e.request("initialize", map[string]any{"processId": nil, "rootUri": nil, "initializationOptions": settings, "capabilities": map[string]any{
		"window": map[string]any{"showDocument": map[string]any{"support": true}}}})
	e.notify("initialized", map[string]any{})
	return e
}

func (e *editor) listen(out *bufio.Reader) {
	for {
		m, err := readMessage(out)
		if err != nil {
			return
		}
		e.mu.Lock()
		switch {
		case m.Method == "textDocument/publishDiagnostics":
			var p struct {
				URI         string
				Diagnostics []lspMark
			}
			_ = json.Unmarshal(m.Params, &p)
			e.marks[p.URI] = p.Diagnostics
		case m.Method == "window/showMessage":
			var p struct{ Message string }
			_ = json.Unmarshal(m.Params, &p)
			e.shown = append(e.shown, p.Message)
		case m.Method == "svc/attention":
			var p struct{ Items []map[string]any }
			_ = json.Unmarshal(m.Params, &p)
			e.waiting = p.Items
		case m.Method != "" && m.ID != nil:
			e.asked = append(e.asked, m.Method+" "+string(m.Params))
		case m.Method == "" && m.Error != nil:
			e.answers[fmt.Sprint(m.ID)] = json.RawMessage(strconv.Quote("error: " + m.Error.Message))
		case m.Method == "":
			e.answers[fmt.Sprint(m.ID)] = append(json.RawMessage{}, m.Result...)
		}
		if m.Method != "" {
			e.told[m.Method]++
		}
		e.mu.Unlock()
	}
}

type lspMessage struct {
	ID             any
	Method         string
	Params, Result json.RawMessage
	Error          *struct{ Message string }
}

func readMessage(from *bufio.Reader) (m lspMessage, err error) {
	head, err := textproto.NewReader(from).ReadMIMEHeader()
	if err != nil {
		return m, err
	}
	n, err := strconv.Atoi(head.Get("Content-Length"))
	if err != nil {
		return m, err
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(from, body); err != nil {
		return m, err
	}
	return m, json.Unmarshal(body, &m)
}

func (e *editor) send(m map[string]any) {
	e.t.Helper()
	m["jsonrpc"] = "2.0"
	body, err := json.Marshal(m)
	if err != nil {
		e.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) notify(method string, params any) {
	e.t.Helper()
	e.send(map[string]any{"method": method, "params": params})
}

// request asks and waits for the answer.
func (e *editor) request(method string, params any) (answer string) {
	e.t.Helper()
	e.ids++
	id := fmt.Sprint(e.ids)
	e.send(map[string]any{"id": e.ids, "method": method, "params": params})
	await.True(e.t, method+" is answered", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		got, ok := e.answers[id]
		answer = string(got)
		return ok
	})
	return answer
}

func (e *editor) uri(name string) string { return "file://" + filepath.Join(e.dir, name) }

func (e *editor) open(name string) {
	e.t.Helper()
	data, err := os.ReadFile(filepath.Join(e.dir, name))
	if err != nil {
		e.t.Fatal(err)
	}
	e.texts[name] = string(data)
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": e.uri(name), "languageId": "plaintext",
		"version": 0, "text": string(data)}})
}

// put replaces lines from one, counting from 0, up to another.
func (e *editor) put(name string, from, to int, text string) {
	e.t.Helper()
	lines := strings.SplitAfter(e.texts[name], "\n")
	e.texts[name] = strings.Join(lines[:from], "") + text + strings.Join(lines[to:], "")
	e.version++
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": e.uri(name), "version": e.version},
		"contentChanges": []any{map[string]any{"range": map[string]any{"start": map[string]any{"line": from, "character": 0},
			"end": map[string]any{"line": to, "character": 0}}, "text": text}}})
}

func (e *editor) save(name string) {
	e.t.Helper()
	gittest.Write(e.t, e.dir, name, e.texts[name])
	e.notify("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}})
}

// at returns where the marks of a file are, as first-last lines from 1.
func (e *editor) at(name string) (out []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, m := range e.marks[e.uri(name)] {
		out = append(out, fmt.Sprintf("%d-%d", m.Range.Start.Line+1, m.Range.End.Line))
	}
	return out
}

func (e *editor) says(name string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var out []string
	for _, m := range e.marks[e.uri(name)] {
		out = append(out, fmt.Sprintf("%d %s: %s", m.Severity, m.Source, m.Message))
	}
	return strings.Join(out, "\n")
}

func (e *editor) awaitMarks(name string, want ...string) {
	e.t.Helper()
	e.t.Cleanup(func() {
		if e.t.Failed() {
			e.t.Logf("the last marks of %s are %v", name, e.at(name))
		}
	})
	await.True(e.t, fmt.Sprintf("the marks of %s are %v", name, want), func() bool { return slices.Equal(e.at(name), want) })
}

func (e *editor) did(list *[]string, part string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(*list, func(s string) bool { return strings.Contains(s, part) })
}

// Another person's agent edits, and a person sees it at the right lines of a
// buffer that is not saved; it moves, and goes when the edit is undone.
func TestEditorShowsOthersWork(t *testing.T) {
	x := newScenes(t)
	e := newEditor(t, x.clone, nil)
	e.open("notes.txt")
	e.open("ledger.txt")
	x.edit(x.bob, "notes.txt", "line 5", "bob 5")
	e.awaitMarks("notes.txt", "6-6")
	x.want("a mark", e.says("notes.txt"), "3 svc: ", "'s agent (Claude Code", "is changing ", "line 6, ")
	// Above it the person types, and does not save.
	e.put("notes.txt", 0, 0, "typed\nand typed\n")
	e.awaitMarks("notes.txt", "8-8")
	x.edit(x.bob, "notes.txt", "line 2 of", "two\nnew of")
	e.awaitMarks("notes.txt", "5-5", "8-8")
	// What is about the file elsewhere moves nothing here.
	if got := e.at("ledger.txt"); len(got) != 0 {
		t.Errorf("marks of another file are %v", got)
	}
	// The same place: git will not merge the two.
	e.put("notes.txt", 7, 8, "mine 5\n")
	await.True(t, "the mark warns", func() bool { return strings.Contains(e.says("notes.txt"), "git will not merge the two") })
	x.want("a warning", e.says("notes.txt"), "2 svc: ")
	// What to do about it.
	here := map[string]any{"textDocument": map[string]any{"uri": e.uri("notes.txt")}, "position": map[string]any{"line": 7, "character": 0},
		"range":   map[string]any{"start": map[string]any{"line": 7, "character": 0}, "end": map[string]any{"line": 7, "character": 0}},
		"context": map[string]any{"diagnostics": []any{}}}
	x.want("hover", e.request("textDocument/hover", here), "markdown", "is changing this file", "Open the page")
	actions := e.request("textDocument/codeAction", here)
	x.want("actions", actions, "svc.message", "svc.ask", "svc.wait", "svc.open", "Claim this file")
	run := func(name string, args ...any) string {
		return e.request("workspace/executeCommand", map[string]any{"command": name, "arguments": append([]any{e.uri("notes.txt")}, args...)})
	}
	var offered []struct {
		Command struct {
			Command   string
			Arguments []string
		}
	}
	if err := json.Unmarshal([]byte(actions), &offered); err != nil {
		t.Fatal(err)
	}
	for _, o := range offered {
		switch o.Command.Command {
		case "svc.wait":
			x.want("wait", run("svc.wait", o.Command.Arguments[1], o.Command.Arguments[2]), "You will be told")
		case "svc.message":
			x.want("message", run("svc.message", o.Command.Arguments[1], "I am at line 5"), "Sent")
		case "svc.open":
			x.want("open", run("svc.open", o.Command.Arguments[1]), x.s.URL)
			await.True(t, "the editor opens the page", func() bool { return e.did(&e.asked, "window/showDocument") })
		}
	}
	x.want("claim", run("svc.claim", ""), "claims it")
	x.want("an unknown command", run("svc.nothing"), "error: ")
	// The agent takes its edits back.
	x.edit(x.bob, "notes.txt", "bob 5", "line 5")
	e.awaitMarks("notes.txt", "5-5")
	x.edit(x.bob, "notes.txt", "two\nnew of", "line 2 of")
	e.awaitMarks("notes.txt")
	await.True(t, "who waits is told", func() bool { return e.did(&e.shown, "notes.txt is free") })
}

// What a person has typed and not saved is told to others, and no more once it
// is undone; saved, it is the person's own work in that clone.
func TestUnsavedTextIsTold(t *testing.T) {
	x := newScenes(t)
	told := func(name string) bool {
		text, failed := x.bob.tool("scope_check", map[string]any{"paths": []string{name}})
		return !failed && strings.Contains(text, "Olga Oak")
	}
	silent := newEditor(t, x.clone, map[string]any{"presence": false})
	silent.open("shared.txt")
	silent.put("shared.txt", 0, 1, "nobody's business\n")
	bobs := newEditor(t, &clone{dir: x.bob.dir, env: x.bob.cmd.Env}, nil)
	bobs.open("notes.txt")
	e := newEditor(t, x.clone, nil)
	e.open("notes.txt")
	e.put("notes.txt", 3, 4, "typed by Olga\n")
	bobs.awaitMarks("notes.txt", "4-4")
	x.want("what Bob reads", bobs.says("notes.txt"), "3 svc: Olga Oak is changing line 4")
	if told("shared.txt") {
		t.Error("what was to stay silent was told")
	}
	e.put("notes.txt", 3, 4, "line 3 of 9\n")
	bobs.awaitMarks("notes.txt")
	// Also to the person's own agent, which cannot see it on disk.
	e.put("notes.txt", 4, 5, "typed by Olga\n")
	bobs.awaitMarks("notes.txt", "5-5")
	before, _ := x.edit(x.one, "notes.txt", "line 4", "one 4")
	x.want("an agent in the same clone", before, "notes.txt")
	e.open("ledger.txt")
	e.put("ledger.txt", 1, 2, "saved by Olga\n")
	e.save("ledger.txt")
	await.True(t, "saved text is told", func() bool { return told("ledger.txt") })
}
