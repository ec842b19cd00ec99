package host

import (
	"crypto/rand"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/peertext/corpus"
	"github.com/svc-hq/svc/internal/core/wire"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// ids are the identifiers the interface promises.
var ids = []string{"claude_code", "codex", "cursor", "copilot_cli", "vscode", "gemini_cli", "windsurf", "opencode", "omp",
	"cline", "kiro", "antigravity", "goose", "qwen_code", "kilo_code", "factory_droid", "crush", "augment"}

func noEnv(string) string { return "" }

// Each row must be complete: what it lacks fails silently in the field, since
// hooks never report errors.
func TestHostsAreComplete(t *testing.T) {
	var got []string
	for _, h := range All() {
		got = append(got, h.ID)
		t.Run(h.ID, func(t *testing.T) { checkRow(t, h) })
	}
	if !slices.Equal(got, ids) {
		t.Errorf("hosts are %v, want %v", got, ids)
	}
}

func checkRow(t *testing.T, h *Host) {
	for what, missing := range map[string]bool{
		"name": h.Name == "", "surface": h.Surface != "cli" && h.Surface != "ide", "configs": len(h.Configs) == 0,
		"edit tools": len(h.Edits) == 0, "shell tools": len(h.Shells) == 0, "deny": h.deny == nil, "inject": h.inject == nil,
		"session": len(h.shape.session) == 0, "input": len(h.shape.input) == 0,
	} {
		if missing {
			t.Errorf("no %s", what)
		}
	}
	moments := map[Moment]bool{}
	for name, e := range h.Events {
		moments[e.At] = true
		if e.At == "" {
			t.Errorf("event %s has no moment", name)
		}
	}
	if !moments[BeforeTool] {
		t.Error("no event before a tool: nothing could be blocked")
	}
	for _, m := range h.Takes {
		if !moments[m] {
			t.Errorf("takes context at %q, which it has no event for", m)
		}
	}
	for kind, tools := range map[string][]string{Edit: h.Edits, Bash: h.Shells, ExitPlanMode: h.Plans} {
		for _, name := range tools {
			ours := toolNamed(strings.ToLower(name))
			if kind == Edit && !isEdit(ours) || kind == Bash && !isShell(ours) || kind == ExitPlanMode && ours != kind {
				t.Errorf("tool %s is taken for %q", name, ours)
			}
		}
	}
	for _, id := range h.AlsoReadBy {
		if other := rowOf(id); other == nil || other.betrays == nil {
			t.Errorf("nothing betrays %s when it runs the hooks of %s", id, h.ID)
		}
	}
	_, _, ok := Plugin(h.ID)
	if ok != (h.Plugin != "") {
		t.Errorf("plugin %q and embedded file do not agree", h.Plugin)
	}
	if _, err := os.Stat(filepath.Join("testdata", h.ID+".txtar")); err != nil {
		t.Errorf("no samples: %v", err)
	}
}

// TestGolden parses every sample and renders each kind of answer to it. The
// golden files were checked against what each host was seen or said to want.
func TestGolden(t *testing.T) {
	for _, id := range ids {
		t.Run(id, func(t *testing.T) {
			file := filepath.Join("testdata", id+".txtar")
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			out := &txtar.Archive{Comment: ar.Comment}
			for _, f := range ar.Files {
				want[f.Name] = string(f.Data)
				if !strings.HasSuffix(f.Name, ".json") {
					continue
				}
				out.Files = append(out.Files, f)
				name := strings.TrimSuffix(f.Name, ".json") + ".want"
				out.Files = append(out.Files, txtar.File{Name: name, Data: []byte(describe(t, id, f))})
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(out), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for _, f := range out.Files {
				if got := string(f.Data); want[f.Name] != got {
					t.Errorf("%s\n--- got\n%s--- want\n%s", f.Name, got, want[f.Name])
				}
			}
		})
	}
}

// invocation returns how the host would call us for a sample: the file name
// tells the event, and whether it ran another host's configuration.
func invocation(id, name string) (tool, event string, getenv func(string) string) {
	name = strings.TrimSuffix(strings.TrimPrefix(name, "pi-"), ".json")
	if n, rest, ok := strings.Cut(name, "-"); ok && strings.Trim(n, "0123456789") == "" {
		name = rest
	}
	tool, getenv = id, noEnv
	for _, mark := range []string{"CLAUDE-", "PascalCase-"} {
		if rest, ok := strings.CutPrefix(name, mark); ok {
			tool, name = "claude_code", rest
			if mark == "PascalCase-" {
				getenv = func(k string) string { return map[string]string{"COPILOT_CLI": "1"}[k] }
			}
		}
	}
	name = strings.TrimPrefix(name, "event-")
	if rest, ok := strings.CutPrefix(name, "apply_patch-"); ok {
		name = rest
	}
	event, _, _ = strings.Cut(name, "-")
	return tool, event, getenv
}

// describe returns what we make of a sample and each answer to it.
func describe(t *testing.T, id string, f txtar.File) string {
	t.Helper()
	tool, event, getenv := invocation(id, f.Name)
	declared, ok := ByID(tool)
	if !ok {
		t.Fatalf("no host %s", tool)
	}
	c, err := Parse(declared, event, f.Data, getenv)
	if err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	if c.Host.ID != id {
		t.Errorf("%s is taken for %s", f.Name, c.Host.ID)
	}
	var b strings.Builder
	line := func(k, v string) {
		if v != "" {
			b.WriteString(k + ": " + strings.ReplaceAll(v, "\n", `\n`) + "\n")
		}
	}
	line("event", string(c.Event))
	line("moment", string(c.At))
	if c.Event == "" && c.At != BeforeModel && c.At != Said {
		return b.String() + "nothing is sent\n"
	}
	line("session", c.Session)
	line("parent", c.Parent)
	line("cwd", c.Cwd)
	line("model", c.Model)
	line("version", c.Version)
	line("tool", c.Tool)
	line("call", c.CallID)
	line("turn", c.Turn)
	line("stamp", c.Stamp)
	line("paths", strings.Join(c.Paths, ", "))
	line("command", c.Command)
	line("folder", c.Folder)
	line("prompt", c.Prompt)
	line("plan", c.Plan)
	line("said", c.Said)
	line("record", c.Record)
	if c.Failed {
		line("failed", "yes")
	}
	for _, a := range []struct {
		name string
		Answer
	}{
		{"quiet", Answer{}},
		{"context", Answer{Context: "C <1>"}},
		{"deny", Answer{Block: true, Reason: "R \"q\""}},
		{"deny+context", Answer{Block: true, Reason: "R", Context: "C"}},
	} {
		if a.Block && c.At != BeforeTool {
			continue
		}
		o, later := c.Render(a.Answer)
		b.WriteString(a.name + " > stdout " + strconv.Quote(o.Stdout))
		if o.Stderr != "" || o.Exit != 0 {
			b.WriteString(" stderr " + strconv.Quote(o.Stderr) + " exit " + strconv.Itoa(o.Exit))
		}
		if later != "" {
			b.WriteString(" later " + later)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestBudgets(t *testing.T) {
	for _, tt := range []struct {
		host  string
		event wire.HookEvent
		ms    int64
	}{
		{"claude_code", wire.HookPreEdit, 400}, {"codex", wire.HookPreShell, 400}, {"cursor", wire.HookPrompt, 1500},
		{"omp", wire.HookPreEdit, 600}, {"omp", wire.HookStop, 600}, {"claude_code", wire.HookPostEdit, 1500},
	} {
		h, _ := ByID(tt.host)
		if got := h.Budget(tt.event).Milliseconds(); got != tt.ms {
			t.Errorf("%s at %s may take %d ms, want %d", tt.host, tt.event, got, tt.ms)
		}
	}
}

func TestHostsThatRunAnothersHooks(t *testing.T) {
	env := func(kv ...string) func(string) string {
		return func(k string) string {
			for i := 0; i+1 < len(kv); i += 2 {
				if kv[i] == k {
					return kv[i+1]
				}
			}
			return ""
		}
	}
	for _, tt := range []struct {
		name     string
		declared string
		payload  string
		getenv   func(string) string
		want     string
	}{
		{
			"the first host itself",
			"claude_code",
			`{"session_id":"s","permission_mode":"default","hook_event_name":"PreToolUse"}`,
			noEnv,
			"claude_code",
		},
		{"Cursor by its version", "claude_code", `{"cursor_version":"1"}`, noEnv, "cursor"},
		{"Cursor by its conversation", "claude_code", `{"conversation_id":"1"}`, noEnv, "cursor"},
		{"Cursor by its variable", "claude_code", `{"session_id":"s"}`, env("CURSOR_VERSION", "2"), "cursor"},
		{
			"the first host in a Cursor terminal",
			"claude_code",
			`{"session_id":"s","permission_mode":"default"}`,
			env("CURSOR_VERSION", "2"),
			"claude_code",
		},
		{"Codex by its turn", "claude_code", `{"turn_id":"1"}`, noEnv, "codex"},
		{"Copilot in camel case", "claude_code", `{"sessionId":"s","toolName":"edit","timestamp":1}`, noEnv, "copilot_cli"},
		{
			"Copilot in the first host's words",
			"claude_code",
			`{"session_id":"s","timestamp":"2026-11-15T00:31:59.052Z"}`,
			env("COPILOT_CLI", "1"),
			"copilot_cli",
		},
		{
			"the first host inside a Copilot shell",
			"claude_code",
			`{"session_id":"s","permission_mode":"default"}`,
			env("COPILOT_CLI", "1"),
			"claude_code",
		},
		{"VS Code", "claude_code", `{"session_id":"s","timestamp":"2026-11-15T00:31:59.052Z"}`, noEnv, "vscode"},
		{
			"VS Code in older words",
			"copilot_cli",
			`{"sessionId":"s","hookEventName":"Stop","timestamp":"2026-11-15T00:31:59.052Z"}`,
			noEnv,
			"vscode",
		},
		{"a conversation is no sign of Cursor elsewhere", "augment", `{"conversation_id":"1"}`, noEnv, "augment"},
		{
			"hosts are not guessed from variables",
			"qwen_code",
			`{"session_id":"s","timestamp":"2026-11-15T00:31:59.052Z"}`,
			env("CURSOR_VERSION", "2"),
			"qwen_code",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			declared, _ := ByID(tt.declared)
			c, err := Parse(declared, "Stop", []byte(tt.payload), tt.getenv)
			if err != nil || c.Host.ID != tt.want {
				t.Errorf("taken for %v (%v), want %s", c.Host.ID, err, tt.want)
			}
		})
	}
}

func TestCallsUs(t *testing.T) {
	root, home := t.TempDir(), t.TempDir()
	put := func(dir, name, content string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	get := func(id string) *Host { h, _ := ByID(id); return h }
	claude := get("claude_code")
	if get("cursor").CallsUs(root, home, claude) {
		t.Error("nothing is configured yet")
	}
	put(root, ".cursor/hooks.json", `{"hooks":{"stop":[{"command":"other tool"}]}}`)
	if get("cursor").CallsUs(root, home, claude) {
		t.Error("the configuration runs something else")
	}
	put(home, ".cursor/hooks.json", `{"hooks":{"stop":[{"command":"svc hook --tool cursor"}]}}`)
	if !get("cursor").CallsUs(root, home, claude) {
		t.Error("the user's configuration runs us")
	}
	put(root, ".github/hooks/svc.json",
		`{"version":1,"hooks":{"preToolUse":[{"bash":"command -v svc >/dev/null 2>&1 || exit 0; svc hook --tool copilot_cli"}]}}`)
	if !get("vscode").CallsUs(root, "", claude) || !get("copilot_cli").CallsUs(root, "", claude) {
		t.Error("the file that serves both hosts runs us")
	}
	if get("vscode").CallsUs(root, "", get("copilot_cli")) {
		t.Error("a host must not step aside for the very file that ran it")
	}
	put(root, ".augment/settings.json", `{"hooks":{"Stop":[{"hooks":[{"command":"svc","args":["hook","--tool","augment"]}]}]}}`)
	if !get("augment").CallsUs(root, "", claude) {
		t.Error("the form with separate arguments runs us")
	}
}

func TestLastSaid(t *testing.T) {
	for _, tt := range []struct{ name, lines, want string }{
		{"a message in parts", `{"type":"message","message":{"role":"user","content":[{"type":"text","text":"hi"}]}}` + "\n" +
			`{"type":"message","message":{"role":"assistant","content":[{"type":"text","text":"All done."},{"type":"tool_use","name":"x"}]}}` +
			"\n" +
			`{"type":"message","message":{"role":"user","content":[{"type":"tool_result","content":"x"}]}}` + "\n", "All done."},
		{
			"a message of the turn before",
			`{"type":"assistant.message","data":{"content":"Old."}}` + "\n" + `{"type":"user.message","data":{"content":"go on"}}`,
			"",
		},
		{
			"an event with data",
			`{"type":"assistant.message","data":{"content":"Finished."}}` + "\n" + `{"type":"session.idle","data":{}}`,
			"Finished.",
		},
		{"broken lines are skipped", `{"role":"assistant","content":"ok"}` + "\n" + `{"role":"assistant","cont`, "ok"},
		{"nothing said", `{"type":"user"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "t.jsonl")
			if err := os.WriteFile(file, []byte(tt.lines), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := LastSaid(file); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := LastSaid(filepath.Join(t.TempDir(), "none")); got != "" {
		t.Errorf("a missing file said %q", got)
	}
}

// No payload may crash a parser, and what is sent must have a session only if
// the host named one.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, s := range ar.Files {
			if strings.HasSuffix(s.Name, ".json") {
				f.Add(s.Data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, h := range All() {
			for event := range h.Events {
				c, err := Parse(h, event, data, noEnv)
				if err != nil {
					continue
				}
				o, _ := c.Render(Answer{Block: true, Reason: "R", Context: "C"})
				if c.Event == wire.HookPreEdit && o.Exit == 0 && o.Stdout == "" {
					t.Errorf("%s: a block left nothing", h.ID)
				}
			}
		}
	})
}

// What a hook leaves for its host carries a text from the attack corpus as the
// service marked it: one document in the host's form, nothing closed early,
// nothing hidden.
func TestHostileTextStaysTextForEveryHost(t *testing.T) {
	cases, err := corpus.Cases()
	if err != nil {
		t.Fatal(err)
	}
	mark := peertext.NewMarker(rand.Reader)
	for _, id := range ids {
		ar, err := txtar.ParseFile(filepath.Join("testdata", id+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		moments := map[Moment]bool{}
		for _, f := range ar.Files {
			if !strings.HasSuffix(f.Name, ".json") {
				continue
			}
			tool, event, getenv := invocation(id, f.Name)
			declared, _ := ByID(tool)
			c, err := Parse(declared, event, f.Data, getenv)
			if err != nil || c.Event == "" || moments[c.At] {
				continue // one call of each moment is enough
			}
			moments[c.At] = true
			for _, tt := range cases {
				text := mark.Block(tt.Text, 4096)
				for _, a := range []Answer{{Context: text}, {Block: true, Reason: text}, {Block: true, Reason: text, Context: text}} {
					if a.Block && c.At != BeforeTool {
						continue
					}
					o, later := c.Render(a)
					for _, shown := range append(said(o.Stdout), o.Stderr, later) {
						if err := corpus.Marked(shown); err != nil {
							t.Errorf("%s %s %s: %v", id, c.Native, tt.Name(), err)
						}
					}
					if whole := strings.Join(append(said(o.Stdout), o.Stderr, later), "\n"); !strings.Contains(whole, text) {
						t.Errorf("%s %s %s: the text is cut or changed:\n%+q", id, c.Native, tt.Name(), whole)
					}
				}
			}
		}
		if !moments[BeforeTool] {
			t.Errorf("%s: no call before a tool was tried", id)
		}
	}
}

// said returns the texts in what a host reads from standard output: the
// strings of one JSON document, or the output itself.
func said(stdout string) (out []string) {
	var v any
	if json.Unmarshal([]byte(stdout), &v) != nil {
		return []string{stdout}
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return out
}
