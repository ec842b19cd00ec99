package backtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/policy"
)

var name = coord.RepoName{ID: "repo", FullName: "repo"}

// The policies that a case is looked at under, each merged when first used.
var (
	defaultRules = rules()
	blockRaised  = policy.Rules{Severity: map[coord.ConflictKind]coord.Severity{coord.EditOverlap: coord.SeverityBlock}}
	nothing      = policy.Rules{IgnorePaths: &[]string{}}
	raisedRules  = rules(blockRaised)
	allRules     = rules(nothing)
	allRaised    = rules(nothing, blockRaised)
	checkedRules = rules(policy.Rules{MergeCheck: new(policy.MergeCheckPushed)})
)

func rules(layers ...policy.Rules) func() *policy.Effective {
	return sync.OnceValue(func() *policy.Effective { return policy.Merge(layers...) })
}

// A replayer replays cases one after the other.
type replayer struct {
	ctx     context.Context
	repo    *gitrepo.Repo
	history *analysis.History
	scratch string
	live    bool // within the limits of live reports
	compare bool // keep swarms to be played under other regimes
}

// replay plays a case whose truth is known: one merge for every pair of heads,
// in the order of pairsOf.
func (r *replayer) replay(c Case, truth []gitrepo.Merge) Outcome {
	if c.Kind == Flight {
		return r.replayFlight(c, truth)
	}
	o := Outcome{Case: c, Conflicts: []Conflict{}, Warnings: []Warning{}}
	sides, err := r.sides(&c)
	if err != nil {
		o.Failed = err.Error()
		return o
	}
	for i := range sides {
		o.Sides = append(o.Sides, Side{Files: len(sides[i].Files)})
		if i < len(c.steps) {
			o.Sides[i].Commits = len(c.steps[i])
		}
	}
	ix := indexOf(&c, sides)
	o.judge(ix, sides, truth, "")
	o.block(ix)
	if c.Kind == Swarm {
		o.crowd(sides)
		if r.compare {
			if o.Group, err = r.group(&o, ix, sides); err != nil {
				o.Failed = err.Error()
			}
		}
		return o
	}
	first, err := r.firstSteps(&c)
	if err != nil {
		o.Failed = err.Error()
		return o
	}
	o.plan(sides, first)
	if !o.Clean() {
		if o.Lead, err = r.lead(&o); err != nil {
			o.Failed = err.Error()
		}
	}
	return o
}

// pairsOf lists the heads to merge with each other.
func pairsOf(c *Case) [][2]int {
	var out [][2]int
	for i := range c.Heads {
		for j := i + 1; j < len(c.Heads); j++ {
			out = append(out, [2]int{i, j})
		}
	}
	return out
}

func workerID(i int) string { return fmt.Sprintf("w%d", i) }

// worker makes the worker of a side. The first head holds.
func worker(c *Case, i int) *engine.Worker {
	label := c.Heads[i][:min(10, len(c.Heads[i]))]
	if i < len(c.Names) {
		label = shortRef(c.Names[i])
	}
	return &engine.Worker{ID: workerID(i), Repo: name, Session: workerID(i), Branch: label, Since: coord.Time(i + 1),
		User: coord.User{ID: workerID(i), Name: string(rune('A' + i%26))}}
}

func shortRef(ref string) string {
	for _, prefix := range []string{"refs/heads/", "refs/remotes/", "refs/"} {
		if short, ok := strings.CutPrefix(ref, prefix); ok {
			return short
		}
	}
	return ref
}

// indexOf puts the work of all sides into an index, nothing ignored.
func indexOf(c *Case, sides []*coord.Analysis) *engine.Index {
	ix := engine.New()
	ix.SetPolicy(name.ID, allRules())
	for i, side := range sides {
		ix.PutWorker(worker(c, i))
		by := []engine.Touch{{Worker: workerID(i), Session: workerID(i), At: c.when(i)}}
		for k := range side.Files {
			ix.PutChange(&engine.Change{RepoID: name.ID, Copy: workerID(i), Facts: side.Files[k], By: by})
		}
	}
	return ix
}

// when returns when a head was committed, as far as it is known.
func (c *Case) when(i int) coord.Time {
	if i < len(c.steps) {
		return coord.Time(last(c.steps[i]).at * 1000)
	}
	return coord.Time(c.At * 1000)
}

// findings returns every finding once, under a policy.
func findings(ix *engine.Index, heads int, rules *policy.Effective) []engine.Finding {
	ix.SetPolicy(name.ID, rules)
	var out []engine.Finding
	seen := map[string]bool{}
	for i := range heads {
		for _, f := range engine.Detect(ix, workerID(i)) {
			if !seen[f.Fingerprint] {
				seen[f.Fingerprint] = true
				out = append(out, f)
			}
		}
	}
	return out
}

func injected(f *engine.Finding) bool { return f.Severity.Rank() >= coord.SeverityWarn.Rank() }

// judge compares what the engine says, in words for a viewer, with what git did.
func (o *Outcome) judge(ix *engine.Index, sides []*coord.Analysis, truth []gitrepo.Merge, viewer string) {
	shown := map[string]bool{}
	for _, f := range findings(ix, len(sides), defaultRules()) {
		shown[f.Fingerprint] = injected(&f)
	}
	byPair := map[[2]int][]engine.Finding{}
	for _, f := range findings(ix, len(sides), allRules()) {
		if injected(&f) {
			pair := pairOf(&f)
			byPair[pair] = append(byPair[pair], f)
		}
	}
	for n, pair := range pairsOf(&o.Case) {
		names := namesOf(sides[pair[0]], sides[pair[1]])
		conflicts := make([]Conflict, len(truth[n].Conflicts))
		for i, c := range truth[n].Conflicts {
			path := plainPath(c.Path, o.Heads)
			names.based(path, c.Base, sides[pair[0]], sides[pair[1]])
			conflicts[i] = Conflict{Path: path, Base: c.Base, Kinds: c.Kinds, Ignored: defaultRules().Ignored(path), Pair: pair}
		}
		for _, f := range byPair[pair] {
			w := Warning{Kind: f.Kind, Severity: f.Severity, Place: f.Place, Ignored: !shown[f.Fingerprint], Pair: pair}
			w.Text, _ = engine.Explain(f, viewer, 0)
			for i := range conflicts {
				if names.same(f.Place, conflicts[i].Path) {
					w.Right, conflicts[i].Told = true, true
					conflicts[i].Caught = conflicts[i].Caught || f.Kind == coord.EditOverlap
				}
			}
			o.Warnings = append(o.Warnings, w)
		}
		for i := range conflicts {
			if !conflicts[i].Caught {
				conflicts[i].Facts = explainMiss(conflicts[i].Path, names, sides[pair[0]], sides[pair[1]])
			}
		}
		o.Conflicts = append(o.Conflicts, conflicts...)
	}
}

// pairOf returns whose finding it is, by number.
func pairOf(f *engine.Finding) [2]int {
	var a, b int
	_, _ = fmt.Sscanf(f.Holder.ID, "w%d", &a)
	_, _ = fmt.Sscanf(f.Challenger.ID, "w%d", &b)
	return [2]int{min(a, b), max(a, b)}
}

// plainPath takes off what git adds to a name that is taken: the branch, which
// is one of the heads here.
func plainPath(path string, heads []string) string {
	for _, h := range heads {
		if plain, _, ok := strings.Cut(path, "~"+h); ok {
			return plain
		}
	}
	return path
}

// names tells which paths name one file, across renames.
type names map[string][]string

func namesOf(sides ...*coord.Analysis) names {
	n := names{}
	for _, side := range sides {
		for i := range side.Files {
			f := &side.Files[i]
			before := f.Former
			if f.OldPath != nil {
				before = append([]string{*f.OldPath}, before...)
			}
			for _, old := range before {
				n[f.Path] = append(n[f.Path], old)
				n[old] = append(n[old], f.Path)
			}
		}
	}
	return n
}

// based notes the file that git took for the base of a conflict. Git pairs the
// old and new names of files by what both sides did; a diff of one side, which
// is all its client has, may pair a deleted file with another new one.
func (n names) based(path, blob string, sides ...*coord.Analysis) {
	if blob == "" {
		return
	}
	var found []string
	for _, side := range sides {
		for i := range side.Files {
			f := &side.Files[i]
			if f.Path == path && f.BaseBlob != nil && *f.BaseBlob == blob {
				return // the name is known
			}
			if f.BaseBlob != nil && *f.BaseBlob == blob && !slices.Contains(found, f.Path) {
				found = append(found, f.Path)
			}
		}
	}
	if len(found) == 1 { // of several equal files, nobody knows which
		n[path], n[found[0]] = append(n[path], found[0]), append(n[found[0]], path)
	}
}

func (n names) same(a, b string) bool {
	if a == b || slices.Contains(n[a], b) {
		return true
	}
	return slices.ContainsFunc(n[a], func(via string) bool { return slices.Contains(n[via], b) })
}

// block sees whether an edit would have been denied.
func (o *Outcome) block(ix *engine.Index) {
	blocks := func(rules *policy.Effective) bool {
		return slices.ContainsFunc(findings(ix, len(o.Heads), rules), func(f engine.Finding) bool { return f.Severity == coord.SeverityBlock })
	}
	o.Blocks = Blocks{Default: blocks(defaultRules()), Raised: blocks(raisedRules()), All: blocks(allRaised())}
}

// explainMiss says what each side did to a file that git stopped at.
func explainMiss(path string, n names, sides ...*coord.Analysis) string {
	var parts []string
	for i, side := range sides {
		for k := range side.Files {
			if f := &side.Files[k]; n.same(f.Path, path) {
				parts = append(parts, fmt.Sprintf("%c %s", 'A'+i, describe(f)))
			}
		}
	}
	if len(parts) == 0 {
		return "neither side has a change of it"
	}
	return strings.Join(parts, "; ")
}

func describe(f *coord.FileFacts) string {
	text := string(f.Status) + " " + f.Path
	if f.OldPath != nil {
		text += " from " + *f.OldPath
	}
	if f.Binary {
		text += " (binary)"
	}
	if f.BaseBlob != nil {
		text += " @" + (*f.BaseBlob)[:min(8, len(*f.BaseBlob))]
	}
	const most = 8
	for i, h := range f.Hunks {
		if i == most {
			text += fmt.Sprintf(" and %d more", len(f.Hunks)-most)
			break
		}
		text += fmt.Sprintf(" %d+%d", h.Start, h.Count)
	}
	return text
}

// crowd counts who was alarmed in a swarm.
func (o *Outcome) crowd(sides []*coord.Analysis) {
	alarmed, bad, badPairs := map[int]bool{}, map[int]bool{}, map[[2]int]bool{}
	for _, w := range o.Warnings {
		if !w.Ignored {
			alarmed[w.Pair[0]], alarmed[w.Pair[1]] = true, true
		}
	}
	for _, c := range o.Conflicts {
		if !c.Ignored {
			bad[c.Pair[0]], bad[c.Pair[1]] = true, true
			badPairs[c.Pair] = true
		}
	}
	users := map[string][]int{}
	for i, side := range sides {
		for _, f := range side.Files {
			if !defaultRules().Ignored(f.Path) {
				users[f.Path] = append(users[f.Path], i)
			}
		}
	}
	same := map[int]bool{}
	for _, who := range users {
		if len(who) > 1 {
			for _, i := range who {
				same[i] = true
			}
		}
	}
	n := len(sides)
	o.Crowd = &Crowd{
		Workers:     n,
		Alarmed:     len(alarmed),
		Conflicting: len(bad),
		SameFile:    len(same),
		Pairs:       n * (n - 1) / 2,
		BadPairs:    len(badPairs),
	}
}
