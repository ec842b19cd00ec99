package setup_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/setup"
)

// plugins is where the plugins are that hosts install by themselves.
const plugins = "../../../packaging/plugins"

// What a plugin brings is what svc init would write: hooks, the tool server and
// the instructions come from the same rows.
func TestPluginsAreCurrent(t *testing.T) {
	for _, p := range []struct{ host, dir, hooks, servers, instructions string }{
		{"claude_code", "claude-code", ".claude/settings.json", ".mcp.json", ""},
		{"codex", "codex", ".codex/hooks.json", "", ""},
		{"gemini_cli", "gemini-cli", ".gemini/settings.json", "", "GEMINI.md"},
	} {
		files := wouldWrite(t, p.host)
		var all map[string]json.RawMessage
		if err := json.Unmarshal(files[p.hooks], &all); err != nil {
			t.Fatal(err)
		}
		want := map[string][]byte{"hooks/hooks.json": indented(t, map[string]json.RawMessage{"hooks": all["hooks"]})}
		if p.servers != "" {
			want[".mcp.json"] = files[p.servers]
		}
		if p.host == "codex" { // whose own file of servers is TOML
			want[".mcp.json"] = wouldWrite(t, "claude_code")[".mcp.json"]
		}
		if p.instructions != "" {
			want[p.instructions] = files[p.instructions]
		}
		for name, text := range want {
			file := filepath.Join(plugins, p.dir, filepath.FromSlash(name))
			if *update {
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, text, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got, err := os.ReadFile(file); err != nil || string(got) != string(text) {
				t.Errorf("%s is not up to date (%v): go test ./internal/client/setup -run Plugins -update", file, err)
			}
		}
	}
	// The extension of Gemini CLI names its tool server in its manifest.
	var extension, written struct{ MCPServers map[string]any }
	readJSON(t, filepath.Join(plugins, "gemini-cli/gemini-extension.json"), &extension)
	if err := json.Unmarshal(wouldWrite(t, "gemini_cli")[".gemini/settings.json"], &written); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(written.MCPServers, extension.MCPServers); d != "" {
		t.Errorf("the extension of Gemini CLI starts another tool server: %s", d)
	}
}

// Catalogues name folders that are there, and the registry's entry the package.
func TestCataloguesLeadToPlugins(t *testing.T) {
	root := "../../../"
	var claude struct {
		Plugins []struct{ Name, Source string }
	}
	readJSON(t, root+".claude-plugin/marketplace.json", &claude)
	var codex struct {
		Plugins []struct {
			Name   string
			Source struct{ Path string }
		}
	}
	readJSON(t, root+".agents/plugins/marketplace.json", &codex)
	manifests := []string{
		filepath.Join(root, claude.Plugins[0].Source, ".claude-plugin/plugin.json"),
		filepath.Join(root, codex.Plugins[0].Source.Path, ".codex-plugin/plugin.json"),
		filepath.Join(plugins, "gemini-cli/gemini-extension.json"),
		root + "packaging/mcp/server.json",
	}
	for _, file := range manifests {
		var m struct{ Name, Description string }
		readJSON(t, file, &m)
		if !strings.HasSuffix(m.Name, "svc") || m.Description == "" || len(m.Description) > 100 {
			t.Errorf("%s: %+v (registries take 100 characters)", file, m)
		}
	}
	var npm struct{ Name, MCPName string }
	readJSON(t, root+"packaging/npm/package.json", &npm)
	var server struct {
		Name     string
		Packages []struct{ Identifier string }
	}
	readJSON(t, manifests[3], &server)
	if npm.MCPName != server.Name || npm.Name != server.Packages[0].Identifier {
		t.Errorf("the registry checks that the package on npm names the server: %+v, %+v", npm, server)
	}
}

func wouldWrite(t *testing.T, id string) map[string][]byte {
	t.Helper()
	c, err := setup.Plan(setup.Options{Root: t.TempDir(), Hosts: []string{id}, Plugin: host.Plugin})
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range c.Files {
		files[f.Path] = f.New
	}
	return files
}

func indented(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))), '\n')
}

func readJSON(t *testing.T, file string, v any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
