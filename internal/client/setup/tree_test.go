package setup_test

import (
	"crypto/rand"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/client/setup"
	"github.com/svc-hq/svc/internal/gittest"
)

func symlink(t *testing.T, target, link string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
}

func TestLinksThatLeaveTheRepositoryAreRefused(t *testing.T) {
	for _, tt := range []struct{ name, link, target string }{
		{"a file outside", "CLAUDE.md", "secret.md"},
		{"a folder outside", ".claude", "."},
		{"a link to nothing", ".mcp.json", "nothing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, outside := t.TempDir(), t.TempDir()
			write(t, outside, files{"secret.md": "mine\n"})
			symlink(t, filepath.Join(outside, tt.target), filepath.Join(dir, tt.link))
			_, err := setup.Plan(setup.Options{Root: dir, Hosts: []string{"claude_code"}})
			if err == nil || !strings.Contains(err.Error(), tt.link) || !strings.Contains(err.Error(), "symlink") {
				t.Errorf("error %v", err)
			}
			if d := cmp.Diff(files{"secret.md": "mine\n"}, read(t, outside)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestLinksInsideTheRepositoryStayLinks(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, files{"AGENTS.md": "x\n", "config/claude/settings.json": "{}\n"})
	symlink(t, "AGENTS.md", filepath.Join(dir, "CLAUDE.md"))
	symlink(t, "config/claude", filepath.Join(dir, ".claude"))
	before := read(t, dir)
	apply(t, planned(t, dir, "claude_code", "codex"), nil)
	after := read(t, dir)
	if n := strings.Count(after["AGENTS.md"], "svc:begin"); n != 1 {
		t.Errorf("AGENTS.md has %d blocks, want 1", n)
	}
	if !strings.Contains(after["config/claude/settings.json"], "svc hook") {
		t.Error("the settings behind the link have no hooks")
	}
	for _, link := range []string{"CLAUDE.md", ".claude"} {
		if info, err := os.Lstat(filepath.Join(dir, link)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", link)
		}
	}
	if again := planned(t, dir, "claude_code", "codex"); !again.Empty() {
		t.Errorf("a second run would change:\n%s", again.Diff())
	}
	c, err := setup.Remove(setup.Options{Root: dir})
	apply(t, c, err)
	if d := cmp.Diff(before, read(t, dir)); d != "" {
		t.Error(d)
	}
}

func TestModesStay(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, files{"CLAUDE.md": "x\n", ".mcp.json": "{}\n"})
	if err := os.Chmod(filepath.Join(dir, "CLAUDE.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	apply(t, planned(t, dir, "claude_code"), nil)
	for name, want := range map[string]os.FileMode{"CLAUDE.md": 0o600, ".mcp.json": 0o644, ".claude/settings.json": 0o644} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, mode %v, want %v", name, err, info.Mode(), want)
		}
	}
}

func TestReadOnlyFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, files{"CLAUDE.md": "x\n"})
	if err := os.Chmod(filepath.Join(dir, "CLAUDE.md"), 0o444); err != nil {
		t.Fatal(err)
	}
	_, err := setup.Plan(setup.Options{Root: dir, Hosts: []string{"claude_code"}})
	if err == nil || !strings.Contains(err.Error(), "CLAUDE.md is read-only; make it writable") {
		t.Errorf("error %v", err)
	}
}

// Of several files the last cannot be written: the others must be as before.
func TestApplyWritesAllOrNothing(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, dir string)
		want  string
	}{
		{
			"a file changed since",
			func(t *testing.T, dir string) { write(t, dir, files{"CLAUDE.md": "changed\n"}) },
			"CLAUDE.md: changed while we were at work; run this again",
		},
		{
			"a file appeared since",
			func(t *testing.T, dir string) { write(t, dir, files{".mcp.json": "{}"}) },
			".mcp.json: changed while we were at work",
		},
		{"a file in the way of a folder", func(t *testing.T, dir string) { write(t, dir, files{".claude": ""}) }, ".claude/settings.json: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, files{"CLAUDE.md": "x\n", ".codex/config.toml": "a = 1\n"})
			c := planned(t, dir, "codex", "claude_code")
			tt.spoil(t, dir)
			before := read(t, dir)
			if err := c.Apply(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if d := cmp.Diff(before, read(t, dir)); d != "" {
				t.Errorf("half of it was written:\n%s", d)
			}
		})
	}
}

func TestFindRoot(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	main := filepath.Join(dir, "main")
	write(t, main, files{"a/b/c.txt": "x", "sub/deep/x": ""})
	gittest.Run(t, dir, "init", "-q", "main")
	gittest.Run(t, main, "add", "-A")
	gittest.Run(t, main, "commit", "-qm", "x")
	gittest.Run(t, main, "worktree", "add", "-q", filepath.Join(main, "trees", "feature"))
	gittest.Run(t, main, "init", "-q", "sub")
	for _, tt := range []struct {
		name, dir, want string
		ok              bool
	}{
		{"the top", "main", "main", true},
		{"a folder below", "main/a/b", "main", true},
		{"a worktree inside the repository", "main/trees/feature/a", "main/trees/feature", true},
		{"a repository inside the repository", "main/sub/deep", "main/sub", true},
		{"no repository", ".", ".", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root, ok := setup.FindRoot(filepath.Join(dir, tt.dir))
			if want := filepath.Join(dir, tt.want); root != want || ok != tt.ok {
				t.Errorf("got %s, %v; want %s, %v", root, ok, want, tt.ok)
			}
		})
	}
}

// The same set-up in the main checkout and in a worktree nested in it touches
// only the one that it was asked for.
func TestNestedWorktreesAreSeparate(t *testing.T) {
	main := t.TempDir()
	gittest.Run(t, main, "init", "-q")
	write(t, main, files{"a.txt": "x"})
	gittest.Run(t, main, "add", "-A")
	gittest.Run(t, main, "commit", "-qm", "x")
	tree := filepath.Join(main, "trees", "feature")
	gittest.Run(t, main, "worktree", "add", "-q", tree)
	c := apply(t, planned(t, tree, "claude_code", "codex"), nil)
	if exists(filepath.Join(main, ".mcp.json")) || !exists(filepath.Join(tree, ".mcp.json")) {
		t.Error("wrote to the wrong checkout")
	}
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "Codex takes its hooks from the main checkout") {
		t.Errorf("warnings %q", c.Warnings)
	}
}

// Whatever the environment holds, no file and no diff may show it.
func TestNoSecretIsWritten(t *testing.T) {
	secret := "svc_" + (rand.Text() + rand.Text())[:43]
	home := t.TempDir()
	for _, name := range []string{"SVC_TOKEN", "SVC_SERVER", "GITHUB_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY"} {
		t.Setenv(name, secret)
	}
	t.Setenv("HOME", home)
	write(t, home, files{".config/svc/config.json": `{"token":"` + secret + `","server":"https://` + secret + `"}`})
	for name, before := range map[string]files{
		"empty":             {},
		"settings":          {".claude/settings.json": `{"env":{}}`, ".mcp.json": "{}\n", ".codex/config.toml": "a = 1\n", "AGENTS.md": "x\n"},
		"an env file":       {".env": "A=1\n", ".envrc": "export B=2\n"},
		"a monorepo":        {"a/AGENTS.md": "a\n", "b/.claude/settings.json": "{}\n"},
		"only instructions": {"CLAUDE.md": "x\n", "AGENTS.md": "y\n", "GEMINI.md": "z\n"},
		"CRLF":              {".claude/settings.json": "{\r\n}\r\n", "AGENTS.md": "x\r\n"},
		"comments":          {"opencode.jsonc": "{ // ${SVC_TOKEN}\n}", ".vscode/mcp.json": "{/**/}"},
		"placeholders":      {".mcp.json": `{"mcpServers":{"a":{"headers":{"Authorization":"Bearer ${SVC_TOKEN}"}}}}`},
		"one line":          {".qwen/settings.json": `{"a":1}`, "crush.json": `{"mcp":{}}`},
		"everything":        everything(t),
	} {
		t.Run(name, func(t *testing.T) {
			dir, user := t.TempDir(), t.TempDir()
			gittest.Run(t, dir, "init", "-q")
			write(t, dir, before)
			gittest.Run(t, dir, "add", "-A")
			gittest.Run(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
			opts := setup.Options{Root: dir, Hosts: setup.IDs(), Plugin: plugin, Home: user}
			c, err := setup.Plan(opts)
			apply(t, c, err)
			gittest.Run(t, dir, "add", "-A")
			shown, err := exec.Command("git", "-C", dir, "diff", "--cached").Output()
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range append(slices.Collect(maps.Values(read(t, dir))), string(c.Diff()), string(shown)) {
				if strings.Contains(text, secret) {
					t.Errorf("the secret is in\n%s", text)
				}
			}
			for _, line := range strings.Split(string(shown), "\n") {
				if strings.HasPrefix(line, "+") && strings.Contains(line, "://") && !strings.Contains(line, "example.com") {
					t.Errorf("a server is named: %s", line)
				}
			}
			if again, err := setup.Plan(opts); err != nil || !again.Empty() {
				t.Errorf("a second run: %v\n%s", err, again.Diff())
			}
		})
	}
}
