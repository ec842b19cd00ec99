package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/gittest"
)

// run runs a command of svc lsp.
func (e *editor) run(name string, args ...any) string {
	e.t.Helper()
	return e.request("workspace/executeCommand", map[string]any{"command": name, "arguments": args})
}

// here is a question about a line, counting from 0.
func (e *editor) here(name string, line int) map[string]any {
	at := map[string]any{"line": line, "character": 0}
	return map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}, "position": at,
		"range": map[string]any{"start": at, "end": at}, "context": map[string]any{"diagnostics": []any{}}}
}

// An offer is a code action.
type offer struct {
	Title   string
	Command struct {
		Command   string
		Arguments []any
	}
}

func (e *editor) offers(name string, line int) (out []offer) {
	e.t.Helper()
	if err := json.Unmarshal([]byte(e.request("textDocument/codeAction", e.here(name, line))), &out); err != nil {
		e.t.Fatal(err)
	}
	return out
}

// take runs the first offer of a command, with more arguments.
func (e *editor) take(offers []offer, command string, more ...any) string {
	e.t.Helper()
	for _, o := range offers {
		if o.Command.Command == command {
			return e.run(command, append(o.Command.Arguments, more...)...)
		}
	}
	e.t.Fatalf("nothing of %+v is %s", offers, command)
	return ""
}

// Marks go when the work lands: Bob's agent commits and pushes to where both
// fetch from, and nothing of it is live any more.
func TestEditorMarksGoWhenWorkLands(t *testing.T) {
	x := newScenes(t)
	origin := filepath.Join(t.TempDir(), "shop.git")
	gittest.Run(t, t.TempDir(), "init", "-q", "--bare", "-b", "main", origin)
	for _, dir := range []string{x.clone.dir, x.bob.dir} {
		gittest.Run(t, dir, "config", "url."+origin+".insteadOf", "https://github.com/acme/shop.git")
	}
	gittest.Run(t, x.clone.dir, "push", "-q", "origin", "HEAD:main")
	gittest.Run(t, x.bob.dir, "fetch", "-q", "origin")
	e := newEditor(t, x.clone, nil)
	for _, name := range []string{"notes.txt", "ledger.txt"} {
		e.open(name)
	}
	e.put("notes.txt", 0, 0, "typed\n")
	x.edit(x.bob, "notes.txt", "line 5", "bob 5")
	e.awaitMarks("notes.txt", "7-7")
	said, failed := x.bob.tool("intent_declare", map[string]any{"title": "the ledger", "mode": "exclusive",
		"scope": map[string]any{"paths": []string{"ledger.txt"}}})
	if failed {
		t.Fatal(said)
	}
	lenses := func() string { return e.request("textDocument/codeLens", e.here("ledger.txt", 0)) }
	await.True(t, "the claim is shown", func() bool { return strings.Contains(lenses(), "has claimed ledger.txt (exclusive)") })
	// Pushed to a branch it is under way still; in main it has landed.
	gittest.Run(t, x.bob.dir, "commit", "-qam", "five")
	gittest.Run(t, x.bob.dir, "push", "-q", "origin", "HEAD:five")
	x.calls++
	x.tool(x.bob, "PostToolUse", "Bash", map[string]any{"command": "git push origin HEAD:five"})
	e.put("notes.txt", 0, 0, "typed\n")
	e.awaitMarks("notes.txt", "8-8")
	gittest.Run(t, x.bob.dir, "push", "-q", "origin", "HEAD:main")
	x.calls++
	x.tool(x.bob, "PostToolUse", "Bash", map[string]any{"command": "git push origin HEAD:main"})
	x.bob.hook("Stop", nil)
	e.awaitMarks("notes.txt")
	// Merged there with its own words: the claim ends with its intent.
	for _, i := range get[struct {
		Items []struct{ Ref, Title string }
	}](t, x.s, x.s.own("bob@example.com"), "/v1/intents?status=live").Items {
		if i.Title == "the ledger" {
			x.s.as(x.s.own("bob@example.com"), "POST", "/v1/intents/"+i.Ref+"/close", `{"outcome":"merged"}`)
		}
	}
	await.True(t, "the claim is gone", func() bool { return lenses() == "[]" })
}

// Lines that end as Windows ends them are the same lines.
func TestEditorWithWindowsLineEnds(t *testing.T) {
	x := newScenes(t)
	gittest.Run(t, x.clone.dir, "config", "core.autocrlf", "true")
	for _, name := range []string{"notes.txt", "ledger.txt"} {
		data, err := os.ReadFile(filepath.Join(x.clone.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		gittest.Write(t, x.clone.dir, name, strings.ReplaceAll(string(data), "\n", "\r\n"))
	}
	e := newEditor(t, x.clone, nil)
	e.open("notes.txt")
	x.edit(x.bob, "notes.txt", "line 5", "bob 5")
	e.awaitMarks("notes.txt", "6-6")
	e.put("notes.txt", 0, 0, "typed\r\n")
	e.awaitMarks("notes.txt", "7-7")
	bobs := newEditor(t, &clone{dir: x.bob.dir, env: x.bob.cmd.Env}, nil)
	bobs.open("ledger.txt")
	e.open("ledger.txt")
	e.put("ledger.txt", 3, 4, "typed by Olga\r\n")
	bobs.awaitMarks("ledger.txt", "4-4")
	e.put("ledger.txt", 3, 4, "line 3 of 10\r\n")
	bobs.awaitMarks("ledger.txt")
}

// What an editor shows beside lines, and what a person does there.
func TestEditorActs(t *testing.T) {
	x := newScenes(t)
	// The route has a user in another repository.
	server := "const app = require('express')();\n\napp.get('/users/:id', (req, res) => {\n  res.json({ id: req.params.id });\n});\n"
	gittest.Write(t, x.clone.dir, "server.js", server)
	gittest.Run(t, x.clone.dir, "add", ".")
	gittest.Run(t, x.clone.dir, "commit", "-qm", "a route")
	gittest.Run(t, x.clone.dir, "update-ref", "refs/remotes/origin/main", "HEAD")
	web := newCheckout(t, x.s, program(t, "svc"), "web", x.s.token("bob@example.com"), map[string]string{
		"client.ts": "export async function load(id: string) {\n  return fetch(`/users/${id}`);\n}\n"})
	web.hook("SessionStart", "")
	x.s.post("/v1/projects", `{"name":"shop","repos":["acme/shop","acme/web"]}`, nil)
	x.clone.svc(t, "index")
	web.svc("index")
	e := newEditor(t, x.clone, nil)
	for _, name := range []string{"server.js", "x.go", "notes.txt"} {
		e.open(name)
	}
	e.put("server.js", 0, 0, "// typed\n")
	await.True(t, "the inlay stands at its line", func() bool {
		all := map[string]any{"textDocument": map[string]any{"uri": e.uri("server.js")}, "range": map[string]any{
			"start": map[string]any{"line": 0, "character": 0}, "end": map[string]any{"line": 9, "character": 0}}}
		said := e.request("textDocument/inlayHint", all)
		return strings.Contains(said, "1 user in 1 repository") && strings.Contains(said, `"line":3`)
	})
	// A lens over a definition, and the claim of it.
	x.edit(x.bob, "x.go", "func  F( ) { }", "func F(n int) { }")
	await.True(t, "the lens names the definition", func() bool {
		return strings.Contains(e.request("textDocument/codeLens", e.here("x.go", 0)), "is changing F, ")
	})
	x.want("a claim", e.take(e.offers("x.go", 2), "svc.claim"), "claims it")
	// Who is at work in this repository, with their files.
	await.True(t, "the work is told", func() bool {
		said := e.request("svc/work", map[string]any{})
		return strings.Contains(said, `"person":"Bob Birch"`) && strings.Contains(said, `"files":["x.go"]`) && !strings.Contains(said, "acme/web")
	})
	x.edit(x.bob, "notes.txt", "line 5", "bob 5")
	await.True(t, "the editor hears that it changed", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return e.told["svc/workChanged"] > 0
	})
	// A conflict is acknowledged where it stands, a person is asked and waited for.
	e.awaitMarks("notes.txt", "6-6")
	e.put("notes.txt", 5, 6, "mine 5\n")
	e.save("notes.txt")
	await.True(t, "the conflict is offered", func() bool {
		return slices.ContainsFunc(e.offers("notes.txt", 5), func(o offer) bool { return o.Command.Command == "svc.ack" })
	})
	offers := e.offers("notes.txt", 5)
	x.want("ack", e.take(offers, "svc.ack"), "they know that you have seen it")
	x.want("ask", e.take(offers, "svc.ask", "How long will you be?"), "Asked")
	x.want("ask without words", e.take(offers, "svc.ask"), x.s.URL)
	x.want("message", e.take(offers, "svc.message", "I am here, too"), "Sent")
	x.want("wait", e.take(offers, "svc.wait"), "You will be told")
	at := slices.IndexFunc(offers, func(o offer) bool { return o.Command.Command == "svc.ack" })
	for _, c := range x.s.conflicts(t) {
		if c.Ref == offers[at].Command.Arguments[1] && c.Status == coord.ConflictOpen {
			t.Errorf("%s is %s after it was acknowledged", c.Ref, c.Status)
		}
	}
}

// What waits for a person is told to the editor, and answered there.
func TestEditorAnswers(t *testing.T) {
	x := newScenes(t)
	e := newEditor(t, x.clone, nil)
	e.open("notes.txt")
	ask := func(method, path, body string) { x.s.as(x.s.own("bob@example.com"), method, path, body) }
	ask("POST", "/v1/questions", `{"to":"user:olga@example.com","question":"May I rename F?"}`)
	item := e.waits("question")
	x.want("the question", fmt.Sprint(item), "May I rename F?", "Bob Birch asks you something")
	x.want("the answer", e.run("svc.answer", x.clone.dir, item["ref"], "Please do."), "Answered")
	x.want("an empty answer", e.run("svc.answer", x.clone.dir, item["ref"], ""), "error: ")
	ask("POST", "/v1/messages", `{"to":"user:olga@example.com","body":"Lunch?"}`)
	item = e.waits("message")
	x.want("the reply", e.run("svc.answer", x.clone.dir, item["ref"], "At noon."), "Sent")
	await.True(t, "Bob reads both", func() bool {
		said := fmt.Sprint(get[map[string]any](t, x.s, x.s.own("bob@example.com"), "/v1/messages"))
		return strings.Contains(said, "Please do.") && strings.Contains(said, "At noon.")
	})
	silent := newEditor(t, x.clone, map[string]any{"attention": false})
	silent.open("notes.txt")
	x.edit(x.bob, "notes.txt", "line 5", "bob 5")
	silent.awaitMarks("notes.txt", "6-6")
	if silent.mu.Lock(); silent.told["svc/attention"] != 0 {
		t.Error("an editor that is not to tell what waits does")
	}
	silent.mu.Unlock()
}

// What was typed and never saved is gone with the editor.
func TestEditorLeaves(t *testing.T) {
	x := newScenes(t)
	e := newEditor(t, x.clone, nil)
	e.open("notes.txt")
	e.put("notes.txt", 3, 4, "typed by Olga\n")
	bobs := newEditor(t, &clone{dir: x.bob.dir, env: x.bob.cmd.Env}, nil)
	bobs.open("notes.txt")
	bobs.awaitMarks("notes.txt", "4-4")
	e.request("shutdown", nil)
	e.notify("exit", nil)
	bobs.awaitMarks("notes.txt")
}

// waits returns what of a kind waits for the person.
func (e *editor) waits(kind string) (found map[string]any) {
	e.t.Helper()
	await.True(e.t, "a "+kind+" waits", func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, item := range e.waiting {
			if item["kind"] == kind {
				found = item
				return true
			}
		}
		return false
	})
	return found
}

// What leaves the machine: nothing of a repository that is not shared, and of
// others never the text. A person's editor is heard by a wire that is read.
func TestEditorKeepsToItself(t *testing.T) {
	x := newScenes(t)
	to, err := url.Parse(x.s.URL)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var sent []string
	proxy := httputil.NewSingleHostReverseProxy(to)
	wire := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dump, _ := httputil.DumpRequest(r, true)
		mu.Lock()
		sent = append(sent, string(dump))
		mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(wire.Close)
	heard := func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(sent, "\n")
	}
	x.s.send("PATCH", "/v1/org", `{"data_mode":"metadata_only"}`, nil)
	shared := &clone{dir: x.clone.dir, env: append(slices.Clone(x.clone.env), "SVC_SERVER="+wire.URL, "SVC_EDGE=off")}
	bobs := newEditor(t, &clone{dir: x.bob.dir, env: x.bob.cmd.Env}, nil)
	bobs.open("notes.txt")
	bobs.open("ledger.txt")
	e := newEditor(t, shared, nil)
	for _, name := range []string{"notes.txt", "ledger.txt"} {
		e.open(name)
		e.put(name, 3, 4, "zanzibar "+name+"\n")
		bobs.awaitMarks(name, "4-4")
	}
	e.save("ledger.txt")
	await.True(t, "the save is told", func() bool { return strings.Contains(heard(), `"editor"`) && strings.Count(heard(), "ledger.txt") > 1 })
	if strings.Contains(heard(), "zanzibar") {
		t.Errorf("what was typed has left the machine: %s", heard())
	}
	// A clone that its person keeps to herself.
	private := gittest.Init(t)
	gittest.Run(t, private, "remote", "add", "origin", "https://github.com/olga/diary.git")
	gittest.Write(t, private, "secret.txt", numbered(9, 1))
	gittest.Run(t, private, "add", ".")
	gittest.Run(t, private, "commit", "-qm", "first")
	config := t.TempDir()
	env := append(slices.Clone(x.clone.env), "SVC_TOKEN=", "SVC_SERVER=", "SVC_EDGE=off", "SVC_CONFIG_DIR="+config, "HOME="+config,
		"SVC_LOCAL_DIR="+config)
	alone := &clone{dir: private, env: env}
	login := alone.svcIn(t, x.s.token("olga@example.com"), "login", "--server", wire.URL, "--token", "-")
	before := len(heard())
	quiet := newEditor(t, alone, nil)
	quiet.open("secret.txt")
	quiet.put("secret.txt", 3, 4, "private\n")
	quiet.save("secret.txt")
	if said := quiet.request("svc/work", map[string]any{}); said != "[]" {
		t.Errorf("work of a repository that is not shared: %s", said)
	}
	x.want("a command", quiet.run("svc.claim", quiet.uri("secret.txt"), ""), "error: no open file of a shared repository")
	quiet.request("shutdown", nil)
	quiet.notify("exit", nil)
	_ = quiet.cmd.Wait()
	// It asks which repositories the team has, and names none itself.
	if said := heard()[before:]; strings.Contains(said, "POST ") || strings.Contains(said, "diary") || strings.Contains(said, "secret") {
		t.Errorf("%s\nsvc lsp speaks of a repository that is not shared: %s", login, said)
	}
}
