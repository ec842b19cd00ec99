//go:build unix

package hosttest

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// What is seen in the daily life of one clone.
const (
	ownClaim    behaviour = "one clone: the other agent's claim holds"
	ownSweep    behaviour = "one clone: git stash over its work refused"
	forewarned  behaviour = "warned with the edit, of lines a colleague changed"
	caughtUp    behaviour = "edit in an outage told afterwards"
	otherTool   behaviour = "write of another tool server told"
	otherAtOnce behaviour = "the model that wrote so reads of a claim with the tool's result"
	inFolder    behaviour = "started in a subfolder, svc init --user"
	toldOnce    behaviour = "a refusal is told once"
)

var scenes = []behaviour{ownClaim, ownSweep, forewarned, caughtUp, otherTool, otherAtOnce, inFolder, toldOnce}

const (
	planned = "plan.txt"
	tooled  = "tooled.txt"
	lines   = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n"
)

// TestHostsInOneClone plays what people live through who have several agents
// in one checkout, a service that is away for a while, and other tool servers.
func TestHostsInOneClone(t *testing.T) {
	hosts := wanted(t)
	if len(hosts) == 0 {
		return
	}
	bin, writer := buildClient(t), filepath.Join(t.TempDir(), "writer")
	if out, err := exec.Command("go", "build", "-o", writer, "./testdata/writer").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	results := map[string]cells{}
	for _, h := range hosts {
		t.Run(h.id, func(t *testing.T) {
			path := append([]string{bin}, install(t, h)...)
			r := result{}
			twoAgents(t, h, path, r)
			outage(t, h, path, writer, r)
			subfolder(t, h, path, r)
			results[h.id] = h.cells(r)
			h.judge(t, scenes, r)
		})
	}
	t.Log("\n" + sceneMatrix.record(t, results))
}

// judge fails for what was not seen, and for limits that are none.
func (h row) judge(t *testing.T, all []behaviour, r result) {
	t.Helper()
	for _, b := range all {
		switch limit := h.limits[b]; {
		case r[b] && limit != "":
			t.Errorf("%s: works now; its limit is no longer true: %s", b, limit)
		case !r[b] && limit == "":
			t.Errorf("%s: no", b)
		}
	}
}

// twoAgents runs two sessions of the host in one clone. The first changes a
// file and claims another through the tool server; while it waits for its
// model, the second tries both.
func twoAgents(t *testing.T, h row, path []string, seen result) {
	w := newWorld(t, path)
	w.setUp(h.id)
	w.anaReleases()
	second := func(string) {
		held := filepath.Join(w.repo, claimed)
		var s script
		if h.read != nil {
			s.then(h.read(held), nil)
		}
		told := 0
		count := func(fresh string) { told += strings.Count(fresh, "your other agent") }
		s.then(h.edit(held, "one", "two"), func(fresh string) {
			seen[ownClaim] = w.reads(claimed) == "one\n" && strings.Contains(fresh, "your other agent")
			count(fresh)
		})
		s.then(h.shell("cat "+free), count)
		s.then(h.shell("git stash"), func(fresh string) {
			seen[ownSweep] = w.reads(free) == "second\n" && strings.Contains(fresh, "uncommitted work on "+free)
		})
		w.drive(h, s.ends("It is taken."), "")
		seen[toldOnce] = told == 1
	}
	var s script
	open := filepath.Join(w.repo, free)
	if h.read != nil {
		s.then(h.read(open), nil)
	}
	s.then(h.edit(open, "first", "second"), nil)
	s.tool(h, "svc", "intent_declare",
		object{"title": "Keep the ledger", "mode": "exclusive", "scope": object{"paths": []string{claimed}}}, second)
	w.drive(h, s.ends("Claimed."), "")
}

// outage has a colleague change a line that the host's model then edits; the
// service go away while it edits another file; and a tool of another server
// write a third.
func outage(t *testing.T, h row, path []string, writer string, seen result) {
	w := newWorld(t, path)
	w.gate = newGate(t, w.team.URL)
	w.setUp(h.id)
	w.interrupted(h, writer, seen)
}

// interrupted is the work of outage.
func (w *world) interrupted(h row, writer string, seen result) {
	w.anaChanges(planned, 4)
	held := w.anaClaims("ana-2", tooled)
	plan, open := filepath.Join(w.repo, planned), filepath.Join(w.repo, free)
	var s script
	if h.read != nil {
		s.then(h.read(plan), nil)
		s.then(h.read(open), nil)
	}
	s.then(h.edit(plan, "four", "vier"), func(fresh string) {
		seen[forewarned] = strings.Contains(fresh, "svc warn (edit_overlap)") && strings.Contains(fresh, "line 4")
		w.gate.shuts()
	})
	s.then(h.edit(open, "first", "second"), func(string) { w.gate.opens() })
	s.tool(h, "writer", "put_note", object{"path": filepath.Join(w.repo, tooled), "text": "by a tool\n"}, func(fresh string) {
		seen[otherAtOnce] = strings.Contains(fresh, held.Ref)
	})
	s.then(h.shell("true"), nil)
	w.drive(h, s.ends("Done."), strings.ReplaceAll(h.stdio, "$WRITER", writer))
	seen[caughtUp] = w.reads(free) == "second\n" && w.recorded(free)
	seen[otherTool] = w.reads(tooled) == "by a tool\n" && w.recorded(tooled)
}

// subfolder starts the host below the repository's root, with the hooks of
// the user alone.
func subfolder(t *testing.T, h row, path []string, seen result) {
	w := newWorld(t, path)
	w.must("svc", "login", "--server", w.team.URL, "--token", w.bob.Token)
	w.dir = filepath.Join(w.repo, "packages", "a")
	w.write(filepath.Join(w.dir, "a.txt"), "a\n")
	w.prepare = func() {
		w.t.Logf("svc init --user\n%s", w.must("svc", "init", "--user", "--tools", h.id, "--yes"))
		w.configured = true
	}
	claim := w.anaClaims("ana-2", "packages/a/a.txt") // some hosts edit nothing outside of their folder
	held := filepath.Join(w.dir, "a.txt")
	var s script
	if h.read != nil {
		s.then(h.read(held), nil)
	}
	s.then(h.edit(held, "a", "b"), func(fresh string) {
		seen[inFolder] = w.reads("packages/a/a.txt") == "a\n" && strings.Contains(fresh, claim.Ref)
	})
	w.drive(h, s.ends("It is held."), "")
}

// anaChanges has Ana's agent change a line.
func (w *world) anaChanges(file string, line int) {
	git := func(args ...string) string { return strings.TrimSpace(w.must("git", args...)) }
	base, fresh := git("rev-parse", "HEAD:"+file), strings.Repeat("a", 40)
	daemontest.Do[wire.HookReply](w.ana, 200, "POST /v1/hooks/evaluate", wire.HookRequest{Event: wire.HookPostEdit,
		Session: wire.HookSession{ExternalID: "ana-1", Tool: "claude_code"},
		Repo: wire.HookRepo{RemoteFingerprints: []string{remote}, Branch: "audit", WorktreeHash: "ana-1", HeadSHA: git("rev-parse", "HEAD"),
			BaseSHA: git("rev-parse", "HEAD")},
		Paths: []string{file},
		Analysis: &coord.Analysis{Files: []coord.FileFacts{{Path: file, Status: coord.FileModified, BaseBlob: &base, NewBlob: &fresh,
			Hunks: []coord.Hunk{{Start: line, Count: 1, LinesHash: "ana's"}}, Symbols: []coord.SymbolFacts{},
			Contracts: []coord.ContractFacts{}, References: []coord.Reference{}}}}}, "X-Svc-Protocol", "1")
}

// recorded reports whether the service was told of a change of Bob's.
func (w *world) recorded(file string) bool {
	list := daemontest.Do[wire.Page[coord.Event]](w.team.Owner, 200, "GET /v1/events?limit=200", nil)
	return slices.ContainsFunc(list.Items, func(e coord.Event) bool {
		text, err := json.Marshal(e)
		return err == nil && e.Type == coord.EventChangeRecorded && strings.Contains(string(text), `"`+file+`"`)
	})
}

// A script gathers turns.
type script struct {
	turns []turn
	look  func(string)
}

// then adds a call, and what looks at its result.
func (s *script) then(c call, after func(fresh string)) {
	look := s.look
	if look == nil {
		look = func(string) {}
	}
	s.turns = append(s.turns, turn{look: look, call: c})
	s.look = after
}

// tool adds a call of a server's tool, found first where the host wants that.
func (s *script) tool(h row, server, tool string, args object, after func(string)) {
	name := strings.NewReplacer("$S", server, "$T", tool).Replace(h.mcp)
	if h.find != nil {
		s.then(h.find(name), nil)
	}
	c := call{tool: name, args: args, listed: true}
	if h.invoke != "" {
		c = call{tool: h.invoke, args: object{"name": name, "arguments": args}}
	}
	s.then(c, after)
}

// ends adds the last words.
func (s *script) ends(text string) []turn {
	s.then(call{text: text}, nil)
	return s.turns
}
