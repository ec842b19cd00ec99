package stories

import (
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

var (
	searchDepth  = flag.Int("search.depth", 4, "how many moves the searcher of sequences makes in a row")
	searchStates = flag.Int("search.states", 4, "how many states the searcher looks into; 0 for all within its depth")
)

// No sequence of calls by agents leads from a block to an allow: two people have
// two agents each, one of them holds a.go, and the other three do all that the
// table of operations and the tools offer, breadth first. What a person may do is
// not among the moves. make chaos looks into a hundred times as many states.
func TestNoSequenceOfMovesOpensAClaim(t *testing.T) {
	if testing.Short() {
		return
	}
	w := daemontest.Start(t, filepath.Join(t.TempDir(), "svc.db"))
	s := newSearch(t, w, *searchDepth, *searchStates)
	way := s.run()
	t.Logf("%d moves, %d states met and %d looked into within %d moves, %d calls", len(s.moves), len(s.seen), s.expanded, s.depth, s.calls)
	if way != nil {
		t.Errorf("opened by %s", strings.Join(way, ", then "))
	}
	if s.calls < 400 || len(s.seen) < 20 {
		t.Error("the searcher hardly moved")
	}
}

// Without the one rule, the searcher finds a way.
func TestTheSearcherSeesThatTheRuleIsNeeded(t *testing.T) {
	w := daemontest.Start(t, filepath.Join(t.TempDir(), "svc.db"))
	w.D.Ops.Work.Ground.Unruled = true
	if way := newSearch(t, w, 2, 12).run(); way == nil {
		t.Error("the searcher found nothing, with the rule taken out")
	}
}

// The ways that it found once stay closed.
func TestWaysThatTheSearcherFound(t *testing.T) {
	handOver := func(who string) move {
		return callMove(who, "POST", "/v1/intents/{ref}/close", "the last", `{"outcome":"handoff","handoff_to":"me@"}`)
	}
	adopt := func(who string) move {
		return callMove(who, "POST", "/v1/intents/{ref}/adopt", "the last", `{"session_id":"mine"}`)
	}
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		s := &search{t: t, w: daemontest.Start(t, dsn)}
		for _, way := range [][]move{
			{hookMove("bob", wire.HookPreEdit), handOver("ana2"), handOver("bob")}, // what ended as both were one person's was not raised again
			{hookMove("bob", wire.HookPreEdit), handOver("ana2"), adopt("ana2")},
		} {
			s.moves = way
			x := s.start()
			for i, m := range way {
				if status := m.make(x); i == 0 && status != 200 {
					t.Fatalf("%s: %d", m.name, status)
				}
			}
			if s.opened(x, movers...) || s.passes(x) {
				t.Errorf("opened by %s", strings.Join(s.named([]int{0, 1, 2}), ", then "))
			}
		}
	})
}

// A search looks for a way in.
type search struct {
	t        *testing.T
	w        *daemontest.World
	depth    int
	most     int
	moves    []move
	seen     map[[32]byte]bool
	expanded int
	calls    int
	orgs     int
}

func newSearch(t *testing.T, w *daemontest.World, depth, most int) *search {
	s := &search{t: t, w: w, depth: depth, most: most, seen: map[[32]byte]bool{}}
	s.moves = s.allMoves()
	return s
}

// start makes the first state in an org of its own: ana holds a.go. The org is
// made in one transaction: each step back begins with one.
func (s *search) start() *word {
	s.orgs++
	slug := fmt.Sprintf("search%d", s.orgs)
	st := &story{t: s.t, w: s.w, people: map[string]*person{}, agents: map[string]*agent{}, keyed: true}
	st.org = &daemontest.Org{Tokens: map[coord.Role]string{},
		Org: coord.Org{ID: uuid.NewString(), Slug: slug, Name: slug, DataMode: coord.DataFull, Plan: "self_hosted"}}
	s.w.Write(st.org.ID, func(ctx context.Context, tx *store.Tx) error {
		st.org.CreatedAt = tx.Now
		if err := tx.InsertOrg(ctx, st.org.Org); err != nil {
			return err
		}
		for _, name := range []string{"ana", "bob", "root"} {
			p := &person{User: coord.User{ID: uuid.NewString(), Email: name + "@" + slug + ".example.com", Name: strings.ToUpper(name)}}
			secret := auth.NewToken()
			p.token, st.people[name] = secret.Text, p
			token := coord.Token{ID: uuid.NewString(), OrgID: st.org.ID, Name: "test", Kind: coord.PersonalToken, Prefix: secret.Prefix,
				Scopes: coord.Scopes(), UserID: &p.ID, CreatedAt: tx.Now}
			role := coord.Admin
			if name == "root" {
				role, st.org.Tokens[coord.Owner] = coord.Owner, secret.Text
			}
			err := errors.Join(tx.InsertUser(ctx, p.User), tx.InsertMember(ctx, st.org.ID, p.ID, role), tx.InsertToken(ctx, token, secret.Hash))
			if err != nil {
				return err
			}
		}
		return nil
	})
	st.tell("agent ana2 ana tool=codex", "agent bob2 bob tool=codex")
	st.tell("join ana ana2 bob bob2", "declare ana paths=a.go mode=exclusive")
	return &word{keptOut: &keptOut{story: st, token: st.agent("bob").token, ref: "CF-1"}, role: coord.Admin, keyed: true, slug: slug}
}

// run searches breadth first and returns the way in, if there is one.
func (s *search) run() []string {
	type state struct {
		path []int
		hash [32]byte
	}
	first := state{nil, s.hash(s.start())}
	queue := []state{first}
	s.seen[first.hash] = true
	for len(queue) > 0 && (s.most == 0 || s.expanded < s.most) {
		at := queue[0]
		queue = queue[1:]
		s.expanded++
		if s.expanded%50 == 0 {
			s.t.Logf("%d looked into, %d to go, %d moves deep, %d calls", s.expanded, len(queue), len(at.path), s.calls)
		}
		x := s.replay(at.path)
		for m := range s.moves {
			if s.moves[m].tool && len(at.path) > 1 {
				continue // the same operations through another door
			}
			s.calls++
			if s.moves[m].make(x) >= 400 {
				continue // nothing came of it
			}
			way := append(slices.Clip(at.path), m)
			now := s.hash(x)
			if now == at.hash {
				if who := s.moves[m].who; who != "ana" && s.opened(x, who) {
					return s.named(way)
				}
				continue
			}
			if s.opened(x, movers...) {
				return s.named(way)
			}
			if !s.seen[now] {
				s.seen[now] = true
				if s.passes(x) {
					return s.named(way)
				}
				if len(way) < s.depth {
					queue = append(queue, state{way, now})
				}
			}
			x = s.replay(at.path)
		}
	}
	return nil
}

func (s *search) named(way []int) (out []string) {
	for _, m := range way {
		out = append(out, s.moves[m].name)
	}
	return out
}

func (s *search) replay(path []int) *word {
	x := s.start()
	for _, m := range path {
		s.moves[m].make(x)
	}
	return x
}

// opened reports whether one of the others is told that it may write what ana
// holds. Asking leaves no trace.
func (s *search) opened(x *word, asked ...string) bool {
	for _, who := range asked {
		var out wire.ScopeChecked
		a := x.agent(who)
		failed := x.call(a, "POST", "/v1/scope-check", map[string]any{"paths": []string{"a.go"}}, &out, own(a))
		if failed == "" && out.Decision != wire.Block {
			return true
		}
	}
	return false
}

// passes reports whether one of the others may write it: each is asked as its
// hook asks, which is what the promise is about.
func (s *search) passes(x *word) bool {
	for _, who := range movers {
		if r, failed := x.edits(x.agent(who), "a.go"); failed == "" && r.Decision != wire.Block {
			return true
		}
	}
	return false
}

// hash tells one state of an org from another, by what a decision can rest on and
// whatever the ids, numbers and times: who holds what, who is at work, what was
// written and refused. The two agents of bob are alike.
func (s *search) hash(x *word) [32]byte {
	lines := s.facts(x)
	other := slices.Clone(lines)
	swap := strings.NewReplacer("bob2", "bob", "bob", "bob2")
	for i := range other {
		other[i] = swap.Replace(other[i])
	}
	slices.Sort(lines)
	slices.Sort(other)
	return sha256.Sum256([]byte(min(strings.Join(lines, "\n"), strings.Join(other, "\n"))))
}

// facts are what a decision can rest on, a line for each.
func (s *search) facts(x *word) []string {
	var r ledger
	err := s.w.Store.Read(s.t.Context(), func(tx *store.Tx) error { return r.read(s.t.Context(), tx, x.org.ID) })
	if err != nil {
		s.t.Fatal(err)
	}
	return r.lines
}

// A ledger is what the database holds of an org, in words that are the same in
// each.
type ledger struct {
	names map[string]string // of sessions and intents
	lines []string
}

func (r *ledger) note(format string, args ...any) {
	if line := fmt.Sprintf(format, args...); !slices.Contains(r.lines, line) { // how often is no matter
		r.lines = append(r.lines, line)
	}
}

func (r *ledger) read(ctx context.Context, tx *store.Tx, org string) error {
	r.names, r.lines = map[string]string{}, nil
	sessions, err := tx.Sessions(ctx, org, store.SessionFilter{Limit: 100})
	if err != nil {
		return err
	}
	intents, err := tx.Intents(ctx, org, store.IntentFilter{Limit: 100})
	if err != nil {
		return err
	}
	r.people(sessions, intents)
	conflicts, err := tx.Conflicts(ctx, org, store.ConflictFilter{Limit: 100})
	if err != nil {
		return err
	}
	for _, c := range conflicts {
		r.note("conflict %s %s %s %s against %s by %s %t", c.Kind, c.Severity, c.Status, r.names[c.Challenger], r.names[c.Holder],
			r.names[c.AttemptedBy], c.Override != nil)
	}
	return r.places(ctx, tx, org)
}

func (r *ledger) people(sessions []store.SessionRow, intents []store.IntentRow) {
	for _, a := range sessions {
		who, _, _ := strings.Cut(a.User.Email, "@")
		if a.Tool == "codex" {
			who += "2"
		}
		r.names[a.ID] = who
	}
	for _, i := range intents {
		who := i.Owner.Name
		if i.SessionID != nil {
			who = r.names[*i.SessionID] + " of " + who
		}
		r.names[i.ID] = fmt.Sprintf("%s %s %s (first %t)", who, i.Status, i.EffectiveMode, i.Number == 1)
		r.note("intent %s %q depends %t, from somebody %t, left %t", r.names[i.ID], i.Scope.Paths, len(i.DependsOn) > 0, i.FromID != nil,
			i.Left != nil)
	}
	for _, a := range sessions {
		on := ""
		if a.IntentID != nil {
			on = r.names[*a.IntentID]
		}
		r.note("session %s, ended %t, works on %s", r.names[a.ID], a.EndedAt != nil, on)
	}
}

// places are repositories that the claim can have to do with, policies and what
// was written.
func (r *ledger) places(ctx context.Context, tx *store.Tx, org string) error {
	repos, err := tx.ReposInFull(ctx, org)
	if err != nil {
		return err
	}
	for _, repo := range repos {
		if text := fmt.Sprintf("%s %q", repo.FullName, repo.Remotes); strings.Contains(text, "acme/api") {
			r.note("repo %s %t", text, repo.ArchivedAt != nil)
		}
	}
	policies, err := tx.Policies(ctx, org)
	if err != nil {
		return err
	}
	for _, rules := range policies {
		r.note("policy %+v", rules)
	}
	changes, err := tx.Changes(ctx, org, "", "")
	for _, c := range changes {
		for _, by := range c.Touched {
			r.note("change %s %s %s", c.Copy, c.Facts.Path, r.names[by.Session])
		}
	}
	return err
}
