package order_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/svc-hq/svc/internal/core/engine/order"
)

// drawn returns a problem of n as real work makes them: most have nothing to
// do with each other.
func drawn(r *rand.Rand, n int) (p *order.Problem, after [][2]int) {
	p = order.New(n)
	for a := range n {
		for b := range n {
			if a == b {
				continue
			}
			if r.IntN(3) == 0 {
				p.Costs(a, b, order.Price{Lines: r.IntN(40)})
			}
			if r.IntN(15) == 0 {
				p.Costs(a, b, order.Price{Breaks: 1})
			}
			if r.IntN(12) == 0 && p.Must(a, b) {
				after = append(after, [2]int{a, b})
			}
		}
	}
	return p, after
}

func allowed(order []int, after [][2]int) bool {
	return !slices.ContainsFunc(after, func(x [2]int) bool { return slices.Index(order, x[0]) > slices.Index(order, x[1]) })
}

// permutations calls visit with every order.
func permutations(n int, visit func([]int)) {
	var rec func(done, rest []int)
	rec = func(done, rest []int) {
		if len(rest) == 0 {
			visit(done)
		}
		for i, x := range rest {
			rec(append(done, x), slices.Delete(slices.Clone(rest), i, i+1))
		}
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	rec(nil, all)
}

// Of up to six, the order is as cheap as the best of all orders, and nobody
// lands before what it has to wait for.
func TestTheOrderIsTheCheapestOfAll(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 1))
	for range 400 {
		n := 1 + r.IntN(6)
		p, after := drawn(r, n)
		got := p.Best()
		if slices.Sort(slices.Clone(got)); len(got) != n || !allowed(got, after) {
			t.Fatalf("%v of %d is no order that the constraints %v allow", got, n, after)
		}
		best := p.Sum(got)
		permutations(n, func(o []int) {
			if allowed(o, after) && p.Sum(o).Compare(best) < 0 {
				t.Fatalf("%v costs %v, and %v costs %v", got, best, o, p.Sum(o))
			}
		})
	}
}

// Where nothing is at stake they land by number, each once.
func TestOrdersOfManyAreSound(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 1))
	for range 20 {
		n := 13 + r.IntN(20)
		p, after := drawn(r, n)
		got := p.Best()
		seen := slices.Clone(got)
		slices.Sort(seen)
		if len(slices.Compact(seen)) != n || !allowed(got, after) {
			t.Fatalf("%v of %d is no order that the constraints %v allow", got, n, after)
		}
		byNumber := order.New(n)
		if got := byNumber.Best(); !slices.IsSorted(got) {
			t.Fatalf("those who do not meet land as %v", got)
		}
		// No single move of one makes it cheaper.
		for i, x := range got {
			for to := range n {
				o := slices.Insert(slices.Delete(slices.Clone(got), i, i+1), to, x)
				if allowed(o, after) && p.Sum(o).Compare(p.Sum(got)) < 0 {
					t.Fatalf("%v is cheaper than %v", o, got)
				}
			}
		}
	}
}

// What somebody would like to come first does, and the rest is as cheap as it
// can be after it.
func TestAnOrderThatBeginsAsAsked(t *testing.T) {
	p := order.New(4)
	p.Costs(0, 3, order.Price{Lines: 5})
	p.Costs(1, 2, order.Price{Lines: 7})
	if got := p.Best(); !slices.Equal(got, []int{0, 2, 1, 3}) && p.Sum(got) != (order.Price{}) {
		t.Errorf("best = %v", got)
	}
	if got := p.Beginning([]int{1, 0}); !slices.Equal(got, []int{1, 0, 2, 3}) || p.Sum(got) != (order.Price{Lines: 12}) {
		t.Errorf("after 1 and 0: %v, %v", got, p.Sum(got))
	}
}
