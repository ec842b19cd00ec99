package backtest

import (
	"fmt"
	"slices"

	"github.com/svc-hq/svc/internal/client/backtest/regime"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/rebase"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
)

// mostLines is what one file of an agent counts at most: beyond it stands what
// was generated or copied, which nobody writes line by line.
const mostLines = 500

// group tells what a swarm wrote and where it meets, to be played under other
// regimes. Files that the default policy ignores are nobody's work there.
func (r *replayer) group(o *Outcome, ix *engine.Index, sides []*coord.Analysis) (*regime.Group, error) {
	g := &regime.Group{Happened: o.Happened, Known: o.KnownLanded}
	for _, side := range sides {
		pieces := []regime.Piece{}
		for i := range side.Files {
			if f := &side.Files[i]; !defaultRules().Ignored(f.Path) {
				pieces = append(pieces, regime.Piece{Path: startedAs(f), Lines: r.written(f)})
			}
		}
		g.Agents = append(g.Agents, pieces)
	}
	if err := r.clashes(o, g, sides); err != nil {
		return nil, err
	}
	broken := map[[2]int]bool{}
	for _, w := range warnings(o, false) {
		names := namesOf(sides[w.Pair[0]], sides[w.Pair[1]])
		pieces := [2]int{pieceOf(g, names, w.Pair[0], w.Place), pieceOf(g, names, w.Pair[1], w.Place)}
		switch {
		case w.Kind == coord.ContractBreak:
			broken[w.Pair] = true
		case !w.Right && pieces[0] >= 0 && pieces[1] >= 0:
			g.Alarms = append(g.Alarms, regime.Alarm{Agents: w.Pair, Pieces: pieces})
		}
	}
	for pair := range broken {
		if !slices.ContainsFunc(o.Conflicts, func(c Conflict) bool { return c.Pair == pair && !c.Ignored }) {
			g.Breaks = append(g.Breaks, pair)
		}
	}
	slices.SortFunc(g.Breaks, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	ix.SetPolicy(name.ID, defaultRules())
	g.Proposed = proposed(ix, len(sides))
	return g, nil
}

// proposed is the order in which svc would have the sides land. Who changed
// nothing that it knows of lands last.
func proposed(ix *engine.Index, n int) (out []int) {
	for _, step := range engine.LandingOrder(ix, name.ID, nil).Steps {
		var i int
		_, _ = fmt.Sscanf(step.Worker.ID, "w%d", &i)
		out = append(out, i)
	}
	for i := range n {
		if !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out
}

func startedAs(f *coord.FileFacts) string {
	if f.OldPath != nil {
		return *f.OldPath
	}
	return f.Path
}

// written counts the lines that somebody wrote in a file; to take something
// away is one.
func (r *replayer) written(f *coord.FileFacts) int {
	hunks, _ := diff.Compare(r.history.Base(f), r.history.Now(f))
	n := 0
	for _, h := range hunks {
		n += h.NewCount
	}
	return max(1, min(n, mostLines))
}

// pieceOf finds an agent's piece by any name of its file, or -1.
func pieceOf(g *regime.Group, n names, agent int, path string) int {
	return slices.IndexFunc(g.Agents[agent], func(p regime.Piece) bool { return n.same(p.Path, path) })
}

// clashes has git merge the pairs that it stops at once more, to see how much
// of each side stands in the places where it does.
func (r *replayer) clashes(o *Outcome, g *regime.Group, sides []*coord.Analysis) error {
	trees := map[[2]int]string{}
	for _, c := range conflicts(o, false) {
		names := namesOf(sides[c.Pair[0]], sides[c.Pair[1]])
		names.based(c.Path, c.Base, sides[c.Pair[0]], sides[c.Pair[1]])
		out := regime.Clash{Agents: c.Pair, Told: c.Told,
			Pieces: [2]int{pieceOf(g, names, c.Pair[0], c.Path), pieceOf(g, names, c.Pair[1], c.Path)}}
		if out.Pieces[0] < 0 || out.Pieces[1] < 0 {
			continue // such as a folder that one side moved: it is no piece of anybody's
		}
		if trees[c.Pair] == "" {
			tree, _, err := r.repo.MergedTree(r.ctx, r.scratch, o.Heads[c.Pair[0]], o.Heads[c.Pair[1]])
			if err != nil {
				return err
			}
			trees[c.Pair] = tree
		}
		places := rebase.Conflicts(r.history.Content(trees[c.Pair] + ":" + c.Path))
		for side, k := range out.Pieces {
			whole := g.Agents[c.Pair[side]][k].Lines
			out.Lines[side], out.First[side] = whole, whole // moved, deleted or no text: all of it
			if len(places) > 0 {
				sum := 0
				for _, p := range places {
					sum += max(1, len(p[side]))
				}
				out.Lines[side], out.First[side] = min(sum, whole), min(max(1, len(places[0][side])), whole)
			}
		}
		g.Clashes = append(g.Clashes, out)
	}
	return nil
}

// Compare plays the groups of a result under all regimes.
func (r *Result) Compare() *regime.Comparison {
	var groups []*regime.Group
	for i := range r.Outcomes {
		if g := r.Outcomes[i].Group; g != nil {
			groups = append(groups, g)
		}
	}
	return regime.Compare(groups)
}
