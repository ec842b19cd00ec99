package hook

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// A player is a session of a host in one clone. Its tools do what the host's do,
// with the hooks before and after them.
type player struct {
	*world
	host, id string
	repo     string
	calls    int
}

func (p *player) call(event, tool string, input m) m {
	return m{"session_id": p.id, "cwd": p.repo, "hook_event_name": event, "tool_name": tool, "tool_input": input,
		"tool_use_id": fmt.Sprintf("%s-%d", p.id, p.calls)}
}

// use runs a tool and reports why it was refused, or "".
func (p *player) use(tool string, input m, do func()) (refused, said string) {
	p.t.Helper()
	p.calls++
	before := p.run(p.host, "PreToolUse", p.call("PreToolUse", tool, input))
	said = p.contextOf(before)
	if refused = p.denial(before); refused == "" {
		do()
		said += p.contextOf(p.run(p.host, "PostToolUse", p.call("PostToolUse", tool, input)))
	}
	return refused, said
}

func (p *player) denial(r result) string {
	var out struct {
		Specific struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if r.stdout != "" && json.Unmarshal([]byte(r.stdout), &out) != nil || r.code != 0 {
		p.t.Fatalf("answered %+v", r)
	}
	if out.Specific.Decision != "deny" {
		return ""
	}
	return out.Specific.Reason
}

func (p *player) contextOf(r result) string {
	var out struct {
		Specific struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	_ = json.Unmarshal([]byte(r.stdout), &out)
	return out.Specific.Context
}

func (p *player) file(name string) string { return filepath.Join(p.repo, name) }

func (p *player) text(name string) string {
	data, err := os.ReadFile(p.file(name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

func (p *player) readFile(name string) string {
	p.use("Read", m{"file_path": p.file(name)}, func() {})
	return p.text(name)
}

func (p *player) write(name, text string) (refused, said string) {
	return p.use("Write", m{"file_path": p.file(name), "content": text}, func() { gittest.Write(p.t, p.repo, name, text) })
}

func (p *player) edit(name, before, after string) (refused, said string) {
	return p.use("Edit", m{"file_path": p.file(name), "old_string": before, "new_string": after}, func() {
		gittest.Write(p.t, p.repo, name, strings.Replace(p.text(name), before, after, 1))
	})
}

func (p *player) bash(command string) (refused, said string) {
	return p.use("Bash", m{"command": command}, func() {
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = p.repo
		if out, err := cmd.CombinedOutput(); err != nil {
			p.t.Fatalf("%s: %v\n%s", command, err, out)
		}
	})
}

// clone returns a repository with a file of so many lines, and players in it.
func clone(t *testing.T, lines int) (a, b *player) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	gittest.Write(t, repo, "app.txt", numbered(lines))
	gittest.Run(t, repo, "add", "-A")
	gittest.Run(t, repo, "commit", "-q", "-m", "text")
	return &player{world: w, host: "claude_code", id: "ana", repo: repo}, &player{world: w, host: "codex", id: "ben", repo: repo}
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func refusedWith(t *testing.T, got string, want ...string) {
	t.Helper()
	if got == "" {
		t.Error("the edit was not refused")
	}
	for _, w := range want {
		if !strings.Contains(got, w) {
			t.Errorf("refused with %q, which lacks %q", got, w)
		}
	}
}

// An edit that would undo what somebody else changed in the same working copy
// is refused before it happens, once; after a fresh read it passes.
func TestAnEditFromAnOldViewIsRefusedOnce(t *testing.T) {
	sed := func(s string) string { return "sed -i " + s + " app.txt" }
	for name, stale := range map[string]func(p *player, old string) (string, string){
		"whole-file write": func(p *player, old string) (string, string) { return p.write("app.txt", "new first line\n"+old) },
		"far edit first": func(p *player, old string) (string, string) {
			if refused, _ := p.edit("app.txt", "line 2\n", "line two\n"); refused != "" {
				p.t.Errorf("an edit of other lines was refused: %s", refused)
			}
			return p.write("app.txt", strings.Replace(old, "line 2\n", "line two\n", 1))
		},
		"heredoc":    func(p *player, old string) (string, string) { return p.bash("cat > app.txt <<'EOF'\n" + old + "EOF") },
		"sed":        func(p *player, _ string) (string, string) { return p.bash(sed("'41s/.*/mine/'")) },
		"sed of all": func(p *player, _ string) (string, string) { return p.bash(sed("'s/^.*4[0-9].*$/mine/'")) },
		"rm":         func(p *player, _ string) (string, string) { return p.bash("rm app.txt") },
		"copied over": func(p *player, old string) (string, string) {
			gittest.Write(p.t, p.home, "copy.txt", old)
			return p.bash("cp " + filepath.Join(p.home, "copy.txt") + " app.txt")
		},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := clone(t, 60)
			old := a.readFile("app.txt")
			b.readFile("app.txt")
			if refused, _ := b.edit("app.txt", "line 40\nline 41\n", "LINE 40\nLINE 41\n"); refused != "" {
				t.Fatal(refused)
			}
			theirs := a.text("app.txt")
			refused, _ := stale(a, old)
			refusedWith(t, refused, "Your other agent (Codex) changed line", "of app.txt since you last saw it",
				"would undo that. Read the file again", "LINE 41")
			if !strings.Contains(a.text("app.txt"), "LINE 40\nLINE 41\n") {
				t.Fatal("their lines are lost")
			}
			if name == "far edit first" {
				return
			}
			if a.text("app.txt") != theirs {
				t.Fatal("something was written")
			}
			a.readFile("app.txt")
			if again, _ := stale(a, old); again != "" {
				t.Errorf("after a fresh read it is refused again: %s", again)
			}
		})
	}
}

// What is not lost is no reason to refuse, nor to speak.
func TestEditsThatUndoNothingPassInSilence(t *testing.T) {
	for name, edit := range map[string]func(p *player, old string) (string, string){
		"other lines":  func(p *player, _ string) (string, string) { return p.edit("app.txt", "line 7\n", "mine\n") },
		"quoted":       func(p *player, _ string) (string, string) { return p.edit("app.txt", "LINE 40\n", "mine\n") },
		"appended":     func(p *player, _ string) (string, string) { return p.bash("echo more >> app.txt") },
		"other by sed": func(p *player, _ string) (string, string) { return p.bash("sed -i '3s/.*/mine/' app.txt") },
		"read by cat":  func(p *player, old string) (string, string) { p.bash("cat app.txt"); return p.write("app.txt", old) },
		"read in part": func(p *player, old string) (string, string) {
			p.bash("sed -n '30,50p' app.txt")
			return p.write("app.txt", old)
		},
		"a written twin": func(p *player, _ string) (string, string) { return p.write("app.txt", p.text("app.txt")+"more\n") },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := clone(t, 60)
			old := a.readFile("app.txt")
			b.readFile("app.txt")
			b.edit("app.txt", "line 40\n", "LINE 40\n")
			if refused, said := edit(a, old); refused != "" || said != "" {
				t.Errorf("refused %q, said %q", refused, said)
			}
		})
	}
}

// A part that was read elsewhere does not count, nor does what a pipe hides.
func TestWhatWasNotReadIsNotSeen(t *testing.T) {
	for _, command := range []string{"sed -n '1,10p' app.txt", "cat app.txt | wc -l", "grep -c line app.txt", "cat app.txt > /dev/null"} {
		a, b := clone(t, 60)
		old := a.readFile("app.txt")
		b.readFile("app.txt")
		b.edit("app.txt", "line 40\n", "LINE 40\n")
		a.bash(command)
		refused, _ := a.write("app.txt", old)
		refusedWith(t, refused, "line 40 of app.txt")
	}
}

// People's edits count, too, and nobody is named for them.
func TestAnEditByHandIsKept(t *testing.T) {
	a, _ := clone(t, 60)
	old := a.readFile("app.txt")
	gittest.Write(t, a.repo, "app.txt", strings.Replace(old, "line 9\n", "by hand\n", 1))
	refused, _ := a.write("app.txt", old)
	refusedWith(t, refused, "Somebody changed line 9 of app.txt since you last saw it", "9: by hand")
}

// Lines that somebody took out do not come back.
func TestWhatWasTakenOutDoesNotComeBack(t *testing.T) {
	a, b := clone(t, 60)
	old := a.readFile("app.txt")
	b.readFile("app.txt")
	b.edit("app.txt", "line 20\nline 21\n", "")
	refused, _ := a.write("app.txt", old)
	refusedWith(t, refused, "took out 2 lines before line 20")
}

// What an ended session left uncommitted is guarded from one that never read it.
func TestWorkLeftBehindIsGuarded(t *testing.T) {
	a, b := clone(t, 60)
	b.readFile("app.txt")
	b.edit("app.txt", "line 40\n", "LINE 40\n")
	b.write("new.txt", "left\n")
	b.run(b.host, "SessionEnd", m{"session_id": b.id, "cwd": b.repo, "hook_event_name": "SessionEnd"})
	refused, _ := a.write("app.txt", "all new\n")
	refusedWith(t, refused, "Codex", "line 40 of app.txt", "not committed and not read by you")
	refused, _ = a.bash("rm new.txt")
	refusedWith(t, refused, "line 1 of new.txt")
	if again, _ := a.write("app.txt", "all new\n"); again != "" {
		t.Errorf("refused twice: %s", again)
	}
}

// A session's own work is never in its way.
func TestOwnWorkIsNoReasonToRefuse(t *testing.T) {
	a, _ := clone(t, 60)
	for i, step := range []func() (string, string){
		func() (string, string) { return a.write("fresh.txt", "one\ntwo\n") },
		func() (string, string) { return a.write("fresh.txt", "three\n") },
		func() (string, string) { return a.bash("printf 'x\\ny\\n' > gen.txt") },
		func() (string, string) { return a.write("gen.txt", "z\n") },
		func() (string, string) { return a.bash("for i in 1 2; do echo $i; done | tee by.txt") },
		func() (string, string) { return a.write("by.txt", "z\n") },
		func() (string, string) { a.readFile("app.txt"); return a.edit("app.txt", "line 3\n", "mine\n") },
		func() (string, string) { return a.write("app.txt", "short\n") },
		func() (string, string) { return a.bash("git checkout -q -- app.txt; rm gen.txt by.txt") },
		func() (string, string) { return a.write("app.txt", "short\n") },
	} {
		if refused, said := step(); refused != "" || said != "" {
			t.Errorf("step %d: refused %q, said %q", i, refused, said)
		}
	}
}

// The policy of the service holds, and what was last heard of it when it is away.
func TestStaleWritesFollowThePolicy(t *testing.T) {
	for rule, want := range map[string]string{policy.StaleRefuse: "refuse", "": "refuse", policy.StaleWarn: "warn", policy.StaleOff: ""} {
		a, b := clone(t, 60)
		id := "session"
		a.answers(wire.HookReply{Decision: wire.Allow, SessionID: &id, StaleWrite: rule})
		old := a.readFile("app.txt")
		b.readFile("app.txt")
		b.edit("app.txt", "line 40\n", "LINE 40\n")
		for _, away := range []bool{false, true} {
			if away {
				a.server.Close()
				b.edit("app.txt", "line 50\n", "LINE 50\n")
			}
			refused, said := a.write("app.txt", old)
			switch {
			case want == "refuse":
				refusedWith(t, refused, "changed line", "repeat your edit")
			case want == "warn" && !strings.Contains(said, "undoes that") && !away || refused != "":
				t.Errorf("%q, away %v: refused %q, said %q", rule, away, refused, said)
			case want == "" && strings.Contains(said, "app.txt"):
				t.Errorf("off, and said %q", said)
			}
		}
	}
}

// How often it happened is counted, and told with the next event.
func TestRefusedStaleWritesAreCounted(t *testing.T) {
	a, b := clone(t, 60)
	old := a.readFile("app.txt")
	b.readFile("app.txt")
	b.edit("app.txt", "line 40\n", "LINE 40\n")
	a.write("app.txt", old)
	a.requests()
	a.run(a.host, "Stop", m{"session_id": a.id, "cwd": a.repo, "hook_event_name": "Stop"})
	n := 0
	for _, r := range a.requests() {
		n += r.StaleWrites
	}
	if n != 1 {
		t.Errorf("%d refusals were told of, want one", n)
	}
}

// Two sessions at two places of one definition hear of it, once.
func TestOneDefinitionIsWorthAWord(t *testing.T) {
	a, b := clone(t, 1)
	gittest.Write(t, a.repo, "a.go", "package a\n\nfunc one() {\n\tx := 1\n\ty := 2\n\tz := 3\n\tuse(x, y, z)\n}\n\n"+
		"func two() {\n\tuse(4)\n}\n")
	gittest.Run(t, a.repo, "add", "-A")
	gittest.Run(t, a.repo, "commit", "-q", "-m", "code")
	a.readFile("a.go")
	b.readFile("a.go")
	b.edit("a.go", "x := 1", "x := 10")
	if _, said := a.edit("a.go", "use(4)", "use(5)"); said != "" {
		t.Errorf("of another definition: %q", said)
	}
	const want = "changed line 4 of a.go since you last saw it, in a definition that your edit changes too"
	if _, said := a.edit("a.go", "z := 3", "z := 30"); !strings.Contains(said, want) {
		t.Errorf("of the same definition: %q", said)
	}
	if _, said := a.edit("a.go", "z := 30", "z := 31"); said != "" {
		t.Errorf("said again: %q", said)
	}
}
