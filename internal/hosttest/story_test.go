//go:build unix

// Package hosttest runs real agent hosts, as their makers publish them,
// against a model that follows a script: with the configuration that svc init
// writes, the real client and the real service. It has no code besides tests;
// make test-hosts runs them.
package hosttest

import (
	"bytes"
	"context"
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

// A behaviour is something that an agent's user would see.
type behaviour string

// The behaviours, in the order in which the story shows them.
const (
	briefed     behaviour = "briefing"
	editDenied  behaviour = "claimed file: edit denied"
	reasonRead  behaviour = "model reads why"
	shellDenied behaviour = "shell write denied"
	messaged    behaviour = "teammate's message"
	released    behaviour = "edit after release"
	serverDown  behaviour = "edit, server down"
)

var behaviours = []behaviour{briefed, editDenied, reasonRead, shellDenied, messaged, released, serverDown}

const (
	remote   = "git@github.com:acme/ledger.git"
	claimed  = "ledger.txt"
	free     = "notes.txt"
	greeting = "The ledger freezes at noon, says the auditor."
	patience = 5 * time.Minute // for a whole run of a host, on a busy machine
)

func TestHosts(t *testing.T) {
	hosts := wanted(t)
	if len(hosts) == 0 {
		return
	}
	bin := buildClient(t)
	results := map[string]result{}
	for _, h := range hosts {
		t.Run(h.id, func(t *testing.T) {
			path := install(t, h)
			began := time.Now()
			r := play(t, h, append([]string{bin}, path...))
			t.Logf("%s %s took %s", h.name, h.version, time.Since(began).Round(100*time.Millisecond))
			results[h.id] = r
			for _, b := range behaviours {
				switch limit := h.limits[b]; {
				case r[b] && limit != "":
					t.Errorf("%s: works now; its limit is no longer true: %s", b, limit)
				case !r[b] && limit == "":
					t.Errorf("%s: no", b)
				}
			}
		})
	}
	t.Log("\n" + record(t, results))
}

// A result tells which behaviours were seen.
type result map[behaviour]bool

// buildClient builds svc and returns its folder.
func buildClient(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir, "../../cmd/svc").CombinedOutput(); err != nil {
		t.Fatalf("build svc: %v\n%s", err, out)
	}
	return dir
}

// A world is one developer's machine, Bob's, whose agent the host is; and the
// service, where Ana holds a claim.
type world struct {
	t          *testing.T
	home, repo string
	env        []string
	team       *daemontest.Team
	ana        *daemontest.Person
	claim      coord.Intent
}

// play runs the story with one host.
func play(t *testing.T, h row, path []string) result {
	w := newWorld(t, path)
	seen := result{}
	m := startModel(t, h.editTool(), w.script(h, seen))
	words := strings.NewReplacer("$MODEL", m.URL, "$REPO", w.repo)
	for name, text := range h.files {
		w.write(filepath.Join(w.home, name), words.Replace(text))
	}
	env := slices.Clone(w.env)
	for _, v := range h.env {
		env = append(env, words.Replace(v))
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := run(ctx, w.repo, env, lookPath(t, path, h.bin), h.args...)
	if err != nil || len(seen) < len(behaviours) || slices.ContainsFunc(behaviours, func(b behaviour) bool { return !seen[b] }) {
		log, _ := os.ReadFile(filepath.Join(w.home, ".config/svc/hook.log"))
		t.Logf("%s: %v, %d turns\n%s\nhook.log:\n%s\nThe model was sent:\n%s", h.bin, err, m.done(), tail(out), log, tail(m.transcript()))
	}
	return seen
}

func newWorld(t *testing.T, path []string) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: filepath.Join(root, "home"), repo: filepath.Join(root, "ledger"), team: daemontest.StartTeam(t, filepath.Join(root, "svc.db"))}
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
	for _, args := range []string{"init -q -b main", "remote add origin " + remote, "add -A", "commit -qm start"} {
		w.must("git", strings.Fields(args)...)
	}
	w.anaClaims()
	return w
}

// anaClaims has another person's agent claim a file.
func (w *world) anaClaims() {
	w.ana = w.team.Add("Ana", coord.Member)
	start := daemontest.Do[wire.HookReply](w.ana, 200, "POST /v1/hooks/evaluate", wire.HookRequest{Event: wire.HookSessionStart,
		Session: wire.HookSession{ExternalID: "ana-1", Tool: "claude_code"},
		Repo:    wire.HookRepo{RemoteFingerprints: []string{remote}, Branch: "audit", WorktreeHash: "ana"}}, "X-Svc-Protocol", "1")
	w.claim = daemontest.Do[wire.Declared](w.ana, 201, "POST /v1/intents", object{"title": "Audit the ledger", "mode": coord.Exclusive,
		"session_id": *start.SessionID, "scope": object{"paths": []string{claimed}}}).Intent
}

// setUp logs Bob in and lets svc init configure the host.
func (w *world) setUp(h row) {
	bob := w.team.Add("Bob", coord.Member)
	w.must("svc", "login", "--server", w.team.URL, "--token", bob.Token)
	w.t.Logf("svc init --tools %s --yes\n%s", h.id, w.must("svc", "init", "--tools", h.id, "--yes"))
}

// A beat is a call of the model, with what happens before it and what is
// looked at when its result comes in.
type beat struct {
	before func()
	call   call
	after  func(fresh string)
}

// script is the story: it notes in seen what was seen.
func (w *world) script(h row, seen result) []turn {
	w.setUp(h)
	held, open := filepath.Join(w.repo, claimed), filepath.Join(w.repo, free)
	told := func(fresh string) bool {
		return strings.Contains(fresh, w.claim.Ref) && strings.Contains(fresh, "Conflict: CF-")
	}
	beats := []beat{
		{call: h.edit(held, "one", "two"), after: func(fresh string) {
			seen[editDenied], seen[reasonRead] = w.reads(claimed) == "one\n", told(fresh)
		}},
		{call: h.shell("echo shell > " + claimed), after: func(fresh string) {
			seen[shellDenied] = w.reads(claimed) == "one\n" && told(fresh)
		}},
		{before: w.anaWrites, call: h.edit(open, "first", "second"), after: func(fresh string) {
			seen[messaged] = w.reads(free) == "second\n" && strings.Contains(fresh, greeting)
		}},
		{before: w.anaReleases, call: h.edit(held, "one", "two"), after: func(string) { seen[released] = w.reads(claimed) == "two\n" }},
		{before: w.serverStops, call: h.edit(held, "two", "three"), after: func(string) { seen[serverDown] = w.reads(claimed) == "three\n" }},
	}
	if h.read != nil {
		ignore := func(string) {}
		beats = append([]beat{{call: h.read(held), after: ignore}, {call: h.read(open), after: ignore}}, beats...)
	}
	look := func(fresh string) { seen[briefed] = w.briefs(h, fresh) }
	var turns []turn
	for _, b := range beats {
		before, after := b.before, look
		turns = append(turns, turn{call: b.call, look: func(fresh string) {
			after(fresh)
			if before != nil {
				before()
			}
		}})
		look = b.after
	}
	return append(turns, turn{look: look, call: call{text: "The ledger is up to date."}})
}

// briefs reports whether a text names the session that the service has of the
// host: nothing but its briefing tells that.
func (w *world) briefs(h row, text string) bool {
	list := daemontest.Do[wire.Page[coord.Session]](w.team.Owner, 200, "GET /v1/sessions", nil)
	return slices.ContainsFunc(list.Items, func(s coord.Session) bool {
		return s.Tool == h.id && s.User.Email == "bob@example.com" && strings.Contains(text, s.ID)
	})
}

func (w *world) anaWrites() {
	daemontest.Do[any](w.ana, 201, "POST /v1/messages", object{"to": "user:bob@example.com", "body": greeting})
}

func (w *world) anaReleases() {
	daemontest.Do[any](w.ana, 200, "POST /v1/intents/"+w.claim.Ref+"/close", object{"outcome": "abandoned"})
}

func (w *world) serverStops() {
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
	path, _ := strings.CutPrefix(w.env[0], "PATH=")
	out, err := run(w.t.Context(), w.repo, w.env, lookPath(w.t, filepath.SplitList(path), name), args...)
	if err != nil {
		w.t.Fatalf("%s %s: %v\n%s", name, args[0], err, out)
	}
	return out
}

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
