package setup_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/svc-hq/svc/internal/client/setup"
)

const guard = "command -v svc >/dev/null 2>&1 || exit 0; "

func TestAllHostsTogether(t *testing.T) {
	after := cycle(t, files{"README.md": "# x\n"}, setup.IDs()...)
	if n := strings.Count(after["AGENTS.md"], "svc:begin"); n != 1 {
		t.Errorf("AGENTS.md has %d blocks, want 1", n)
	}
	for _, name := range []string{"QWEN.md", "CRUSH.md", ".github/copilot-instructions.md"} {
		if _, ok := after[name]; ok {
			t.Errorf("%s was made although its host reads AGENTS.md", name)
		}
	}
}

// everything is a repository with the settings of all hosts.
func everything(t *testing.T) files {
	t.Helper()
	all := files{}
	for _, id := range setup.IDs() {
		a, err := txtar.ParseFile(filepath.Join("testdata", "hosts", id+".txtar"))
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(all, section(a, "before/"))
	}
	return all
}

func TestAllHostsTogetherInAFullRepository(t *testing.T) {
	before := everything(t)
	after := cycle(t, before, setup.IDs()...)
	untouched := []string{
		".github/hooks/lint.json", ".kiro/hooks/lint.json", ".opencode/plugin/other.js", ".clinerules/style.md", "crush.json",
		".agents/plugins/other/plugin.json",
	}
	for name := range before {
		if same := before[name] == after[name]; same != slices.Contains(untouched, name) && !strings.HasSuffix(name, ".md") {
			t.Errorf("%s unchanged: %v", name, same)
		}
	}
}

func TestMergingIntoOddFiles(t *testing.T) {
	for _, tt := range []struct {
		name   string
		host   string
		before files
		after  files // of some files
	}{
		{name: "CRLF stays CRLF", host: "claude_code",
			before: files{".mcp.json": "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {}\r\n\t}\r\n}\r\n", "CLAUDE.md": "a\r\nb"},
			after: files{
				".mcp.json": "{\r\n\t\"mcpServers\": {\r\n\t\t\"a\": {},\r\n\t\t\"svc\": {\r\n\t\t\t\"command\": \"svc\",\r\n\t\t\t\"args\": " +
					"[\r\n\t\t\t\t\"mcp\"\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}\r\n",
			}},
		{name: "a byte order mark stays", host: "codex",
			before: files{".codex/config.toml": "\ufeffmodel = \"x\"\n", ".codex/hooks.json": "\ufeff{}", "AGENTS.md": "\ufeff"},
			after:  files{".codex/config.toml": "\ufeffmodel = \"x\"\n\n[mcp_servers.svc]\ncommand = \"svc\"\nargs = [\"mcp\"]\n"}},
		{name: "no newline at the end stays", host: "codex",
			before: files{".codex/config.toml": "model = \"x\"", "AGENTS.md": "be kind"},
			after:  files{".codex/config.toml": "model = \"x\"\n\n[mcp_servers.svc]\ncommand = \"svc\"\nargs = [\"mcp\"]"}},
		{name: "empty containers stay", host: "claude_code",
			before: files{".claude/settings.json": `{"hooks":{"PreToolUse":[],"Stop":[]}}`, ".mcp.json": "{\n}\n", "CLAUDE.md": ""}},
		{name: "an empty version file stays", host: "cursor", before: files{".cursor/hooks.json": `{"version": 1}`, ".cursor/mcp.json": "{}"}},
		{name: "one line stays one line", host: "claude_code", before: files{".mcp.json": `{"mcpServers":{"a":{}}}`},
			after: files{".mcp.json": `{"mcpServers":{"a":{}, "svc": {"command":"svc","args":["mcp"]}}}`}},
		{name: "CLAUDE.md that imports AGENTS.md needs no block of its own", host: "claude_code",
			before: files{"CLAUDE.md": "@AGENTS.md\n", "AGENTS.md": "x\n"}, after: files{"CLAUDE.md": "@AGENTS.md\n"}},
		{name: "a comment at the very end needs no newline", host: "gemini_cli", before: files{".gemini/settings.json": "{} // end"}},
		{name: "dotted tables can be extended", host: "codex", before: files{".codex/config.toml": "mcp_servers.docs.command = \"x\"\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			after := cycle(t, tt.before, tt.host)
			for name, want := range tt.after {
				if d := cmp.Diff(want, after[name]); d != "" {
					t.Errorf("%s (-want +got):\n%s", name, d)
				}
			}
		})
	}
}

// A plan that fails must say where, and must not have written anything.
func TestWhatCannotBeEditedStopsEverything(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before files
		want   string
	}{
		{"broken JSON", files{".claude/settings.json": "{\n  \"a\": 1\n  \"b\": 2\n}\n"}, ".claude/settings.json, line 3: not valid JSON"},
		{"JSON cut short", files{".mcp.json": "{\n"}, ".mcp.json, line"},
		{"no JSON at all", files{".mcp.json": ""}, ".mcp.json, line 1: the file is empty; delete it or write {} into it"},
		{"a list at the top", files{".mcp.json": "[]\n"}, ".mcp.json, line 1: expected an object at the top"},
		{
			"hooks that are no object",
			files{".claude/settings.json": "{\n  \"hooks\": []\n}"},
			`.claude/settings.json, line 2: "hooks" should be an object`,
		},
		{
			"an event that is no list",
			files{".claude/settings.json": "{\"hooks\": {\n\"Stop\": {}}}"},
			`.claude/settings.json, line 2: "hooks.Stop" should be a list`,
		},
		{"a key twice", files{".mcp.json": "{\"mcpServers\": {},\n\"mcpServers\": {}}"}, `.mcp.json, line 2: "mcpServers" is there twice`},
		{
			"another tool called svc",
			files{".mcp.json": "{\"mcpServers\": {\n\"svc\": {\"command\": \"docker\", \"args\": [\"svc\", \"mcp\"]}}}"},
			`.mcp.json, line 2: "svc" is there already and not ours; rename it`,
		},
		{"broken TOML", files{".codex/config.toml": "a = 1\nb = [\n"}, ".codex/config.toml, line"},
		{
			"inline tables",
			files{".codex/config.toml": "a = 1\nmcp_servers = {x = {command = \"x\"}}\n"},
			".codex/config.toml, line 2: mcp_servers cannot be extended",
		},
		{
			"another table called svc",
			files{".codex/config.toml": "[mcp_servers.svc]\ncommand = \"docker\"\n"},
			".codex/config.toml, line 1: mcp_servers.svc is there already and not ours",
		},
		{
			"a mark without its end",
			files{"CLAUDE.md": "a\n<!-- svc:begin -->\n"},
			"CLAUDE.md, line 2: <!-- svc:begin --> without <!-- svc:end --> after it",
		},
		{"a mark without its begin", files{"CLAUDE.md": "<!-- svc:end -->\n"}, "CLAUDE.md, line 1: <!-- svc:end --> without"},
		{
			"a plugin file of somebody else",
			files{".opencode/plugin/svc.js": "export const Mine = 1\n"},
			".opencode/plugin/svc.js: there is a file of this name that is not ours; rename it",
		},
		{"a file made to overflow the stack", files{".mcp.json": strings.Repeat("[", 1<<20)}, ".mcp.json, line 1: more than 20000 brackets"},
		{"deep TOML", files{".codex/config.toml": "a = " + strings.Repeat("[", 1<<19)}, ".codex/config.toml, line 1: not valid TOML"},
		{"a folder in the way", files{".mcp.json/x": ""}, ".mcp.json is not a file"},
		{"a huge file", files{"CLAUDE.md": strings.Repeat("x", 2<<20)}, "CLAUDE.md is larger than"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, tt.before)
			_, err := setup.Plan(setup.Options{Root: dir, Hosts: []string{"claude_code", "codex", "opencode"}, Plugin: plugin})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
			if d := cmp.Diff(tt.before, read(t, dir)); d != "" {
				t.Errorf("something was written:\n%s", d)
			}
		})
	}
}

func TestUnknownHost(t *testing.T) {
	_, err := setup.Plan(setup.Options{Root: t.TempDir(), Hosts: []string{"emacs"}})
	if err == nil || !strings.Contains(err.Error(), `unknown agent "emacs"; svc knows claude_code, codex`) {
		t.Errorf("error %v", err)
	}
}

func TestOldEntriesAreReplacedInPlace(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, files{
		".claude/settings.json": `{
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Edit|Write|Bash",
        "hooks": [
          {"type": "command", "command": "svc hook --tool claude-code --event PreToolUse"}
        ]
      },
      {
        "hooks": [
          {"type": "command", "command": "mine.sh && svc hook --tool x"},
          {"type": "command", "command": "/opt/bin/svc hook --tool claude-code --event PreToolUse"}
        ]
      }
    ],
    "PreCompact": [
      {"hooks": [{"type": "command", "command": "svc hook --tool claude-code --event PreCompact"}]}
    ]
  }
}
`,
		".mcp.json":          `{"mcpServers": {"svc": {"command": "/usr/local/bin/svc", "args": ["mcp"], "env": {"A": "1"}, "disabled": true}}}`,
		".codex/config.toml": "[mcp_servers.svc] # team\ncommand = \"/opt/svc\" # old\nargs = [\"mcp\", \"--old\"]\ntool_timeout_sec = 9\n",
		"CLAUDE.md":          "a\n<!-- svc:begin -->\nold\n<!-- svc:end -->\nb\n<!-- svc:begin -->\nolder\n<!-- svc:end -->\n",
	})
	apply(t, planned(t, dir, "claude_code", "codex"), nil)
	got := read(t, dir)
	settings := got[".claude/settings.json"]
	for _, want := range []string{`"mine.sh && svc hook --tool x"`, `      {
        "matcher": "Edit|Write|MultiEdit|NotebookEdit|Bash|ExitPlanMode",
        "hooks": [
          {
            "type": "command",
            "command": "` + guard + `svc hook --tool claude_code --event PreToolUse",
            "timeout": 5
          }
        ]
      },
      {
        "hooks": [
          {"type": "command", "command": "mine.sh && svc hook --tool x"}
        ]
      }`} {
		if !strings.Contains(settings, want) {
			t.Errorf("settings lack\n%s\nthey are\n%s", want, settings)
		}
	}
	for _, not := range []string{"claude-code", "PreCompact", "/opt/bin"} {
		if strings.Contains(settings, not) {
			t.Errorf("settings still have %q:\n%s", not, settings)
		}
	}
	if d := cmp.Diff(`{"mcpServers": {"svc": {"command": "svc", "args": ["mcp"], "env": {"A": "1"}, "disabled": true}}}`,
		got[".mcp.json"]); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff("[mcp_servers.svc] # team\ncommand = \"svc\" # old\nargs = [\"mcp\"]\ntool_timeout_sec = 9\n",
		got[".codex/config.toml"]); d != "" {
		t.Error(d)
	}
	if text := got["CLAUDE.md"]; !strings.HasPrefix(text, "a\n<!-- svc:begin -->\n## Working") ||
		!strings.HasSuffix(text, "<!-- svc:end -->\nb\n") || strings.Contains(text, "\nold") {
		t.Errorf("CLAUDE.md is\n%s", text)
	}
}

// Formatters rewrite files; our entries are the same by meaning then.
func TestReformattedEntriesCountAsCurrent(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, files{".cursor/mcp.json": "{ \"mcpServers\" : {\"svc\":{ \"args\":[ \"mcp\" ], // ours\n\"command\":\"\\u0073vc\"} } }"})
	for _, f := range planned(t, dir, "cursor").Files {
		if f.Path == ".cursor/mcp.json" {
			t.Errorf("would change it to\n%s", f.New)
		}
	}
}

func TestRemovingOneHostLeavesWhatOthersShare(t *testing.T) {
	dir := t.TempDir()
	apply(t, planned(t, dir, "codex", "cursor", "copilot_cli", "vscode"), nil)
	c, err := setup.Remove(setup.Options{Root: dir, Hosts: []string{"codex", "vscode"}})
	apply(t, c, err)
	got := read(t, dir)
	for name, want := range map[string]bool{
		".codex/hooks.json": false, ".codex/config.toml": false, ".vscode/mcp.json": false, ".codex/": false,
		"AGENTS.md": true, ".github/hooks/svc.json": true, ".cursor/hooks.json": true, ".github/mcp.json": true,
	} {
		if _, ok := got[name]; ok != want {
			t.Errorf("%s there: %v, want %v", name, ok, want)
		}
	}
	c, err = setup.Remove(setup.Options{Root: dir})
	apply(t, c, err)
	if got := read(t, dir); len(got) > 0 {
		t.Errorf("left: %v", sortedKeys(got))
	}
}

func TestRemoveMindsOnlyItsOwn(t *testing.T) {
	before := files{
		".vscode/mcp.json":        "{ broken",
		".cursor/mcp.json":        `{"mcpServers":{"svc":{"command":"other"}}}`,
		".opencode/plugin/svc.js": "export const Mine = 1\n",
		"AGENTS.md":               "Never touch svc.\n",
	}
	dir := t.TempDir()
	write(t, dir, before)
	c, err := setup.Remove(setup.Options{Root: dir})
	if err != nil || !c.Empty() {
		t.Errorf("error %v, changes:\n%s", err, c.Diff())
	}
}

func TestWhatTheUserAddedSinceStays(t *testing.T) {
	dir := t.TempDir()
	apply(t, planned(t, dir, "claude_code"), nil)
	path := filepath.Join(dir, ".mcp.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(data), "    }\n  }", "    },\n    \"docs\": {}\n  }", 1)
	write(t, dir, files{".mcp.json": edited, "CLAUDE.md": "# Mine\n\n" + read(t, dir)["CLAUDE.md"] + "\nMore.\n"})
	c, err := setup.Remove(setup.Options{Root: dir})
	apply(t, c, err)
	want := files{".mcp.json": "{\n  \"mcpServers\": {\n    \"docs\": {}\n  }\n}\n", "CLAUDE.md": "# Mine\n\nMore.\n"}
	if d := cmp.Diff(want, read(t, dir)); d != "" {
		t.Error(d)
	}
}

func TestDiffShowsWhatWouldHappenAndNothingDoes(t *testing.T) {
	dir := t.TempDir()
	before := files{".codex/config.toml": "a = 1\n"}
	write(t, dir, before)
	c := planned(t, dir, "codex")
	kinds := map[string]string{}
	for _, f := range c.Files {
		kinds[f.Path] = f.Kind()
	}
	if d := cmp.Diff(map[string]string{".codex/config.toml": "update", ".codex/hooks.json": "create", "AGENTS.md": "create"}, kinds); d != "" {
		t.Error(d)
	}
	diff := string(c.Diff())
	for _, want := range []string{
		"--- a/.codex/config.toml\n+++ b/.codex/config.toml\n", "+[mcp_servers.svc]\n", "--- /dev/null\n+++ b/AGENTS.md\n",
		" a = 1\n",
	} {
		if !strings.Contains(diff, want) {
			t.Errorf("the diff lacks %q:\n%s", want, diff)
		}
	}
	if d := cmp.Diff(before, read(t, dir)); d != "" {
		t.Errorf("planning wrote something:\n%s", d)
	}
}

func TestWarnings(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before files
		hosts  []string
		want   string
	}{
		{
			"a hook file that the host ignores",
			files{".cursor/hooks.json": `{"hooks":{}}`},
			[]string{"cursor"},
			`.cursor/hooks.json has no "version"`,
		},
		{"AGENTS.md that hides CLAUDE.md", files{"CLAUDE.md": "x\n"}, []string{"codex", "opencode"}, "AGENTS.md is new"},
		{"a linked worktree", files{".git": "gitdir: /somewhere/.git/worktrees/x\n"}, []string{"codex"}, "linked git worktree"},
		{"nothing to say", files{"CLAUDE.md": "x\n"}, []string{"claude_code", "opencode"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, tt.before)
			got := strings.Join(planned(t, dir, tt.hosts...).Warnings, "\n")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("warnings %q, want %q", got, tt.want)
			}
		})
	}
}
