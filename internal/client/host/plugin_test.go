package host

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fakeSvc stands for svc: it notes its arguments and input and prints what
// the test put into answer.
const fakeSvc = `#!/bin/sh
printf '%s\n' "$*" >> "$SVC_TEST/calls"
cat >> "$SVC_TEST/calls"; printf '\n' >> "$SVC_TEST/calls"
cat "$SVC_TEST/answer"
`

// drive loads a plugin in node as its host would, and prints what each hook
// returned or threw.
func drive(t *testing.T, id, script, answer string) (printed string, calls []string) {
	t.Helper()
	if testing.Short() {
		t.Skip("make test has Node.js")
	}
	_, content, ok := Plugin(id)
	if !ok {
		t.Fatalf("%s has no plugin", id)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"plugin.mjs": string(content),
		"svc":        fakeSvc,
		"answer":     answer,
		"calls":      "",
		"drive.mjs":  script,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", "drive.mjs")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "SVC_TEST="+dir)
	if answer == "missing" {
		if err := os.Remove(filepath.Join(dir, "svc")); err != nil {
			t.Fatal(err)
		}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(dir, "calls"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out)), strings.Split(strings.TrimSpace(string(data)), "\n")
}

const tryIt = `const attempt = async (f) => { try { return await f() } catch (e) { return "threw " + e.message } }
`

var drivers = map[string]string{
	"opencode": tryIt + `import { SvcPlugin } from "./plugin.mjs"
const last = { info: { role: "assistant" }, parts: [{ type: "text", text: "All done." }] }
const h = await SvcPlugin({ directory: process.cwd(), client: { session: { messages: async () => ({ data: [last] }) } } })
` + opencodeDriver,
	"kilo_code": tryIt + `import plugin from "./plugin.mjs"
if (plugin.id !== "svc") throw new Error("no id")
const h = await plugin.server({ directory: process.cwd(), client: {} })
` + opencodeDriver,
	"omp": tryIt + `import start from "./plugin.mjs"
const on = {}
start({ on: (name, f) => { on[name] = f } })
const ctx = { cwd: process.cwd(), model: { id: "m" }, sessionManager: { getSessionId: () => "s1" } }
const call = { toolName: "write", toolCallId: "c1", input: { path: "a.txt", content: "x" }, content: [{ type: "text", text: "ok" }] }
await on.session_start({}, ctx)
console.log(JSON.stringify({
  prompt: await attempt(() => on.before_agent_start({ prompt: "hi" }, ctx)),
  read: await attempt(() => on.tool_call({ ...call, toolName: "read" }, ctx)),
  before: await attempt(() => on.tool_call(call, ctx)),
  after: await attempt(() => on.tool_result(call, ctx)),
}))
await on.session_stop({ last_assistant_message: "All done." }, ctx)
await on.agent_end({ messages: [] }, ctx)
await on.session_shutdown({}, ctx)
`,
	"cline": tryIt + `import plugin from "./plugin.mjs"
const { hooks } = plugin
const toolCall = { toolCallId: "c1", toolName: "editor", input: { path: "a.txt", new_text: "x" } }
const ctx = { snapshot: { conversationId: "s1" }, toolCall, result: {} }
await hooks.beforeRun(ctx)
console.log(JSON.stringify({
  read: await attempt(() => hooks.beforeTool({ ...ctx, toolCall: { ...ctx.toolCall, toolName: "read_files" } })),
  before: await attempt(() => hooks.beforeTool(ctx)),
  after: await attempt(() => hooks.afterTool(ctx)),
}))
await hooks.afterRun({ ...ctx, result: { outputText: "All done." } })
`,
}

const opencodeDriver = `const output = { message: { id: "m1" }, parts: [{ type: "text", text: "hi" }] }
const result = { output: "ok" }
await h.event({ event: { type: "session.created", properties: { info: { id: "s1", directory: process.cwd() } } } })
await h["chat.message"]({ sessionID: "s1" }, output)
const call = { tool: "write", sessionID: "s1", callID: "c1", args: { filePath: "a.txt" } }
const read = await attempt(() => h["tool.execute.before"]({ ...call, tool: "read" }, { args: {} }))
const before = await attempt(() => h["tool.execute.before"](call, { args: { filePath: "a.txt", content: "x" } }))
await h["tool.execute.after"](call, result)
console.log(JSON.stringify({ prompt: output.parts[1]?.text, read, before, after: result.output }))
await h.event({ event: { type: "session.idle", properties: { sessionID: "s1" } } })
await h.dispose()
`

// Each plugin does what its host wants with each kind of answer.
func TestPluginsActOnAnswers(t *testing.T) {
	const block, context = `{"block":true,"reason":"held by Ana"}`, `{"context":"news"}`
	for _, tt := range []struct{ id, answer, want string }{
		{"opencode", block, `{"before":"threw held by Ana","after":"ok"}`},
		{"opencode", context, `{"prompt":"news","after":"ok\n\nnews"}`},
		{"opencode", "", `{"after":"ok"}`},
		{"opencode", "no json", `{"after":"ok"}`},
		{"opencode", "missing", `{"after":"ok"}`},
		{"kilo_code", block, `{"before":"threw held by Ana","after":"ok"}`},
		{"kilo_code", context, `{"prompt":"news","after":"ok\n\nnews"}`},
		{"omp", block, `{"before":{"block":true,"reason":"held by Ana"}}`},
		{
			"omp",
			context,
			`{"prompt":{"message":{"customType":"svc","content":"news","display":true}},"after":{"content":[{"type":"text","text":"ok"},` +
				`{"type":"text","text":"news"}]}}`,
		},
		{"omp", "", `{}`},
		{"omp", "missing", `{}`},
		{"cline", block, `{"before":{"skip":true,"reason":"held by Ana"}}`},
		{"cline", context, `{"before":{"appendContext":"news"},"after":{"appendContext":"news"}}`},
		{"cline", "missing", `{}`},
	} {
		t.Run(tt.id+" "+tt.answer, func(t *testing.T) {
			if got, _ := drive(t, tt.id, drivers[tt.id], tt.answer); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// What a plugin sends must be understood. What is read is only noted: it is no
// event.
func TestPluginsAreUnderstood(t *testing.T) {
	want := map[string][]string{
		"opencode":  {"session_start s1", "prompt s1", "read s1", "pre_edit s1", "post_edit s1", "stop s1 All done.", "session_end s1"},
		"kilo_code": {"session_start s1", "prompt s1", "read s1", "pre_edit s1", "post_edit s1", "stop s1", "session_end s1"},
		"omp":       {"session_start s1", "prompt s1", "read s1", "pre_edit s1", "post_edit s1", "stop s1 All done.", "session_end s1"},
		"cline":     {"session_start s1", "read s1", "pre_edit s1", "post_edit s1", "stop s1 All done."},
	}
	for id, events := range want {
		t.Run(id, func(t *testing.T) {
			_, calls := drive(t, id, drivers[id], "{}")
			var got []string
			for i := 0; i+1 < len(calls); i += 2 {
				fields := strings.Fields(calls[i])
				if len(fields) != 5 || fields[0] != "hook" || fields[2] != id {
					t.Fatalf("called as %q", calls[i])
				}
				h, _ := ByID(fields[2])
				c, err := Parse(h, fields[4], []byte(calls[i+1]), noEnv)
				if err != nil {
					t.Fatal(err)
				}
				if (c.Event == "pre_edit" || c.Event == "post_edit") && (len(c.Paths) != 1 || c.Paths[0] != "a.txt" || c.CallID != "c1") {
					t.Errorf("%s is about %v, call %q", c.Event, c.Paths, c.CallID)
				}
				if c.Cwd == "" {
					t.Errorf("%s has no folder", c.Event)
				}
				name := string(c.Event)
				if c.Tool == Read {
					name = "read"
				}
				got = append(got, strings.TrimSpace(name+" "+c.Session+" "+c.Said))
			}
			a, _ := json.Marshal(got)
			b, _ := json.Marshal(events)
			if string(a) != string(b) {
				t.Errorf("sent %s, want %s", a, b)
			}
		})
	}
}
