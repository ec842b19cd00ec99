package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/gittest"
)

// What was seen in clones with real hosts, played with their real payloads:
// one person with two agents in one clone, and a colleague with her own.
type scenes struct {
	t        testing.TB
	s        *server
	clone    *clone
	one, two *agent // of Olga, in one clone
	bob      *agent
	calls    int
}

func newScenes(t testing.TB) *scenes {
	s := newServer(t, t.TempDir())
	x := &scenes{t: t, s: s, clone: newClone(t, s, s.token("olga@example.com"))}
	for _, name := range []string{"ledger.txt", "notes.txt", "shared.txt"} {
		gittest.Write(t, x.clone.dir, name, numbered(9, len(name)))
	}
	gittest.Write(t, x.clone.dir, "x.go", "package x\n\nfunc  F( ) { }\n")
	gittest.Run(t, x.clone.dir, "add", "-A")
	gittest.Run(t, x.clone.dir, "commit", "-qm", "files")
	gittest.Run(t, x.clone.dir, "update-ref", "refs/remotes/origin/main", "HEAD")
	theirs := newClone(t, s, s.token("bob@example.com"))
	gittest.Run(t, theirs.dir, "fetch", "-q", x.clone.dir, "main")
	gittest.Run(t, theirs.dir, "reset", "-q", "--hard", "FETCH_HEAD")
	gittest.Run(t, theirs.dir, "update-ref", "refs/remotes/origin/main", "HEAD")
	x.one, x.two, x.bob = x.clone.agent(t, "one"), x.clone.agent(t, "two"), theirs.agent(t, "bob")
	for _, a := range []*agent{x.one, x.two, x.bob} {
		a.begin()
	}
	return x
}

// tool plays an event about a tool, and returns what the host is told.
func (x *scenes) tool(a *agent, event, tool string, input map[string]any) string {
	x.t.Helper()
	return a.hook(event, map[string]any{"tool_name": tool, "tool_use_id": fmt.Sprint("call-", x.calls), "tool_input": input})
}

// edit is one edit: asked about, and if nobody refuses made and told.
func (x *scenes) edit(a *agent, name, old, with string) (before, after string) {
	x.t.Helper()
	x.calls++
	file := filepath.Join(a.dir, name)
	input := map[string]any{"file_path": file, "old_string": old, "new_string": with}
	if before = x.tool(a, "PreToolUse", "Edit", input); strings.Contains(before, `"deny"`) {
		return before, ""
	}
	data, err := os.ReadFile(file)
	if err != nil {
		x.t.Fatal(err)
	}
	gittest.Write(x.t, a.dir, name, strings.Replace(string(data), old, with, 1))
	return before, x.tool(a, "PostToolUse", "Edit", input)
}

// command is what a host is told before a command runs.
func (x *scenes) command(a *agent, line string) string {
	x.t.Helper()
	x.calls++
	return x.tool(a, "PreToolUse", "Bash", map[string]any{"command": line})
}

func (x *scenes) want(what, got string, parts ...string) {
	x.t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			x.t.Errorf("%s: %q is not in %s", what, p, got)
		}
	}
}

func (x *scenes) quiet(what, got string) {
	x.t.Helper()
	if got != "" {
		x.t.Errorf("%s: said %s", what, got)
	}
}

func TestScenesOfOneClone(t *testing.T) {
	x := newScenes(t)
	gittest.Write(t, x.clone.dir, "shared.txt", numbered(10, 10))
	gittest.Run(t, x.clone.dir, "stash", "-q")
	// A claim holds between two agents of one person, by edit tool and by shell.
	if text, failed := x.one.tool("intent_declare", map[string]any{"title": "ledger", "mode": "exclusive",
		"scope": map[string]any{"paths": []string{"ledger.txt"}}}); failed {
		t.Fatal(text)
	}
	before, _ := x.edit(x.two, "ledger.txt", "line 3", "mine 3")
	x.want("another's claim", before, `"deny"`, "claimed ledger.txt exclusively")
	x.want("by shell", x.command(x.two, "sed -i s/line/mine/ ledger.txt"), `"deny"`, "ledger.txt")
	// A refusal is told once: nothing later tells of it as if it had happened.
	_, after := x.edit(x.two, "notes.txt", "line 1", "noted 1")
	x.quiet("after a refusal", after)
	x.quiet("at the next prompt", x.two.hook("UserPromptSubmit", map[string]any{"prompt": "go on"}))
	if text, failed := x.two.tool("scope_check", map[string]any{"paths": []string{"x.go"}}); failed || strings.Contains(text, "ledger") {
		t.Errorf("the next tool says %s", text)
	}
	// Git commands that would take the other's uncommitted work away.
	x.edit(x.one, "shared.txt", "line 2", "by one 2")
	for _, line := range []string{"git stash", "git reset --hard", "git checkout -- .", "git clean -fd && git restore ."} {
		x.want(line, x.command(x.two, line), `"deny"`, "shared.txt")
	}
	x.want("git rebase --abort", x.command(x.two, "git rebase --abort"), `"deny"`, "shared.txt", "Let it be committed first")
	x.want("git add -A", x.command(x.two, "git add -A && git commit -m x"), "shared.txt", "notes.txt")
	for _, line := range []string{"git pull", "git merge origin/main", "git cherry-pick origin/main", "git am < series.mbox"} {
		x.want(line, x.command(x.two, line), "would put another commit under uncommitted work on shared.txt")
	}
	x.want("git stash pop", x.command(x.two, "git stash pop"), "would mix other changes into uncommitted work on shared.txt")
	// What it has staged goes into the next commit of anybody, and is lost when a merge is given up.
	x.quiet("git commit of nothing staged", x.command(x.two, "git commit -m x"))
	gittest.Run(t, x.clone.dir, "add", "shared.txt", "notes.txt")
	x.want("git commit", x.command(x.two, "git commit -m mine"), "take along uncommitted work on shared.txt", "git commit -- notes.txt")
	x.want("git merge --abort", x.command(x.two, "git merge --abort"), `"deny"`, "shared.txt")
	gittest.Run(t, x.clone.dir, "reset", "-q")
	// Lines that the other has just changed.
	before, _ = x.edit(x.two, "shared.txt", "line 5", "by two 5")
	x.want("an edit from memory", before, "shared.txt", "Read shared.txt again")
	x.want("git apply", x.command(x.two, "git apply <<'X'\n--- a/shared.txt\n+++ b/shared.txt\n@@ -9 +9 @@\n-x\n+y\nX"),
		"would mix other changes into uncommitted work on shared.txt")
}

// Commands reach working copies that they are not run in: a submodule, and a
// worktree in which another agent works.
func TestScenesOfOtherWorkingCopies(t *testing.T) {
	x := newScenes(t)
	part := gittest.Init(t)
	gittest.Write(t, part, "part.txt", numbered(5, 1))
	gittest.Run(t, part, "add", "-A")
	gittest.Run(t, part, "commit", "-qm", "part")
	gittest.Run(t, x.clone.dir, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", part, "sub")
	gittest.Run(t, x.clone.dir, "commit", "-qm", "with a part")
	gittest.Run(t, filepath.Join(x.clone.dir, "sub"), "remote", "set-url", "origin", "https://github.com/acme/part.git")
	x.edit(x.one, "sub/part.txt", "line 2", "by one 2")
	for _, line := range []string{"git -C sub reset --hard", "cd sub && git stash", "git submodule update --force",
		"git submodule foreach --recursive 'git clean -fd && git checkout .'", "git reset --hard --recurse-submodules"} {
		x.want(line, x.command(x.two, line), `"deny"`, "part.txt")
	}
	x.quiet("the rest of the clone", x.command(x.two, "git reset --hard"))

	other := *x.clone
	other.dir = filepath.Join(t.TempDir(), "other")
	gittest.Run(t, x.clone.dir, "worktree", "add", "-q", "-b", "other", other.dir)
	three := other.agent(t, "three")
	three.begin()
	x.edit(three, "notes.txt", "line 1", "by three 1")
	for _, line := range []string{"git -C " + other.dir + " checkout -- .", "git worktree remove --force " + other.dir} {
		x.want(line, x.command(x.two, line), `"deny"`, "notes.txt")
	}
	x.quiet("its own worktree", x.command(x.two, "git checkout -- ."))
}

func TestScenesBeforeTheEdit(t *testing.T) {
	x := newScenes(t)
	x.edit(x.bob, "shared.txt", "line 3 of", "bobs 3 of")
	// Exactly that line, by every readable way: warned before, in the words of the conflict.
	x.calls++
	for _, pre := range []string{
		x.tool(x.one, "PreToolUse", "Edit", map[string]any{"file_path": x.clone.dir + "/shared.txt", "old_string": "line 3 of",
			"new_string": "my 3 of"}),
		x.command(x.two, "sed -i 's/line 3 of/my 3 of/' shared.txt"),
	} {
		x.want("the line of a colleague", pre, "shared.txt", "Bob Birch", "edit_overlap")
		if strings.Contains(pre, `"deny"`) {
			t.Errorf("refused: %s", pre)
		}
	}
	// Another line is nobody's business.
	y := x.clone.agent(t, "three")
	y.begin()
	x.quiet("another line", x.tool(y, "PreToolUse", "Edit", map[string]any{"file_path": x.clone.dir + "/shared.txt", "old_string": "line 8 of",
		"new_string": "my 8 of"}))
	// And check says what is open about the file.
	x.edit(x.one, "shared.txt", "line 3 of", "my 3 of")
	x.want("svc check", x.clone.svc(t, "check", "shared.txt"), "CF-1", "shared.txt")

	// What no hook tells of is told at the next one: another tool server, a person, a formatter of a whole folder.
	gittest.Write(t, x.clone.dir, "foreign.txt", "by another server\n")
	line := map[string]any{"command": "gofmt -w ."}
	x.calls++
	x.tool(x.two, "PreToolUse", "Bash", line)
	gittest.Write(t, x.clone.dir, "x.go", "package x\n\nfunc F() {}\n")
	x.tool(x.two, "PostToolUse", "Bash", line)
	x.two.hook("Stop", nil)
	for _, name := range []string{"foreign.txt", "x.go"} {
		if text, _ := x.bob.tool("scope_check", map[string]any{"paths": []string{name}}); !strings.Contains(text, "Olga Oak") {
			t.Errorf("of %s a colleague is told %s", name, text)
		}
	}
}

// On a disk where the case of names does not matter, LEDGER.TXT is ledger.txt;
// the clone knows (core.ignorecase), and its client says so.
func TestAClaimWhereCaseDoesNotMatter(t *testing.T) {
	x := newScenes(t)
	if text, failed := x.one.tool("intent_declare", map[string]any{"title": "ledger", "mode": "exclusive",
		"scope": map[string]any{"paths": []string{"ledger.txt"}}}); failed {
		t.Fatal(text)
	}
	try := func() string {
		x.calls++
		return x.tool(x.bob, "PreToolUse", "Write", map[string]any{"file_path": filepath.Join(x.bob.dir, "LEDGER.TXT"), "content": "mine\n"})
	}
	x.quiet("another file, where case matters", try())
	gittest.Run(t, x.bob.dir, "config", "core.ignorecase", "true")
	x.bob.hook("UserPromptSubmit", map[string]any{"prompt": "go on"}) // the clone tells of itself
	x.want("the same file", try(), `"deny"`, "claimed ledger.txt exclusively")
}
