// Package order finds the order in which pieces of work land at the least
// price: for every two of them it is known what it costs that the one comes
// before the other. It knows nothing of what that work is, or why it costs.
package order

import (
	"cmp"
	"math/bits"
	"slices"
)

// A Price is what an order costs: breaks that get through count before lines
// that are written again.
type Price struct{ Breaks, Lines int }

// Plus returns the sum of two prices.
func (p Price) Plus(q Price) Price { return Price{p.Breaks + q.Breaks, p.Lines + q.Lines} }

// Compare orders prices.
func (p Price) Compare(q Price) int {
	return cmp.Or(cmp.Compare(p.Breaks, q.Breaks), cmp.Compare(p.Lines, q.Lines))
}

// A Problem is work that is to land. Where the price leaves a choice, who has
// the lower number goes first.
type Problem struct {
	price [][]Price // [a][b]: what it costs that a lands before b
	after [][]bool  // [b][a]: b has to land after a
}

// New returns a problem of n pieces of work that have nothing to do with each
// other.
func New(n int) *Problem {
	p := &Problem{price: make([][]Price, n), after: make([][]bool, n)}
	for i := range n {
		p.price[i], p.after[i] = make([]Price, n), make([]bool, n)
	}
	return p
}

// Costs adds what it costs that a lands before b.
func (p *Problem) Costs(a, b int, price Price) { p.price[a][b] = p.price[a][b].Plus(price) }

// Pair returns what it costs that a lands before b.
func (p *Problem) Pair(a, b int) Price { return p.price[a][b] }

// Must says that b has to land after a. What would close a circle is left out,
// and reported as false.
func (p *Problem) Must(a, b int) bool {
	if a == b || p.reaches(b, a, make([]bool, len(p.after))) {
		return false
	}
	p.after[b][a] = true
	return true
}

// reaches reports whether to has to land after from, or is it.
func (p *Problem) reaches(from, to int, seen []bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	for next := range p.after {
		if p.after[next][from] && !seen[next] && p.reaches(next, to, seen) {
			return true
		}
	}
	return false
}

// Sum returns what an order costs in all.
func (p *Problem) Sum(order []int) (sum Price) {
	for i, a := range order {
		for _, b := range order[i+1:] {
			sum = sum.Plus(p.price[a][b])
		}
	}
	return sum
}

// Best returns the cheapest order. Up to exactly many that have to do with each
// other it is the cheapest of all; of more, one that no single move makes
// cheaper.
func (p *Problem) Best() []int {
	all := make([]int, len(p.price))
	for i := range all {
		all[i] = i
	}
	return p.best(all)
}

// Beginning returns the cheapest order that begins with the given ones, as they
// stand, whatever they have to wait for.
func (p *Problem) Beginning(first []int) []int {
	var rest []int
	for i := range p.price {
		if !slices.Contains(first, i) {
			rest = append(rest, i)
		}
	}
	return append(slices.Clone(first), p.best(rest)...)
}

// exactly is up to how many all orders are weighed.
const exactly = 12

func (p *Problem) best(items []int) []int {
	var groups [][]int
	for _, g := range p.groups(items) {
		if len(g) <= exactly {
			groups = append(groups, p.exact(g))
		} else {
			groups = append(groups, p.improved(p.sorted(g)))
		}
	}
	out := make([]int, 0, len(items))
	for len(groups) > 0 { // between groups nothing is at stake
		next := 0
		for i, g := range groups {
			if g[0] < groups[next][0] {
				next = i
			}
		}
		out = append(out, groups[next][0])
		if groups[next] = groups[next][1:]; len(groups[next]) == 0 {
			groups = slices.Delete(groups, next, next+1)
		}
	}
	return out
}

// groups returns those that have to do with each other, directly or not.
func (p *Problem) groups(items []int) (out [][]int) {
	seen := make([]bool, len(p.price))
	for _, i := range items {
		if seen[i] {
			continue
		}
		seen[i] = true
		group := []int{i}
		for k := 0; k < len(group); k++ {
			for _, j := range items {
				if !seen[j] && p.tied(group[k], j) {
					seen[j] = true
					group = append(group, j)
				}
			}
		}
		slices.Sort(group)
		out = append(out, group)
	}
	return out
}

func (p *Problem) tied(a, b int) bool {
	return p.price[a][b] != Price{} || p.price[b][a] != Price{} || p.after[a][b] || p.after[b][a]
}

// A weight is a price, and how often somebody goes before a lower number.
type weight struct {
	Price
	turned int
}

func (w weight) compare(v weight) int {
	return cmp.Or(w.Price.Compare(v.Price), cmp.Compare(w.turned, v.turned))
}

// adding is what it weighs that item comes after before.
func (p *Problem) adding(before []int, item int) (w weight) {
	for _, a := range before {
		w.Price = w.Plus(p.price[a][item])
		if a > item {
			w.turned++
		}
	}
	return w
}

// exact weighs every set of those that have landed: which of them was the last
// says all of the order before.
func (p *Problem) exact(items []int) []int {
	n := len(items)
	best, last := make([]weight, 1<<n), make([]int8, 1<<n)
	known := make([]bool, 1<<n)
	known[0] = true
	before := make([]int, 0, n)
	for set := range len(best) {
		if !known[set] {
			continue
		}
		before = before[:0]
		for k := range n {
			if set>>k&1 == 1 {
				before = append(before, items[k])
			}
		}
		for k := range n {
			next := set | 1<<k
			if next == set || p.waits(items, set, items[k]) {
				continue
			}
			w := p.adding(before, items[k])
			w.Price, w.turned = w.Plus(best[set].Price), w.turned+best[set].turned
			if !known[next] || w.compare(best[next]) < 0 {
				known[next], best[next], last[next] = true, w, int8(k)
			}
		}
	}
	out := make([]int, n)
	for set := len(best) - 1; set > 0; set &^= 1 << last[set] {
		out[bits.OnesCount(uint(set))-1] = items[last[set]]
	}
	return out
}

// waits reports whether an item has to wait for one that has not landed.
func (p *Problem) waits(items []int, landed, item int) bool {
	for k, a := range items {
		if landed>>k&1 == 0 && p.after[item][a] {
			return true
		}
	}
	return false
}

// sorted returns the order by number in which nobody lands before what it has
// to wait for.
func (p *Problem) sorted(items []int) []int {
	rest, out := slices.Clone(items), make([]int, 0, len(items))
	for len(rest) > 0 {
		k := slices.IndexFunc(rest, func(i int) bool {
			return !slices.ContainsFunc(rest, func(a int) bool { return p.after[i][a] })
		})
		out, rest = append(out, rest[k]), slices.Delete(rest, k, k+1)
	}
	return out
}

// rounds bounds how often all are tried at every place.
const rounds = 50

// improved moves one at a time to where the order is cheapest, until no move
// makes it cheaper.
func (p *Problem) improved(order []int) []int {
	for range rounds {
		moved := false
		for i := range order {
			if to := p.betterPlace(order, i); to != i {
				item := order[i]
				order = slices.Insert(slices.Delete(order, i, i+1), to, item)
				moved = true
			}
		}
		if !moved {
			break
		}
	}
	return order
}

// betterPlace returns where the item at a place would best stand.
func (p *Problem) betterPlace(order []int, at int) int {
	best, to := weight{}, at
	for _, step := range []int{-1, 1} {
		sum := weight{}
		for k := at + step; k >= 0 && k < len(order); k += step {
			first, second := order[k], order[at] // as they stand, and it passes k
			if step > 0 {
				first, second = second, first
			}
			if p.after[second][first] {
				break
			}
			is, will := p.adding([]int{first}, second), p.adding([]int{second}, first)
			sum.Breaks += will.Breaks - is.Breaks
			sum.Lines += will.Lines - is.Lines
			if sum.turned += will.turned - is.turned; sum.compare(best) < 0 {
				best, to = sum, k
			}
		}
	}
	return to
}
