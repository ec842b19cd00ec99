package backtest

import (
	"slices"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
)

// The plans that a worker might have declared. Nobody recorded what people
// meant to do, so it is taken from what they did.
const (
	PlanPaths        = "paths"         // every file of the finished work
	PlanSymbols      = "symbols"       // the definitions of the finished work, and files where some of it is in none
	PlanFirstPaths   = "first_paths"   // every file of the first commit
	PlanFirstSymbols = "first_symbols" // the definitions of the first commit
	// PlanOracle is no plan but what none can be better than: it knows where
	// the edits will be to ten lines.
	PlanOracle = "oracle"
)

const oracleLines = 10

// firstSteps analyses the first commit of each side, as far as they meet.
func (r *replayer) firstSteps(c *Case) ([]*coord.Analysis, error) {
	lines := make([]*coord.Analysis, 2)
	for i := range lines {
		one, err := r.analyse(c.first[i][0], c.first[i][1], analysis.Options{LinesOnly: true})
		if err != nil {
			return nil, err
		}
		lines[i] = one
	}
	common := map[string]bool{}
	for _, pair := range sharedFiles(lines[0], lines[1]) {
		common[pair[0].Path], common[pair[1].Path] = true, true
	}
	if len(common) == 0 {
		return lines, nil
	}
	want := func(f *coord.FileFacts, _ func() []byte) bool { return common[f.Path] }
	for i := range lines {
		one, err := r.analyse(c.first[i][0], c.first[i][1], analysis.Options{Want: want})
		if err != nil {
			return nil, err
		}
		lines[i] = one
	}
	return lines, nil
}

// plan sees what claims alone would have told.
func (o *Outcome) plan(sides, first []*coord.Analysis) {
	n := namesOf(sides...)
	byClaims := func(symbols bool) func(pair [2]*coord.FileFacts) coord.ConflictKind {
		return func(pair [2]*coord.FileFacts) coord.ConflictKind {
			return meet(&o.Case, claimsOn(pair[0], symbols), claimsOn(pair[1], symbols))
		}
	}
	for _, p := range []struct {
		name  string
		sides []*coord.Analysis
		meet  func([2]*coord.FileFacts) coord.ConflictKind
	}{
		{PlanPaths, sides, byClaims(false)}, {PlanSymbols, sides, byClaims(true)},
		{PlanFirstPaths, first, byClaims(false)}, {PlanFirstSymbols, first, byClaims(true)},
		{PlanOracle, sides, near},
	} {
		plan := Plan{Name: p.name, Said: []Foresee{}}
		foreseen := make([]bool, len(o.Conflicts))
		for _, pair := range sharedFiles(p.sides[0], p.sides[1]) {
			kind := p.meet(pair)
			if kind == "" {
				continue
			}
			f := Foresee{Path: pair[0].Path, Kind: kind, Ignored: defaultRules().Ignored(pair[0].Path), Same: same(pair)}
			for i, c := range o.Conflicts {
				if n.same(f.Path, c.Path) || n.same(pair[1].Path, c.Path) {
					f.Right, foreseen[i] = true, true
				}
			}
			plan.Said = append(plan.Said, f)
		}
		for i, c := range o.Conflicts {
			plan.count(&c, foreseen[i])
		}
		o.Plans = append(o.Plans, plan)
	}
}

// same reports whether both sides left a file as the other did.
func same(pair [2]*coord.FileFacts) bool {
	a, b := pair[0], pair[1]
	if a.Status == coord.FileDeleted || b.Status == coord.FileDeleted {
		return a.Status == b.Status
	}
	return a.Path == b.Path && a.NewBlob != nil && b.NewBlob != nil && *a.NewBlob == *b.NewBlob
}

// near is what an oracle tells of a file.
func near(pair [2]*coord.FileFacts) coord.ConflictKind {
	a, b := pair[0], pair[1]
	if a.Status != coord.FileModified || b.Status != coord.FileModified || a.Binary || b.Binary {
		return coord.PathOverlap
	}
	for _, x := range a.Hunks {
		for _, y := range b.Hunks {
			if x.Start <= y.Start+y.Count+oracleLines && y.Start <= x.Start+x.Count+oracleLines {
				return coord.PathOverlap
			}
		}
	}
	return ""
}

func (p *Plan) count(c *Conflict, foreseen bool) {
	p.Conflicts++
	if !c.Ignored {
		p.Shown[0]++
	}
	if foreseen {
		p.Caught++
		if !c.Ignored {
			p.Shown[1]++
		}
	}
}

// sharedFiles returns the files that both sides changed, by any of their names.
func sharedFiles(a, b *coord.Analysis) [][2]*coord.FileFacts {
	at := map[string]*coord.FileFacts{}
	for i := range a.Files {
		f := &a.Files[i]
		at[f.Path] = f
		if f.OldPath != nil {
			at[*f.OldPath] = f
		}
	}
	var out [][2]*coord.FileFacts
	for i := range b.Files {
		f := &b.Files[i]
		mine := at[f.Path]
		if mine == nil && f.OldPath != nil {
			mine = at[*f.OldPath]
		}
		if mine != nil {
			out = append(out, [2]*coord.FileFacts{mine, f})
		}
	}
	return out
}

// meet asks the engine what becomes of two plans, and returns the worst kind.
func meet(c *Case, a, b coord.ScopeSet) coord.ConflictKind {
	ix := engine.New()
	ix.SetPolicy(name.ID, allRules())
	for i, set := range []coord.ScopeSet{a, b} {
		w := worker(c, i)
		w.Claims = engine.ClaimsOf(set, coord.Shared)
		ix.PutWorker(w)
	}
	found := engine.Detect(ix, workerID(1))
	if len(found) == 0 {
		return ""
	}
	return found[0].Kind
}

// claimsOn returns what a plan of the work on one file would name: the file, or
// the definitions to change and to add, and the file if there is more to do.
func claimsOn(f *coord.FileFacts, symbols bool) coord.ScopeSet {
	var set coord.ScopeSet
	if symbols && f.Parsed && f.Status == coord.FileModified {
		var whole bool
		if set.Symbols, whole = touched(f); whole {
			return set
		}
	}
	set.Paths = []string{f.Path}
	if f.OldPath != nil {
		set.Paths = append(set.Paths, *f.OldPath)
	}
	return set
}

// touched returns the definitions that a file's changes lie in or add, and
// whether that is all there is to the changes.
func touched(f *coord.FileFacts) (out []string, whole bool) {
	whole = len(f.Hunks) > 0
	for _, h := range f.Hunks {
		key := ""
		for i := range f.Symbols {
			if s := &f.Symbols[i]; s.Change != coord.Same && s.Lines != nil && h.Start >= s.Lines.Start &&
				h.Start+h.Count <= s.Lines.Start+s.Lines.Count {
				key = s.Key // the innermost comes last
			}
		}
		if key == "" {
			whole = false
		} else if !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	for i := range f.Symbols {
		if s := &f.Symbols[i]; s.Change == coord.Added {
			out = append(out, s.Key)
		}
	}
	return out, whole
}
