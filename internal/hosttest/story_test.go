//go:build unix

// Package hosttest runs real agent hosts, as their makers publish them,
// against a model that follows a script: with the configuration that svc init
// writes, the real client and the real service. It has no code besides tests;
// make test-hosts runs them.
package hosttest

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
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
	bridged     behaviour = "tools: svc mcp"
	direct      behaviour = "tools: HTTP"
)

var behaviours = []behaviour{briefed, editDenied, reasonRead, shellDenied, messaged, released, serverDown, bridged, direct}

const (
	remote   = "git@github.com:acme/ledger.git"
	claimed  = "ledger.txt"
	free     = "notes.txt"
	greeting = "The ledger freezes at noon, says the auditor."
	patience = 8 * time.Minute // for a whole run of a host, on a busy machine
)

func TestHosts(t *testing.T) {
	hosts := wanted(t)
	if len(hosts) == 0 {
		return
	}
	bin := buildClient(t)
	results := map[string]cells{}
	for _, h := range hosts {
		t.Run(h.id, func(t *testing.T) {
			path := install(t, h)
			began := time.Now()
			r := inTime(t, h, append([]string{bin}, path...))
			again := newWorld(t, append([]string{bin}, path...))
			again.setUp(h.id)
			maps.Copy(r, again.useTools(h))
			t.Logf("%s %s took %s", h.name, h.version, time.Since(began).Round(100*time.Millisecond))
			results[h.id] = h.cells(r)
			h.judge(t, behaviours, r)
		})
	}
	t.Log("\n" + seenMatrix.record(t, results))
}

// inTime plays the story until the service answered every hook in the time it
// has, 400 ms before an edit. On a machine that is busy with something else it
// may not, and then the edit goes on, as it should: such a run says nothing of
// the host.
func inTime(t *testing.T, h row, path []string) (seen result) {
	t.Helper()
	for range 5 {
		w := newWorld(t, path)
		w.setUp(h.id)
		seen = w.play(h, nil)
		if log := w.hookLog(); !strings.Contains(log, "timeout") && !strings.Contains(log, "deadline") {
			return seen
		}
		t.Log("the service did not answer in time; the story is played again")
	}
	return seen
}

// The story can tell a host with svc from one without: otherwise its answers
// would mean nothing.
func TestHostsWithoutSvc(t *testing.T) {
	for _, h := range wanted(t)[:min(1, len(wanted(t)))] {
		w := newWorld(t, install(t, h))
		if seen := w.play(h, nil); slices.ContainsFunc(behaviours, func(b behaviour) bool { return seen[b] }) || w.reads(free) != "second\n" {
			t.Errorf("%s, which knows nothing of svc, is seen to have: %v; %s is %q", h.name, seen, free, w.reads(free))
		}
	}
}

// Copilot CLI also runs the hooks of Claude Code. With both configured, each
// event is evaluated once: one session, one refusal for each refused call.
func TestHostsThatRunAnothersHooks(t *testing.T) {
	for _, h := range wanted(t) {
		if h.id != "copilot_cli" {
			continue
		}
		calls, bin := logged(t, buildClient(t))
		w := newWorld(t, append([]string{bin}, install(t, h)...))
		w.setUp("claude_code,copilot_cli")
		var blocked, sessions int
		seen := w.play(h, func() { blocked, sessions = w.count() })
		// What one configuration denied, the host does not ask the other about.
		text, err := os.ReadFile(calls)
		for hook, least := range map[string]int{
			"copilot_cli --event preToolUse":   5,
			"claude_code --event PreToolUse":   3,
			"claude_code --event SessionStart": 1,
		} {
			if n := strings.Count(string(text), "hook --tool "+hook); n < least {
				t.Errorf("%s ran %d times, want %d: the host did not run both configurations (%v)\n%s", hook, n, least, err, text)
			}
		}
		if !seen[briefed] || !seen[editDenied] || !seen[shellDenied] || !seen[messaged] || blocked != 2 || sessions != 1 {
			t.Errorf("%d refusals were recorded, want 2; %d sessions, want 1; seen %v", blocked, sessions, seen)
		}
	}
}

// A result tells which behaviours were seen.
type result map[behaviour]bool

// play runs the story with one host. Before the service stops, last looks at
// it, if given.
func (w *world) play(h row, last func()) result {
	w.t.Helper()
	seen := result{}
	w.drive(h, w.script(h, seen, last), "")
	return seen
}

// drive runs a host with a model that follows turns, and with what is given
// for $DIRECT in its settings.
func (w *world) drive(h row, turns []turn, extra string) *model {
	w.t.Helper()
	m := startModel(w.t, h.editTool(), turns)
	w.model, m.subs = m, w.subs
	if w.team != nil {
		extra = strings.NewReplacer("$SERVER", w.team.URL, "$TOKEN", w.bob.Token).Replace(extra)
	}
	words := strings.NewReplacer("$MODEL", m.URL, "$REPO", w.repo, "$DIRECT", extra)
	for name, text := range h.files {
		w.write(filepath.Join(w.home, name), words.Replace(text))
	}
	bin := lookPath(w.t, w.path(), h.bin)
	if w.prepare != nil {
		w.prepare()
	}
	if h.accept != nil && w.configured {
		h.accept(w, bin)
	}
	env := slices.Clone(w.env)
	for _, v := range h.env {
		env = append(env, words.Replace(v))
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	out, err := w.runs(ctx, w.place(), env, bin, h.args...)
	m.stop()
	w.t.Cleanup(func() {
		if w.t.Failed() {
			w.t.Logf("%s: %v, %d turns\n%s\nhook.log:\n%s\nThe model was sent:\n%s", h.bin, err, m.seen, tail(out), w.hookLog(),
				tail(strings.Join(m.log, "\n")))
		}
	})
	return m
}

// place is where the host is started.
func (w *world) place() string {
	if w.dir != "" {
		return w.dir
	}
	return w.repo
}

// hookLog returns why hooks failed open.
func (w *world) hookLog() string {
	log, _ := os.ReadFile(filepath.Join(w.home, ".config/svc/hook.log"))
	return string(log)
}

// A beat is a call of the model, with what happens before it and what is
// looked at when its result comes in.
type beat struct {
	before func()
	call   call
	after  func(fresh string)
}

// script is the story: it notes in seen what was seen.
func (w *world) script(h row, seen result, last func()) []turn {
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
		{
			before: func() { w.serverStops(last) },
			call:   h.edit(held, "two", "three"),
			after:  func(string) { seen[serverDown] = w.reads(claimed) == "three\n" },
		},
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
			time.Sleep(w.think)
		}})
		look = b.after
	}
	return append(turns, turn{look: look, call: call{text: "The ledger is up to date."}})
}

// briefs reports whether a text names the session that the service has of the
// host: nothing but its briefing tells that.
func (w *world) briefs(h row, text string) bool {
	return slices.ContainsFunc(w.bobs(), func(s coord.Session) bool { return s.Tool == h.id && strings.Contains(text, s.ID) })
}
