//go:build unix

package hosttest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// buildClient builds svc and returns its folder.
func buildClient(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir, "../../cmd/svc").CombinedOutput(); err != nil {
		t.Fatalf("build svc: %v\n%s", err, out)
	}
	return dir
}

// logged returns a folder with an svc that notes each of its runs in a file and
// then runs the one in bin.
func logged(t *testing.T, bin string) (file, folder string) {
	t.Helper()
	folder = t.TempDir()
	file = filepath.Join(folder, "runs")
	script := fmt.Sprintf("#!/bin/sh\necho \"$*\" >> '%s'\nexec '%s' \"$@\"\n", file, filepath.Join(bin, "svc"))
	if err := os.WriteFile(filepath.Join(folder, "svc"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return file, folder
}

// A world is one developer's machine, Bob's, whose agent the host is; and the
// service, where Ana holds a claim.
type world struct {
	t          *testing.T
	home, repo string
	env        []string
	team       *daemontest.Team
	ana, bob   *daemontest.Person
	claim      coord.Intent
	configured bool              // by svc init
	dir        string            // where the host is started; the repository's root if empty
	gate       *gate             // before the service, if any
	server     string            // where Bob finds the service, if not where it is
	think      time.Duration     // how long the model takes for an answer: news from far away needs its time
	model      *model            // of the host that was started last
	subs       map[string]*model // what the host's sub-agents say
	prepare    func()            // done once the host's own settings are written
	inside     []string          // the words before each command, if it runs on a machine of its own
}

func newWorld(t *testing.T, path []string) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t:    t,
		home: filepath.Join(root, "home"),
		repo: filepath.Join(root, "ledger"),
		team: daemontest.StartTeam(t, filepath.Join(root, "svc.db")),
	}
	tmp := filepath.Join(root, "tmp")
	for _, dir := range []string{w.home, tmp} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.env = []string{
		"PATH=" + strings.Join(append(path, os.Getenv("PATH")), string(filepath.ListSeparator)),
		"HOME=" + w.home, "TMPDIR=" + tmp, "TERM=dumb", "LANG=C.UTF-8", "SVC_NO_UPDATE_CHECK=1",
		// Nothing of this machine but loopback is for a host to reach.
		"HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
		"GIT_AUTHOR_NAME=Bob", "GIT_AUTHOR_EMAIL=bob@example.com", "GIT_COMMITTER_NAME=Bob", "GIT_COMMITTER_EMAIL=bob@example.com",
	}
	w.write(filepath.Join(w.repo, claimed), "one\n")
	w.write(filepath.Join(w.repo, free), "first\n")
	w.write(filepath.Join(w.repo, planned), lines)
	w.write(filepath.Join(w.repo, tooled), "\n")
	for _, args := range []string{"init -q -b main", "remote add origin " + remote, "add -A", "commit -qm start"} {
		w.must("git", strings.Fields(args)...)
	}
	w.bob = w.team.Add("Bob", coord.Member)
	w.ana = w.team.Add("Ana", coord.Member)
	w.claim = w.anaClaims("ana-1", claimed)
	return w
}

// anaClaims has another person's agent claim a file, in a session of its own.
func (w *world) anaClaims(session, file string) coord.Intent {
	start := daemontest.Do[wire.HookReply](w.ana, 200, "POST /v1/hooks/evaluate", wire.HookRequest{Event: wire.HookSessionStart,
		Session: wire.HookSession{ExternalID: session, Tool: "claude_code"},
		Repo:    wire.HookRepo{RemoteFingerprints: []string{remote}, Branch: "audit", WorktreeHash: session}}, "X-Svc-Protocol", "1")
	return daemontest.Do[wire.Declared](w.ana, 201, "POST /v1/intents", object{"title": "Audit the ledger", "mode": coord.Exclusive,
		"session_id": *start.SessionID, "scope": object{"paths": []string{file}}}).Intent
}

// setUp logs Bob in and lets svc init configure hosts.
func (w *world) setUp(hosts string) {
	w.t.Helper()
	server := w.server
	switch {
	case server != "":
	case w.gate != nil:
		server = w.gate.url()
	default:
		server = w.team.URL
	}
	w.must("svc", "login", "--server", server, "--token", w.bob.Token)
	w.t.Logf("svc init --tools %s --yes\n%s", hosts, w.must("svc", "init", "--tools", hosts, "--yes"))
	w.configured = true
}

// bobs are the sessions that the service has of Bob's agents.
func (w *world) bobs() []coord.Session {
	list := daemontest.Do[wire.Page[coord.Session]](w.team.Owner, 200, "GET /v1/sessions", nil)
	return slices.DeleteFunc(list.Items, func(s coord.Session) bool { return s.User.Email != w.bob.Email })
}

// count returns how many refusals the service recorded, and how many sessions
// it has of Bob's agents.
func (w *world) count() (blocked, sessions int) {
	list := daemontest.Do[wire.Page[coord.Event]](w.team.Owner, 200, "GET /v1/events?limit=200", nil)
	for _, e := range list.Items {
		if e.Type == coord.EventHookBlocked {
			blocked++
		}
	}
	return blocked, len(w.bobs())
}

func (w *world) anaWrites() {
	daemontest.Do[any](w.ana, 201, "POST /v1/messages", object{"to": "user:" + w.bob.Email, "body": greeting})
}

func (w *world) anaReleases() {
	daemontest.Do[any](w.ana, 200, "POST /v1/intents/"+w.claim.Ref+"/close", object{"outcome": "abandoned"})
}

func (w *world) serverStops(last func()) {
	if last != nil {
		last()
	}
	if err := w.team.Stop(); err != nil {
		w.t.Errorf("stop the service: %v", err)
	}
}

func (w *world) reads(name string) string {
	data, err := os.ReadFile(filepath.Join(w.repo, name))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// must runs a program of Bob's in the repository.
func (w *world) must(name string, args ...string) string {
	w.t.Helper()
	out, err := w.run(name, args...)
	if err != nil {
		w.t.Fatalf("%s %s: %v\n%s", name, args[0], err, out)
	}
	return out
}

func (w *world) run(name string, args ...string) (string, error) {
	w.t.Helper()
	if !filepath.IsAbs(name) {
		name = lookPath(w.t, w.path(), name)
	}
	return w.runs(w.t.Context(), w.repo, w.env, name, args...)
}

// runs is run on the world's own machine.
func (w *world) runs(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	words := append(append(slices.Clone(w.inside), name), args...)
	return run(ctx, dir, env, words[0], words[1:]...)
}

// path are the folders of programs.
func (w *world) path() []string { return filepath.SplitList(strings.TrimPrefix(w.env[0], "PATH=")) }

// run runs a program to its end; if it takes too long, all that it started
// goes with it.
func run(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// lookPath finds a program in folders.
func lookPath(t *testing.T, folders []string, name string) string {
	t.Helper()
	for _, dir := range folders {
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found
		}
	}
	t.Fatalf("%s is not in %s", name, strings.Join(folders, ", "))
	return ""
}

// tail is the end of a long text.
func tail(s string) string { return s[max(0, len(s)-20000):] }
