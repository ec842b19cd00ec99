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
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

var (
	searchDepth  = flag.Int("search.depth", 4, "how many moves the searcher of sequences makes in a row")
	searchStates = flag.Int("search.states", 3, "how many states the searcher looks into; 0 for all within its depth")
)

// No sequence of calls by agents leads from a block to an allow: two people have
// two agents each, one of them holds a.go, and the other three do all that the
// table of operations and the tools offer, breadth first. What a person may do is
// not among the moves. Each state that none before was like is asked about by
// hook, by scope check and of the engine, in memory and on what SQLite holds. make
// chaos looks into all states within four moves.
func TestNoSequenceOfMovesOpensAClaim(t *testing.T) {
	if testing.Short() {
		return
	}
	w := daemontest.Start(t, filepath.Join(t.TempDir(), "svc.db"))
	s := newSearch(t, w, *searchDepth, *searchStates)
	way := s.run()
	t.Logf("%d moves; %d states met (%v by moves), %d looked into, at most %d moves deep; %d calls, %d decisions in memory and on SQLite",
		len(s.moves), len(s.seen), s.met[1:], s.expanded, s.depth, s.calls, s.decided)
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
			if s.opened(x, movers...) || s.passes(x, movers...) {
				t.Errorf("opened by %s", strings.Join(s.named([]int{0, 1, 2}), ", then "))
			}
		}
	})
}

// What a searcher takes back is as if it had not been, in every table on which a
// decision can rest.
func TestAPastComesBack(t *testing.T) {
	w := daemontest.Start(t, filepath.Join(t.TempDir(), "svc.db"))
	s := newSearch(t, w, 1, 1)
	before := s.past.dump()
	for round := range 2 {
		made := 0
		for m := range s.moves {
			if (m+round)%5 == 0 && s.moves[m].make(s.x) < 300 {
				made++
			}
		}
		if made < 20 || slices.Equal(before, s.past.dump()) {
			t.Errorf("round %d: %d moves did nothing", round, made)
		}
		if err := w.D.Ops.Work.FlushBeats(t.Context()); err != nil { // else they are written some seconds later
			t.Fatal(err)
		}
		s.past.back(s.began)
		for i, line := range s.past.dump() {
			if line != before[i] {
				t.Errorf("round %d: was %s\nis %s", round, before[i], line)
			}
		}
	}
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
	learned  bool // which moves are alike
	calls    int
	decided  int
	orgs     int
	met      []int // new states, by how many moves lead there

	x           *word
	records     *live.Set // made of what the database holds
	repo        string
	past        *past
	began, here int64 // moments of the first state and of the one that is looked into
}

// A state is where moves lead to.
type state struct {
	path []int
	hash [32]byte
}

func newSearch(t *testing.T, w *daemontest.World, depth, most int) *search {
	s := &search{t: t, w: w, depth: depth, most: most, seen: map[[32]byte]bool{}, met: make([]int, depth+1), records: live.New(w.Store)}
	w.Freeze() // nothing happens by itself
	w.Near = true
	s.x = s.start()
	s.moves = s.allMoves()
	s.past = newPast(t, w, s.x.org.ID)
	err := w.Store.Read(t.Context(), func(tx *store.Tx) error {
		repos, err := tx.ReposInFull(t.Context(), s.x.org.ID)
		s.repo = repos[0].ID
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
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
	first := state{nil, s.hash(s.x)}
	queue := []state{first}
	s.seen[first.hash] = true
	for len(queue) > 0 && (s.most == 0 || s.expanded < s.most) {
		at := queue[0]
		queue = queue[1:]
		s.expanded++
		if s.expanded%100 == 0 {
			s.t.Logf("%d looked into, %d to go, %d moves deep, %d calls", s.expanded, len(queue), len(at.path), s.calls)
		}
		s.past.back(s.began)
		for _, m := range at.path {
			s.moves[m].make(s.x)
		}
		_, s.here = s.past.since(s.began)
		if len(at.path) == 3 && !s.learned {
			s.learned = true
			s.t.Logf("%d moves are made to the fourth", markAlike(s.moves))
		}
		for m := range s.moves {
			if !s.moves[m].worth(len(at.path)) {
				continue
			}
			next, opened := s.step(at, m)
			if opened {
				return s.named(append(slices.Clip(at.path), m))
			}
			if next != nil && len(next.path) < s.depth {
				queue = append(queue, *next)
			}
		}
	}
	return nil
}

// step makes one move and takes it back. It returns the state after it, if none
// like it was met, and whether the claim was opened.
func (s *search) step(from state, m int) (next *state, opened bool) {
	s.calls++
	move := &s.moves[m]
	status := move.make(s.x)
	written, now := s.past.since(s.here)
	if now > s.here {
		defer s.past.back(s.here)
	}
	counts := slices.ContainsFunc(written, func(table string) bool { return !slices.Contains(beside, table) })
	move.lively = move.lively || counts || status > 400
	hash := from.hash
	if counts {
		hash = s.hash(s.x)
	}
	if len(from.path) < 3 {
		move.known = sha256.Sum256(fmt.Appendf(move.known[:], "%d %x", status, hash))
	}
	if !counts {
		return nil, false // nothing came of it
	}
	if s.seen[hash] {
		return nil, hash == from.hash && move.who != "ana" && s.opened(s.x, move.who)
	}
	s.seen[hash] = true
	s.met[len(from.path)+1]++
	asked := movers
	if len(from.path)+1 == s.depth && move.who != "ana" {
		asked = []string{move.who} // by its hook: that writes, and takes as long as all else
	}
	if s.opened(s.x, movers...) || s.allowed(s.x) || s.passes(s.x, asked...) {
		return nil, true
	}
	return &state{append(slices.Clip(from.path), m), hash}, false
}

// beside are the tables on which no decision rests: what was said and sent, and
// how often.
var beside = []string{
	"active_developers", "answers", "conversation_members", "conversations", "daily_sums", "daily_sums_until", "deliveries", "digest_readers",
	"digest_runs", "digests", "dismissals", "fanouts", "hook_receipts", "hook_replies", "jobs", "mails", "message_recipients", "messages",
	"questions", "rate_limits", "sends", "statuses", "told", "usage", "webhook_deliveries", "webhooks",
}

func (s *search) named(way []int) (out []string) {
	for _, m := range way {
		out = append(out, s.moves[m].name)
	}
	return out
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
func (s *search) passes(x *word, asked ...string) bool {
	for _, who := range asked {
		if r, failed := x.edits(x.agent(who), "a.go"); failed == "" && r.Decision != wire.Block {
			return true
		}
	}
	return false
}

// allowed reports whether the engine allows one of the others' edits: on what is
// kept of live work in memory, which events brought here, or on what SQLite
// holds, made anew.
func (s *search) allowed(x *word) (opened bool) {
	s.records.Stale([]string{x.org.ID}) // the last step back makes it begin anew
	for _, set := range []*live.Set{s.w.D.Live, s.records} {
		err := set.View(s.t.Context(), x.org.ID, func(ix *engine.Index) error {
			for _, who := range movers {
				a := x.agent(who)
				if worker := ix.WorksOn(s.repo, a.session); worker != nil {
					e := engine.Edit{Worker: worker, Session: a.session, Copy: a.copy, Paths: []string{"a.go"}}
					opened = opened || engine.Decide(ix, e).Action != engine.Block
					s.decided++
				}
			}
			return nil
		})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	return opened
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
	verdicts, err := tx.Tallies(ctx, org, "")
	if err != nil {
		return err
	}
	for _, v := range verdicts {
		r.note("verdicts %s %d %d %d by %d", v.Kind, v.Useful, v.FalsePositive, v.TooLate, v.Judges)
	}
	changes, err := tx.Changes(ctx, org, "", "")
	for _, c := range changes {
		for _, by := range c.Touched {
			r.note("change %s %s %s", c.Copy, c.Facts.Path, r.names[by.Session])
		}
	}
	return err
}
