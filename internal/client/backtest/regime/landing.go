package regime

// A Price is what an order of landing costs.
type Price struct {
	Stops int `json:"stops"` // merges that git stops
	Lines int `json:"lines"` // written again
}

// Plus returns the sum of two prices.
func (p Price) Plus(q Price) Price { return Price{p.Stops + q.Stops, p.Lines + q.Lines} }

// Land returns what it costs that finished work lands in an order. Where an
// agent's work meets that of several, what each costs adds up.
func (g *Group) Land(order []int) (out Price) {
	place := make([]int, len(order))
	for at, i := range order {
		place[i] = at
	}
	stopped := make([]bool, len(order))
	for _, c := range g.Clashes {
		later := 0
		if place[c.Agents[1]] > place[c.Agents[0]] {
			later = 1
		}
		stopped[c.Agents[later]] = true
		out.Lines += c.Lines[later]
	}
	for _, s := range stopped {
		if s {
			out.Stops++
		}
	}
	return out
}

// Weighed is up to how many agents all orders are weighed.
const Weighed = 6

// Every weighs all orders: what the one of the fewest lines costs, the fewest
// stops of any, and what they cost on average. Of more agents than Weighed it
// does not know.
func (g *Group) Every() (best Price, stops int, mean [2]float64, ok bool) {
	n := len(g.Agents)
	if n > Weighed {
		return best, 0, mean, false
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	count := 0
	best, stops = Price{Stops: n + 1, Lines: never}, never
	var sum Price
	permute(order, 0, func() {
		p := g.Land(order)
		count++
		sum = sum.Plus(p)
		stops = min(stops, p.Stops)
		if p.Lines < best.Lines || p.Lines == best.Lines && p.Stops < best.Stops {
			best = p
		}
	})
	return best, stops, [2]float64{float64(sum.Stops) / float64(count), float64(sum.Lines) / float64(count)}, true
}

func permute(order []int, from int, visit func()) {
	if from == len(order) {
		visit()
		return
	}
	for i := from; i < len(order); i++ {
		order[from], order[i] = order[i], order[from]
		permute(order, from+1, visit)
		order[from], order[i] = order[i], order[from]
	}
}
