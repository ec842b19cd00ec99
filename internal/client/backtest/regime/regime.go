// Package regime plays agents that work at the same time under different ways to
// keep them apart, and counts what each way costs: nothing, a lock per file, a
// warning per file, and svc. It knows what they write and where git stops, and
// nothing of repositories.
package regime

// A Group is agents that start from one commit, and where their work meets.
type Group struct {
	Agents  [][]Piece `json:"agents"` // what each writes, in the order of writing
	Clashes []Clash   `json:"clashes,omitempty"`
	Alarms  []Alarm   `json:"alarms,omitempty"`
	Breaks  [][2]int  `json:"breaks,omitempty"` // pairs that git merges and svc tells of a break between
	// Orders in which they land, by number.
	Proposed []int `json:"proposed"`
	Happened []int `json:"happened"`
	Known    int   `json:"known"` // of the agents, those of which it is known when they landed
}

// A Piece is what one agent writes in one file.
type Piece struct {
	Path  string `json:"path"` // as it was called when they started
	Lines int    `json:"lines"`
}

// A Clash is a file at which git stops when both have written it.
type Clash struct {
	Agents [2]int `json:"agents"`
	Pieces [2]int `json:"pieces"`
	Lines  [2]int `json:"lines"` // that each writes again if the other landed before
	First  [2]int `json:"first"` // of them, those of the first place
	Told   bool   `json:"told"`  // svc warns there
}

// An Alarm is a warning of svc at a file that git merges.
type Alarm struct {
	Agents [2]int `json:"agents"`
	Pieces [2]int `json:"pieces"`
}

// A Regime is a way to keep agents apart.
type Regime string

// The regimes.
const (
	Nothing Regime = "nothing"
	Locks   Regime = "a lock per file"
	Warns   Regime = "a warning per file"
	SVC     Regime = "svc"
)

// All are the regimes, in the order of the tables.
var All = []Regime{Nothing, Locks, Warns, SVC}

// A Heed is what an agent does that is warned.
type Heed string

// What a warned agent does with the file it is warned of.
const (
	Waits  Heed = "waits"   // takes the rest of its work first, then waits until the other has landed
	Last   Heed = "last"    // takes the rest of its work first, then writes it all the same
	GoesOn Heed = "goes on" // as if it had not been told
)

// Rules are how agents and merges behave. Time is counted in lines: a unit is
// as long as it takes to write one.
type Rules struct {
	Name   string  `json:"name"`
	Heed   Heed    `json:"heed"`
	Stands bool    `json:"stands"` // who is refused waits at once, and does not take other files first
	Stop   int     `json:"stop"`   // what a merge that stops costs beside the lines written again
	Read   int     `json:"read"`   // what it costs to be warned or refused
	Break  int     `json:"break"`  // what a break that got through costs whoever finds it; as stated, it is counted apart
	Review float64 `json:"review"` // time from done to landed, in lengths of the own work
	Spread float64 `json:"spread"` // agents start that far apart, in lengths of the mean work
}

// Plain are the rules of the comparison; Varied shows how much each matters.
var (
	Plain  = Rules{Name: "as stated", Heed: Waits, Stop: 20, Read: 2}
	Varied = []Rules{
		vary("a warned agent takes the file last, and does not wait", func(r *Rules) { r.Heed = Last }),
		vary("the same, and a stopped merge costs 100 lines", func(r *Rules) { r.Heed, r.Stop = Last, 100 }),
		vary("the same, and a break costs 500", func(r *Rules) { r.Heed, r.Stop, r.Break = Last, 100, 500 }),
		vary("a warned agent goes on", func(r *Rules) { r.Heed = GoesOn }),
		vary("a refused agent waits at once", func(r *Rules) { r.Stands = true }),
		vary("a stopped merge costs nothing but its lines", func(r *Rules) { r.Stop = 0 }),
		vary("a stopped merge costs 100 lines", func(r *Rules) { r.Stop = 100 }),
		vary("a warning costs 20 lines", func(r *Rules) { r.Read = 20 }),
		vary("review takes as long as the work", func(r *Rules) { r.Review = 1 }),
		vary("agents start half a length of work apart", func(r *Rules) { r.Spread = 0.5 }),
	}
)

func vary(name string, change func(*Rules)) Rules {
	r := Plain
	r.Name = name
	change(&r)
	return r
}

// A Bill is what became of a group, or of several together.
type Bill struct {
	Agents   int     `json:"agents"`
	Work     int     `json:"work"`      // lines that have to be written
	Stops    int     `json:"stops"`     // merges that git stopped
	Files    int     `json:"files"`     // in conflict there
	Redone   int     `json:"redone"`    // lines written again
	Breaks   float64 `json:"breaks"`    // that got through
	Told     int     `json:"told"`      // warnings and refusals
	Waited   int     `json:"waited"`    // time in which an agent could do nothing
	Spent    int     `json:"spent"`     // time of all agents, waiting too
	Until    int     `json:"until"`     // time until all had landed
	Alone    int     `json:"alone"`     // the same if none met another
	Released int     `json:"deadlocks"` // circles of agents that waited for each other
}

// Plus returns the sum of two bills.
func (b Bill) Plus(c Bill) Bill {
	return Bill{b.Agents + c.Agents, b.Work + c.Work, b.Stops + c.Stops, b.Files + c.Files, b.Redone + c.Redone, b.Breaks + c.Breaks,
		b.Told + c.Told, b.Waited + c.Waited, b.Spent + c.Spent, b.Until + c.Until, b.Alone + c.Alone, b.Released + c.Released}
}

// Of the breaks that people found by reading in ten repositories, svc's facts
// told Recall at first contact, and Precision of what they told was one
// (docs/lab/backtest.md). What nobody told of can only be estimated by them.
const (
	Recall    = 37. / 53
	Precision = 37. / 38
)

// breaks estimates how many get through where so many were told of or would
// have been.
func breaks(told int, heard bool) float64 {
	all := float64(told) * Precision / Recall
	if heard {
		return all * (1 - Recall)
	}
	return all
}
