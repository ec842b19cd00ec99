package regime

import "slices"

// Play lets a group work under a regime.
func Play(g *Group, regime Regime, rules Rules) Bill {
	p := &play{Group: g, regime: regime, rules: rules, holder: map[string]int{}}
	p.bill.Agents = len(g.Agents)
	for i, pieces := range g.Agents {
		n := len(pieces)
		a := agent{seen: map[[2]int]bool{}, begun: make([]int, n), waits: make([][]int, n), refused: make([]bool, n)}
		for k, piece := range pieces {
			a.todo = append(a.todo, k)
			a.begun[k] = never
			a.work += piece.Lines
		}
		p.agents = append(p.agents, a)
		p.bill.Work += p.agents[i].work
	}
	p.start()
	for p.next() {
	}
	p.settle()
	return p.bill
}

const never = 1 << 60

type state int

const (
	working state = iota
	waiting
	landing // done, or in review
	landed
)

type agent struct {
	state   state
	at      int // when it acts next; of who waits, since when
	from    int // when it started
	work    int
	todo    []int
	begun   []int   // by piece
	waits   [][]int // by piece: whom it was told to wait for
	refused []bool  // by piece: it knows that somebody else has it
	seen    map[[2]int]bool
	merged  map[int]bool // clashes that were resolved
}

type play struct {
	*Group
	regime Regime
	rules  Rules
	agents []agent
	holder map[string]int // who locked a file last
	bill   Bill
}

// start spreads the starts.
func (p *play) start() {
	for i := range p.agents {
		a := &p.agents[i]
		a.from = int(float64(i) * p.rules.Spread * float64(p.bill.Work) / float64(len(p.agents)))
		a.at = a.from
		p.bill.Alone = max(p.bill.Alone, a.from+a.work+p.review(a))
	}
}

func (p *play) review(a *agent) int { return int(p.rules.Review * float64(a.work)) }

// next has the agent act whose turn it is, and reports whether there was one.
func (p *play) next() bool {
	turn, stuck := -1, -1
	for i := range p.agents {
		switch a := &p.agents[i]; {
		case a.state == landed:
		case a.state == waiting:
			if stuck < 0 {
				stuck = i
			}
		case turn < 0 || a.at < p.agents[turn].at:
			turn = i
		}
	}
	switch {
	case turn >= 0 && p.agents[turn].state == landing:
		p.land(turn)
	case turn >= 0:
		p.act(turn)
	case stuck >= 0:
		p.release(stuck)
	default:
		return false
	}
	return true
}

// act begins the first piece that an agent may write, learns why it may not,
// waits, or is done.
func (p *play) act(i int) {
	a := &p.agents[i]
	if len(a.todo) == 0 {
		a.state, a.at = landing, a.at+p.review(a)
		return
	}
	for n, k := range a.todo {
		if !p.free(i, k) {
			if !a.refused[k] && p.regime == Locks {
				a.refused[k] = true
				p.told(a)
				return
			}
			if p.rules.Stands && p.regime == Locks {
				break
			}
			continue
		}
		if p.warned(i, k) {
			p.told(a)
			if len(a.waits[k]) > 0 { // it is taken last
				a.todo = append(slices.Delete(a.todo, n, n+1), k)
			}
			return
		}
		p.begin(i, n)
		return
	}
	if p.rules.Heed == Last && p.regime != Locks {
		p.begin(i, 0)
		return
	}
	a.state = waiting
}

// told has an agent read a warning or a refusal.
func (p *play) told(a *agent) {
	p.bill.Told++
	a.at += p.rules.Read
}

// begin writes the n-th of what is left.
func (p *play) begin(i, n int) {
	a := &p.agents[i]
	k := a.todo[n]
	a.todo = slices.Delete(a.todo, n, n+1)
	if p.regime == Locks {
		p.holder[p.Agents[i][k].Path] = i
	}
	a.begun[k] = a.at
	a.at += p.Agents[i][k].Lines
}

// free reports whether nobody keeps an agent from a piece.
func (p *play) free(i, k int) bool {
	if p.regime == Locks {
		j, held := p.holder[p.Agents[i][k].Path]
		return !held || j == i || p.agents[j].state == landed
	}
	return !slices.ContainsFunc(p.agents[i].waits[k], func(j int) bool { return p.agents[j].state != landed })
}

// warned reports whether an agent that is about to write a piece is told of
// others, for the first time of each.
func (p *play) warned(i, k int) bool {
	switch p.regime {
	case Warns:
		return p.warnedOfFile(i, k)
	case SVC:
		return p.warnedOfLines(i, k)
	}
	return false
}

// warnedOfFile tells of everybody who has begun the file and not landed it,
// before anything of it is written.
func (p *play) warnedOfFile(i, k int) (told bool) {
	for j := range p.agents {
		for n, piece := range p.Agents[j] {
			if piece.Path == p.Agents[i][k].Path && p.tell(i, k, j, n) {
				told = true
			}
		}
	}
	return told
}

// warnedOfLines tells of those whose lines meet the agent's. It comes with the
// first edit that meets them: those lines are written in vain.
func (p *play) warnedOfLines(i, k int) (told bool) {
	for _, c := range p.Clashes {
		me := slices.Index(c.Agents[:], i)
		if me >= 0 && c.Pieces[me] == k && c.Told && p.tell(i, k, c.Agents[1-me], c.Pieces[1-me]) {
			told = true
			if p.rules.Heed != GoesOn {
				p.bill.Redone += c.First[me]
				p.agents[i].at += c.First[me]
			}
		}
	}
	for _, c := range p.Alarms {
		me := slices.Index(c.Agents[:], i)
		if me >= 0 && c.Pieces[me] == k && p.tell(i, k, c.Agents[1-me], c.Pieces[1-me]) {
			told = true
		}
	}
	return told
}

// tell tells an agent of another's piece, if that is there and news.
func (p *play) tell(i, k, j, n int) bool {
	a, other := &p.agents[i], &p.agents[j]
	if i == j || other.state == landed || other.begun[n] > a.at || a.seen[[2]int{k, j}] {
		return false
	}
	a.seen[[2]int{k, j}] = true
	if p.rules.Heed != GoesOn {
		a.waits[k] = append(a.waits[k], j)
	}
	return true
}

// land merges an agent's work: what was written without others' that landed
// meanwhile is written again where git stops.
func (p *play) land(i int) {
	a := &p.agents[i]
	files, lines := 0, 0
	for n, c := range p.Clashes {
		me := slices.Index(c.Agents[:], i)
		if me < 0 || a.merged[n] {
			continue
		}
		other := &p.agents[c.Agents[1-me]]
		if other.state == landed && other.at <= a.at && a.begun[c.Pieces[me]] < other.at {
			if a.merged == nil {
				a.merged = map[int]bool{}
			}
			a.merged[n] = true
			files++
			lines += c.Lines[me]
		}
	}
	if files > 0 {
		p.bill.Stops++
		p.bill.Files += files
		p.bill.Redone += lines
		a.at += lines + p.rules.Stop
		return // others may land meanwhile
	}
	a.state = landed
	for j := range p.agents {
		if w := &p.agents[j]; w.state == waiting && p.mayGoOn(j) {
			p.bill.Waited += max(0, a.at-w.at)
			w.state, w.at = working, max(w.at, a.at)
		}
	}
}

func (p *play) mayGoOn(i int) bool {
	return slices.ContainsFunc(p.agents[i].todo, func(k int) bool { return p.free(i, k) })
}

// release ends a circle of agents that wait for each other. Who is warned gives
// up waiting; of locks, the holder gives up the file and writes it again.
func (p *play) release(i int) {
	p.bill.Released++
	a := &p.agents[i]
	now := a.at
	for _, w := range p.agents { // the circle was closed by the last who began to wait
		if w.state == waiting {
			now = max(now, w.at)
		}
	}
	p.bill.Waited += now - a.at
	a.state, a.at = working, now
	k := a.todo[0]
	if p.regime != Locks {
		a.waits[k] = nil
		p.begin(i, 0)
		return
	}
	path := p.Agents[i][k].Path
	holder := &p.agents[p.holder[path]]
	for n, piece := range p.Agents[p.holder[path]] {
		if piece.Path == path {
			p.bill.Redone += piece.Lines
			holder.todo = append(holder.todo, n)
			holder.begun[n] = never
			holder.refused[n] = false
		}
	}
	delete(p.holder, path)
}

// settle counts what is known at the end.
func (p *play) settle() {
	for i := range p.agents {
		a := &p.agents[i]
		p.bill.Until = max(p.bill.Until, a.at)
		p.bill.Spent += a.at - a.from - p.review(a)
	}
	through := 0
	for _, pair := range p.Breaks {
		if len(p.Agents[pair[0]]) == 0 || len(p.Agents[pair[1]]) == 0 {
			continue
		}
		first, second := &p.agents[pair[0]], &p.agents[pair[1]]
		if second.at < first.at {
			first, second = second, first
		}
		if slices.Min(second.begun) < first.at { // else it saw what had landed
			through++
		}
	}
	p.bill.Breaks = breaks(through, p.regime == SVC)
	p.bill.Spent += int(p.bill.Breaks * float64(p.rules.Break))
}
