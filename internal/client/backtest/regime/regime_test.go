package regime_test

import (
	"bytes"
	"encoding/xml"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/client/backtest/regime"
)

func pieces(of ...any) (out []regime.Piece) {
	for i := 0; i < len(of); i += 2 {
		out = append(out, regime.Piece{Path: of[i].(string), Lines: of[i+1].(int)})
	}
	return out
}

// two agents share a file; git stops at four lines of the one and six of the
// other, of which two and three are in the first place.
func two() *regime.Group {
	return &regime.Group{
		Agents:   [][]regime.Piece{pieces("a", 10, "b", 30), pieces("a", 20, "c", 10)},
		Clashes:  []regime.Clash{{Agents: [2]int{0, 1}, Lines: [2]int{4, 6}, First: [2]int{2, 3}, Told: true}},
		Proposed: []int{1, 0}, Happened: []int{0, 1},
	}
}

func TestWhatEachRegimeCosts(t *testing.T) {
	rules := regime.Plain // a stop costs 20, a word 2
	base := regime.Bill{Agents: 2, Work: 70, Alone: 40}
	for _, tc := range []struct {
		name   string
		regime regime.Regime
		change func(*regime.Rules)
		want   func(*regime.Bill)
	}{
		// The second is done at 30 and lands; the first at 40 stops, and redoes its four lines.
		{"nothing", regime.Nothing, nil, func(b *regime.Bill) { b.Stops, b.Files, b.Redone, b.Spent, b.Until = 1, 1, 4, 94, 64 }},
		// The second is refused a at 0, writes c until 12, waits until 40 and writes a.
		{"lock", regime.Locks, nil, func(b *regime.Bill) { b.Told, b.Waited, b.Spent, b.Until = 1, 28, 100, 60 }},
		{"lock, waiting at once", regime.Locks, func(r *regime.Rules) { r.Stands = true },
			func(b *regime.Bill) { b.Told, b.Waited, b.Spent, b.Until = 1, 38, 110, 70 }},
		{"warning", regime.Warns, nil, func(b *regime.Bill) { b.Told, b.Waited, b.Spent, b.Until = 1, 28, 100, 60 }},
		// The second writes c, then a after all, and is done at 32.
		{"warning, last", regime.Warns, func(r *regime.Rules) { r.Heed = regime.Last },
			func(b *regime.Bill) { b.Told, b.Stops, b.Files, b.Redone, b.Spent, b.Until = 1, 1, 1, 4, 96, 64 }},
		// The second is told with the first three lines, which are in vain.
		{"svc", regime.SVC, nil, func(b *regime.Bill) { b.Told, b.Redone, b.Waited, b.Spent, b.Until = 1, 3, 25, 100, 60 }},
		{"svc, goes on", regime.SVC, func(r *regime.Rules) { r.Heed = regime.GoesOn },
			func(b *regime.Bill) { b.Told, b.Stops, b.Files, b.Redone, b.Spent, b.Until = 1, 1, 1, 4, 96, 64 }},
		{"nothing, with review", regime.Nothing, func(r *regime.Rules) { r.Review = 1 },
			func(b *regime.Bill) { b.Stops, b.Files, b.Redone, b.Spent, b.Until, b.Alone = 1, 1, 4, 94, 104, 80 }},
	} {
		r, want := rules, base
		if tc.change != nil {
			tc.change(&r)
		}
		tc.want(&want)
		if d := cmp.Diff(want, regime.Play(two(), tc.regime, r)); d != "" {
			t.Errorf("%s:\n%s", tc.name, d)
		}
	}
}

// What svc does not know of, it does not tell; what it wrongly tells of costs a
// wait for nothing; and breaks are estimated by what is known of its recall.
func TestMissesAlarmsAndBreaks(t *testing.T) {
	missed := two()
	missed.Clashes[0].Told = false
	if b := regime.Play(missed, regime.SVC, regime.Plain); b.Told != 0 || b.Stops != 1 {
		t.Errorf("missed: %+v", b)
	}
	alarm := two()
	alarm.Clashes, alarm.Alarms = nil, []regime.Alarm{{Agents: [2]int{0, 1}}}
	if b := regime.Play(alarm, regime.SVC, regime.Plain); b.Told != 1 || b.Stops != 0 || b.Redone != 0 || b.Waited != 28 {
		t.Errorf("alarm: %+v", b)
	}
	broken := &regime.Group{Agents: [][]regime.Piece{pieces("a", 10), pieces("b", 5)}, Breaks: [][2]int{{0, 1}}}
	all, heard := regime.Play(broken, regime.Locks, regime.Plain).Breaks, regime.Play(broken, regime.SVC, regime.Plain).Breaks
	if all < 1 || heard <= 0 || heard > all/2 {
		t.Errorf("breaks: %v through, with svc %v", all, heard)
	}
}

// Two that lock what the other needs wait for ever, unless one gives up.
func TestACircleOfLocksIsReleased(t *testing.T) {
	g := &regime.Group{Agents: [][]regime.Piece{pieces("a", 10, "b", 10), pieces("b", 10, "a", 10)}}
	b := regime.Play(g, regime.Locks, regime.Plain)
	if b.Released != 1 || b.Redone != 10 || b.Until <= 40 {
		t.Errorf("%+v", b)
	}
}

func drawn(r *rand.Rand) *regime.Group {
	g := &regime.Group{}
	n := 1 + r.IntN(6)
	for range n {
		var all []regime.Piece
		for _, f := range r.Perm(6)[:r.IntN(5)] {
			all = append(all, regime.Piece{Path: string(rune('a' + f)), Lines: 1 + r.IntN(40)})
		}
		g.Agents = append(g.Agents, all)
	}
	g.Proposed, g.Happened = r.Perm(n), r.Perm(n)
	for a := range n {
		for b := a + 1; b < n; b++ {
			for k, p := range g.Agents[a] {
				for l, q := range g.Agents[b] {
					if p.Path == q.Path && r.IntN(2) == 0 {
						x, y := 1+r.IntN(p.Lines), 1+r.IntN(q.Lines)
						g.Clashes = append(g.Clashes, regime.Clash{Agents: [2]int{a, b}, Pieces: [2]int{k, l}, Lines: [2]int{x, y},
							First: [2]int{1 + r.IntN(x), 1 + r.IntN(y)}, Told: r.IntN(4) > 0})
					}
				}
			}
		}
	}
	return g
}

// Whatever the group and the rules: everybody lands, time adds up, who has
// nothing to wait for waits not, and locks leave nothing to stop at.
func TestEveryGroupEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		g := drawn(r)
		for _, rules := range append([]regime.Rules{regime.Plain}, regime.Varied...) {
			for _, way := range regime.All {
				b := regime.Play(g, way, rules)
				if want := b.Work + b.Redone + b.Stops*rules.Stop + b.Told*rules.Read + b.Waited; b.Spent != want {
					t.Fatalf("%s, %s: %d spent, the parts are %d: %+v\n%+v", way, rules.Name, b.Spent, want, b, g)
				}
				if b.Until < b.Alone || b.Waited < 0 || way == regime.Nothing && b.Waited+b.Told > 0 || way == regime.Locks && b.Stops > 0 {
					t.Fatalf("%s, %s: %+v", way, rules.Name, b)
				}
			}
		}
		best, stops, mean, ok := g.Every()
		for _, order := range [][]int{g.Proposed, g.Happened} {
			if p := g.Land(order); !ok || p.Lines < best.Lines || p.Stops < stops || mean[1] < float64(best.Lines) {
				t.Fatalf("%+v: best %+v, %d stops, mean %v", p, best, stops, mean)
			}
		}
	}
}

func TestAComparisonIsTold(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	groups := []*regime.Group{two()}
	for range 20 {
		groups = append(groups, drawn(r))
	}
	c := regime.Compare(groups)
	if d := cmp.Diff(c, regime.Compare(groups)); d != "" {
		t.Errorf("the same groups, other figures:\n%s", d)
	}
	for _, row := range c.Tables[0].Rows {
		for _, f := range []regime.Figure{row.Stops, row.Redone, row.Spent, row.Until} {
			if f.Low > f.Value || f.Value > f.High {
				t.Errorf("%s: %+v", row.Regime, f)
			}
		}
	}
	var text bytes.Buffer
	c.Text(&text)
	for line := range strings.Lines(text.String()) {
		if len(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("too long: %q", line)
		}
	}
	if !strings.Contains(text.String(), "the best of all orders") {
		t.Errorf("%s", text.String())
	}
	for d := xml.NewDecoder(strings.NewReader(c.Picture())); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if none := regime.Compare(nil); none.Groups != 0 || none.Picture() != "" {
		t.Errorf("%+v", none)
	}
}
