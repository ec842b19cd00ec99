package hook

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/svc-hq/svc/internal/await"
	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// linesOf are the facts about files as git has them, without reading code.
func linesOf(ctx context.Context, root, base string, paths, _ []string, _ bool) (*coord.Analysis, error) {
	deltas, err := gitrepo.WorkingTree(ctx, root, base, paths)
	if err != nil {
		return nil, err
	}
	out := &coord.Analysis{Files: []coord.FileFacts{}}
	for _, d := range deltas {
		f := coord.FileFacts{Path: d.Path, Status: coord.FileModified}
		switch d.Status {
		case diff.Unchanged:
			f.Status = coord.FileUnchanged
		case diff.Deleted:
			f.Status = coord.FileDeleted
		}
		if d.NewBlob != "" {
			f.NewBlob = &d.NewBlob
		}
		out.Files = append(out.Files, f)
	}
	return out, nil
}

// truthful makes the world's hooks look into files and ask git for the base.
func truthful(w *world) {
	w.base, w.facts = gitrepo.Base, linesOf
}

// known is what the service has been told of the working copy: path to blob.
func (w *world) known(state map[string]string) {
	for _, req := range w.requests() {
		if req.Analysis == nil {
			continue
		}
		for _, f := range req.Analysis.Files {
			delete(state, f.Path)
			if f.Status == coord.FileDeleted {
				state[f.Path] = "gone"
			} else if f.Status != coord.FileUnchanged && f.NewBlob != nil {
				state[f.Path] = *f.NewBlob
			}
		}
	}
}

// What was edited while the service was away is told when it is back, and so
// is what no hook tells of.
func TestEditsWhileTheServiceWasAway(t *testing.T) {
	w := newWorld(t)
	truthful(w)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	gittest.Run(t, repo, "update-ref", "refs/remotes/origin/main", "HEAD")
	edit := func(name string) {
		file := gittest.Write(t, repo, name, "changed "+name+"\n")
		w.run("claude_code", "PostToolUse",
			claude(repo, "PostToolUse", m{"tool_name": "Write", "tool_input": m{"file_path": file}, "tool_use_id": name}))
	}
	w.status = http.StatusServiceUnavailable
	edit("a.txt")
	edit("b.txt")
	gittest.Write(t, repo, "by-a-person.txt", "mine\n")
	w.requests()
	w.status = 0
	edit("c.txt")
	state := map[string]string{}
	w.known(state)
	for _, name := range []string{"a.txt", "b.txt", "by-a-person.txt", "c.txt"} {
		if state[name] == "" {
			t.Errorf("%s was never told: %v", name, state)
		}
	}
	// Nothing is told twice, and what is put back is told.
	w.run("claude_code", "UserPromptSubmit", claude(repo, "UserPromptSubmit", m{"prompt": "go on"}))
	if got := w.one(); got.Event != wire.HookPrompt {
		t.Errorf("%+v", got)
	}
	gittest.Run(t, repo, "checkout", "--", "a.txt")
	w.run("claude_code", "Stop", claude(repo, "Stop", nil))
	got := w.requests()
	if len(got) != 2 || got[0].Event != wire.HookPostEdit || !slices.Equal(got[0].Paths, []string{"a.txt"}) {
		t.Errorf("%+v", got)
	}
}

// An edit that left a file as its session told it is not told again, but the
// service is asked for news. Another session's is told in its own name.
func TestAFileThatIsAsItWasToldIsNotToldAgain(t *testing.T) {
	w := newWorld(t)
	truthful(w)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	gittest.Run(t, repo, "update-ref", "refs/remotes/origin/main", "HEAD")
	file := gittest.Write(t, repo, "a.go", "package a // changed\n")
	calls := 0
	told := func(session string) bool {
		t.Helper()
		var last wire.HookRequest
		await.True(t, "an event on which git was quick enough", func() bool {
			calls++
			payload := claude(repo, "PostToolUse", m{"tool_name": "Write", "tool_input": m{"file_path": file}, "tool_use_id": fmt.Sprint(calls)})
			payload["session_id"] = session
			w.requests()
			w.run("claude_code", "PostToolUse", payload)
			sent := w.requests()
			last = sent[len(sent)-1]
			return last.Event != wire.HookPostEdit || len(last.Paths) == 0 || last.Analysis != nil
		})
		if last.Event != wire.HookPostEdit || last.Analysis != nil && len(last.Paths) == 0 {
			t.Fatalf("sent %+v", last)
		}
		return last.Analysis != nil
	}
	commit := func() { // the base moves
		gittest.Run(t, repo, "add", ".")
		gittest.Run(t, repo, "commit", "-qm", "x")
		gittest.Run(t, repo, "update-ref", "refs/remotes/origin/main", "HEAD")
	}
	for _, step := range []struct {
		session string
		before  func()
		want    bool
	}{
		{"one", func() {}, true},
		{"one", func() {}, false},
		{"two", func() {}, true},
		{"two", func() {}, false},
		{"one", func() {}, true},
		{"one", func() { gittest.Write(t, repo, "a.go", "package a // changed again\n") }, true},
		{"one", commit, true},
	} {
		step.before()
		if got := told(step.session); got != step.want {
			t.Errorf("call %d, of session %s: told %v", calls, step.session, got)
		}
	}
}

// A slow service is asked every time, and every edit that it did not answer in
// time says so; one that refuses is left alone.
func TestASlowServiceIsNotADeadOne(t *testing.T) {
	if testing.Short() {
		return // make test waits for the limit
	}
	t.Setenv(patience.Variable, "5") // five times it is waited for
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	wait := make(chan struct{})
	w.reply = func(wire.HookRequest) any {
		<-wait
		return wire.HookReply{Decision: wire.Allow}
	}
	for i := range 5 {
		got := w.run("claude_code", "PreToolUse", write(repo, filepath.Join(repo, "a.txt"), fmt.Sprint(i)))
		if !strings.Contains(got.stdout, "svc could not check this edit") || !strings.Contains(got.stdout, "did not answer in time") {
			t.Errorf("edit %d says %q", i, got.stdout)
		}
	}
	close(wait)
	if n := len(w.requests()); n != 5 {
		t.Errorf("a slow service was asked %d of 5 times", n)
	}
}

// Whatever happens to a working copy, after the next contact the service knows
// of it what git says.
func TestTheServiceKnowsWhatGitSays(t *testing.T) {
	if testing.Short() {
		return // make test plays random histories
	}
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		truthful(w)
		repo := newRepo(t, filepath.Join(w.home, fmt.Sprint("app", time.Now().UnixNano())))
		for i := range 4 {
			gittest.Write(t, repo, fmt.Sprintf("d/f%d.txt", i), strings.Repeat(fmt.Sprintf("line %d\n", i), 5))
		}
		gittest.Run(t, repo, "add", "-A")
		gittest.Run(t, repo, "commit", "-q", "-m", "more")
		gittest.Run(t, repo, "update-ref", "refs/remotes/origin/main", "HEAD")
		gittest.Run(t, repo, "branch", "side")
		state := map[string]string{}
		names := rapid.SampledFrom([]string{"a.txt", "d/f0.txt", "d/f1.txt", "d/f2.txt", "new.txt", "d/new2.txt"})
		for i := range rapid.IntRange(3, 8).Draw(rt, "steps") {
			w.step(rt, repo, names, i)
			if w.status != 0 {
				w.requests() // which it did not take in
			}
			w.known(state)
		}
		w.mu.Lock()
		w.status = 0
		w.mu.Unlock()
		os.RemoveAll(filepath.Join(w.temp, fmt.Sprintf("svc-hook-%d", os.Getuid()))) // the breaker's pause is over
		w.run("claude_code", "Stop", claude(repo, "Stop", nil))
		w.known(state)
		want := map[string]string{}
		base, err := gitrepo.Base(context.Background(), repo, "")
		if err != nil {
			rt.Fatal(err)
		}
		deltas, err := gitrepo.WorkingTree(context.Background(), repo, base, nil)
		if err != nil {
			rt.Fatal(err)
		}
		for _, d := range deltas {
			if d.OldPath != "" {
				want[d.OldPath] = "gone"
			}
			want[d.Path] = d.NewBlob
			if d.Status == diff.Deleted {
				want[d.Path] = "gone"
			}
		}
		for p := range state {
			if want[p] == "" {
				rt.Errorf("the service believes in %s, which git does not know", p)
			}
		}
		for p, blob := range want {
			if state[p] != blob && !(blob == "gone" && state[p] == "") {
				rt.Errorf("%s is %q to the service, %q to git", p, state[p], blob)
			}
		}
	})
}

// step does one thing that happens to a working copy.
func (w *world) step(rt *rapid.T, repo string, names *rapid.Generator[string], i int) {
	t := w.t
	name := names.Draw(rt, fmt.Sprint("name", i))
	kinds := []string{"edit", "edit", "silent", "delete", "out", "back", "commit", "switch", "stash", "pop", "crash", "prompt"}
	switch rapid.SampledFrom(kinds).Draw(rt, fmt.Sprint("step", i)) {
	case "edit":
		file := gittest.Write(t, repo, name, fmt.Sprintf("edit %d\n", rapid.IntRange(0, 3).Draw(rt, fmt.Sprint("text", i))))
		w.run("claude_code", "PostToolUse",
			claude(repo, "PostToolUse", m{"tool_name": "Write", "tool_input": m{"file_path": file}, "tool_use_id": fmt.Sprint(i)}))
	case "silent":
		gittest.Write(t, repo, name, fmt.Sprintf("silent %d\n", i))
	case "delete":
		os.Remove(filepath.Join(repo, name))
	case "out":
		w.mu.Lock()
		w.status = http.StatusBadGateway
		w.mu.Unlock()
	case "back":
		w.mu.Lock()
		w.status = 0
		w.mu.Unlock()
	case "commit":
		gittest.Run(t, repo, "add", "-A")
		gittest.Run(t, repo, "commit", "-q", "--allow-empty", "-m", fmt.Sprint("c", i))
	case "switch":
		gittest.Run(t, repo, "add", "-A")
		gittest.Run(t, repo, "commit", "-q", "--allow-empty", "-m", fmt.Sprint("s", i))
		gittest.Run(t, repo, "checkout", "-q", rapid.SampledFrom([]string{"main", "side"}).Draw(rt, fmt.Sprint("branch", i)))
	case "stash":
		gittest.Run(t, repo, "stash", "-q", "-u")
	case "pop":
		if gittest.Run(t, repo, "stash", "list") != "" && gittest.Run(t, repo, "status", "--porcelain") == "" {
			if err := exec.Command("git", "-C", repo, "stash", "pop", "-q").Run(); err != nil { // it meets what was committed since
				gittest.Run(t, repo, "reset", "-q", "--hard")
				gittest.Run(t, repo, "stash", "drop", "-q")
			}
		}
	case "crash": // and the machine starts anew, without its temporary files
		os.RemoveAll(filepath.Join(w.temp, fmt.Sprintf("svc-hook-%d", os.Getuid())))
	case "prompt":
		w.run("claude_code", "UserPromptSubmit", claude(repo, "UserPromptSubmit", m{"prompt": "x"}))
	}
}
