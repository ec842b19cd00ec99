package backtest

import (
	"slices"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/lines"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
)

// Everybody branches at another time. A flight is two heads that leave the
// mainline at different commits and were worked on at the same time: each is
// compared with its own base, as its client would.

// flights draws pairs of heads that overlap in time, each head as likely as any
// other to be the first of a pair.
func (s *selector) flights() {
	if len(s.heads) < 2 {
		return
	}
	began := func(h *head) int64 { return s.g.times[h.side[len(h.side)-1]] }
	ended := func(h *head) int64 { return s.g.times[h.at] }
	drawn := map[[2]int]bool{}
	for tries := 0; len(drawn) < s.opts.Max && tries < 20*s.opts.Max; tries++ {
		i := s.rng.IntN(len(s.heads))
		a := &s.heads[i]
		var beside []int
		for j := range s.heads {
			b := &s.heads[j]
			if b.base != a.base && began(b) <= ended(a) && began(a) <= ended(b) && !shareCommits(*a, *b) {
				beside = append(beside, j)
			}
		}
		if len(beside) == 0 {
			continue
		}
		j := beside[s.rng.IntN(len(beside))]
		key := [2]int{min(i, j), max(i, j)}
		x, y := &s.heads[key[0]], &s.heads[key[1]]
		if drawn[key] || s.contains(x, y) {
			continue
		}
		drawn[key] = true
		s.out = append(s.out, Case{
			Kind: Flight, Base: s.g.ids[x.base], Bases: 1, Own: []string{s.g.ids[x.base], s.g.ids[y.base]},
			Heads: []string{s.g.ids[x.at], s.g.ids[y.at]}, Names: []string{x.name, y.name}, At: max(s.g.times[x.at], s.g.times[y.at]),
		})
	}
	s.summary.Eligible[Flight] = len(drawn)
}

// contains reports whether one of two heads started from a commit that has work
// of the other: what has landed is nobody's work in flight. Dates do not tell:
// those of a branch that was begun again are its old ones.
func (s *selector) contains(a, b *head) bool {
	return s.g.reaches(a.base, b.side) || s.g.reaches(b.base, a.side)
}

// mergesOf lists what git is to merge to tell the truth of a case. Of a flight,
// each head with the other's base too: what conflicts there is drift, not the
// other's work.
func mergesOf(c *Case) (out [][2]string) {
	for _, p := range pairsOf(c) {
		out = append(out, [2]string{c.Heads[p[0]], c.Heads[p[1]]})
	}
	if c.Kind == Flight {
		out = append(out, [2]string{c.Heads[0], c.Own[1]}, [2]string{c.Own[0], c.Heads[1]})
	}
	return out
}

// replayFlight replays two heads, each from its own base.
func (r *replayer) replayFlight(c Case, truth []gitrepo.Merge) Outcome {
	o := Outcome{Case: c, Conflicts: []Conflict{}, Warnings: []Warning{}}
	sides, err := r.sides(&c)
	if err != nil {
		o.Failed = err.Error()
		return o
	}
	for i := range sides {
		lines.FormerNow(r.ctx, r.repo, c.Own[i], sides[i])
		o.Sides = append(o.Sides, Side{Files: len(sides[i].Files)})
	}
	ix := indexOf(&c, sides)
	if err := r.lineMaps(ix); err != nil {
		o.Failed = err.Error()
		return o
	}
	o.judge(ix, sides, truth[:1], "")
	o.leaveDrift(sides, truth)
	o.block(ix)
	return o
}

// leaveDrift leaves out the files at which a head already conflicts with what
// the other started from, by whatever name: sides that moved files are told of
// by their old names, and git names the new ones.
func (o *Outcome) leaveDrift(sides []*coord.Analysis, truth []gitrepo.Merge) {
	n := namesOf(sides...)
	for _, f := range truth[0].Conflicts {
		n.based(plainPath(f.Path, o.Heads), f.Base, sides...)
	}
	var drift []string
	for _, m := range truth[1:] {
		for _, f := range m.Conflicts {
			path := plainPath(f.Path, slices.Concat(o.Heads, o.Own))
			n.based(path, f.Base, sides...)
			drift = append(drift, path)
		}
	}
	drifted := func(path string) bool {
		return slices.ContainsFunc(drift, func(d string) bool { return n.same(d, path) })
	}
	o.Conflicts = slices.DeleteFunc(o.Conflicts, func(c Conflict) bool { return drifted(c.Path) })
	o.Warnings = slices.DeleteFunc(o.Warnings, func(w Warning) bool { return drifted(w.Place) })
}

// lineMaps tells the index how the versions go together that both sides started
// from, as their clients would be asked to.
func (r *replayer) lineMaps(ix *engine.Index) error {
	for { // some are asked for at a time, as long as there is something to ask for
		wanted := engine.WantedMaps(ix, workerID(0))
		if len(wanted) == 0 {
			return nil
		}
		for _, w := range wanted {
			m, err := lines.Map(r.ctx, r.repo.GitDir, w.Theirs, w.Ours)
			if err != nil {
				return err
			}
			ix.PutLineMap(name.ID, m)
		}
	}
}
