package backtest

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A Kind says where a case comes from.
type Kind string

const (
	TrueMerge Kind = "merge"  // two parents of a merge commit
	Pair      Kind = "pair"   // two heads that fork from one commit
	Swarm     Kind = "swarm"  // many heads that fork from one commit
	Flight    Kind = "flight" // two heads that fork from different commits and were worked on at one time
)

// A Case is a piece of history to replay.
type Case struct {
	Kind    Kind     `json:"kind"`
	Merge   string   `json:"merge,omitempty"` // the merge commit
	Subject string   `json:"subject,omitempty"`
	Base    string   `json:"base"`
	Bases   int      `json:"bases"` // merge bases; more than one when histories cross
	Heads   []string `json:"heads"`
	Names   []string `json:"names,omitempty"` // of the heads, where they have some
	At      int64    `json:"at"`
	// Landed says that the merge is on the mainline: work is made to fit
	// before it lands, so whether it did tells nothing of plans.
	Landed bool `json:"landed,omitempty"`
	// Own are the commits that each head forks from, where those differ.
	Own []string `json:"own,omitempty"`
	// Happened is the order in which the heads of a swarm landed, as far as that
	// is known: of so many of them.
	Happened    []int `json:"happened,omitempty"`
	KnownLanded int   `json:"known_landed,omitempty"`

	steps [][]step    // of each head, the oldest first; the last is the head
	bases []string    // all of them, when histories cross
	first [][2]string // of each head, its first commit and what that came after
}

// A step is a state that a branch went through.
type step struct {
	commit string
	at     int64
}

// A Selection tells how the cases were chosen.
type Selection struct {
	Since    int64          `json:"since"` // seconds since 1970
	Until    int64          `json:"until"`
	Commits  int            `json:"commits"` // in the history
	Eligible map[Kind]int   `json:"eligible"`
	LeftOut  map[string]int `json:"left_out"` // candidates by why they were left out
	// Squashed says that the mainline has hardly any merges, so that those of it
	// into pull requests were looked at, and pull requests beside each other.
	Squashed bool `json:"squashed"`
}

// Why a candidate was left out.
const (
	notTwoParents = "not two parents"
	oneSided      = "work on one side only"
	noBase        = "no common history"
	botWork       = "a side is by bots alone"
	toolMerge     = "merge made by a tool"
	stacked       = "heads share commits"
)

var (
	botName = lazy.Regexp(`(?i)\[bot\]|^(dependabot|renovate|greenkeeper|mergify|snyk|pyup|imgbot|weblate|transifex|crowdin|bors|homu|` +
		`codecov|allcontributors|pre-commit)\b|[-_ ]bot$|\bbot\b|[-_ ](ci|robot)$|^github-actions|^web-flow$`)
	botEmail = lazy.Regexp(`(?i)\[bot\]@|^(bot|bors|noreply-bot|action)@|[-_]bot@|dependabot|renovate|@pyup\.io|@snyk\.io`)
	toolText = lazy.Regexp(`(?i)^rollup (of|merge)|\bgit-subtree\b|^squashed '|\bsubtree\b|^auto(matic|mated)(ally)? ` +
		`merge|^\[?auto-?merge\b.*\binto\b|^merge .*\bautomatically\b|^(sync|mirror)\b|^resync`)
)

// agentName finds coding agents: their names end like those of bots, but what
// they do is work, and the very work that svc is for.
var agentName = lazy.Regexp(`(?i)\b(copilot|swe-agent|google-labs-jules|jules|devin-ai-integration|devin|claude|codex|` +
	`cursor ?agent|cursoragent|openhands|sweep-ai|aider|` +
	`gemini-code-assist|gemini-cli|amazon-q|kiro|factory-droid|coderabbit-agent|codegen-sh|sourcery-agent|` +
	`windsurf|opencode|goose-agent|ellipsis-dev|blackbox-agent)\b`)

func isBot(name, email string) bool {
	if agentName.Get().MatchString(name) || agentName.Get().MatchString(email) {
		return false
	}
	return botName.Get().MatchString(name) || botEmail.Get().MatchString(email)
}

// selection collects cases.
type selector struct {
	opts    *Options
	g       *graph
	since   int64
	rng     *rand.Rand
	out     []Case
	summary Selection
	heads   []head // all that were found
}

// choose reads the history and picks what to replay. The same history, options
// and seed give the same cases.
func choose(ctx context.Context, repo *gitrepo.Repo, opts *Options) ([]Case, Selection, error) {
	s, tip, err := newSelector(ctx, repo, opts, opts.Pairs || opts.Swarm > 0 || opts.Flights)
	if err != nil || len(s.g.ids) == 0 {
		return nil, s.summary, err
	}
	flights := opts.Flights
	if !opts.NoMerges {
		if err := s.merges(ctx, repo, tip, s.landed(tip)); err != nil {
			return nil, s.summary, err
		}
		if s.squashes(tip) {
			if s, tip, err = newSelector(ctx, repo, opts, true); err != nil {
				return nil, s.summary, err
			}
			s.summary.Squashed, flights = true, true
			if err := s.merges(ctx, repo, tip, append(s.landed(tip), s.updates(tip)...)); err != nil {
				return nil, s.summary, err
			}
		}
	}
	if flights || opts.Pairs || opts.Swarm > 0 {
		refs, err := repo.Refs(ctx, opts.Refs)
		if err != nil {
			return nil, s.summary, err
		}
		groups := s.groups(refs, tip)
		if flights {
			s.flights()
		}
		if opts.Pairs {
			s.pairs(groups)
		}
		if opts.Swarm > 0 {
			var l *landings
			if opts.Compare {
				if l, err = s.readLandings(ctx, repo, tip); err != nil {
					return nil, s.summary, err
				}
			}
			s.swarms(groups, l)
		}
	}
	return s.out, s.summary, nil
}

// newSelector reads the history of HEAD, and of pull requests where they are
// wanted, and returns where HEAD is.
func newSelector(ctx context.Context, repo *gitrepo.Repo, opts *Options, heads bool) (*selector, int32, error) {
	revisions := []string{"HEAD"}
	if heads {
		for _, r := range opts.Refs {
			revisions = append(revisions, "--glob="+r)
		}
	}
	s := &selector{opts: opts, rng: rand.New(rand.NewPCG(opts.Seed, 0x5c))}
	var err error
	if s.g, err = loadGraph(ctx, repo, revisions); err != nil {
		return s, 0, err
	}
	s.summary = Selection{Commits: len(s.g.ids), Eligible: map[Kind]int{}, LeftOut: map[string]int{}}
	if len(s.g.ids) == 0 {
		return s, 0, nil
	}
	id, err := repo.Commit(ctx, "HEAD")
	if err != nil {
		return s, 0, err
	}
	tip := s.g.byID[id]
	s.summary.Until = s.g.times[tip]
	s.since = max(slices.Min(s.g.times), s.g.times[tip]-int64(opts.Since.Seconds()))
	s.summary.Since = s.since
	return s, tip, nil
}

// landed are the merges of the period that HEAD has.
func (s *selector) landed(tip int32) (out []string) {
	onHead := s.reachable(tip)
	for at := range s.g.ids {
		if len(s.g.parents[at]) >= 2 && s.g.times[at] >= s.since && onHead[int32(at)] {
			out = append(out, s.g.ids[at])
		}
	}
	return out
}

// updates are the merges of the mainline into pull requests: where a project
// squashes, those are the merges that its people really made.
func (s *selector) updates(tip int32) (out []string) {
	onHead, line := s.reachable(tip), s.g.mainline(tip)
	for at, parents := range s.g.parents {
		if len(parents) < 2 || s.g.times[at] < s.since || onHead[int32(at)] {
			continue
		}
		if slices.ContainsFunc(parents, func(p int32) bool { _, on := line[p]; return on }) {
			out = append(out, s.g.ids[at])
		}
	}
	return out
}

// squashMany is how many commits of a mainline have one merge to replay among
// them at least, unless the project squashes what it merges.
const squashMany = 50

// squashes reports whether the mainline has hardly any merges to replay.
func (s *selector) squashes(tip int32) bool {
	commits := 0
	for at := range s.g.mainline(tip) {
		if s.g.times[at] >= s.since {
			commits++
		}
	}
	return s.summary.Eligible[TrueMerge]*squashMany < commits
}

// merges picks true merges of some: two parents, work by people on both sides.
func (s *selector) merges(ctx context.Context, repo *gitrepo.Repo, tip int32, ids []string) error {
	line := s.g.mainline(tip)
	subjects, err := repo.Subjects(ctx, ids)
	if err != nil {
		return err
	}
	var found []Case
	for _, id := range ids {
		c, why := s.merge(s.g.byID[id], subjects[id])
		if why != "" {
			s.summary.LeftOut[why]++
			continue
		}
		_, c.Landed = line[s.g.byID[id]]
		found = append(found, c)
	}
	s.summary.Eligible[TrueMerge] = len(found)
	s.out = append(s.out, s.sample(found, s.opts.Max)...)
	return nil
}

func (s *selector) merge(at int32, subject string) (Case, string) {
	ps := s.g.parents[at]
	switch {
	case len(ps) != 2:
		return Case{}, notTwoParents
	case toolText.Get().MatchString(subject):
		return Case{}, toolMerge
	}
	f := s.g.apart(ps[0], ps[1])
	switch {
	case len(f.bases) == 0:
		return Case{}, noBase
	case len(f.sides[0]) == 0 || len(f.sides[1]) == 0:
		return Case{}, oneSided
	case s.g.byBots(f.sides[0]) || s.g.byBots(f.sides[1]):
		return Case{}, botWork
	}
	c := s.caseOf(TrueMerge, f)
	c.Merge, c.Subject, c.At = s.g.ids[at], subject, s.g.times[at]
	return c, ""
}

func (s *selector) caseOf(kind Kind, f fork) Case {
	c := Case{Kind: kind, Base: s.g.ids[f.bases[0]], Bases: len(f.bases)}
	for _, b := range f.bases {
		c.bases = append(c.bases, s.g.ids[b])
	}
	for _, side := range f.sides {
		c.Heads = append(c.Heads, s.g.ids[side[0]])
		s.steps(&c, f.bases[0], side)
		c.At = max(c.At, s.g.times[side[0]])
	}
	return c
}

// steps notes what a side went through.
func (s *selector) steps(c *Case, base int32, side []int32) {
	all := s.g.steps(side)
	first := [2]string{c.Base, s.g.ids[all[0]]}
	if ps := s.g.parents[all[0]]; len(ps) > 0 {
		first[0] = s.g.ids[ps[0]]
	}
	var out []step
	for _, at := range s.g.since(base, side, all) {
		out = append(out, step{s.g.ids[at], s.g.times[at]})
	}
	c.first, c.steps = append(c.first, first), append(c.steps, out)
}

func (s *selector) reachable(tip int32) map[int32]bool {
	seen := map[int32]bool{tip: true}
	for todo := []int32{tip}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, p := range s.g.parents[at] {
			if !seen[p] {
				seen[p] = true
				todo = append(todo, p)
			}
		}
	}
	return seen
}

// sample keeps at most n cases, all equally likely, in their order.
func (s *selector) sample(all []Case, n int) []Case {
	if len(all) <= n {
		return all
	}
	picked := s.rng.Perm(len(all))[:n]
	slices.Sort(picked)
	out := make([]Case, n)
	for i, at := range picked {
		out[i] = all[at]
	}
	return out
}
