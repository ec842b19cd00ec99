// Package backtest replays a repository's own history through the real
// analysis and the real engine and compares what svc would have said with
// what git did: what would it have caught here, and how often would it have
// cried wolf. It needs no server, sends nothing and leaves the repository as
// it is.
//
// Choose picks cases from the history, a pool replays them, and Figures counts
// what came out.
package backtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/client/gitrepo"
)

// DefaultRefs are where pull requests are found in a mirror of a git host.
var DefaultRefs = []string{"refs/pull/*/head", "refs/merge-requests/*/head"}

// Options say what to replay.
type Options struct {
	Since    time.Duration // before the newest commit; 0 means DefaultSince
	Max      int           // cases of each kind; 0 means DefaultMax
	NoMerges bool          // leave true merges out
	Pairs    bool          // pairs of heads that fork from one commit
	Swarm    int           // groups of that many heads; 0 means none
	Flights  bool          // pairs of heads that fork from different commits, at one time
	Refs     []string      // patterns of the heads; nil means DefaultRefs
	Seed     uint64        // of the sample
	Jobs     int           // replays at once; 0 means one for each core
	CacheDir string        // where results are kept for the next run; empty means nowhere
	Forget   bool          // do not use what is kept
	// LiveLimits cuts the facts of a side where those of a live report are cut;
	// without it, everything that a side did is compared.
	LiveLimits bool
	// Compare keeps of every swarm what it takes to play it under other regimes.
	Compare bool
	// Progress is told of every case that is done, one call at a time.
	Progress func(done, all int)
}

// The defaults of Options.
const (
	DefaultSince = 180 * 24 * time.Hour
	DefaultMax   = 500
)

// A Result is a finished or interrupted replay.
type Result struct {
	Selection   Selection `json:"selection"`
	Cases       int       `json:"cases"`       // chosen
	Cached      int       `json:"cached"`      // of the outcomes, those known from before
	Interrupted bool      `json:"interrupted"` // some cases were not replayed
	Outcomes    []Outcome `json:"outcomes"`
}

// Run replays the history of a repository. When ctx ends early the result has
// what was replayed until then and says so.
func Run(ctx context.Context, repo *gitrepo.Repo, opts Options) (*Result, error) {
	opts.fill()
	cases, selection, err := chosen(ctx, repo, &opts)
	if err != nil && ctx.Err() != nil {
		return &Result{Interrupted: true, Outcomes: []Outcome{}}, nil
	}
	if err != nil {
		return nil, err
	}
	kept, err := openCache(&opts, repo)
	if err != nil {
		return nil, err
	}
	defer kept.close()
	p := &pool{repo: repo, opts: &opts, cache: kept, outcomes: make([]*Outcome, len(cases))}
	p.todo = p.known(cases)
	result := &Result{Selection: selection, Cases: len(cases), Cached: p.done, Outcomes: []Outcome{}}
	if err := p.run(ctx, cases); err != nil && ctx.Err() == nil {
		return nil, err
	}
	for _, o := range p.outcomes {
		if o != nil {
			result.Outcomes = append(result.Outcomes, *o)
		}
	}
	result.Interrupted = len(result.Outcomes) < len(cases)
	return result, nil
}

// Choose picks the cases that Run would replay.
func Choose(ctx context.Context, repo *gitrepo.Repo, opts Options) ([]Case, error) {
	opts.fill()
	cases, _, err := chosen(ctx, repo, &opts)
	return cases, err
}

// chosen picks the cases, or gives up as soon as ctx ends: a long history takes
// its time, and who presses Ctrl-C has none.
func chosen(ctx context.Context, repo *gitrepo.Repo, opts *Options) ([]Case, Selection, error) {
	type answer struct {
		cases     []Case
		selection Selection
		err       error
	}
	done := make(chan answer, 1)
	go func() {
		var a answer
		a.cases, a.selection, a.err = choose(ctx, repo, opts)
		done <- a
	}()
	select {
	case a := <-done:
		return a.cases, a.selection, a.err
	case <-ctx.Done():
		return nil, Selection{}, ctx.Err()
	}
}

func (o *Options) fill() {
	if o.Since == 0 {
		o.Since = DefaultSince
	}
	if o.Max == 0 {
		o.Max = DefaultMax
	}
	if o.Jobs == 0 {
		o.Jobs = runtime.GOMAXPROCS(0)
	}
	if o.Refs == nil {
		o.Refs = DefaultRefs
	}
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
}

// A pool replays cases on several cores.
type pool struct {
	repo  *gitrepo.Repo
	opts  *Options
	cache *cache

	mu       sync.Mutex
	todo     []int // numbers of cases
	outcomes []*Outcome
	done     int
}

// known takes what the cache has and returns the cases that are left.
func (p *pool) known(cases []Case) []int {
	var left []int
	for i := range cases {
		if o := p.cache.get(&cases[i]); o != nil {
			o.Case = cases[i] // names and subjects may have changed
			if o.Group != nil {
				o.Group.Happened, o.Group.Known = o.Happened, o.KnownLanded
			}
			p.outcomes[i] = o
			p.done++
			continue
		}
		left = append(left, i)
	}
	return left
}

// batch is how many merges one git process makes: few enough that an
// interrupted run loses little.
const batch = 16

func (p *pool) run(ctx context.Context, cases []Case) error {
	p.opts.Progress(p.done, len(cases))
	errs := make([]error, p.opts.Jobs)
	var all sync.WaitGroup
	for j := range p.opts.Jobs {
		all.Go(func() { errs[j] = p.work(ctx, cases) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// take hands out the next cases: a batch, or one when they are large.
func (p *pool) take(cases []Case) []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	// Towards the end batches get smaller, so that no core idles.
	n := min(len(p.todo), batch, max(1, len(p.todo)/(2*p.opts.Jobs)))
	if n > 0 && cases[p.todo[0]].Kind == Swarm {
		n = 1
	}
	taken := p.todo[:n]
	p.todo = p.todo[n:]
	return taken
}

func (p *pool) work(ctx context.Context, cases []Case) error {
	scratch, err := os.MkdirTemp("", "svc-backtest-")
	if err != nil {
		return fmt.Errorf("make a folder for git's merges: %w", err)
	}
	defer os.RemoveAll(scratch)
	ctx = gitrepo.WithObjects(ctx, scratch) // what git merged, of bases too
	r := &replayer{ctx: ctx, repo: p.repo, scratch: scratch, history: analysis.NewHistory(ctx, p.repo.GitDir),
		live: p.opts.LiveLimits, compare: p.opts.Compare}
	defer r.history.Close()
	for ctx.Err() == nil {
		taken := p.take(cases)
		if len(taken) == 0 {
			return nil
		}
		truth, err := r.truth(cases, taken)
		if err != nil {
			return err
		}
		for n, at := range taken {
			o := Outcome{Case: cases[at], Failed: truth[n].failed}
			if o.Failed == "" {
				o = r.replay(cases[at], truth[n].merges)
			}
			if o.Failed != "" {
				settle(ctx)
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := p.finish(at, &o); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// settle gives an interrupt time to arrive: Ctrl-C also ends the git processes,
// and may reach them first.
func settle(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(100 * time.Millisecond):
	}
}

func (p *pool) finish(at int, o *Outcome) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outcomes[at] = o
	p.done++
	p.opts.Progress(p.done, len(p.outcomes))
	return p.cache.put(o)
}

// A ruling is git's verdict on a case.
type ruling struct {
	merges []gitrepo.Merge // of pairsOf
	failed string
}

// truth asks git what becomes of the cases, all at once. A case that git
// cannot merge at all, as in a clone that lacks objects, is asked for alone.
func (r *replayer) truth(cases []Case, taken []int) ([]ruling, error) {
	var pairs [][2]string
	sizes := make([]int, len(taken))
	for n, at := range taken {
		c := &cases[at]
		merges := mergesOf(c)
		pairs = append(pairs, merges...)
		sizes[n] = len(merges)
	}
	out := make([]ruling, len(taken))
	merges, err := r.repo.MergePairs(r.ctx, r.scratch, pairs)
	if err == nil {
		for n, size := range sizes {
			out[n].merges, merges = merges[:size], merges[size:]
		}
		return out, nil
	}
	if settle(r.ctx); r.ctx.Err() != nil {
		return nil, r.ctx.Err()
	}
	if len(taken) == 1 {
		out[0].failed = err.Error()
		return out, nil
	}
	for n := range taken {
		one, err := r.truth(cases, taken[n:n+1])
		if err != nil {
			return nil, err
		}
		out[n] = one[0]
	}
	return out, nil
}

// Kinds lists the kinds of cases of a result, in a fixed order.
func (r *Result) Kinds() []Kind {
	var out []Kind
	for _, k := range []Kind{TrueMerge, Pair, Flight, Swarm} {
		if slices.ContainsFunc(r.Outcomes, func(o Outcome) bool { return o.Kind == k }) {
			out = append(out, k)
		}
	}
	return out
}
