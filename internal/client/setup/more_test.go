package setup_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/client/setup"
)

func TestYAMLInTheHomeFolder(t *testing.T) {
	const file = ".config/goose/config.yaml"
	const entry = "  svc:\n    enabled: true\n    type: stdio\n    name: svc\n    cmd: svc\n    args: [mcp]\n"
	for _, tt := range []struct {
		name, before, after string
		err                 string
	}{
		{name: "no extensions yet", before: "a: 1 # x\n", after: "a: 1 # x\n\nextensions:\n" + entry},
		{name: "an empty file", before: "", after: "\nextensions:\n" + entry},
		{name: "no newline at the end", before: "a: 1", after: "a: 1\n\nextensions:\n" + strings.TrimSuffix(entry, "\n")},
		{name: "another indentation and a long value", before: "extensions:\n    x:\n        y: \"a\n          b\"\n",
			after: "extensions:\n" + strings.ReplaceAll("    svc:\n      enabled: true\n      type: stdio\n      name: svc\n      cmd: "+
				"svc\n      args: [mcp]\n", "\t", "") + "    x:\n        y: \"a\n          b\"\n"},
		{
			name: "an old entry",
			before: "extensions:\n  svc:\n    enabled: false\n    type: stdio\n    name: team\n    cmd: /opt/svc # old\n    args: [mcp]\n " +
				"   timeout: 9\n",
			after: "extensions:\n  svc:\n    enabled: false\n    type: stdio\n    name: team\n    cmd: svc\n    args: [mcp]\n    timeout: 9\n",
		},
		{
			name:   "an old entry that lacks a key",
			before: "extensions:\n  svc:\n    cmd: svc\n    args: [mcp]\n",
			err:    "line 2: extensions.svc is not up to date and written in a form we do not edit",
		},
		{
			name:   "another extension called svc",
			before: "extensions:\n  svc:\n    cmd: docker\n",
			err:    "line 2: extensions.svc is there already and not ours; rename it",
		},
		{
			name:   "extensions on one line",
			before: "a: 1\nextensions: {x: {cmd: y}}\n",
			err:    "line 2: expected extensions to be a mapping with one key a line",
		},
		{name: "a list", before: "- a\n", err: "line 1: expected a mapping"},
		{name: "broken", before: "a: [\n", err: "not valid YAML"},
		{name: "a key twice", before: "a: 1\na: 2\n", err: "line 2: not valid YAML"},
		{name: "two documents", before: "a: 1\n---\nb: 2\n", err: "more than one YAML document"},
		{name: "a document with an end", before: "a: 1\n...\n", err: "cannot add extensions.svc here safely"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			write(t, home, files{file: tt.before})
			c, err := setup.Plan(setup.Options{Root: t.TempDir(), Hosts: []string{"goose"}, Home: home})
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), "~/"+file+", ") || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			apply(t, c, err)
			if d := cmp.Diff(tt.after, read(t, home)[file]); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestGeminiReadsWhatItsSettingsName(t *testing.T) {
	for _, tt := range []struct{ name, fileName, want string }{
		{"nothing named", ``, "GEMINI.md"},
		{"one file", `"context": {"fileName": "RULES.md"}`, "RULES.md"},
		{"AGENTS.md among others", `"context": {"fileName": ["RULES.md", "AGENTS.md"]}`, "AGENTS.md"},
		{"GEMINI.md among others", `"context": {"fileName": ["RULES.md", "GEMINI.md"]}`, "GEMINI.md"},
		{"a file elsewhere", `"context": {"fileName": "../../outside.md"}`, "GEMINI.md"},
		{"no file name at all", `"context": {"fileName": 1}`, "GEMINI.md"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			after := cycle(t, files{".gemini/settings.json": "{" + tt.fileName + "}\n"}, "gemini_cli")
			for name, text := range after {
				if has := strings.Contains(text, "svc:begin"); has != (name == tt.want) {
					t.Errorf("%s has our block: %v", name, has)
				}
			}
		})
	}
}

func TestABuildWithoutPluginsSaysSo(t *testing.T) {
	for name, plugin := range map[string]func(string) (string, []byte, bool){
		"none":         nil,
		"not this one": func(string) (string, []byte, bool) { return "", nil, false },
		"under a name that the host does not load": func(string) (string, []byte, bool) { return "other.js", []byte("x"), true },
	} {
		t.Run(name, func(t *testing.T) {
			_, err := setup.Plan(setup.Options{Root: t.TempDir(), Hosts: []string{"opencode"}, Plugin: plugin})
			if err == nil || !strings.Contains(err.Error(), "for opencode in this build") {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TOML has many ways to say the same. What we would not write ourselves must
// still be recognised and taken out.
func TestTOMLWrittenByHand(t *testing.T) {
	for _, tt := range []struct{ name, before, after string }{
		{"a table in the middle", "[mcp_servers.svc]\ncommand = \"svc\"\nargs = [\"mcp\"]\n\n[b]\nc = 1\n", "\n[b]\nc = 1\n"},
		{"a line of a table", "[mcp_servers]\nsvc = { command = \"svc\", args = [\"mcp\"] } # us\nx = 1\n", "[mcp_servers]\nx = 1\n"},
		{"dotted keys", "a = 1\nmcp_servers.svc.command = \"svc\"\nmcp_servers.svc.args = [\"mcp\"]\nb = 2\n", "a = 1\nb = 2\n"},
		{
			"a table and what hangs on it",
			"a = 1\n\n[mcp_servers.svc]\ncommand = \"svc\"\nargs = [\n  \"mcp\",\n]\n\n[mcp_servers.svc.env]\nA = \"1\"\n",
			"a = 1\n",
		},
		{"quoted keys", "a = 1\n[ \"mcp_servers\" . 'svc' ]\ncommand = 'svc'\nargs = ['mcp']\n", "a = 1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, files{".codex/config.toml": tt.before})
			for _, f := range planned(t, dir, "codex").Files {
				if f.Path == ".codex/config.toml" {
					t.Errorf("init would change it to\n%s", f.New)
				}
			}
			c, err := setup.Remove(setup.Options{Root: dir})
			apply(t, c, err)
			if d := cmp.Diff(files{".codex/config.toml": tt.after}, read(t, dir)); d != "" {
				t.Error(d)
			}
		})
	}
}
