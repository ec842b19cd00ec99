package hook

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// shell tells the hook of a command, runs it, and tells of its end.
func (w *world) shell(repo, command, id string, afterwards bool) (before, after wire.HookRequest) {
	w.t.Helper()
	p := claude(repo, "PreToolUse", m{"tool_name": "Bash", "tool_input": m{"command": command}, "tool_use_id": id})
	w.run("claude_code", "PreToolUse", p)
	before = w.one()
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir = repo
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	event := "PostToolUse"
	if cmd.Run() != nil { // what it wrote counts all the same
		event = "PostToolUseFailure"
	}
	if afterwards {
		p["hook_event_name"] = event
		w.run("claude_code", event, p)
		after = w.one()
	}
	return before, after
}

func TestShellCommands(t *testing.T) {
	for _, tt := range []struct {
		name    string
		dirty   map[string]string // files changed before the command, by this session
		command string
		before  []string
		after   []string
		event   wire.HookEvent
	}{
		{"a redirect is seen before and after", nil, "echo hi > out.txt", []string{"out.txt"}, []string{"out.txt"}, wire.HookPreShell},
		{"a script's writes are seen after", nil, "sh ./gen.sh", nil, []string{"made.txt"}, wire.HookPreShell},
		{"reading changes nothing", nil, "cat a.txt | wc -l", nil, nil, wire.HookPreShell},
		{
			"a file that differed before is not the command's",
			map[string]string{"b.txt": "mine"},
			"touch new.txt",
			[]string{"new.txt"},
			[]string{"new.txt"},
			wire.HookPreShell,
		},
		{
			"a file that differed before and is written again is",
			map[string]string{"b.txt": "mine"},
			"echo more >> b.txt",
			[]string{"b.txt"},
			[]string{"b.txt"},
			wire.HookPreShell,
		},
		{"a removed file", nil, "rm a.txt", []string{"a.txt"}, []string{"a.txt"}, wire.HookPreShell},
		{
			"a folder is removed file by file",
			nil,
			"rm -rf dir",
			[]string{"dir/x.txt", "dir/y.txt"},
			[]string{"dir/x.txt", "dir/y.txt"},
			wire.HookPreShell,
		},
		{"a renamed file", nil, "git mv a.txt z.txt", []string{"a.txt", "z.txt"}, []string{"a.txt", "z.txt"}, wire.HookPreShell},
		{"a file moved into a folder", nil, "mv a.txt dir", []string{"a.txt", "dir/a.txt"}, []string{"a.txt", "dir/a.txt"}, wire.HookPreShell},
		{
			"a tree is copied file by file",
			nil,
			"cp -r dir copy",
			[]string{"copy/x.txt", "copy/y.txt"},
			[]string{"copy/x.txt", "copy/y.txt"},
			wire.HookPreShell,
		},
		{"wildcards", nil, "sed -i s/x/y/ dir/*.txt", []string{"dir/x.txt", "dir/y.txt"}, []string{"dir/x.txt", "dir/y.txt"}, wire.HookPreShell},
		{
			"changed and committed at once",
			nil,
			"echo two > a.txt && git commit -qam two",
			[]string{"a.txt"},
			[]string{"a.txt"},
			wire.HookPreShell,
		},
		{
			"work that is thrown away",
			map[string]string{"a.txt": "mine"},
			"git reset -q --hard",
			[]string{"a.txt"},
			[]string{"a.txt"},
			wire.HookPreShell,
		},
		{
			"work that is put aside",
			map[string]string{"a.txt": "mine", "dir/x.txt": "mine"},
			"git stash -q",
			[]string{"a.txt", "dir/x.txt"},
			[]string{"a.txt", "dir/x.txt"},
			wire.HookPreShell,
		},
		{"ignored files are nobody's business", nil, "mkdir -p build && echo x > build/o", []string{"build/o"}, nil, wire.HookPreShell},
		{"a command that fails half-way", nil, "echo x > half.txt; false", []string{"half.txt"}, []string{"half.txt"}, wire.HookPreShell},
		{
			"a patch in a folder counts as an edit",
			nil,
			"cd dir && apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: x.txt\n@@\n-x\n+y\n*** End Patch\nEOF",
			[]string{"dir/x.txt"},
			nil,
			wire.HookPreEdit,
		},
		{"a stored patch is read", nil, "git apply fix.patch", []string{"a.txt"}, []string{"a.txt"}, wire.HookPreShell},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			repo := newRepo(t, filepath.Join(w.home, "app"))
			gittest.Write(t, repo, "gen.sh", "echo x > made.txt\n")
			gittest.Write(t, repo, "dir/x.txt", "x\n")
			gittest.Write(t, repo, "dir/y.txt", "x\n")
			gittest.Write(t, repo, ".gitignore", "build/\n")
			gittest.Write(t, repo, "fix.patch", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n")
			gittest.Run(t, repo, "add", "-A")
			gittest.Run(t, repo, "commit", "-q", "-m", "more")
			for name, content := range tt.dirty {
				file := gittest.Write(t, repo, name, content)
				p := write(repo, file, "dirty-"+name)
				p["hook_event_name"] = "PostToolUse"
				w.run("claude_code", "PostToolUse", p)
				w.one()
			}
			before, after := w.shell(repo, tt.command, "t1", true)
			slices.Sort(before.Paths)
			slices.Sort(after.Paths)
			if before.Event != tt.event || before.Shell == nil || before.Shell.Command != tt.command || !slices.Equal(before.Paths, tt.before) {
				t.Errorf("before: %s %v, want %s %v", before.Event, before.Paths, tt.event, tt.before)
			}
			if after.Event != wire.HookPostEdit || !slices.Equal(after.Paths, tt.after) {
				t.Errorf("after: %s %v, want %v", after.Event, after.Paths, tt.after)
			}
		})
	}
}

func TestACommandWhoseEndNobodyToldIsReportedAtTheStop(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	w.shell(repo, "echo x > half.txt; exit 3", "t1", false)
	w.run("claude_code", "Stop", claude(repo, "Stop", m{"last_assistant_message": "done"}))
	got := w.requests()
	if len(got) != 2 || got[0].Event != wire.HookPostEdit || !slices.Equal(got[0].Paths, []string{"half.txt"}) {
		t.Fatalf("sent %+v", got)
	}
	if got[1].Event != wire.HookStop || !slices.Equal(got[1].Status.Files, []string{"half.txt"}) {
		t.Errorf("stop = %+v", got[1].Status)
	}
}

func TestACommandInAnotherRepositoryIsSentToBoth(t *testing.T) {
	w := newWorld(t)
	here, there := newRepo(t, filepath.Join(w.home, "here")), newRepo(t, filepath.Join(w.home, "there"))
	command := "echo x > ../there/a.txt"
	w.run("claude_code", "PreToolUse", claude(here, "PreToolUse", m{
		"tool_name":   "Bash",
		"tool_input":  m{"command": command},
		"tool_use_id": "t1",
	}))
	paths := map[string]string{}
	for _, req := range w.requests() {
		paths[req.Repo.RemoteFingerprints[0]] = strings.Join(req.Paths, ",")
	}
	if len(paths) != 2 || paths["github.com/acme/there"] != "a.txt" || paths["github.com/acme/here"] != "" {
		t.Errorf("sent %v", paths)
	}
	_ = there
}

func TestPowerShellCommandsAreReadAsSuch(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	w.run("copilot_cli", "preToolUse", m{
		"sessionId": "s",
		"timestamp": 1,
		"cwd":       repo,
		"toolName":  "powershell",
		"toolArgs":  m{"command": `Set-Content -Path src\b.txt -Value 1`},
	})
	if req := w.one(); !slices.Equal(req.Paths, []string{"src/b.txt"}) {
		t.Errorf("paths = %v", req.Paths)
	}
}
