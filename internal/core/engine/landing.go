package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/order"
)

// A Landing is an order in which live work lands, and what it costs.
type Landing struct {
	Steps []LandingStep
	Price order.Price // breaks that get through, and lines that are written again
	Best  order.Price // of the order that costs least
}

// A LandingStep is one piece of work in that order.
type LandingStep struct {
	Worker *Worker
	Redo   []Redo
	Price  order.Price // of the redo
	Reason string      // why here, for people and agents
}

// A Redo is what a piece of work has to do again, or breaks, because another
// landed before it.
type Redo struct {
	After *Worker
	Kind  coord.ConflictKind
	Place string // a file or a contract
	Lines int
	Break bool // it gets through: no merge between two repositories tells of it
}

// LandingOrder returns the order in which the live work of a repository costs
// the fewest lines to write again, with the work of linked repositories that
// breaks it or is broken by it. First names workers that are to come first, as
// somebody would have it.
func LandingOrder(ix *Index, repoID string, first []string) Landing {
	l := lander{ix: ix, at: map[string]int{}}
	l.gather(append(ix.Workers(repoID), l.partners(repoID)...), true)
	return l.order(first)
}

// mostMet bounds whom a worker's own place is worked out among.
const mostMet = 10

// minRedo is how many lines an order must spare to be worth a word.
const minRedo = 10

// GoesAfter returns who had better land before a worker, and how to tell it so:
// others with whom it collides and who would have much more to redo after it
// than it after them, or would be broken by it. Nobody, if it need not wait.
func GoesAfter(ix *Index, workerID string) (first []string, text string) {
	ids := []string{workerID}
	for _, f := range Detect(ix, workerID) {
		other, clash := f.Other(workerID), f.Kind == coord.EditOverlap || f.Kind == coord.ContractBreak
		if clash && other.Live() && !slices.Contains(ids, other.ID) && len(ids) <= mostMet {
			ids = append(ids, other.ID)
		}
	}
	if len(ids) == 1 {
		return nil, ""
	}
	l := lander{ix: ix, at: map[string]int{}}
	l.gather(ids, false)
	steps := l.order(nil).Steps
	at := slices.IndexFunc(steps, func(s LandingStep) bool { return s.Worker.ID == workerID })
	if at < 0 {
		return nil, ""
	}
	me, why := steps[at], ""
	var otherwise order.Price
	for _, s := range steps[:at] {
		gain := l.gain(s.Worker, me.Worker)
		if gain.Breaks > 0 || gain.Breaks == 0 && gain.Lines >= minRedo {
			first = append(first, refOf(s.Worker))
			otherwise = otherwise.Plus(l.spent(me.Worker, s.Worker))
		}
	}
	switch {
	case len(first) == 0:
		return nil, ""
	case otherwise.Breaks > 0:
		why = ", so that nothing breaks between the repositories"
	case me.Price.Lines > 0:
		why = fmt.Sprintf(": yours then redoes %s in %s, and the other way round %s would be redone", lineCount(me.Price.Lines),
			redoPlaces(me.Redo), lineCount(otherwise.Lines))
	default:
		why = fmt.Sprintf(": the other way round %s would be redone", lineCount(otherwise.Lines))
	}
	return first, fmt.Sprintf("Landing order: %s should land before your %s%s. Merge yours after that.", listing(first), refOf(me.Worker), why)
}

// spent is what b does again after a.
func (l *lander) spent(a, b *Worker) (out order.Price) {
	for _, r := range l.redo[[2]int{l.at[a.ID], l.at[b.ID]}] {
		out = out.Plus(r.price())
	}
	return out
}

// gain is what it spares that a lands before b and not after it.
func (l *lander) gain(a, b *Worker) order.Price {
	is, otherwise := l.spent(a, b), l.spent(b, a)
	return order.Price{Breaks: otherwise.Breaks - is.Breaks, Lines: otherwise.Lines - is.Lines}
}

// order solves what was gathered.
func (l *lander) order(first []string) Landing {
	p := order.New(len(l.workers))
	for i, w := range l.workers {
		l.depends(p, i, w)
	}
	for _, m := range l.met {
		l.price(p, m)
	}
	l.newContracts(p)
	best := p.Best()
	chosen := best
	if len(first) > 0 {
		var begin []int
		for _, id := range first {
			if i, ok := l.at[id]; ok && !slices.Contains(begin, i) {
				begin = append(begin, i)
			}
		}
		chosen = p.Beginning(begin)
	}
	return l.told(p, chosen, best)
}

// A lander makes a landing order.
type lander struct {
	ix      *Index
	workers []*Worker // in the order that is taken where it costs nothing
	at      map[string]int
	met     []Finding
	redo    map[[2]int][]Redo // what the second does again if the first has landed
	held    map[[2]int]bool   // the first holds part of the second's scope exclusively
}

// gather finds the work that is to land and what of it meets. Who is in review
// goes before who is not, and the older before the younger. To follow is to take
// in whom a break between two repositories leads to.
func (l *lander) gather(ids []string, follow bool) {
	seen := map[string]bool{}
	for k := 0; k < len(ids); k++ {
		w := l.ix.Worker(ids[k])
		if w == nil || seen[w.ID] || !lands(l.ix, w) {
			continue
		}
		seen[w.ID] = true
		l.workers = append(l.workers, w)
		for _, f := range Detect(l.ix, w.ID) {
			other := f.Other(w.ID)
			if follow && f.CrossRepo && f.Kind == coord.ContractBreak && other.Live() {
				ids = append(ids, other.ID)
			}
			if f.Holder.ID == w.ID || !other.Live() {
				continue // of two that meet, one tells
			}
			l.met = append(l.met, f)
		}
	}
	l.workers = slices.DeleteFunc(l.workers, func(w *Worker) bool { // of those outside, who meets nobody is left out: they may be many
		return w.Outside != nil && !slices.ContainsFunc(l.met, func(f Finding) bool {
			return f.Kind == coord.EditOverlap && (f.Holder.ID == w.ID || f.Challenger.ID == w.ID)
		})
	})
	slices.SortFunc(l.workers, func(a, b *Worker) int {
		return cmp.Or(cmp.Compare(reviewed(b), reviewed(a)), cmp.Compare(a.Since, b.Since), cmp.Compare(number(a), number(b)),
			strings.Compare(a.ID, b.ID))
	})
	for i, w := range l.workers {
		l.at[w.ID] = i
	}
	l.redo, l.held = map[[2]int][]Redo{}, map[[2]int]bool{}
}

// lands reports whether there is something of a worker to land.
func lands(ix *Index, w *Worker) bool {
	return w.Intent != nil && w.Intent.Status != coord.IntentDraft || len(ix.Changes(w.ID)) > 0
}

func reviewed(w *Worker) int {
	if w.Intent != nil && w.Intent.Status == coord.IntentInReview || w.Outside != nil && w.Outside.Number != nil {
		return 1
	}
	return 0
}

// depends has a worker land after what it declared to depend on.
func (l *lander) depends(p *order.Problem, i int, w *Worker) {
	for j, other := range l.workers {
		if dependsOn(w, other) {
			p.Must(j, i)
		}
	}
}

// price tells what it costs that either side of a finding lands first.
func (l *lander) price(p *order.Problem, f Finding) {
	h, known := l.at[f.Holder.ID]
	c, both := l.at[f.Challenger.ID]
	if !known || !both {
		return
	}
	switch {
	case f.Kind == coord.ExclusiveClaim && f.reason != resourceHeld && f.reason != numberHeld:
		l.held[[2]int{h, c}] = p.Must(h, c)
	case f.Kind == coord.EditOverlap && f.reason != sameCopy:
		l.costs(p, h, c, Redo{Kind: f.Kind, Place: f.Place, Lines: linesOf(&f, coord.Challenger)})
		l.costs(p, c, h, Redo{Kind: f.Kind, Place: f.Place, Lines: linesOf(&f, coord.Holder)})
	case f.Kind == coord.ContractOverlap && f.reason == numberTaken:
		l.costs(p, h, c, Redo{Kind: f.Kind, Place: f.Place, Lines: 1})
		l.costs(p, c, h, Redo{Kind: f.Kind, Place: f.Place, Lines: 1})
	case f.Kind == coord.ContractBreak && f.Severity.Rank() >= coord.SeverityWarn.Rank():
		// The holder uses what the challenger breaks. In one repository whoever
		// comes second sees it and adapts the use. Between two, users go first:
		// what they still use is taken away last.
		uses := linesOf(&f, coord.Holder)
		l.costs(p, c, h, Redo{Kind: f.Kind, Place: f.Place, Lines: uses, Break: f.CrossRepo})
		if !f.CrossRepo {
			l.costs(p, h, c, Redo{Kind: f.Kind, Place: f.Place, Lines: uses})
		}
	}
}

// newContracts has whoever adds a contract land before those who newly use it
// in another repository: the provider's compatible step comes first.
func (l *lander) newContracts(p *order.Problem) {
	added := map[string][]int{}
	for i, w := range l.workers {
		for _, key := range l.ix.newKeys(w.ID, coord.Provides) {
			added[key] = append(added[key], i)
		}
	}
	for i, w := range l.workers {
		for _, key := range l.ix.newKeys(w.ID, coord.Uses) {
			for _, j := range added[key] {
				if w.Repo.ID != l.workers[j].Repo.ID {
					l.costs(p, i, j, Redo{Kind: coord.ContractBreak, Place: key, Break: true})
				}
			}
		}
	}
}

// partners returns the workers of linked repositories who newly use what work of
// this one adds, or add what it newly uses.
func (l *lander) partners(repoID string) (ids []string) {
	for _, roles := range [][2]coord.ContractRole{{coord.Provides, coord.Uses}, {coord.Uses, coord.Provides}} {
		here := map[string]bool{}
		for _, id := range l.ix.Workers(repoID) {
			for _, key := range l.ix.newKeys(id, roles[0]) {
				here[key] = true
			}
		}
		if len(here) == 0 {
			continue
		}
		for _, linked := range l.ix.known(repoID).links {
			for _, id := range l.ix.Workers(linked) {
				if slices.ContainsFunc(l.ix.newKeys(id, roles[1]), func(key string) bool { return here[key] }) {
					ids = append(ids, id)
				}
			}
		}
	}
	return ids
}

// newKeys returns the contracts that a worker newly provides or uses.
func (ix *Index) newKeys(id string, role coord.ContractRole) (keys []string) {
	for _, c := range ix.Changes(id) {
		for _, k := range c.Facts.Contracts {
			if k.Role == role && k.Change == coord.Added {
				keys = append(keys, k.Key)
			}
		}
	}
	return keys
}

func (l *lander) costs(p *order.Problem, a, b int, r Redo) {
	p.Costs(a, b, r.price())
	r.After = l.workers[a]
	l.redo[[2]int{a, b}] = append(l.redo[[2]int{a, b}], r)
}

func (r Redo) price() order.Price {
	p := order.Price{Lines: r.Lines}
	if r.Break {
		p.Breaks = 1
	}
	return p
}

// linesOf counts the lines of a side's evidence; an insertion counts one.
func linesOf(f *Finding, role coord.PartyRole) (n int) {
	for _, e := range f.Evidence {
		if e.Party == role && e.Lines != nil {
			n += e.Lines.End - e.Lines.Start + 1
		}
	}
	return max(n, 1)
}

// told puts an order into steps.
func (l *lander) told(p *order.Problem, chosen, best []int) Landing {
	out := Landing{Steps: []LandingStep{}, Price: p.Sum(chosen), Best: p.Sum(best)}
	for place, i := range chosen {
		s := LandingStep{Worker: l.workers[i], Redo: []Redo{}}
		for _, a := range chosen[:place] {
			s.Redo = append(s.Redo, l.redo[[2]int{a, i}]...)
			s.Price = s.Price.Plus(p.Pair(a, i))
		}
		s.Reason = l.reason(p, chosen, place, s)
		out.Steps = append(out.Steps, s)
	}
	return out
}

// reason says why a piece of work stands where it does: what it waits for, what
// it has to do again and what that spares the others, or that it is free.
func (l *lander) reason(p *order.Problem, chosen []int, place int, s LandingStep) string {
	i := chosen[place]
	spared := order.Price{} // what those before it would have paid after it
	var after, holders, unbroken, waiting, later []string
	note := func(to *[]string, is bool, j int) {
		if is {
			*to = append(*to, refOf(l.workers[j]))
		}
	}
	for _, a := range chosen[:place] {
		spared = spared.Plus(p.Pair(i, a))
		note(&after, dependsOn(s.Worker, l.workers[a]), a)
		note(&holders, l.held[[2]int{a, i}], a)
		note(&unbroken, p.Pair(i, a).Breaks > p.Pair(a, i).Breaks, a)
	}
	for _, b := range chosen[place+1:] {
		note(&waiting, dependsOn(l.workers[b], s.Worker) || l.held[[2]int{i, b}], b)
		note(&later, p.Pair(i, b) != order.Price{} || p.Pair(b, i) != order.Price{}, b)
	}
	switch {
	case len(after) > 0:
		return "Lands after " + listing(after) + ", which it depends on."
	case len(holders) > 0:
		return "Lands after " + listing(holders) + ", which claimed part of it exclusively."
	case s.Price.Breaks > 0:
		return "In this order " + redoPlaces(s.Redo) + " is broken for a while: a new form lands before its users, and an old one goes last."
	case s.Price.Lines > 0:
		return fmt.Sprintf("Redoes %s in %s; the other way round, %s would be redone.", lineCount(s.Price.Lines), redoPlaces(s.Redo),
			lineCount(spared.Lines))
	case len(unbroken) > 0:
		return "Lands after " + listing(unbroken) + ", so that nothing breaks between the repositories."
	case len(waiting) > 0:
		if len(waiting) > 1 {
			return "Lands before " + listing(waiting) + ", which have to wait for it."
		}
		return "Lands before " + listing(waiting) + ", which has to wait for it."
	case len(later) > 0:
		return "Lands before " + listing(later) + ": nothing of it has to be redone."
	}
	return "Collides with nobody; any place will do."
}

func redoPlaces(rs []Redo) string {
	var all []string
	for _, r := range rs {
		if text := place(r.Place); !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return listing(all)
}

func lineCount(n int) string {
	if n == 1 {
		return "one line"
	}
	return fmt.Sprintf("%d lines", n)
}

// refOf names a worker by its intent, its pull request, or else by its person.
func refOf(w *Worker) string {
	switch {
	case w.Outside != nil && w.Outside.Number == nil:
		return "branch " + place(w.Branch)
	case w.Outside != nil:
		return w.Outside.Name()
	}
	return cmp.Or(w.Ref(), name(w)+"'s session")
}
