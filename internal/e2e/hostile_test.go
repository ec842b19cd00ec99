//go:build unix

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/childtest"
)

// kinds are what somebody may put in the place of a file that svc keeps.
var kinds = map[string]func(name string) error{
	"a link to an endless device": func(name string) error { return os.Symlink("/dev/zero", name) },
	"a link to itself":            func(name string) error { return os.Symlink(filepath.Base(name), name) },
	"a pipe":                      func(name string) error { return syscall.Mkfifo(name, 0o600) },
	"a link to a pipe": func(name string) error {
		return errors.Join(syscall.Mkfifo(name+".pipe", 0o600), os.Symlink(name+".pipe", name))
	},
	"a folder": func(name string) error { return os.MkdirAll(filepath.Join(name, "in", "it"), 0o700) },
	"a terabyte": func(name string) error {
		return errors.Join(os.WriteFile(name, []byte("{"), 0o600), os.Truncate(name, 1<<40))
	},
	"garbage":       func(name string) error { return os.WriteFile(name, []byte("\x00{{[[\xff\t\t\n\"fail"), 0o600) },
	"nothing in it": func(name string) error { return os.WriteFile(name, nil, 0o600) },
	"nobody's file": func(name string) error {
		err := os.WriteFile(name, []byte("x"), 0o000)
		if os.Getuid() == 0 {
			err = errors.Join(err, os.Lchown(name, 65534, 65534))
		}
		return err
	},
}

// Whatever stands in the place of a file that a hook keeps, the hook ends in
// time and in little memory. An edit of a file that somebody else has claimed is
// refused, or its agent is told that nobody looked at it: it never passes in
// silence.
func TestHostileStateFolders(t *testing.T) {
	l, folders := claimedLaptop(t)
	var files []string
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err == nil && path != folder && e.Name() != ".git" {
				files = append(files, path)
			}
			if errors.Is(err, fs.ErrNotExist) { // a process that nobody waits for has taken it away
				return nil
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) < 10 {
		t.Fatalf("hooks leave %d files only: %v", len(files), files)
	}
	kept := t.TempDir()
	keepAll(t, kept, folders)
	for _, file := range files {
		for kind, put := range kinds {
			what := kind + " for " + strings.TrimPrefix(file, l.home)
			await.True(t, what, func() bool { return errors.Join(os.RemoveAll(file), os.RemoveAll(file+".pipe"), put(file)) == nil })
			out := l.bounded(what, "PreToolUse", "a.txt")
			if !strings.Contains(out, `"deny"`) && !strings.Contains(out, "svc could not check this edit") {
				t.Errorf("%s: an edit of a claimed file passes in silence: %q", what, out)
			}
			if strings.Contains(kind, "device") || kind == "a pipe" {
				l.bounded(what, "PostToolUse", "b.txt")
			}
			putBack(t, kept, folders)
		}
	}
	t.Logf("%d files, %d kinds", len(files), len(kinds))
}

// A damaged file of routes is mended, its person is told, and the claims of
// others hold as before.
func TestDamagedRoutes(t *testing.T) {
	l, folders := claimedLaptop(t)
	routes := filepath.Join(folders[0], "routes.json")
	if err := os.WriteFile(routes, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := l.bounded("garbage", "PreToolUse", "a.txt")
	if !strings.Contains(out, `"deny"`) {
		t.Errorf("with damaged routes a claimed file may be edited: %s", out)
	}
	log, err := os.ReadFile(filepath.Join(folders[0], "hook.log"))
	if err != nil || !strings.Contains(string(log), "routes.json was missing or damaged and has been restored") {
		t.Errorf("the log says nothing of it: %s (%v)", log, err)
	}
	if found, err := filepath.Glob(routes + ".damaged-*"); err != nil || len(found) != 1 {
		t.Errorf("what was damaged is not kept: %v (%v)", found, err)
	}
	if out := l.bounded("mended", "PreToolUse", "a.txt"); !strings.Contains(out, `"deny"`) {
		t.Errorf("once mended a claimed file may be edited: %s", out)
	}
	damage := func() {
		for _, name := range []string{routes, routes + ".bak"} {
			if err := os.WriteFile(name, []byte("{"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	damage()
	if out := l.bounded("both damaged", "PreToolUse", "a.txt"); !strings.Contains(out, "was damaged and has been replaced") {
		t.Errorf("an edit that nobody looked at passes in silence: %s", out)
	}
	l.run("", "svc", "share", "--yes")
	damage()
	if out, _ := l.try("", "svc", "status"); !strings.Contains(out, "was damaged and has been replaced") { // if it is the first to see it
		t.Errorf("svc status says nothing of it: %s", out)
	}
}

// claimedLaptop has an agent of Olga's at work in a clone in which Bob has
// claimed a.txt, and returns the folders in which her hooks keep things.
func claimedLaptop(t *testing.T) (*laptop, []string) {
	l := newLaptop(t)
	l.write("b.txt", "one\n")
	if err := os.Mkdir(filepath.Join(l.clone, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	l.write("sub/x.txt", "one\n")
	l.run("", "git", "add", ".")
	l.run("", "git", "commit", "-qm", "two")
	l.run("", "git", "remote", "add", "origin", "https://github.com/acme/shop")
	team := newServer(t, t.TempDir())
	team.post("/v1/repos", `{"full_name":"acme/shop"}`, nil)
	l.team, l.bob = team, team.token("bob@example.com")
	team.as(l.bob, "POST", "/v1/intents",
		`{"title":"Rewrite a","mode":"exclusive","scope":{"paths":["a.txt","sub/x.txt"]},"repo":"acme/shop","branch":"rewrite"}`)
	l.run(team.token("olga@example.com"), "svc", "login", "--server", team.URL, "--token", "-")
	l.run("", "svc", "init", "--user", "--tools", "claude_code", "--yes")
	l.run("", "svc", "share", "--yes")
	for _, event := range []string{"SessionStart", "UserPromptSubmit"} {
		l.hook("A", event, "")
	}
	l.tool("A", "PreToolUse", "b.txt")
	l.write("b.txt", "x\n")
	l.tool("A", "PostToolUse", "b.txt")
	if out := l.tool("A", "PreToolUse", "a.txt"); !strings.Contains(out, `"deny"`) {
		t.Fatalf("the claim does not hold: %s", out)
	}
	l.hook("A", "Stop", "")
	temp := ""
	for _, kv := range l.env {
		if dir, ok := strings.CutPrefix(kv, "TMPDIR="); ok {
			temp = dir
		}
	}
	return l, []string{filepath.Join(l.home, ".config", "svc"), temp}
}

// bounded plays an event about a file, and fails if it does not end in time, ends
// badly or takes much memory.
func (l *laptop) bounded(what, event, file string, env ...string) string {
	l.t.Helper()
	payload, err := json.Marshal(map[string]any{"session_id": "A", "cwd": l.clone, "hook_event_name": event, "tool_name": "Write",
		"tool_use_id": time.Now().String(), "tool_input": map[string]any{"file_path": filepath.Join(l.clone, file), "content": "y\n"},
		"tool_response": map[string]any{}})
	if err != nil {
		l.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(l.t.Context(), await.Patience)
	defer cancel()
	// The shell's limit saves the machine from a hook that reads without end; the memory it had is judged below.
	cmd := exec.CommandContext(ctx, "sh", "-c", `ulimit -v 6000000; exec "$0" "$@"`, filepath.Join(l.bin, "svc"),
		"hook", "--tool", "claude_code", "--event", event)
	cmd.Dir, cmd.Env, cmd.Stdin = l.clone, append(append(slices.Clip(l.env), "SVC_PATIENCE=20"), env...), strings.NewReader(string(payload))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	used, err := childtest.Run(l.t, cmd)
	if err != nil {
		l.t.Errorf("%s: %s ends with %v: %s", what, event, err, &out)
	}
	const most = 256 << 10 // KiB, of which the program itself is a fifth
	if used > most {
		l.t.Errorf("%s: %s takes %d MiB", what, event, used>>10)
	}
	return out.String()
}

// keepAll copies folders. Processes that nobody waits for may write there all the
// while, here as in putBack: then once more.
func keepAll(t *testing.T, to string, folders []string) {
	t.Helper()
	for i, folder := range folders {
		kept := filepath.Join(to, string(rune('a'+i)))
		await.True(t, "a copy of "+folder, func() bool {
			return os.RemoveAll(kept) == nil && exec.Command("cp", "-a", folder, kept).Run() == nil
		})
	}
}

func putBack(t *testing.T, from string, folders []string) {
	t.Helper()
	for i, folder := range folders {
		fresh := folder + ".fresh"
		if out, err := exec.Command("cp", "-a", filepath.Join(from, string(rune('a'+i))), fresh).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		await.True(t, folder+" as it was", func() bool { return os.RemoveAll(folder) == nil && os.Rename(fresh, folder) == nil })
	}
}
