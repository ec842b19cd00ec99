package backtest

import (
	"github.com/svc-hq/svc/internal/client/backtest/regime"
	"github.com/svc-hq/svc/internal/core/coord"
)

// An Outcome is what replaying a case showed.
type Outcome struct {
	Case
	Sides     []Side        `json:"sides"`
	Conflicts []Conflict    `json:"conflicts"` // where git stopped
	Warnings  []Warning     `json:"warnings"`  // what svc would have told, ignored paths included
	Blocks    Blocks        `json:"blocks"`
	Plans     []Plan        `json:"plans,omitempty"`
	Lead      *Lead         `json:"lead,omitempty"`
	Crowd     *Crowd        `json:"crowd,omitempty"`
	Group     *regime.Group `json:"group,omitempty"`
	Failed    string        `json:"failed,omitempty"` // why it could not be replayed
	Related   bool          `json:"-"`                // of one case: a merge check may be worth its while
}

// Clean reports whether git merges the case without stopping.
func (o *Outcome) Clean() bool { return len(o.Conflicts) == 0 }

// A Side is the work of one worker.
type Side struct {
	Commits int `json:"commits"`
	Files   int `json:"files"`
}

// A Conflict is a file where git stopped.
type Conflict struct {
	Path    string   `json:"path"`
	Base    string   `json:"base,omitempty"`  // the object that git took for its base
	Kinds   []string `json:"kinds"`           // in git's words
	Ignored bool     `json:"ignored"`         // the policy's ignore_paths keep it quiet
	Caught  bool     `json:"caught"`          // edit_overlap told of it
	Told    bool     `json:"told"`            // some warning did
	Facts   string   `json:"facts,omitempty"` // of a miss: what each side did there
	Pair    [2]int   `json:"pair"`            // the heads
}

// A Warning is something that svc would have put before an agent.
type Warning struct {
	Kind     coord.ConflictKind `json:"kind"`
	Severity coord.Severity     `json:"severity"`
	Place    string             `json:"place"`
	Ignored  bool               `json:"ignored"` // not under the default ignore_paths
	Right    bool               `json:"right"`   // git stopped there
	Text     string             `json:"text"`    // as the agent would read it
	Pair     [2]int             `json:"pair"`
}

// Blocks tells whether an edit would have been denied.
type Blocks struct {
	Default bool `json:"default"` // under the default policy
	Raised  bool `json:"raised"`  // with edit_overlap raised to block
	All     bool `json:"all"`     // the same, and nothing ignored
}

// A Plan is what would have been said before anybody edited, from claims.
type Plan struct {
	Name      string    `json:"name"`
	Said      []Foresee `json:"said"`
	Conflicts int       `json:"conflicts"` // files where git stopped
	Caught    int       `json:"caught"`    // of them foreseen
	Shown     [2]int    `json:"shown"`     // the same without ignored files: conflicts, caught
}

// A Foresee is a file that two plans meet in.
type Foresee struct {
	Path    string             `json:"path"`
	Kind    coord.ConflictKind `json:"kind"`
	Ignored bool               `json:"ignored"`
	Right   bool               `json:"right"`
	Same    bool               `json:"same,omitempty"` // both sides left the file as the other did
}

// A Lead tells how early a conflict could have been known and was.
type Lead struct {
	Possible bool  `json:"possible"` // git would have stopped while the later side still had work to do
	Alarmed  bool  `json:"alarmed"`  // svc told of it while the later side still had work to do
	Seconds  int64 `json:"seconds"`  // from the alarm to the end of the later side's work
	Steps    int   `json:"steps"`    // of the later side, that were still to come
}

// A Crowd is how many workers of a swarm were alarmed.
type Crowd struct {
	Workers     int `json:"workers"`
	Alarmed     int `json:"alarmed"`     // got a warning
	Conflicting int `json:"conflicting"` // git stops with some other's work
	SameFile    int `json:"same_file"`   // changed a file that another changed
	Pairs       int `json:"pairs"`
	BadPairs    int `json:"bad_pairs"` // that git cannot merge
}

// A Full is everything about a replay, for a program to read.
type Full struct {
	Repo        string    `json:"repo"`
	Version     string    `json:"version"` // of svc
	Sections    []Section `json:"sections"`
	Misses      []Miss    `json:"misses"`
	FalseAlarms []Alarm   `json:"false_alarms"`
	Breaks      []Alarm   `json:"breaks"`
	*Result
}

// Full returns everything about a replay.
func (r *Result) Full(repo, version string) Full {
	return Full{repo, version, r.Sections(), r.Misses(), r.FalseAlarms(), r.Breaks(), r}
}
