package setup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/setup"
)

// Setting up a home folder twice changes nothing the second time, and taking
// it out gives back every byte.
func TestAHomeFolderIsSetUpAndGivenBack(t *testing.T) {
	before := files{
		".claude/settings.json": "{\n  // mine\n  \"model\": \"opus\",\n  \"hooks\": {\"Stop\": [{\"hooks\": [\n" +
			"    {\"type\": \"command\", \"command\": \"say done\"}]}]}\n}\n",
		".codex/config.toml":             "model = \"o3\"\n",
		".gemini/settings.json":          "{\"theme\": \"dark\"}\n",
		".config/opencode/opencode.json": "{}\n",
		"notes.txt":                      "mine\n",
	}
	home := t.TempDir()
	write(t, home, before)
	opts := setup.Options{Home: home, User: true, Hosts: setup.UserHosts(), Plugin: plugin}
	c, err := setup.Plan(opts)
	apply(t, c, err)
	for _, f := range c.Files {
		if !strings.HasPrefix(f.Path, "~/") {
			t.Errorf("%s is not said to be in the home folder", f.Path)
		}
	}
	after := read(t, home)
	for _, name := range []string{".claude/settings.json", ".codex/hooks.json", ".copilot/hooks/svc.json",
		".gemini/settings.json", ".qwen/settings.json",
		".config/opencode/plugin/svc.js", ".cursor/hooks.json"} {
		if !strings.Contains(after[name], "hook") {
			t.Errorf("%s does not call svc: %q", name, after[name])
		}
	}
	for name, text := range after {
		if strings.HasPrefix(name, ".git") || name == "CLAUDE.md" || name == "AGENTS.md" || name == ".mcp.json" {
			t.Errorf("%s belongs into a repository: %q", name, text)
		}
	}
	again, err := setup.Plan(opts)
	if err != nil || !again.Empty() {
		t.Errorf("a second run would change (%v):\n%s", err, again.Diff())
	}
	for _, id := range setup.UserHosts() {
		r, err := setup.Status(opts, id)
		if err != nil || !r.Hooks.OK() {
			t.Errorf("%s: %+v %v", id, r.Hooks, err)
		}
	}
	c, err = setup.Remove(setup.Options{Home: home, User: true, Plugin: plugin})
	apply(t, c, err)
	if d := cmp.Diff(before, read(t, home)); d != "" {
		t.Errorf("after removing:\n%s", d)
	}
}

// A host that a desktop starts has another PATH than a shell: the user's own
// hooks, tools and plugins name svc by its path, also where that has spaces.
func TestUserHooksNameTheProgram(t *testing.T) {
	for _, program := range []string{"/home/ana/.local/bin/svc", "/home/ana b/bin/svc"} {
		home := t.TempDir()
		opts := setup.Options{Home: home, User: true, Hosts: setup.UserHosts(), Plugin: host.Plugin, Program: program}
		c, err := setup.Plan(opts)
		apply(t, c, err)
		for name, text := range read(t, home) {
			if !strings.HasSuffix(name, ".md") && !strings.Contains(text, program) {
				t.Errorf("%s does not name %s:\n%s", name, program, text)
			}
			for _, bare := range []string{"; svc hook", `": "svc hook`, "command -v svc", `"command": "svc"`, `command = "svc"`, `spawn("svc"`} {
				if strings.Contains(text, bare) {
					t.Errorf("%s has %s:\n%s", name, bare, text)
				}
			}
		}
		again, err := setup.Plan(opts)
		if err != nil || !again.Empty() {
			t.Errorf("a second run would change (%v):\n%s", err, again.Diff())
		}
		for _, id := range setup.UserHosts() {
			if r, err := setup.Status(opts, id); err != nil || !r.Hooks.OK() {
				t.Errorf("%s: %+v %v", id, r.Hooks, err)
			}
			if h, ok := host.ByID(id); ok && h.Plugin == "" && !h.CallsUs("", home, &host.Host{}) {
				t.Errorf("%s: the hook does not see that %q call it", id, h.UserConfigs)
			}
		}
		moved := opts
		moved.Program = "/usr/bin/svc"
		c, err = setup.Plan(moved)
		apply(t, c, err)
		for name, text := range read(t, home) {
			if strings.Contains(text, program) {
				t.Errorf("%s still names %s after svc moved:\n%s", name, program, text)
			}
		}
		c, err = setup.Remove(moved)
		apply(t, c, err)
		if left := read(t, home); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// The hook recognises the files in which a host keeps the hooks of its user,
// so that it steps aside where another host runs them.
func TestUserHooksAreWhereTheHookLooksForThem(t *testing.T) {
	for _, id := range setup.UserHosts() {
		h, ok := host.ByID(id)
		if !ok {
			t.Fatal(id)
		}
		home := t.TempDir()
		c, err := setup.Plan(setup.Options{Home: home, User: true, Hosts: []string{id}, Plugin: host.Plugin})
		apply(t, c, err)
		if h.Plugin == "" && !h.CallsUs("", home, &host.Host{}) {
			t.Errorf("%s: no file of %q calls us, of what svc init --user wrote", id, h.UserConfigs)
		}
	}
}

// Claude Code writes its tool servers itself; we only look.
func TestToolsThatOnlyTheHostWrites(t *testing.T) {
	home := t.TempDir()
	if p, add := setup.UserServer(home, "claude_code", "/opt/svc"); p.Present || p.Err != nil ||
		strings.Join(add, " ") != "claude mcp add --scope user svc -- /opt/svc mcp" {
		t.Errorf("without a file: %+v, %q", p, add)
	}
	for text, want := range map[string]setup.Part{
		`{"mcpServers": {"svc": {"command": "svc"}}}`: {Present: true},
		`{"mcpServers": {"other": {}}}`:               {},
		`{}`:                                          {},
	} {
		if err := os.WriteFile(filepath.Join(home, ".claude.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if p, _ := setup.UserServer(home, "claude_code", ""); p.Present != want.Present || p.Err != nil || p.File != "~/.claude.json" {
			t.Errorf("%s: %+v", text, p)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".claude.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if p, _ := setup.UserServer(home, "claude_code", ""); p.Err == nil {
		t.Error("a file that cannot be read is not told")
	}
	if _, add := setup.UserServer(home, "cursor", ""); add != nil {
		t.Errorf("cursor's file is written by svc init, not by %q", add)
	}
}
