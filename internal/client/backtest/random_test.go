package backtest_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/gittest"
)

// Histories of random shape: the bases are those that git finds, every merge
// with work on both sides is replayed, and what svc says of lines agrees with
// git wherever there is one base.
func TestRandomHistoriesAreReadAsGitReadsThem(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 7))
		m := newMaker()
		text := map[int]map[int]string{1: {}}
		heads := []int{m.commit("start", files{"a.txt": gittest.Numbered(40, nil)})}
		for n := range 50 {
			at := r.IntN(len(heads))
			parents := []int{heads[at]}
			if other := heads[r.IntN(len(heads))]; r.IntN(3) == 0 && other != heads[at] {
				parents = append(parents, other)
			}
			lines := map[int]string{}
			for _, p := range slices.Backward(parents) {
				for line, s := range text[p] {
					lines[line] = s
				}
			}
			if len(parents) == 1 {
				lines[1+r.IntN(40)] = fmt.Sprintf("edit %d\n", r.IntN(30))
			}
			c := m.commit(fmt.Sprint("commit ", n), files{"a.txt": gittest.Numbered(40, lines)}, parents...)
			text[c] = lines
			if heads[at] = c; r.IntN(4) == 0 {
				heads = append(heads, parents[0])
			}
		}
		last := heads[0]
		for _, h := range heads[1:] {
			next := m.commit("the end", nil, last, h)
			text[next] = text[last]
			last = next
		}
		repo := m.build(t, last)
		res := run(t, repo, backtest.Options{})
		if len(res.Outcomes) < 5 {
			t.Fatalf("seed %d: only %d cases", seed, len(res.Outcomes))
		}
		for i := range res.Outcomes {
			o := &res.Outcomes[i]
			bases := strings.Fields(gittest.Feed(t, repo.GitDir, "", "merge-base", "--all", o.Heads[0], o.Heads[1]))
			if o.Bases != len(bases) || !slices.Contains(bases, o.Base) {
				t.Errorf("seed %d: %s has base %s (%d), git says %v", seed, o.Merge, o.Base, o.Bases, bases)
			}
			if got := told(o); o.Bases == 1 && got != "quiet" && got != "a.txt caught" {
				t.Errorf("seed %d: %s: %s", seed, o.Merge, got)
			}
		}
	}
}
