package setup_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/client/setup"
)

// A hook that is not there fails in silence, so an incomplete row must fail
// here.
func TestEveryRowIsComplete(t *testing.T) {
	want := []string{"claude_code", "codex", "cursor", "copilot_cli", "vscode", "gemini_cli", "windsurf", "opencode", "omp",
		"cline", "kiro", "antigravity", "goose", "qwen_code", "kilo_code", "factory_droid", "crush", "augment"}
	if d := cmp.Diff(want, setup.IDs()); d != "" {
		t.Errorf("hosts (-want +got):\n%s", d)
	}
	for _, h := range setup.Hosts() {
		t.Run(h.ID, func(t *testing.T) {
			for _, home := range []bool{false, true} {
				note := setup.Notes(h.ID, home)
				if !strings.HasPrefix(note, h.Title+": ") || len(note) < len(h.Title)+10 || strings.Contains(note, "\n") {
					t.Errorf("note %q", note)
				}
				if home && strings.Contains(note, "in the repository") {
					t.Errorf("%q asks for what was done", note)
				}
			}
			dir := t.TempDir()
			opts := setup.Options{Root: dir, Hosts: []string{h.ID}, Home: t.TempDir(), Plugin: plugin}
			c, err := setup.Plan(opts)
			apply(t, c, err)
			r, err := setup.Status(opts, h.ID)
			if err != nil {
				t.Fatal(err)
			}
			for name, part := range map[string]setup.Part{"hooks": r.Hooks, "tool server": r.Server, "instructions": r.Instructions} {
				if !part.OK() || part.File == "" {
					t.Errorf("%s after init: %+v", name, part)
				}
			}
			for _, f := range c.Files {
				if !strings.HasSuffix(f.Path, ".json") {
					continue
				}
				if !json.Valid(f.New) {
					t.Errorf("%s is not JSON", f.Path)
				}
			}
		})
	}
}

func TestDefaultsAreHosts(t *testing.T) {
	for _, id := range setup.Default {
		if _, ok := setup.ByID(id); !ok {
			t.Errorf("%s is no host", id)
		}
	}
}

// commands returns every hook command that init writes for sh.
func commands(t *testing.T) map[string]string {
	t.Helper()
	c := planned(t, t.TempDir(), setup.IDs()...)
	found := map[string]string{}
	var walk func(any)
	walk = func(v any) {
		switch x := v.(type) {
		case map[string]any:
			for key, sub := range x {
				if s, ok := sub.(string); ok && (key == "command" || key == "bash") {
					if m := regexp.MustCompile(`svc hook --tool (\S+) --event (\S+)$`).FindStringSubmatch(s); m != nil {
						found[m[1]+" "+m[2]] = s
					}
				}
				walk(sub)
			}
		case []any:
			for _, sub := range x {
				walk(sub)
			}
		}
	}
	for _, f := range c.Files {
		var v any
		if json.Unmarshal(f.New, &v) == nil {
			walk(v)
		}
	}
	return found
}

// sh runs a command as hosts do, with only dir on PATH beside the shell's own.
func sh(t *testing.T, command, dir, stdin string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Env = []string{"PATH=" + dir}
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

func TestWithoutTheBinaryHooksAreSilent(t *testing.T) {
	all := commands(t)
	if len(all) < 60 {
		t.Errorf("only %d commands found", len(all))
	}
	replies := map[string]string{
		"antigravity PreToolUse":    `{"decision":"allow"}`,
		"antigravity PostToolUse":   "{}",
		"antigravity PreInvocation": "{}",
		"antigravity Stop":          "{}",
	}
	for name, command := range all {
		if strings.HasPrefix(name, "cursor ") {
			continue // Cursor itself goes on, and runs the text with PowerShell too
		}
		stdout, stderr, code := sh(t, command, t.TempDir(), "{}")
		if strings.TrimSpace(stdout) != replies[name] || stderr != "" || code != 0 {
			t.Errorf("%s: %q gave %q, %q, exit %d", name, command, stdout, stderr, code)
		}
	}
}

func TestWithTheBinaryHooksPassEverythingOn(t *testing.T) {
	bin := t.TempDir()
	fake := "#!/bin/sh\nread -r line\necho \"$* <$line>\"\necho problem >&2\nexit 2\n"
	if err := os.WriteFile(filepath.Join(bin, "svc"), []byte(fake), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, command := range commands(t) {
		host, event, _ := strings.Cut(name, " ")
		want := "hook --tool " + host + " --event " + event + " <{\"x\":1}>\n"
		if stdout, stderr, code := sh(t, command, bin, "{\"x\":1}\n"); stdout != want || stderr != "problem\n" || code != 2 {
			t.Errorf("%s: got %q, %q, exit %d", name, stdout, stderr, code)
		}
		// Cursor appends the payload to the text.
		if stdout, _, _ := sh(t, command+" <<'EOF'\n{\"x\":1}\nEOF\n", bin, ""); stdout != want {
			t.Errorf("%s with a heredoc: got %q", name, stdout)
		}
	}
}

func TestDetect(t *testing.T) {
	lookPath := func(names ...string) func(string) (string, error) {
		return func(name string) (string, error) {
			if slices.Contains(names, name) {
				return "/usr/bin/" + name, nil
			}
			return "", exec.ErrNotFound
		}
	}
	for _, tt := range []struct {
		name       string
		repo, home files
		path       []string
		want       []string
	}{
		{name: "nothing"},
		{name: "binaries", path: []string{"claude", "agy", "auggie"}, want: []string{"claude_code", "antigravity", "augment"}},
		{name: "home folders", home: files{".cursor/x": "", ".config/opencode/x": ""}, want: []string{"cursor", "opencode"}},
		{name: "the repository", repo: files{".vscode/settings.json": "{}", ".clinerules/x.md": ""}, want: []string{"vscode", "cline"}},
		{name: "the goose that migrates databases is not goose", path: []string{"goose"}},
		{name: "goose has a folder", path: []string{"goose"}, home: files{".config/goose/config.yaml": ""}, want: []string{"goose"}},
		{name: "Antigravity shares a folder with Gemini CLI", home: files{".gemini/config/x": ""}, want: []string{"antigravity"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			repo, home := t.TempDir(), t.TempDir()
			write(t, repo, tt.repo)
			write(t, home, tt.home)
			if d := cmp.Diff(tt.want, setup.Detect(repo, home, lookPath(tt.path...))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestHomeIsEditedOnlyOnRequest(t *testing.T) {
	before := files{
		".config/goose/config.yaml": "# my goose\nGOOSE_MODEL: x\nextensions:\n  developer:\n    enabled: true # keep\n    " +
			"type: builtin\n",
		".codeium/windsurf/mcp_config.json": "{\n  \"mcpServers\": {}\n}\n",
	}
	home, dir := t.TempDir(), t.TempDir()
	write(t, home, before)
	hosts := []string{"windsurf", "goose", "cline", "codex"}
	want := []string{"~/.codeium/windsurf/mcp_config.json", "~/.config/goose/config.yaml", "~/.cline/data/settings/cline_mcp_settings.json"}
	if d := cmp.Diff(want, setup.HomeFiles(hosts)); d != "" {
		t.Error(d)
	}
	apply(t, planned(t, dir, hosts...), nil)
	if d := cmp.Diff(before, read(t, home)); d != "" {
		t.Fatalf("home was edited without leave:\n%s", d)
	}
	opts := setup.Options{Root: dir, Hosts: hosts, Home: home, Plugin: plugin}
	c, err := setup.Plan(opts)
	apply(t, c, err)
	got := read(t, home)
	edited := "# my goose\nGOOSE_MODEL: x\nextensions:\n  svc:\n    enabled: true\n    type: stdio\n    name: svc\n    cmd: svc\n   " +
		" args: [mcp]\n  developer:\n    enabled: true # keep\n    type: builtin\n"
	if d := cmp.Diff(edited, got[".config/goose/config.yaml"]); d != "" {
		t.Error(d)
	}
	if !strings.Contains(string(c.Diff()), "+++ b/~/.config/goose/config.yaml") {
		t.Errorf("the diff does not say that it is the home folder:\n%s", c.Diff())
	}
	if again, err := setup.Plan(opts); err != nil || !again.Empty() {
		t.Errorf("a second run: %v\n%s", err, again.Diff())
	}
	c, err = setup.Remove(opts)
	apply(t, c, err)
	if d := cmp.Diff(before, read(t, home)); d != "" {
		t.Error(d)
	}
}

func TestStatus(t *testing.T) {
	const pre = `{"hooks":{"PreToolUse":[{"matcher":"Edit|Write|MultiEdit|NotebookEdit|Bash","hooks":[{"type":"command",` +
		`"command":"svc hook --tool claude_code --event PreToolUse"}]}]}}`
	for _, tt := range []struct {
		name   string
		host   string
		before files
		hooks  setup.Part
		server setup.Part
	}{
		{name: "nothing there", host: "claude_code", hooks: setup.Part{File: ".claude/settings.json"}, server: setup.Part{File: ".mcp.json"}},
		{
			name:   "hooks of an old client",
			host:   "claude_code",
			before: files{".claude/settings.json": pre, ".mcp.json": `{"mcpServers":{"svc":{"command":"svc","args":["mcp","-x"]}}}`},
			hooks: setup.Part{
				File:    ".claude/settings.json",
				Present: true,
				Missing: []string{"no hook on SessionStart", "no hook on UserPromptSubmit",
					"the hook on PreToolUse lacks ExitPlanMode", "no hook on PostToolUse", "no hook on Stop", "no hook on SessionEnd",
					"the hook on PreToolUse lacks PowerShell", "the hook on PostToolUse lacks PowerShell",
					"the hook on PreToolUse lacks Read", "the hook on PostToolUse lacks mcp__.*", "no hook on Notification",
					"no hook on TaskCreated", "no hook on TaskCompleted", "no hook on TeammateIdle", "no hook on PostToolUseFailure"},
			},
			server: setup.Part{File: ".mcp.json", Present: true, Missing: []string{"it is of another version"}},
		},
		{
			name:   "a plugin of another version",
			host:   "opencode",
			before: files{".opencode/plugin/svc.js": "// svc hook\n"},
			hooks:  setup.Part{File: ".opencode/plugin/svc.js", Present: true, Missing: []string{"the plugin is of another version"}},
			server: setup.Part{File: "opencode.json"},
		},
		{name: "somebody else's server", host: "cursor", before: files{".cursor/mcp.json": `{"mcpServers":{"svc":{"command":"x"}}}`},
			hooks: setup.Part{File: ".cursor/hooks.json"}, server: setup.Part{File: ".cursor/mcp.json", Taken: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, tt.before)
			r, err := setup.Status(setup.Options{Root: dir, Plugin: plugin}, tt.host)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]setup.Part{tt.hooks, tt.server}, []setup.Part{r.Hooks, r.Server}); d != "" {
				t.Error(d)
			}
		})
	}
	t.Run("deep nesting is refused in the home folder too", func(t *testing.T) {
		home, dir := t.TempDir(), t.TempDir()
		write(t, home, files{".config/goose/config.yaml": "a: " + strings.Repeat("[", 1<<19)})
		if _, err := setup.Plan(setup.Options{
			Root:  dir,
			Hosts: []string{"goose"},
			Home:  home,
		}); err == nil || !strings.Contains(err.Error(), "~/.config/goose/config.yaml, line 1: not valid YAML") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a home folder that is not there does not matter", func(t *testing.T) {
		if _, err := setup.Status(setup.Options{Root: t.TempDir(), Home: "/does/not/exist"}, "codex"); err != nil {
			t.Error(err)
		}
	})
	t.Run("a broken file is reported, not fatal", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, files{".claude/settings.json": "{"})
		r, err := setup.Status(setup.Options{Root: dir}, "claude_code")
		if err != nil || r.Hooks.Err == nil || r.Hooks.OK() {
			t.Errorf("error %v, hooks %+v", err, r.Hooks)
		}
	})
}

func TestTrust(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, files{".codex/hooks.json": `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}`})
	apply(t, planned(t, dir, "codex", "claude_code", "gemini_cli", "cursor"), nil)
	key := func(event, hash string) string {
		return "[hooks.state.\"" + filepath.Join(dir, ".codex", "hooks.json") + ":" + event + "\"]\ntrusted_hash = \"sha256:" + hash + "\"\n"
	}
	project := "[projects.\"" + dir + "\"]\ntrust_level = \"trusted\"\n"
	// The hashes that Codex 0.166.0 gave these hooks.
	const stopHash = "638072983188dcf519ce041d3e95e2a37496f632391ced11ca43fb82f8bb2fcf"
	hooks := key("pre_tool_use:0:0", "236a124936fbd197dccbd048be0ec253516348161cc9ac575db398db1fd4db93") +
		key("post_tool_use:0:0", "8c6824e813e29600ae650d4f4c365aa7c186a17d8c25c5f5a8db626f8fbca8ad") +
		key("post_tool_use:1:0", "a6592dd1f09ed0191aaf80a6e0249bd06ae7e78e30162e9a9a5521829308bdd2") +
		key("session_start:0:0", "8bbe12e27dbe5e2d4ccec9fe3eca840177e7b0ee04f4c98585b269ab251130f3") +
		key("session_end:0:0", "f074d02b03829c4cfa94b9c98a25706e6b6780970b284b16e658ac322a77056c") +
		key("user_prompt_submit:0:0", "a5b66677adf9698bf657e1103d239346fe579c08d8a2ffc3465dc2cbaa7eac26")
	for _, tt := range []struct {
		name, host string
		home       files
		want       setup.Trust
	}{
		{"Codex never started", "codex", nil, setup.Untrusted},
		{"Codex, only the project", "codex", files{".codex/config.toml": project}, setup.Untrusted},
		{
			"Codex, only the user's own hook on Stop",
			"codex",
			files{".codex/config.toml": project + hooks + key("stop:0:0", "x")},
			setup.Untrusted,
		},
		{"Codex, all hooks", "codex", files{".codex/config.toml": project + hooks + key("stop:1:0", stopHash)}, setup.Trusted},
		{"Codex, an older hook on Stop", "codex", files{".codex/config.toml": project + hooks + key("stop:1:0", "x")}, setup.Stale},
		{"Codex, unreadable", "codex", files{".codex/config.toml": "= ="}, setup.Damaged},
		{"Claude Code", "claude_code", files{".claude.json": `{"projects":{"` + dir + `":{"hasTrustDialogAccepted":true}}}`}, setup.Trusted},
		{"Claude Code, not yet", "claude_code", files{".claude.json": `{"projects":{}}`}, setup.Untrusted},
		{
			"Gemini CLI, the folder above",
			"gemini_cli",
			files{".gemini/trustedFolders.json": `{"` + filepath.Dir(dir) + `":"TRUST_FOLDER"}`},
			setup.Trusted,
		},
		{"Gemini CLI, refused", "gemini_cli", files{".gemini/trustedFolders.json": `{"` + dir + `":"DO_NOT_TRUST"}`}, setup.Untrusted},
		{"Cursor does not say", "cursor", nil, setup.TrustUnknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			write(t, home, tt.home)
			r, err := setup.Status(setup.Options{Root: dir, Home: home}, tt.host)
			if err != nil || r.Trust != tt.want {
				t.Errorf("trust %q, error %v; want %q", r.Trust, err, tt.want)
			}
		})
	}
}
