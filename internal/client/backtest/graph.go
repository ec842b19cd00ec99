package backtest

import (
	"container/heap"
	"context"
	"slices"

	"github.com/svc-hq/svc/internal/client/gitrepo"
)

// A graph is the history of a repository, held whole: asking git for a merge
// base costs a process, and a replay asks for thousands. Commits are numbered
// so that every commit comes before its parents.
type graph struct {
	ids     []string
	parents [][]int32
	times   []int64
	authors []int32 // into people
	people  []person
	byID    map[string]int32
}

type person struct {
	name, email string
	bot         bool
}

func loadGraph(ctx context.Context, repo *gitrepo.Repo, revisions []string) (*graph, error) {
	g := &graph{byID: map[string]int32{}}
	var named [][]string
	people := map[[2]string]int32{}
	err := repo.Log(ctx, revisions, func(c gitrepo.Commit) {
		who, ok := people[[2]string{c.Author, c.Email}]
		if !ok {
			who = int32(len(g.people))
			people[[2]string{c.Author, c.Email}] = who
			g.people = append(g.people, person{c.Author, c.Email, isBot(c.Author, c.Email)})
		}
		g.byID[c.ID] = int32(len(g.ids))
		g.ids = append(g.ids, c.ID)
		g.times = append(g.times, c.Committed)
		g.authors = append(g.authors, who)
		named = append(named, c.Parents)
	})
	if err != nil {
		return nil, err
	}
	g.parents = make([][]int32, len(named))
	for i, names := range named {
		for _, id := range names {
			if at, ok := g.byID[id]; ok { // a shallow clone ends somewhere
				g.parents[i] = append(g.parents[i], at)
			}
		}
	}
	return g, nil
}

// A fork is how two commits came apart.
type fork struct {
	bases []int32    // the best common ancestors; several when histories cross
	sides [2][]int32 // the commits that only one of them has, newest first
}

const (
	fromA = 1 << iota
	fromB
	stale // an ancestor of a common one
)

// apart finds the merge bases of two commits and what each has alone. It walks
// children before parents, so every commit is seen when all its marks are in.
func (g *graph) apart(a, b int32) fork {
	marks := map[int32]uint8{a: fromA}
	marks[b] |= fromB
	queue := &positions{a}
	if b != a {
		heap.Push(queue, b)
	}
	fresh := queue.Len() // of the queue, those not stale
	var f fork
	for fresh > 0 {
		at := heap.Pop(queue).(int32)
		mark := marks[at]
		if mark&stale == 0 {
			fresh--
			if mark == fromA|fromB {
				f.bases = append(f.bases, at)
				mark |= stale
			} else {
				side := int(mark) - 1
				f.sides[side] = append(f.sides[side], at)
			}
		}
		for _, p := range g.parents[at] {
			old, seen := marks[p]
			now := old | mark
			marks[p] = now
			switch {
			case !seen:
				heap.Push(queue, p)
				if now&stale == 0 {
					fresh++
				}
			case old&stale == 0 && now&stale != 0:
				fresh--
			}
		}
	}
	return f
}

// positions is a heap of commits, those that come first on top.
type positions []int32

func (p positions) Len() int           { return len(p) }
func (p positions) Less(i, j int) bool { return p[i] < p[j] }
func (p positions) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *positions) Push(x any)        { *p = append(*p, x.(int32)) }
func (p *positions) Pop() any {
	last := len(*p) - 1
	x := (*p)[last]
	*p = (*p)[:last]
	return x
}

// reaches reports whether a commit or one before it is among some others.
func (g *graph) reaches(from int32, some []int32) bool {
	last := slices.Max(some) // commits come before their parents: nothing beyond it can be among them
	wanted := make(map[int32]bool, len(some))
	for _, at := range some {
		wanted[at] = true
	}
	seen := map[int32]bool{from: true}
	for todo := []int32{from}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if wanted[at] {
			return true
		}
		for _, p := range g.parents[at] {
			if !seen[p] && p <= last {
				seen[p] = true
				todo = append(todo, p)
			}
		}
	}
	return false
}

// mainline numbers the commits that a branch itself went through, from its
// first commit up, leaving out what was merged into it.
func (g *graph) mainline(tip int32) map[int32]int {
	var chain []int32
	for at := tip; ; at = g.parents[at][0] {
		chain = append(chain, at)
		if len(g.parents[at]) == 0 {
			break
		}
	}
	slices.Reverse(chain)
	out := make(map[int32]int, len(chain))
	for i, at := range chain {
		out[at] = i
	}
	return out
}

// steps returns the commits of one side that its own branch went through, the
// oldest first: the states that somebody really had on disk.
func (g *graph) steps(side []int32) []int32 {
	alone := make(map[int32]bool, len(side))
	for _, at := range side {
		alone[at] = true
	}
	var out []int32
	for at := side[0]; alone[at]; at = g.parents[at][0] {
		out = append(out, at)
		if len(g.parents[at]) == 0 {
			break
		}
	}
	slices.Reverse(out)
	return out
}

// since returns those steps that contain base. A branch that merged main on
// its way started from an older version before that, and what it was then
// cannot be compared with base.
func (g *graph) since(base int32, side, steps []int32) []int32 {
	contains := map[int32]bool{base: true}
	for _, at := range slices.Backward(side) { // parents first
		contains[at] = slices.ContainsFunc(g.parents[at], func(p int32) bool { return contains[p] })
	}
	first := slices.IndexFunc(steps, func(at int32) bool { return contains[at] })
	if first < 0 {
		return steps[len(steps)-1:]
	}
	return steps[first:]
}

// byBots reports whether all work of a side was done by programs. Merges are
// not work.
func (g *graph) byBots(side []int32) bool {
	for _, at := range side {
		if len(g.parents[at]) < 2 && !g.people[g.authors[at]].bot {
			return false
		}
	}
	return true
}
