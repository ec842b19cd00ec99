package backtest

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// listed is how many misses, false alarms and breaks a summary shows; the
// report and the JSON have all.
const listed = 5

// What is said of projects without merges.
const (
	squashed = "The mainline has hardly any merges, as where pull requests are squashed: merges\n" +
		"of it into pull requests were replayed, and pull requests beside each other."
	nothingToReplay = "There is nothing to replay; try a longer --since. Where pull requests are\n" +
		"squashed, bring them here first:\n" +
		"  git fetch origin '+refs/pull/*/head:refs/pull/*/head'"
)

// Text writes the summary for a terminal: 80 columns, no colour.
func (r *Result) Text(w io.Writer, repo string) {
	s := &r.Selection
	if said := r.Sentence(); said != "" {
		fmt.Fprintf(w, "%s\n\n", said)
	}
	fmt.Fprintf(w, "Replayed %d of %d cases of %s, %s to %s (%d commits).\n", len(r.Outcomes), r.Cases, repo, day(s.Since), day(s.Until),
		s.Commits)
	if r.Interrupted {
		fmt.Fprintln(w, "Interrupted: these are the figures of what was replayed; run it again to go on.")
	}
	if left := leftOut(s.LeftOut); left != "" {
		fmt.Fprintf(w, "Left out: %s.\n", left)
	}
	if s.Squashed && len(r.Outcomes) > 0 {
		fmt.Fprintln(w, squashed)
	}
	if len(r.Outcomes) == 0 {
		fmt.Fprintln(w, nothingToReplay)
		return
	}
	for _, sec := range r.Sections() {
		sec.text(w)
	}
	r.lists(w)
	fmt.Fprintln(w, "\nTo hear of it while the work goes on: svc up, then svc init in the repository.\n"+
		"To show this around without names: svc backtest --share page.html")
}

// Sentence is what all the figures come to for whoever reads one line of it.
func (r *Result) Sentence() string {
	var stopped, told, early int
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		if o.Kind != TrueMerge || o.Failed != "" || o.Clean() {
			continue
		}
		stopped++
		all := true
		for _, c := range o.Conflicts {
			all = all && (c.Told || c.Caught || c.Ignored)
		}
		if all {
			told++
		}
		if o.Lead != nil && o.Lead.Alarmed {
			early++
		}
	}
	days := "a day"
	if n := (r.Selection.Until - r.Selection.Since) / int64(24*time.Hour/time.Second); n > 1 {
		days = fmt.Sprintf("%d days", n)
	}
	switch {
	case stopped == 0 && len(r.Outcomes) > 0:
		return fmt.Sprintf("In %s git stopped at none of the %d merges that were replayed.", days, len(r.Outcomes))
	case stopped == 0:
		return ""
	case told == stopped:
		return fmt.Sprintf("In %s your team had %d merges that git stopped at; svc would\n"+
			"have told both sides of all of them, %d while there was still work to do.", days, stopped, early)
	}
	return fmt.Sprintf("In %s your team had %d merges that git stopped at; svc would\n"+
		"have told both sides of %d, %d of them while there was still work to do.", days, stopped, told, min(early, told))
}

func day(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.DateOnly) }

var kindTitles = map[Kind]string{
	TrueMerge: "Merges with work on both sides",
	Pair:      "Pairs of heads that fork from one commit",
	Flight:    "Pairs of heads from different commits, worked on at one time",
	Swarm:     "Groups of workers that fork from one commit",
}

func leftOut(reasons map[string]int) string {
	var parts []string
	for _, why := range []string{oneSided, botWork, toolMerge, notTwoParents, noBase, stacked} {
		if n := reasons[why]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, why))
		}
	}
	return strings.Join(parts, ", ")
}

func (s *Section) text(w io.Writer) {
	fmt.Fprintf(w, "\n%s: %d, %d of them in conflict\n", kindTitles[s.Kind], s.Cases, s.Conflicted)
	if s.Failed > 0 {
		fmt.Fprintf(w, "%d could not be replayed (see --json)\n", s.Failed)
	}
	line(w, "", "share", "95 % interval", "of", "goal")
	differ := false
	for i := range s.Figures {
		f := &s.Figures[i]
		f.text(w, f.Title, f.Shown, true)
		differ = differ || f.All != f.Shown
	}
	if differ {
		fmt.Fprintln(w, "  With the files that the policy ignores:")
		for i := range s.Figures {
			if f := &s.Figures[i]; f.All != f.Shown {
				f.text(w, "  "+f.Title, f.All, false)
			}
		}
	}
	if len(s.Plans) == 0 {
		return
	}
	if s.Plans[0].Precision.All.Of == 0 {
		fmt.Fprintln(w,
			"  Before anybody edits: no plans met, but for merges that landed on the mainline,\n  which had been made to fit; --pairs tells more.")
		return
	}
	fmt.Fprintln(w, "  Before anybody edits: plans that met and became conflicts, if plans name")
	for i := range s.Plans {
		s.Plans[i].Precision.text(w, "  "+s.Plans[i].Title, s.Plans[i].Precision.Shown, true)
	}
	if slices.ContainsFunc(s.Plans, func(p PlanFigure) bool { return p.Distinct.Shown != p.Precision.Shown }) {
		fmt.Fprintln(w, "  the same without plans of one change that went to two branches:")
		for i := range s.Plans {
			s.Plans[i].Distinct.text(w, "  "+s.Plans[i].Title, s.Plans[i].Distinct.Shown, false)
		}
	}
	fmt.Fprintln(w, "  and conflicting cases that such plans foresaw:")
	for i := range s.Plans {
		s.Plans[i].Recall.text(w, "  "+s.Plans[i].Title, s.Plans[i].Recall.Shown, true)
	}
}

// text writes a figure as a line.
func (f *Figure) text(w io.Writer, title string, r Rate, goals bool) {
	goal := ""
	if f.Target != nil && goals {
		goal = f.Target.String()
		if !f.Met() {
			goal += " missed"
		}
	}
	if r.Of == 0 {
		line(w, title, "none", "", "", goal)
		return
	}
	low, high := r.Interval()
	line(w, title, number(r.Share()), strings.TrimSuffix(number(low), " %")+" - "+number(high), strconv.Itoa(r.Of), goal)
}

func line(w io.Writer, title, share, interval, of, goal string) {
	fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-46s %7s %14s %5s  %s", title, share, interval, of, goal), " "))
}

// String tells the target, such as "≥ 98 %".
func (t *Target) String() string {
	sign := "≥"
	if t.AtMost {
		sign = "≤"
	}
	return sign + " " + number(t.Share)
}

// number writes a share as a percentage, without more digits than it needs.
func number(x float64) string {
	return strings.TrimSuffix(fmt.Sprintf("%.1f", 100*x), ".0") + " %"
}

func percent(r Rate) string {
	if r.Of == 0 {
		return "none"
	}
	return number(r.Share())
}

func interval(r Rate) string {
	if r.Of == 0 {
		return ""
	}
	low, high := r.Interval()
	return fmt.Sprintf("%s-%s of %d", strings.TrimSuffix(number(low), " %"), number(high), r.Of)
}

// lists shows the first of what was missed, wrong or to be judged.
func (r *Result) lists(w io.Writer) {
	misses, alarms, breaks := r.Misses(), r.FalseAlarms(), r.Breaks()
	show := func(title string, n int, line func(i int) string) {
		if n == 0 {
			return
		}
		fmt.Fprintf(w, "\n%s: %d\n", title, n)
		for i := range min(n, listed) {
			fmt.Fprintln(w, "  "+peertext.Line(line(i), 300))
		}
		if n > listed {
			fmt.Fprintf(w, "  ... and %d more, in --report and --json\n", n-listed)
		}
	}
	show("Missed conflicts", len(misses), func(i int) string { return misses[i].String() })
	show("False alarms", len(alarms), func(i int) string { return alarms[i].String() })
	show("Predicted breaks that git merges, to be judged", len(breaks), func(i int) string { return breaks[i].String() })
}

// A Miss is a conflict that no edit_overlap told of.
type Miss struct {
	Case     *Outcome `json:"-"`
	Where    string   `json:"where"` // the merge, or the heads
	Conflict `json:"conflict"`
}

// String tells a miss in a line.
func (m Miss) String() string {
	told := ""
	if m.Told {
		told = " (another warning told of it)"
	}
	return fmt.Sprintf("%s %s [%s]%s: %s", m.Where, m.Path, strings.Join(m.Kinds, ", "), told, m.Facts)
}

// An Alarm is a warning at a place where git did not stop.
type Alarm struct {
	Case    *Outcome `json:"-"`
	Where   string   `json:"where"`
	Warning `json:"warning"`
}

// String tells a warning in a line.
func (a Alarm) String() string { return fmt.Sprintf("%s %s %s: %s", a.Where, a.Kind, a.Place, a.Text) }

// Where names a case for people: its merge commit or its heads.
func (o *Outcome) Where(pair [2]int) string {
	if o.Merge != "" {
		return o.Merge[:min(10, len(o.Merge))]
	}
	name := func(i int) string {
		if i < len(o.Names) {
			return shortRef(o.Names[i])
		}
		return o.Heads[i][:min(10, len(o.Heads[i]))]
	}
	return name(pair[0]) + " with " + name(pair[1])
}

// Misses lists the conflicts that no edit_overlap told of, ignored paths too.
func (r *Result) Misses() []Miss {
	out := []Miss{}
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		for _, c := range o.Conflicts {
			if !c.Caught {
				out = append(out, Miss{o, o.Where(c.Pair), c})
			}
		}
	}
	return out
}

// FalseAlarms lists the warnings at places where git did not stop, breaks
// apart.
func (r *Result) FalseAlarms() []Alarm {
	return r.alarms(func(o *Outcome, w *Warning) bool { return !w.Right && w.Kind != coord.ContractBreak })
}

// Breaks lists the predicted breaks of cases that git merges: a signature or a
// contract changed on one side and newly used on the other.
func (r *Result) Breaks() []Alarm {
	return r.alarms(func(o *Outcome, w *Warning) bool { return o.Clean() && w.Kind == coord.ContractBreak })
}

func (r *Result) alarms(is func(*Outcome, *Warning) bool) []Alarm {
	out := []Alarm{}
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		for k := range o.Warnings {
			if w := &o.Warnings[k]; !w.Ignored && is(o, w) {
				out = append(out, Alarm{o, o.Where(w.Pair), *w})
			}
		}
	}
	return out
}
