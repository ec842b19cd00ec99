package backtest_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/gittest"
)

// A project that squashes has no merges on its mainline. What its people merged
// is in the pull requests: the mainline into them; and those were beside each
// other.
func TestASquashingProjectIsReplayedFromItsPullRequests(t *testing.T) {
	m := newMaker()
	start := m.commit("start", files{"a.txt": gittest.Numbered(40, nil)})
	one := m.commit("one, begun", files{"a.txt": gittest.Numbered(40, map[int]string{10: "one\n"})}, start)
	main := m.commit("another (#7)", files{"a.txt": gittest.Numbered(40, map[int]string{10: "main\n"})}, start)
	both := m.commit("Merge branch 'main' into one", files{"a.txt": gittest.Numbered(40, map[int]string{10: "one and main\n"})}, one, main)
	two := m.commit("two, begun", files{"a.txt": gittest.Numbered(40, map[int]string{10: "main\n", 30: "two\n"})}, main)
	m.ref("refs/pull/1/head", both)
	m.ref("refs/merge-requests/2/head", m.commit("two, done", files{"b.txt": "2\n"}, two))
	r := run(t, m.build(t, main), backtest.Options{})
	if len(r.Outcomes) != 1 || !r.Selection.Squashed {
		t.Fatalf("%+v", r)
	}
	o := &r.Outcomes[0]
	if o.Kind != backtest.TrueMerge || o.Subject != "Merge branch 'main' into one" || told(o) != "a.txt caught" || o.Landed {
		t.Errorf("%+v", o)
	}
	var text bytes.Buffer
	r.Text(&text, "acme/shop")
	if !strings.Contains(text.String(), "into pull requests were replayed") {
		t.Errorf("%s", text.String())
	}

	// With merges enough of its own, the mainline is what is replayed.
	m = newMaker()
	base := m.commit("start", files{"a.txt": gittest.Numbered(40, nil)})
	merge := m.fork("own", base, files{"b.txt": "b\n"}, files{"c.txt": "c\n"})
	branch := m.commit("work", files{"d.txt": "d\n"}, base)
	m.ref("refs/pull/1/head", m.commit("update", nil, branch, merge))
	if r := run(t, m.build(t, merge), backtest.Options{}); len(r.Outcomes) != 1 || r.Selection.Squashed || r.Outcomes[0].Subject != "own" {
		t.Errorf("%+v", r)
	}
}

// A live report has so many changed places and no more: what is beyond is not
// known, which a replay shows when it is asked to.
func TestLiveLimits(t *testing.T) {
	m := newMaker()
	const lines = 9000
	every := func(n int, text string) map[int]string {
		out := map[int]string{}
		for i := n; i < lines; i += n {
			out[i] = text
		}
		return out
	}
	base := m.commit("start", files{"a.txt": gittest.Numbered(lines, nil)})
	merge := m.fork("many places", base, files{"a.txt": gittest.Numbered(lines, every(4, "left\n"))},
		files{"a.txt": gittest.Numbered(lines, map[int]string{lines - 3: "right\n", 4: "right\n"})})
	repo, dir := m.build(t, merge), t.TempDir()
	for _, live := range []bool{false, true, false} {
		r := run(t, repo, backtest.Options{LiveLimits: live, CacheDir: dir})
		want := "a.txt caught"
		if live {
			want = "a.txt MISSED"
		}
		if len(r.Outcomes) != 1 || told(&r.Outcomes[0]) != want {
			t.Errorf("live limits %v: %s", live, told(&r.Outcomes[0]))
		}
	}
}
