package backtest_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/gittest"
)

// Pull requests that left the mainline at different commits are compared each
// with its own base, as their clients would.
func TestFlightsFromDifferentBases(t *testing.T) {
	m := newMaker()
	old := m.commit("start", files{"a.txt": gittest.Numbered(60, nil)})
	added := "new 1\nnew 2\nnew 3\nline 1\n" // the mainline adds three lines on top
	now := m.commit("meanwhile", files{"a.txt": gittest.Numbered(60, map[int]string{1: added})}, old)
	with := func(line int, text string) files {
		return files{"a.txt": gittest.Numbered(60, map[int]string{1: added, line: text})}
	}
	first := m.commit("first, begun", files{"a.txt": gittest.Numbered(60, map[int]string{30: "one\n"})}, old)
	second := m.commit("second, begun", with(30, "two\n"), now)
	third := m.commit("third, begun", with(33, "three\n"), now) // the same number, another line
	m.ref("refs/pull/1/head", m.commit("first, done", files{"b.txt": "1\n"}, first))
	m.ref("refs/pull/2/head", m.commit("second, done", files{"c.txt": "2\n"}, second))
	m.ref("refs/pull/3/head", m.commit("third, done", files{"d.txt": "3\n"}, third))
	r := run(t, m.build(t, now), backtest.Options{Flights: true, NoMerges: true})
	got := map[string]string{}
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		got[strings.Join(o.Names, " ")] = told(o) + o.Failed
	}
	want := map[string]string{"refs/pull/1/head refs/pull/2/head": "a.txt caught", "refs/pull/1/head refs/pull/3/head": "quiet"}
	for names, is := range want {
		if got[names] != is {
			t.Errorf("%s: %q, want %q", names, got[names], is)
		}
	}
	if len(got) != len(want) { // the second and the third have one base
		t.Errorf("%v", got)
	}
}

// The default branch moves a folder between two bases. Who started before is met
// by who started after, in the same lines and no others.
func TestFlightsAcrossAMovedFolder(t *testing.T) {
	m := newMaker()
	one, two := gittest.Numbered(60, nil), gittest.Numbered(50, map[int]string{2: "another\n", 9: "file\n"})
	old := m.commit("start", files{"old/a.txt": one, "old/b.txt": two})
	m.clock += 30 * 86400
	added := "new 1\nline 1\n"
	titled := gittest.Numbered(60, map[int]string{1: added})
	now := m.commit("move", files{"old/a.txt": "", "old/b.txt": "", "new/a.txt": titled, "new/b.txt": two}, old)
	with := func(line int, text string) files {
		return files{"new/a.txt": gittest.Numbered(60, map[int]string{1: added, line: text})}
	}
	first := m.commit("first, begun", files{"old/a.txt": gittest.Numbered(60, map[int]string{30: "one\n"}), "old/b.txt": two + "one\n"}, old)
	second := m.commit("second, begun", with(30, "two\n"), now)
	third := m.commit("third, begun", with(40, "three\n"), now)
	m.ref("refs/pull/1/head", m.commit("first, done", files{"b.txt": "1\n"}, first))
	m.ref("refs/pull/2/head", m.commit("second, done", files{"new/b.txt": two + "two\n"}, second)) // its base has the same blob
	m.ref("refs/pull/3/head", m.commit("third, done", files{"d.txt": "3\n"}, third))
	r := run(t, m.build(t, now), backtest.Options{Flights: true, NoMerges: true})
	got := map[string]string{}
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		got[strings.Join(o.Names, " ")] = told(o) + o.Failed
	}
	want := map[string]string{
		"refs/pull/1/head refs/pull/2/head": "new/a.txt caught, new/b.txt caught",
		"refs/pull/1/head refs/pull/3/head": "quiet",
	}
	for names, is := range want {
		if got[names] != is {
			t.Errorf("%s: %q, want %q", names, got[names], is)
		}
	}
}

// A file that grew to twice its size after it was moved is another one for git,
// which stops at it for the move alone: that is drift, by whichever of its names
// svc tells of it.
func TestDriftOfAMovedFileIsLeftOut(t *testing.T) {
	m := newMaker()
	old := m.commit("start", files{"old/a.txt": gittest.Numbered(60, nil)})
	moved := m.commit("move", files{"old/a.txt": "", "new/a.txt": gittest.Numbered(60, nil)}, old)
	grown := func(at map[int]string) files {
		return files{"new/a.txt": gittest.Numbered(60, at) + strings.Repeat("something else altogether\n", 200)}
	}
	now := m.commit("grow", grown(nil), moved)
	first := m.commit("first, begun", files{"old/a.txt": gittest.Numbered(60, map[int]string{30: "one\n"})}, old)
	second := m.commit("second, begun", grown(map[int]string{30: "two\n"}), now)
	m.ref("refs/pull/1/head", m.commit("first, done", files{"b.txt": "1\n"}, first))
	m.ref("refs/pull/2/head", m.commit("second, done", files{"c.txt": "2\n"}, second))
	r := run(t, m.build(t, now), backtest.Options{Flights: true, NoMerges: true})
	if len(r.Outcomes) != 1 || told(&r.Outcomes[0]) != "quiet" {
		t.Errorf("told %+v", r.Outcomes)
	}
}

// Where histories cross, what both sides have already is no change of either.
func TestCrossedHistoriesShareWhatBothHave(t *testing.T) {
	m := newMaker()
	base := m.commit("start", files{"a.txt": gittest.Numbered(40, nil)})
	a := m.commit("a", files{"a.txt": gittest.Numbered(40, map[int]string{5: "a\n"})}, base)
	b := m.commit("b", files{"a.txt": gittest.Numbered(40, map[int]string{15: "b\n"})}, base)
	both := map[int]string{5: "a\n", 15: "b\n"}
	ab := m.commit("b into a", files{"a.txt": gittest.Numbered(40, both)}, a, b)
	ba := m.commit("a into b", files{"a.txt": gittest.Numbered(40, both)}, b, a)
	ab = m.commit("left", files{"a.txt": gittest.Numbered(40, map[int]string{5: "left\n", 15: "b\n"})}, ab)
	ba = m.commit("right", files{"a.txt": gittest.Numbered(40, map[int]string{5: "a\n", 15: "b\n", 30: "right\n"})}, ba)
	r := run(t, m.build(t, m.commit("crossed", nil, ab, ba)), backtest.Options{})
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Subject == "crossed" {
			if got := told(o); o.Bases != 2 || got != "quiet" {
				t.Errorf("%d bases: %s", o.Bases, got)
			}
			return
		}
	}
	t.Errorf("outcomes = %+v", r.Outcomes)
}

// Coding agents are called bots by their hosts. What they do is work.
func TestAgentsAreWorkers(t *testing.T) {
	m := newMaker()
	base := m.commit("start", files{"a.txt": gittest.Numbered(20, nil)})
	m.by = "copilot-swe-agent[bot] <198982749+Copilot@users.noreply.github.com>"
	left := m.commit("by an agent", files{"a.txt": gittest.Numbered(20, map[int]string{5: "agent\n"})}, base)
	m.by = "Ana <ana@example.com>"
	right := m.commit("by Ana", files{"a.txt": gittest.Numbered(20, map[int]string{5: "ana\n"})}, base)
	r := run(t, m.build(t, m.commit("both", nil, left, right)), backtest.Options{})
	if len(r.Outcomes) != 1 || told(&r.Outcomes[0]) != "a.txt caught" {
		t.Errorf("%+v", r)
	}
}

// A program that reads the result finds a list, also an empty one; and so does
// who interrupts before anything was chosen.
func TestNothingIsAList(t *testing.T) {
	m := newMaker()
	repo := m.build(t, m.commit("start", files{"a.txt": "a\n"}))
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, ctx := range []context.Context{t.Context(), stopped} {
		r, err := backtest.Run(ctx, repo, backtest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(r.Full("shop", "test"))
		if err != nil || !strings.Contains(string(data), `"outcomes":[]`) {
			t.Errorf("%s %v", data, err)
		}
		if r.Interrupted != (ctx == stopped) {
			t.Errorf("interrupted is %v", r.Interrupted)
		}
	}
}
