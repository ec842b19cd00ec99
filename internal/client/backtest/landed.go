package backtest

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// landings tells when the mainline got what: by merge, every commit that it
// brought; by squash, the number of the pull request that the subject ends in.
type landings struct {
	commits map[int32]int64
	numbers map[string]int64
}

var (
	squashOf = lazy.Regexp(`\([#!]([0-9]+)\)$`)
	numberOf = lazy.Regexp(`^refs/(?:pull|merge-requests)/([0-9]+)/head$`)
)

func (s *selector) readLandings(ctx context.Context, repo *gitrepo.Repo, tip int32) (*landings, error) {
	line := s.g.mainline(tip)
	chain := make([]int32, len(line))
	for at, n := range line {
		chain[n] = at
	}
	l := &landings{map[int32]int64{}, map[string]int64{}}
	ids := make([]string, len(chain))
	for n, at := range chain {
		ids[n] = s.g.ids[at]
		for todo := slices.Clone(s.g.parents[at]); len(todo) > 0; {
			c := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			_, main := line[c]
			if _, known := l.commits[c]; main || known {
				continue
			}
			l.commits[c] = s.g.times[at]
			todo = append(todo, s.g.parents[c]...)
		}
	}
	subjects, err := repo.Subjects(ctx, ids)
	if err != nil {
		return nil, err
	}
	for n, id := range ids {
		if m := squashOf.Get().FindStringSubmatch(strings.TrimSpace(subjects[id])); m != nil {
			l.numbers[m[1]] = s.g.times[chain[n]]
		}
	}
	return l, nil
}

// order returns the heads of a case in the order in which they landed, and of
// how many that is known. One that did not land, or nobody knows when, stands
// where it was finished.
func (l *landings) order(g *graph, heads []head) (order []int, known int) {
	when := make([]int64, len(heads))
	for i, h := range heads {
		order = append(order, i)
		at, merged := l.commits[h.at]
		if m := numberOf.Get().FindStringSubmatch(h.name); !merged && m != nil {
			at, merged = l.numbers[m[1]]
		}
		if when[i] = g.times[h.at]; merged {
			when[i] = at
			known++
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(when[a], when[b]) })
	return order, known
}
