package backtest

import (
	"cmp"
	"slices"

	"github.com/svc-hq/svc/internal/client/gitrepo"
)

// A group is the heads that fork from one commit of the mainline.
type group struct {
	base  int32
	heads []head
}

type head struct {
	name string
	base int32
	at   int32
	side []int32 // its own commits, newest first
}

// groups gathers heads by where they left the mainline.
func (s *selector) groups(refs []gitrepo.NamedRef, tip int32) []group {
	line := s.g.mainline(tip)
	byBase := map[int32][]head{}
	known := map[int32]bool{}
	for _, r := range refs {
		at, ok := s.g.byID[r.Commit]
		if !ok || s.g.times[at] < s.since || known[at] {
			continue
		}
		known[at] = true
		base, side := s.forkPoint(at, line)
		switch {
		case base < 0:
			s.summary.LeftOut[noBase]++
		case len(side) == 0:
			s.summary.LeftOut[oneSided]++
		case s.g.byBots(side):
			s.summary.LeftOut[botWork]++
		default:
			h := head{r.Name, base, at, side}
			byBase[base] = append(byBase[base], h)
			s.heads = append(s.heads, h)
		}
	}
	var out []group
	for base, heads := range byBase {
		if len(heads) > 1 {
			slices.SortFunc(heads, func(a, b head) int { return cmp.Compare(a.name, b.name) })
			out = append(out, group{base, heads})
		}
	}
	slices.SortFunc(out, func(a, b group) int { return cmp.Compare(a.base, b.base) })
	return out
}

// forkPoint returns the newest commit of the mainline that a head contains,
// and the commits that it adds, newest first.
func (s *selector) forkPoint(at int32, line map[int32]int) (base int32, side []int32) {
	base, best := -1, -1
	seen := map[int32]bool{at: true}
	for todo := []int32{at}; len(todo) > 0; {
		c := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n, on := line[c]; on {
			if n > best {
				base, best = c, n
			}
			continue
		}
		for _, p := range s.g.parents[c] {
			if !seen[p] {
				seen[p] = true
				todo = append(todo, p)
			}
		}
	}
	if base < 0 || base == at {
		return base, nil
	}
	return base, s.g.apart(at, base).sides[0]
}

// pairs picks pairs within groups. A group is drawn by how many heads it has,
// not by how many pairs they make: else one popular commit would be most of
// the sample.
func (s *selector) pairs(groups []group) {
	var all, found []Case
	total := 0
	for _, g := range groups {
		total += len(g.heads) * (len(g.heads) - 1) / 2
	}
	take := func(g *group, i, j int, to *[]Case) {
		if c, ok := s.pair(g, min(i, j), max(i, j)); ok {
			*to = append(*to, c)
		} else {
			s.summary.LeftOut[stacked]++
		}
	}
	s.summary.Eligible[Pair] = total
	if total <= s.opts.Max {
		for _, g := range groups {
			for i := range g.heads {
				for j := range i {
					take(&g, j, i, &all)
				}
			}
		}
		s.out = append(s.out, all...)
		return
	}
	drawn := map[[3]int]bool{}
	for tries := 0; len(found) < s.opts.Max && tries < 50*s.opts.Max; tries++ {
		at := s.draw(groups)
		g := &groups[at]
		i, j := s.rng.IntN(len(g.heads)), s.rng.IntN(len(g.heads)-1)
		if j >= i {
			j++
		}
		key := [3]int{at, min(i, j), max(i, j)}
		if !drawn[key] {
			drawn[key] = true
			take(g, i, j, &found)
		}
	}
	s.out = append(s.out, found...)
}

// draw picks a group, by its number of heads.
func (s *selector) draw(groups []group) int {
	total := 0
	for _, g := range groups {
		total += len(g.heads)
	}
	at := s.rng.IntN(total)
	for i, g := range groups {
		if at -= len(g.heads); at < 0 {
			return i
		}
	}
	return len(groups) - 1
}

func (s *selector) pair(g *group, i, j int) (Case, bool) {
	a, b := g.heads[i], g.heads[j]
	if shareCommits(a, b) {
		return Case{}, false
	}
	c := s.caseOf(Pair, fork{bases: []int32{g.base}, sides: [2][]int32{a.side, b.side}})
	c.Names = []string{a.name, b.name}
	return c, true
}

// shareCommits reports whether one head is built on work of the other.
func shareCommits(a, b head) bool {
	mine := make(map[int32]bool, len(a.side))
	for _, at := range a.side {
		mine[at] = true
	}
	return slices.ContainsFunc(b.side, func(at int32) bool { return mine[at] })
}

// swarms cuts groups into swarms of the wanted size, in random order.
func (s *selector) swarms(groups []group, l *landings) {
	var found []Case
	for _, g := range groups {
		var free []head
		for _, i := range s.rng.Perm(len(g.heads)) {
			if h := g.heads[i]; !slices.ContainsFunc(free, func(o head) bool { return shareCommits(o, h) }) {
				free = append(free, h)
			}
		}
		for ; len(free) >= s.opts.Swarm; free = free[s.opts.Swarm:] {
			c := Case{Kind: Swarm, Base: s.g.ids[g.base], Bases: 1}
			for _, h := range free[:s.opts.Swarm] {
				c.Heads = append(c.Heads, s.g.ids[h.at])
				c.Names = append(c.Names, h.name)
				c.At = max(c.At, s.g.times[h.at])
			}
			if l != nil {
				c.Happened, c.KnownLanded = l.order(s.g, free[:s.opts.Swarm])
			}
			found = append(found, c)
		}
	}
	s.summary.Eligible[Swarm] = len(found)
	s.out = append(s.out, s.sample(found, max(1, s.opts.Max/s.opts.Swarm))...)
}
