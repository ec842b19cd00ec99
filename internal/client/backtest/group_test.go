package backtest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/client/backtest/regime"
	"github.com/svc-hq/svc/internal/gittest"
)

// A swarm is kept as what each wrote and where git stops, with the order in
// which they landed: by merge, by squash, or where the work was finished.
func TestASwarmIsComparedUnderOtherRegimes(t *testing.T) {
	m := newMaker()
	start := m.commit("start", files{
		"a.txt": gittest.Numbered(40, nil), "b.txt": gittest.Numbered(40, nil), "package-lock.json": gittest.Numbered(9, nil),
	})
	one := m.commit("one", files{"a.txt": gittest.Numbered(40, map[int]string{10: "one\n", 11: "one\n", 30: "one\n"})}, start)
	two := m.commit("two", files{
		"a.txt":             gittest.Numbered(40, map[int]string{10: "two\n", 11: "2\n", 30: "two\n"}),
		"b.txt":             gittest.Numbered(40, map[int]string{5: "two\n"}),
		"package-lock.json": gittest.Numbered(9, map[int]string{2: "two\n"}),
	}, start)
	three := m.commit("three", files{"b.txt": "", "c.txt": "3\n"}, start)
	m.ref("refs/pull/1/head", one)
	m.ref("refs/pull/2/head", two)
	m.ref("refs/pull/3/head", three)
	main := m.commit("two, squashed (#2)", files{"a.txt": gittest.Numbered(40, map[int]string{10: "two\n", 11: "2\n"})}, start)
	main = m.commit("Merge pull request #1", nil, main, one)
	repo, dir := m.build(t, main), t.TempDir()
	for _, cached := range []int{0, 1} {
		r := run(t, repo, backtest.Options{NoMerges: true, Swarm: 3, Compare: true, CacheDir: dir})
		if len(r.Outcomes) != 1 || r.Outcomes[0].Failed != "" || r.Outcomes[0].Group == nil || r.Cached != cached {
			t.Fatalf("%+v", r)
		}
		o := &r.Outcomes[0]
		number := map[string]int{} // heads are in a random order
		for i, name := range o.Names {
			number[name[len("refs/pull/"):][:1]] = i
		}
		at := func(names ...string) (out []int) {
			for _, n := range names {
				out = append(out, number[n])
			}
			return out
		}
		g := o.Group
		if d := cmp.Diff(at("3", "2", "1"), g.Happened); d != "" || g.Known != 2 {
			t.Errorf("%d known to have landed, in the order\n%s", g.Known, d)
		}
		want := map[string][]regime.Piece{
			"1": {{Path: "a.txt", Lines: 3}}, "2": {{Path: "a.txt", Lines: 3}, {Path: "b.txt", Lines: 1}},
			"3": {{Path: "b.txt", Lines: 1}, {Path: "c.txt", Lines: 1}},
		}
		for name, pieces := range want {
			if d := cmp.Diff(pieces, g.Agents[number[name]]); d != "" {
				t.Errorf("%s wrote\n%s", name, d)
			}
		}
		if len(g.Clashes) != 2 {
			t.Fatalf("%+v", g.Clashes)
		}
		for _, c := range g.Clashes {
			lines, first := [2]int{3, 3}, [2]int{2, 2}
			if c.Agents[0] == number["3"] || c.Agents[1] == number["3"] { // one deletes what the other edits
				lines, first = [2]int{1, 1}, [2]int{1, 1}
			}
			if c.Lines != lines || c.First != first || !c.Told {
				t.Errorf("%+v", c)
			}
		}
		// Two has work in both: it alone has to redo something if it lands last.
		if p := g.Land(at("3", "1", "2")); p != (regime.Price{Stops: 1, Lines: 4}) {
			t.Errorf("%+v", p)
		}
		if all := r.Compare(); all.Groups != 1 || all.Meeting != 1 || all.Orders.Weighed != 1 {
			t.Errorf("%+v", all)
		}
	}
}
