package backtest

import (
	"slices"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/core/coord"
)

// maxSteps is how many states of a side are looked at; of more, a spread.
const maxSteps = 24

// A moment is a state of both sides at some time.
type moment struct {
	step [2]int // -1 before the first
	at   int64
}

// lead replays the commits of a case that conflicts in the order of time and
// finds the first moment at which svc tells, and whether there was a moment,
// before the later side was done, at which git would already have stopped.
func (r *replayer) lead(o *Outcome) (*Lead, error) {
	steps := [2][]step{thin(o.steps[0]), thin(o.steps[1])}
	later := 0
	if last(steps[1]).at >= last(steps[0]).at {
		later = 1
	}
	end := last(steps[later]).at
	moments := momentsOf(steps, later)
	out := &Lead{}
	if len(moments) == 0 {
		return out, nil
	}
	seen := map[[2]int]*coord.Analysis{}
	for _, m := range moments {
		told, err := r.tells(o, steps, m, seen)
		if err != nil {
			return nil, err
		}
		if told {
			out.Alarmed, out.Seconds, out.Steps = true, end-m.at, len(steps[later])-1-m.step[later]
			break
		}
	}
	var pairs [][2]string
	for _, m := range moments[max(0, len(moments)-3):] {
		pairs = append(pairs, [2]string{steps[0][m.step[0]].commit, steps[1][m.step[1]].commit})
	}
	merges, err := r.repo.MergePairs(r.ctx, r.scratch, pairs)
	if err != nil {
		return nil, err
	}
	for _, m := range merges {
		out.Possible = out.Possible || !m.Clean
	}
	return out, nil
}

func last(steps []step) step { return steps[len(steps)-1] }

// thin keeps the first, the last two and an even spread of the others.
func thin(steps []step) []step {
	if len(steps) <= maxSteps {
		return steps
	}
	out := make([]step, 0, maxSteps)
	for i := range maxSteps - 1 {
		out = append(out, steps[i*(len(steps)-2)/(maxSteps-2)])
	}
	return append(out, last(steps))
}

// momentsOf lists the states of both sides, in the order of time, from when
// both have begun until before the later one is done. Dates of commits may
// run backwards; a side's steps stay in order all the same.
func momentsOf(steps [2][]step, later int) []moment {
	type event struct {
		side, step int
		at         int64
	}
	var events []event
	for side := range steps {
		at := int64(0)
		for i, s := range steps[side] {
			at = max(at, s.at)
			events = append(events, event{side, i, at})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int {
		switch {
		case a.at != b.at:
			return int(a.at - b.at)
		case a.side != b.side: // at one time the later side comes last
			if a.side == later {
				return 1
			}
			return -1
		}
		return a.step - b.step
	})
	var out []moment
	now := moment{step: [2]int{-1, -1}}
	for _, e := range events {
		now.step[e.side], now.at = e.step, e.at
		if e.side == later && e.step == len(steps[later])-1 {
			break
		}
		if now.step[0] >= 0 && now.step[1] >= 0 {
			out = append(out, now)
		}
	}
	return out
}

// tells reports whether svc warned of one of the case's conflicts at a moment.
func (r *replayer) tells(o *Outcome, steps [2][]step, m moment, seen map[[2]int]*coord.Analysis) (bool, error) {
	sides := make([]*coord.Analysis, 2)
	for i := range sides {
		key := [2]int{i, m.step[i]}
		if seen[key] == nil {
			one, err := r.analyse(o.Base, steps[i][m.step[i]].commit, analysis.Options{LinesOnly: true})
			if err != nil {
				return false, err
			}
			seen[key] = one
		}
		sides[i] = seen[key]
	}
	n := namesOf(sides...)
	for _, c := range o.Conflicts {
		n.based(c.Path, c.Base, sides...)
	}
	for _, f := range findings(indexOf(&o.Case, sides), 2, allRules()) {
		if !injected(&f) {
			continue
		}
		for _, c := range o.Conflicts {
			if n.same(f.Place, c.Path) {
				return true, nil
			}
		}
	}
	return false, nil
}
