package regime

import (
	"fmt"
	"io"
	"strings"
)

// Text writes a comparison for a terminal: 80 columns, no colour.
func (c *Comparison) Text(w io.Writer) {
	fmt.Fprintf(w, "%d groups, %d agents; in %d groups git stops at something.\n", c.Groups, c.Agents, c.Meeting)
	if len(c.Tables) == 0 {
		return
	}
	plain := &c.Tables[0]
	fmt.Fprintf(w, "\n%-18s %11s %12s %9s %12s %12s\n", "", "merges that", "lines redone", "breaks", "waiting,", "all landed,")
	fmt.Fprintf(w, "%-18s %11s %12s %9s %12s %12s\n", "", "stop, of", "of 1,000", "through,", "of 1,000", "% later than")
	fmt.Fprintf(w, "%-18s %11s %12s %9s %12s %12s\n", "", "100 agents", "written", "of 100", "written", "alone")
	for _, r := range plain.Rows {
		fmt.Fprintf(w, "%-18s %11.1f %12.1f %9.1f %12.0f %12.1f\n", r.Regime, r.Stops.Value, r.Redone.Value, r.Breaks.Value,
			r.Waited.Value, r.Until.Value)
		fmt.Fprintf(w, "%-18s %11s %12s %9s %12s %12s\n", "95 %", r.Stops.from(), r.Redone.from(), r.Breaks.from(),
			fmt.Sprintf("%.0f-%.0f", r.Waited.Low, r.Waited.High), r.Until.from())
	}
	fmt.Fprintln(w, "\nWhat it all costs, in lines' time beyond each 1,000 lines of work, by rule")
	fmt.Fprintf(w, "%-44s %8s %8s %8s %8s\n", "", "nothing", "lock", "warning", "svc")
	for i := range c.Tables {
		fmt.Fprintf(w, "%-44s", wrapped(c.Tables[i].Rules.Name))
		for _, r := range c.Tables[i].Rows {
			fmt.Fprintf(w, " %8.1f", r.Spent.Value)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "\nGroups in which svc costs less, as much, more than")
	for _, r := range plain.Rows {
		if r.Regime != SVC {
			fmt.Fprintf(w, "%-20s time of agents %s; until all landed %s\n", r.Regime, r.Less, r.Sooner)
		}
	}
	c.Orders.text(w)
}

// wrapped breaks a name that is too long for its column.
func wrapped(name string) string {
	if len(name) <= 44 {
		return name
	}
	at := strings.LastIndex(name[:44], " ")
	return fmt.Sprintf("%s\n%-44s", name[:at], "  "+name[at+1:])
}

func (f Figure) from() string { return fmt.Sprintf("%.1f-%.1f", f.Low, f.High) }

func (f Figure) span() string { return fmt.Sprintf("%.1f to %.1f", f.Low, f.High) }

// String tells the counts.
func (c Count) String() string { return fmt.Sprintf("%d, %d, %d", c.Better, c.Alike, c.Worse) }

func (l *Landings) text(w io.Writer) {
	if l == nil || l.Weighed == 0 {
		fmt.Fprintln(w, "\nLanding order: no group of at most six in which git stops.")
		return
	}
	fmt.Fprintf(w, "\nLanding order, a group (%d in which git stops at something)\n", l.Weighed)
	fmt.Fprintf(w, "%-26s %8s %14s %8s %16s\n", "", "stops", "95 %", "lines", "95 %")
	for _, row := range []struct {
		name string
		is   Landing
	}{
		{"proposed by svc", l.Proposed}, {"as it happened", l.Happened}, {"all orders, on average", l.Mean}, {"the best of all orders", l.Best},
		{"svc's less what happened", l.OverHappened}, {"svc's less the best", l.OverBest},
	} {
		fmt.Fprintf(w, "%-26s %8.2f %14s %8.1f %16s\n", row.name, row.is.Stops.Value,
			fmt.Sprintf("%.2f to %.2f", row.is.Stops.Low, row.is.Stops.High), row.is.Lines.Value, row.is.Lines.span())
	}
	fmt.Fprintf(w, "In %d of %d groups no order has fewer lines than svc's; against what happened\nit has fewer, as many, more in %s. "+
		"Of %d of %d agents it is known when\nthey landed; the others stand where their work was finished.\n",
		l.IsBest, l.Weighed, l.AsGood, l.Known, l.Agents)
}
