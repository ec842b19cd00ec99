package backtest

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A Rate is a share of a sample.
type Rate struct {
	Hits int
	Of   int
}

// Share returns the share, or 0 of an empty sample.
func (r Rate) Share() float64 {
	if r.Of == 0 {
		return 0
	}
	return float64(r.Hits) / float64(r.Of)
}

// Interval returns the 95 % interval of Wilson: where the share of all such
// cases lies, if these were drawn from them at random.
func (r Rate) Interval() (low, high float64) {
	if r.Of == 0 {
		return 0, 1
	}
	const z = 1.959964
	n, p := float64(r.Of), r.Share()
	middle := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	low, high = max(0, middle-half), min(1, middle+half)
	if r.Hits == 0 {
		low = 0
	}
	if r.Hits == r.Of {
		high = 1
	}
	return low, high
}

// MarshalJSON adds the share and its interval to the counts. An empty sample
// has none.
func (r Rate) MarshalJSON() ([]byte, error) {
	out := struct {
		Hits  int      `json:"hits"`
		Of    int      `json:"of"`
		Share *float64 `json:"share"`
		Low   *float64 `json:"low"`
		High  *float64 `json:"high"`
	}{Hits: r.Hits, Of: r.Of}
	if r.Of > 0 {
		share := r.Share()
		low, high := r.Interval()
		out.Share, out.Low, out.High = &share, &low, &high
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads the counts back.
func (r *Rate) UnmarshalJSON(text []byte) error {
	var in struct{ Hits, Of int }
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	r.Hits, r.Of = in.Hits, in.Of
	return nil
}

// A Figure is one measured number.
type Figure struct {
	ID     string  `json:"id"`
	Title  string  `json:"title"`
	Target *Target `json:"target,omitempty"`
	Shown  Rate    `json:"shown"` // under the default policy
	All    Rate    `json:"all"`   // with nothing ignored
	Note   string  `json:"note,omitempty"`
}

// Met reports whether the default policy meets the target; a figure without
// target or cases always does.
func (f *Figure) Met() bool {
	if f.Target == nil || f.Shown.Of == 0 {
		return true
	}
	if f.Target.AtMost {
		return f.Shown.Share() <= f.Target.Share
	}
	return f.Shown.Share() >= f.Target.Share
}

// A Target is what svc promises.
type Target struct {
	Share  float64 `json:"share"`
	AtMost bool    `json:"at_most"` // otherwise at least
}

func atLeast(x float64) *Target { return &Target{Share: x} }
func atMost(x float64) *Target  { return &Target{Share: x, AtMost: true} }

// A Section is the figures of one kind of case.
type Section struct {
	Kind       Kind     `json:"kind"`
	Cases      int      `json:"cases"`
	Failed     int      `json:"failed"`
	Conflicted int      `json:"conflicted"`
	Crossed    int      `json:"crossed"` // histories with several merge bases
	Figures    []Figure `json:"figures"`
	// Plans tells of the time before anybody edits, one row a way to plan.
	Plans []PlanFigure `json:"plans,omitempty"`
}

// A PlanFigure is what plans alone foretell: of those that meet, how many git
// could not merge, and of the conflicts in how many plans had met. Two people
// are told once that their plans meet, so that is what counts; by file it is
// counted too. Merges that landed are left out.
type PlanFigure struct {
	Name      string `json:"name"`
	Title     string `json:"title"`
	Precision Figure `json:"precision"`
	Recall    Figure `json:"recall"`
	// Distinct is the precision without the meetings of plans that turned out
	// to be one: both sides left every file they met in alike, as a change does
	// that went to two branches. Git has nothing to merge there and proves
	// neither that the two should have been told nor the contrary.
	Distinct Figure `json:"distinct_precision"`
	// By file.
	FilePrecision Figure `json:"file_precision"`
	FileRecall    Figure `json:"file_recall"`
}

// Sections counts what a replay showed, one section for each kind of case.
func (r *Result) Sections() []Section {
	out := []Section{}
	for _, kind := range r.Kinds() {
		s := Section{Kind: kind}
		var os []*Outcome
		for i := range r.Outcomes {
			o := &r.Outcomes[i]
			switch {
			case o.Kind != kind:
			case o.Failed != "":
				s.Failed++
			default:
				os = append(os, o)
				if !o.Clean() {
					s.Conflicted++
				}
				if o.Bases > 1 {
					s.Crossed++
				}
			}
		}
		s.Cases = len(os)
		for _, row := range rows {
			if !slices.Contains(row.kinds, kind) {
				continue
			}
			f := Figure{ID: row.id, Title: row.title, Target: row.target, Note: row.note}
			for _, o := range os {
				row.count(&f.Shown, o, false)
				row.count(&f.All, o, true)
			}
			s.Figures = append(s.Figures, f)
		}
		if kind != Swarm && kind != Flight {
			s.Plans = planFigures(os)
		}
		out = append(out, s)
	}
	return out
}

// plans are the ways to plan, in the order of the report.
var plans = []struct {
	name, title string
	goal        bool
}{
	{PlanPaths, "every file of the work", true},
	{PlanSymbols, "its definitions, and files for the rest", true},
	{PlanFirstPaths, "every file of the first commit", true},
	{PlanFirstSymbols, "definitions of the first commit", true},
	{PlanOracle, "(an oracle: the place, to ten lines)", false},
}

func planFigures(os []*Outcome) []PlanFigure {
	var out []PlanFigure
	for _, p := range plans {
		f := PlanFigure{Name: p.name, Title: p.title}
		f.Precision = Figure{ID: p.name + "_precision", Title: "Meetings of two plans that became conflicts"}
		f.Distinct = Figure{ID: p.name + "_distinct_precision", Title: "The same without plans of one and the same change"}
		f.Recall = Figure{ID: p.name + "_recall", Title: "Conflicting cases in which the plans had met"}
		f.FilePrecision = Figure{ID: p.name + "_file_precision", Title: "Files in which plans met that became conflicts"}
		f.FileRecall = Figure{ID: p.name + "_file_recall", Title: "Conflicting files in which plans had met"}
		if p.goal {
			f.Precision.Target, f.Recall.Target = atLeast(0.45), atLeast(0.90)
		}
		for _, o := range os {
			at := slices.IndexFunc(o.Plans, func(x Plan) bool { return x.Name == p.name })
			if at >= 0 && !o.Landed {
				f.count(o, &o.Plans[at])
			}
		}
		out = append(out, f)
	}
	return out
}

func (f *PlanFigure) count(o *Outcome, x *Plan) {
	f.FileRecall.All.Hits += x.Caught
	f.FileRecall.All.Of += x.Conflicts
	f.FileRecall.Shown.Hits += x.Shown[1]
	f.FileRecall.Shown.Of += x.Shown[0]
	for _, ign := range []bool{false, true} {
		precision, distinct, recall, files := &f.Precision.Shown, &f.Distinct.Shown, &f.Recall.Shown, &f.FilePrecision.Shown
		if ign {
			precision, distinct, recall, files = &f.Precision.All, &f.Distinct.All, &f.Recall.All, &f.FilePrecision.All
		}
		met, differ, right := false, false, false
		for _, said := range x.Said {
			if ign || !said.Ignored {
				files.add(said.Right)
				met, differ, right = true, differ || !said.Same, right || said.Right
			}
		}
		if met {
			precision.add(right)
		}
		if differ {
			distinct.add(right)
		}
		if len(conflicts(o, ign)) > 0 {
			recall.add(right)
		}
	}
}

// A row is how a figure is counted: count adds one case, with ignored paths or
// without.
type row struct {
	id, title, note string
	kinds           []Kind
	target          *Target
	count           func(r *Rate, o *Outcome, ignored bool)
}

var (
	twos  = []Kind{TrueMerge, Pair, Flight}
	every = []Kind{TrueMerge, Pair, Flight, Swarm}
	ten   = []Kind{Swarm}
)

// rows are the figures, in the order of the report.
var rows = []row{
	{"conflicted", "Cases that git cannot merge", "", twos, nil,
		func(r *Rate, o *Outcome, ign bool) { r.add(len(conflicts(o, ign)) > 0) }},
	{"recall", "Conflicting files that svc warned of", "recall of edit_overlap, once both sides' edits are known", every, atLeast(0.99),
		func(r *Rate, o *Outcome, ign bool) {
			for _, c := range conflicts(o, ign) {
				r.add(c.Caught)
			}
		}},
	{"recall_cases", "Conflicting cases that svc warned of", "at least one of the case's files", twos, atLeast(0.99),
		func(r *Rate, o *Outcome, ign bool) {
			if all := conflicts(o, ign); len(all) > 0 {
				r.add(slices.ContainsFunc(all, func(c Conflict) bool { return c.Caught }))
			}
		}},
	{"precision_edit_overlap", "edit_overlap warnings that were right", "git stopped at that file", every, atLeast(0.98),
		func(r *Rate, o *Outcome, ign bool) {
			for _, w := range warnings(o, ign) {
				if w.Kind == coord.EditOverlap {
					r.add(w.Right)
				}
			}
		}},
	{"precision", "All warnings that git proved right", "everything an agent is told while it works; a break that git merges counts " +
		"as wrong here",
		every, atLeast(0.85),
		func(r *Rate, o *Outcome, ign bool) {
			for _, w := range warnings(o, ign) {
				r.add(w.Right)
			}
		}},
	{"precision_text", "The same without contract breaks", "git cannot judge those: they are listed below", every, atLeast(0.85),
		func(r *Rate, o *Outcome, ign bool) {
			for _, w := range warnings(o, ign) {
				if w.Kind != coord.ContractBreak {
					r.add(w.Right)
				}
			}
		}},
	{"breaks", "Clean cases with a predicted break", "git merges them; a person has to judge", twos, nil,
		func(r *Rate, o *Outcome, ign bool) {
			if o.Clean() {
				r.add(slices.ContainsFunc(warnings(o, ign), func(w Warning) bool { return w.Kind == coord.ContractBreak }))
			}
		}},
	{"blocks", "Clean cases in which an edit was denied", "default policy, nobody claims exclusively", every, atMost(0),
		func(r *Rate, o *Outcome, ign bool) {
			if o.Clean() {
				r.add(o.Blocks.Default)
			}
		}},
	{"blocks_raised", "The same with edit_overlap raised to block", "", every, atMost(0.001),
		func(r *Rate, o *Outcome, ign bool) {
			if o.Clean() {
				r.add(ign && o.Blocks.All || !ign && o.Blocks.Raised)
			}
		}},
	{"lead_possible", "Conflicts there before the later side was done", "the most that any early warning can reach", twos, nil,
		func(r *Rate, o *Outcome, ign bool) {
			if o.Lead != nil && len(conflicts(o, ign)) > 0 {
				r.add(o.Lead.Possible)
			}
		}},
	{"lead", "Of those, warned of while there was work to do", "commits replayed in the order of time", twos, atLeast(0.95),
		func(r *Rate, o *Outcome, ign bool) {
			if o.Lead != nil && o.Lead.Possible && len(conflicts(o, ign)) > 0 {
				r.add(o.Lead.Alarmed)
			}
		}},
	{"crowd_alarmed", "Workers of a group that got a warning", "", ten, atMost(0.25),
		func(r *Rate, o *Outcome, _ bool) { r.Hits += o.Crowd.Alarmed; r.Of += o.Crowd.Workers }},
	{"crowd_conflicting", "Workers that git cannot merge with some other", "", ten, nil,
		func(r *Rate, o *Outcome, _ bool) { r.Hits += o.Crowd.Conflicting; r.Of += o.Crowd.Workers }},
	{"crowd_same_file", "Workers that a rule by file would alarm", "", ten, nil,
		func(r *Rate, o *Outcome, _ bool) { r.Hits += o.Crowd.SameFile; r.Of += o.Crowd.Workers }},
	{"crowd_groups", "Groups in which some pair conflicts", "", ten, nil,
		func(r *Rate, o *Outcome, _ bool) { r.add(o.Crowd.BadPairs > 0) }},
}

func (r *Rate) add(hit bool) {
	r.Of++
	if hit {
		r.Hits++
	}
}

// conflicts returns where git stopped, with ignored paths or without.
func conflicts(o *Outcome, ignored bool) []Conflict {
	if ignored {
		return o.Conflicts
	}
	return slices.DeleteFunc(slices.Clone(o.Conflicts), func(c Conflict) bool { return c.Ignored })
}

func warnings(o *Outcome, ignored bool) []Warning {
	if ignored {
		return o.Warnings
	}
	return slices.DeleteFunc(slices.Clone(o.Warnings), func(w Warning) bool { return w.Ignored })
}
