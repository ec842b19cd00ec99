package regime

import (
	"math/rand/v2"
	"slices"
)

// A Figure is a number with the interval in which 95 % of the samples lie that
// are drawn from the groups with replacement.
type Figure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// A Row is what a regime costs.
type Row struct {
	Regime Regime `json:"regime"`
	Bill   Bill   `json:"bill"`
	Stops  Figure `json:"stops_per_100_agents"`
	Redone Figure `json:"redone_per_1000_lines"`
	Breaks Figure `json:"breaks_per_100_agents"`
	Waited Figure `json:"waited_per_1000_lines"`
	Spent  Figure `json:"spent_per_1000_lines"`  // beyond the work: written again, stopped, read and waited
	Until  Figure `json:"until_percent"`         // later than if nobody met anybody
	Less   Count  `json:"svc_spends_against_it"` // groups
	Sooner Count  `json:"svc_ends_against_it"`
}

// A Count tells in how many groups svc did better, alike and worse.
type Count struct {
	Better int `json:"better"`
	Alike  int `json:"alike"`
	Worse  int `json:"worse"`
}

func (c *Count) add(svc, other int) {
	switch {
	case svc < other:
		c.Better++
	case svc > other:
		c.Worse++
	default:
		c.Alike++
	}
}

// A Comparison is what the regimes cost, and the orders of landing.
type Comparison struct {
	Groups  int       `json:"groups"`
	Agents  int       `json:"agents"`
	Meeting int       `json:"meeting"` // groups in which git stops at something
	Tables  []Table   `json:"tables"`  // by the rules as stated, then varied
	Orders  *Landings `json:"orders"`
}

// A Table is what the regimes cost by some rules.
type Table struct {
	Rules Rules `json:"rules"`
	Rows  []Row `json:"rows"`
}

// Landings are what orders of landing cost, of the groups in which git stops.
type Landings struct {
	Groups   int     `json:"groups"`
	Weighed  int     `json:"weighed"` // of them, those of which all orders were weighed
	Known    int     `json:"known"`   // agents of which it is known when they landed
	Agents   int     `json:"agents"`
	Proposed Landing `json:"proposed"`
	Happened Landing `json:"happened"`
	Mean     Landing `json:"mean"` // of all orders
	Best     Landing `json:"best"`
	// Of the groups that were weighed: what the proposed order costs more than
	// the others.
	OverHappened Landing `json:"over_happened"`
	OverBest     Landing `json:"over_best"`
	AsGood       Count   `json:"against_happened"` // in lines, by group
	IsBest       int     `json:"is_best"`          // groups in which no order costs fewer lines
}

// A Landing is what an order costs a group.
type Landing struct {
	Stops Figure `json:"stops"`
	Lines Figure `json:"lines"`
}

// Compare plays all groups under all regimes.
func Compare(groups []*Group) *Comparison {
	c := &Comparison{Groups: len(groups)}
	for _, g := range groups {
		c.Agents += len(g.Agents)
		if len(g.Clashes) > 0 {
			c.Meeting++
		}
	}
	if len(groups) == 0 {
		return c
	}
	draws := draw(len(groups))
	for _, rules := range append([]Rules{Plain}, Varied...) {
		c.Tables = append(c.Tables, table(groups, rules, draws))
	}
	c.Orders = landings(groups)
	return c
}

// samples is how often groups are drawn for an interval.
const samples = 1000

// draw draws samples of n with replacement, the same for all figures.
func draw(n int) [][]int {
	rng := rand.New(rand.NewPCG(uint64(n), 37))
	out := make([][]int, samples)
	for s := range out {
		out[s] = make([]int, n)
		for i := range n {
			out[s][i] = rng.IntN(n)
		}
	}
	return out
}

// interval returns a figure of the sum of the parts, and its interval.
func interval[T any](parts []T, draws [][]int, plus func(a, b T) T, figure func(T) float64) Figure {
	var whole T
	for _, x := range parts {
		whole = plus(whole, x)
	}
	values := make([]float64, len(draws))
	for s, picked := range draws {
		var sum T
		for _, i := range picked {
			sum = plus(sum, parts[i])
		}
		values[s] = figure(sum)
	}
	slices.Sort(values)
	return Figure{figure(whole), values[len(values)/40], values[len(values)-1-len(values)/40]}
}

func share(n, of, per float64) float64 {
	if of == 0 {
		return 0
	}
	return per * n / of
}

func table(groups []*Group, rules Rules, draws [][]int) Table {
	bills := map[Regime][]Bill{}
	for _, regime := range All {
		for _, g := range groups {
			bills[regime] = append(bills[regime], Play(g, regime, rules))
		}
	}
	t := Table{Rules: rules}
	for _, regime := range All {
		r := Row{Regime: regime}
		figure := func(of func(b Bill) float64) Figure { return interval(bills[regime], draws, Bill.Plus, of) }
		r.Stops = figure(func(b Bill) float64 { return share(float64(b.Stops), float64(b.Agents), 100) })
		r.Redone = figure(func(b Bill) float64 { return share(float64(b.Redone), float64(b.Work), 1000) })
		r.Breaks = figure(func(b Bill) float64 { return share(b.Breaks, float64(b.Agents), 100) })
		r.Waited = figure(func(b Bill) float64 { return share(float64(b.Waited), float64(b.Work), 1000) })
		r.Spent = figure(func(b Bill) float64 { return share(float64(b.Spent-b.Work), float64(b.Work), 1000) })
		r.Until = figure(func(b Bill) float64 { return share(float64(b.Until-b.Alone), float64(b.Alone), 100) })
		for i, b := range bills[regime] {
			r.Bill = r.Bill.Plus(b)
			r.Less.add(bills[SVC][i].Spent, b.Spent)
			r.Sooner.add(bills[SVC][i].Until, b.Until)
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// An ordered is what the orders of one group cost.
type ordered struct {
	n                              float64
	proposed, happened, best, mean [2]float64 // stops, lines
}

func (a ordered) plus(b ordered) ordered {
	a.n += b.n
	for i := range 2 {
		a.proposed[i] += b.proposed[i]
		a.happened[i] += b.happened[i]
		a.best[i] += b.best[i]
		a.mean[i] += b.mean[i]
	}
	return a
}

func (p Price) pair() [2]float64 { return [2]float64{float64(p.Stops), float64(p.Lines)} }

func landings(groups []*Group) *Landings {
	out := &Landings{}
	var all []ordered
	for _, g := range groups {
		if len(g.Clashes) == 0 {
			continue
		}
		out.Groups++
		out.Known += g.Known
		out.Agents += len(g.Agents)
		best, stops, mean, ok := g.Every()
		if !ok {
			continue
		}
		out.Weighed++
		proposed, happened := g.Land(g.Proposed), g.Land(g.Happened)
		out.AsGood.add(proposed.Lines, happened.Lines)
		if proposed.Lines == best.Lines {
			out.IsBest++
		}
		best.Stops = stops // the fewest of any order: no order need have both
		all = append(all, ordered{1, proposed.pair(), happened.pair(), best.pair(), mean})
	}
	if len(all) == 0 {
		return out
	}
	draws := draw(len(all))
	of := func(what func(o ordered, i int) float64) Landing {
		figure := func(i int) Figure {
			return interval(all, draws, ordered.plus, func(o ordered) float64 { return share(what(o, i), o.n, 1) })
		}
		return Landing{figure(0), figure(1)}
	}
	out.Proposed = of(func(o ordered, i int) float64 { return o.proposed[i] })
	out.Happened = of(func(o ordered, i int) float64 { return o.happened[i] })
	out.Best = of(func(o ordered, i int) float64 { return o.best[i] })
	out.Mean = of(func(o ordered, i int) float64 { return o.mean[i] })
	out.OverHappened = of(func(o ordered, i int) float64 { return o.proposed[i] - o.happened[i] })
	out.OverBest = of(func(o ordered, i int) float64 { return o.proposed[i] - o.best[i] })
	return out
}
