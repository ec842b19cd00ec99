package moments

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/limit"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// maxWaits is how many waits a user may have open.
const maxWaits = 4

// waits counts the open waits of each user.
type waits struct {
	mu   sync.Mutex
	open map[string]int
}

// openWait counts one more wait of the caller, or refuses it.
func (s *Service) openWait(who *coord.Caller) (done func(), err error) {
	s.waits.mu.Lock()
	defer s.waits.mu.Unlock()
	key := who.OrgID + " " + who.UserID
	if s.waits.open[key] >= maxWaits {
		return nil, problem.Later(5*time.Second, "you have %d waits open already; let one end first", maxWaits)
	}
	s.waits.open[key]++
	return func() {
		s.waits.mu.Lock()
		defer s.waits.mu.Unlock()
		if s.waits.open[key]--; s.waits.open[key] == 0 {
			delete(s.waits.open, key)
		}
	}, nil
}

// OpenWaits returns how many waits are open.
func (s *Service) OpenWaits() (n int) {
	s.waits.mu.Lock()
	defer s.waits.mu.Unlock()
	for _, open := range s.waits.open {
		n += open
	}
	return n
}

// A target is what somebody waits for.
type target struct {
	name  string // as the answer shows it
	place work.Place
	// holders looks who is in the way; with nobody there, outcome says how it
	// became free. behind are the intents of those who wait behind the caller.
	holders  func(ctx context.Context, behind []string) (sight, error)
	claims   bool                    // whether holders have claims
	concerns func(*coord.Event) bool // as of a waiter
	// intent is the caller's own live intent, to be granted its exclusive
	// claim as the target becomes free.
	intent string
	// resource is the target, if it is one that intents lease.
	resource string
}

// A sight is who is in the way of a target.
type sight struct {
	holders []wire.WaitHolder
	outcome string    // how it became free, with nobody there
	held    *standing // a claim among them, if there is one
}

// A wait is one call of wait_for, from when its target is known.
type wait struct {
	who    *coord.Caller
	in     *wire.WaitFor
	since  time.Time
	target *target
	noted  string // its id in the database, where other replicas see it
	waiter *waiter
	leave  func() // its line
}

// WaitFor returns as soon as its target is free, or at the timeout with who is
// in the way. It ends when the caller goes away. Of several who wait, the first
// who came is told first.
//
// Thousands wait at a time, for minutes, each on a stack of its own. What is done
// before and after is therefore done in other functions, whose frames are not on
// the stack meanwhile, and what is large is passed on by address, here and on
// the whole way from the request. BenchmarkOpenWaits tells what that is worth.
func (s *Service) WaitFor(ctx context.Context, who *coord.Caller, in *wire.WaitFor) (wire.Waited, error) {
	done, err := s.openWait(who)
	if err != nil {
		return wire.Waited{}, err
	}
	defer done()
	w, end := s.beginWait(ctx, who, in)
	if end != nil {
		return end.out, end.err
	}
	timeout := time.NewTimer(time.Duration(in.TimeoutSeconds) * time.Second)
	defer timeout.Stop()
	select {
	case end = <-w.waiter.done:
	case <-timeout.C:
	case <-ctx.Done():
		end = &waitEnd{err: ctx.Err()}
	}
	return s.endWait(ctx, w, end)
}

// beginWait stands in line for what to wait for, or says why not.
func (s *Service) beginWait(ctx context.Context, who *coord.Caller, in *wire.WaitFor) (*wait, *waitEnd) {
	w := &wait{who: who, in: in, since: time.Now()}
	t, err := s.waitTarget(ctx, who, in)
	if err != nil {
		return nil, &waitEnd{err: err}
	}
	w.target = t
	var circle *wire.Waited
	if w.noted, circle, err = s.enterWait(ctx, w); err != nil {
		return nil, &waitEnd{err: err}
	}
	if circle != nil {
		circle.Target, circle.WaitedMS = t.name, int(time.Since(w.since).Milliseconds())
		return nil, &waitEnd{out: *circle}
	}
	w.waiter = &waiter{ctx: ctx, intent: t.intent, done: make(chan *waitEnd, 1), claims: t.claims, concerns: t.concerns,
		try: func(ctx context.Context, behind []string) (look, error) { return s.tryFree(ctx, who, t, behind) }}
	w.leave = s.queueUp(who.OrgID, who.OrgID+" "+t.place.Repo.ID+" "+t.name, w.waiter)
	return w, nil
}

// endWait leaves the line and completes what is said of the wait. Without an end the
// time is up.
func (s *Service) endWait(ctx context.Context, w *wait, end *waitEnd) (out wire.Waited, err error) {
	defer func() {
		if out.Status == "free" || err != nil {
			s.leaveWait(ctx, w.who, w.noted)
		}
	}()
	defer w.leave()
	if end != nil {
		out, err = end.out, end.err
	} else {
		out, err = s.lastLook(ctx, w)
	}
	if err == nil {
		err = s.addLapses(ctx, w.who, out.Holders)
	}
	if err == nil && out.Status == "still_busy" {
		err = s.meanwhile(ctx, w.who, w.target, &out)
	}
	if err == nil {
		err = s.wish(ctx, w, &out)
	}
	out.Target, out.WaitedMS = w.target.name, int(time.Since(w.since).Milliseconds())
	return out, err
}

// meanwhile adds to an answer which files of the caller's own scope nobody else
// holds: that is what to go on with.
func (s *Service) meanwhile(ctx context.Context, who *coord.Caller, t *target, out *wire.Waited) error {
	const most = 5
	var free limit.List[string]
	err := s.Live.View(ctx, who.OrgID, func(ix *engine.Index) error {
		w := t.place.Worker(ix, *who)
		for i := 0; i < len(w.Claims) && !free.Cut; i++ {
			c := &w.Claims[i]
			if c.Kind == coord.ClaimPath && c.Source == coord.Declared && c.Mode != coord.Wanted && c.Selector != t.name &&
				len(engine.Holders(ix, w, engine.Target{Path: c.Selector})) == 0 {
				free.Add(most, c.Selector)
			}
		}
		return nil
	})
	if len(free.Items) > 0 {
		out.Suggestion += " Of your own scope, nobody else holds " + strings.Join(free.Items, ", ")
		if free.Cut {
			out.Suggestion += " and more"
		}
		out.Suggestion += "."
	}
	return err
}

// addLapses tells of holders' claims when they end, if nothing more happens.
func (s *Service) addLapses(ctx context.Context, who *coord.Caller, holders []wire.WaitHolder) error {
	if len(holders) == 0 {
		return nil
	}
	return s.Read(ctx, func(tx *store.Tx) error {
		for _, h := range holders {
			if h.Intent == nil {
				continue
			}
			i, err := tx.Intent(ctx, who.OrgID, h.Intent.Number)
			if err != nil {
				return err
			}
			rules, err := tx.EffectivePolicy(ctx, who.OrgID, i.Repo.ID)
			if err != nil {
				return err
			}
			for k := range h.Evidence {
				if h.Evidence[k].Via == coord.ViaClaim {
					h.Evidence[k].ExpiresAt = work.Lapses(i, rules).Ptr()
				}
			}
		}
		return nil
	})
}

// lastLook returns what was seen when the time is up.
func (s *Service) lastLook(ctx context.Context, w *wait) (wire.Waited, error) {
	s.lines.mu.Lock()
	out := w.waiter.last
	s.lines.mu.Unlock()
	if out.Status != "" {
		return out.Waited, nil
	}
	t := *w.target
	t.intent = "" // nobody has looked yet, and nothing is granted out of turn
	out, err := s.tryFree(ctx, w.who, &t, nil)
	return out.Waited, err
}

// tryFree looks whether the target is free.
func (s *Service) tryFree(ctx context.Context, who *coord.Caller, t *target, behind []string) (out look, err error) {
	seen, err := t.holders(ctx, behind)
	if err != nil {
		return out, err
	}
	out = look{Waited: wire.Waited{Holders: seen.holders, Status: "still_busy"}, held: seen.held}
	if len(seen.holders) > 0 {
		out.Holder = &seen.holders[0]
		out.Suggestion = "Call wait_for again, work on something else, or message the holder with message_send."
		return out, nil
	}
	out.Status, out.Outcome, out.Holders = "free", &seen.outcome, []wire.WaitHolder{}
	out.Suggestion = "It is free: pull the latest state before you edit, and declare your intent if you have not."
	switch {
	case t.intent == "":
	case t.resource != "":
		if out.Lease, err = s.lease(ctx, who, t); out.Lease != nil && out.Lease.Resource != nil {
			out.Granted, out.Suggestion = true, "Your intent has it: go on."
		}
	default:
		out.Granted, err = s.regrant(ctx, who, t.intent)
	}
	return out, err
}

// regrant tries again to honour an intent's exclusive claim.
func (s *Service) regrant(ctx context.Context, who *coord.Caller, id string) (granted bool, err error) {
	err = s.Alter(ctx, *who, func(c *ground.Change) error {
		i, err := c.IntentByID(ctx, who.OrgID, id)
		if err != nil || !i.Status.Live() || i.Mode != coord.Exclusive || i.EffectiveMode == coord.Exclusive {
			return err
		}
		if err := work.Honour(ctx, c, &i); err != nil || i.EffectiveMode != coord.Exclusive {
			return err
		}
		granted = true
		if err := c.SaveIntent(ctx, &i); err != nil {
			return err
		}
		if err := work.TellIntent(ctx, c, coord.EventIntentUpdated, i); err != nil {
			return err
		}
		_, err = work.AfterIntent(ctx, c, &i)
		return err
	})
	return granted, err
}

// waitTarget reads what to wait for.
func (s *Service) waitTarget(ctx context.Context, who *coord.Caller, in *wire.WaitFor) (*target, error) {
	given := 0
	for _, set := range []bool{in.Path != nil, in.Symbol != nil, in.Intent != nil, in.Conflict != nil} {
		given += boolInt(set)
	}
	if given != 1 {
		return nil, problem.InvalidField("path", "give exactly one of path, symbol, intent and conflict")
	}
	switch {
	case in.Intent != nil:
		return s.waitIntent(ctx, who, string(*in.Intent))
	case in.Conflict != nil:
		return s.waitConflict(ctx, who, string(*in.Conflict))
	}
	t, what, set := &target{claims: true}, engine.Target{}, coord.ScopeSet{}
	switch {
	case in.Path != nil:
		set.Paths = []string{*in.Path}
	case scope.IsResource(*in.Symbol):
		set.Contracts = []string{*in.Symbol}
	default:
		set.Symbols = []string{*in.Symbol}
	}
	set, bad := scope.Canonical("", set)
	for i := range bad { // one of each was given, under a name of its own
		bad[i].Path = map[string]string{"paths[0]": "path", "symbols[0]": "symbol", "contracts[0]": "symbol"}[bad[i].Path]
	}
	if err := problem.Invalid(bad); err != nil {
		return nil, err
	}
	switch {
	case in.Path != nil:
		what.Path, t.name = set.Paths[0], set.Paths[0]
	case len(set.Contracts) > 0:
		what.Contract, t.name = set.Contracts[0], set.Contracts[0]
	default:
		what.Symbol, t.name = set.Symbols[0], set.Symbols[0]
	}
	err := s.Read(ctx, func(tx *store.Tx) (err error) {
		t.place, err = s.work.Spot(ctx, tx, *who, in.SessionID, in.Repo)
		return err
	})
	if t.place.Session != nil && t.place.Session.IntentID != nil {
		t.intent = *t.place.Session.IntentID
	}
	t.concerns = func(e *coord.Event) bool {
		return changesRules(e.Type) || e.Actor.ID == who.UserID || e.Subject.ID == t.intent ||
			t.place.Session != nil && (e.Actor.ID == t.place.Session.ID || e.Subject.ID == t.place.Session.ID)
	}
	if resource, ok := scope.ParseResource(what.Contract); ok {
		if t.resource = what.Contract; resource.Counted() {
			t.holders = s.numberholders(who, t, resource)
			return t, err
		}
	}
	t.holders = func(ctx context.Context, behind []string) (sight, error) {
		seen := sight{outcome: "released"}
		err := s.Live.View(ctx, who.OrgID, func(ix *engine.Index) error {
			for _, h := range engine.Holders(ix, t.place.Worker(ix, *who), what) {
				if onlyQueues(h, behind) {
					continue
				}
				seen.holders = append(seen.holders, waitHolder(h))
				if seen.held == nil {
					seen.held = standingIn(h)
				}
			}
			return nil
		})
		return seen, err
	}
	return t, err
}

// onlyQueues reports whether a holder only waits behind: it claims the target,
// but has changed nothing there and its claim keeps nobody out. Two who claim
// and wait would otherwise wait for each other.
func onlyQueues(h engine.Hold, behind []string) bool {
	return slices.Contains(behind, h.Worker.ID) && !slices.ContainsFunc(h.Evidence, func(e engine.HoldEvidence) bool {
		return e.Via != coord.ViaClaim || e.Mode == nil || *e.Mode == coord.Exclusive
	})
}

func waitHolder(h engine.Hold) wire.WaitHolder {
	out := wire.WaitHolder{Party: ground.PartyOf(coord.Holder, h.Worker), Evidence: []wire.HoldEvidence{}}
	for _, e := range h.Evidence {
		out.Evidence = append(out.Evidence, wire.HoldEvidence(e))
	}
	return out
}

func (s *Service) waitIntent(ctx context.Context, who *coord.Caller, ref string) (*target, error) {
	var first store.IntentRow
	err := s.Read(ctx, func(tx *store.Tx) (err error) {
		first, err = work.FindIntent(ctx, tx, *who, ref)
		return err
	})
	t := &target{name: first.Ref}
	t.concerns = func(e *coord.Event) bool { return e.Subject.ID == first.ID }
	t.holders = func(ctx context.Context, _ []string) (seen sight, err error) {
		err = s.Read(ctx, func(tx *store.Tx) error {
			i, err := tx.IntentByID(ctx, who.OrgID, first.ID)
			if err != nil {
				return err
			}
			switch {
			case !i.Status.Live():
				seen.outcome = string(i.Status)
			case i.Owner.ID != first.Owner.ID:
				seen.outcome = string(coord.OutcomeHandoff)
			default:
				owner, branch := i.Owner, i.Branch
				seen.holders = []wire.WaitHolder{{
					Party: coord.Party{Role: coord.Holder, User: &owner, Repo: i.Repo, Branch: branch, SessionID: i.SessionID,
						Intent: &coord.IntentName{Ref: i.Ref, Number: i.Number, Status: i.Status}},
					Evidence: []wire.HoldEvidence{},
				}}
				if i.Status != coord.IntentDraft {
					seen.holders[0].Intent.Title = &i.Title
				}
			}
			return nil
		})
		return seen, err
	}
	return t, err
}

func (s *Service) waitConflict(ctx context.Context, who *coord.Caller, ref string) (*target, error) {
	var row store.ConflictRow
	err := s.Read(ctx, func(tx *store.Tx) (err error) {
		row, err = work.FindConflict(ctx, tx, *who, ref)
		return err
	})
	t := &target{name: row.Ref}
	t.concerns = func(e *coord.Event) bool { return e.Subject.ID == row.ID }
	t.holders = func(ctx context.Context, _ []string) (seen sight, err error) {
		err = s.Read(ctx, func(tx *store.Tx) error {
			row, err := work.FindConflict(ctx, tx, *who, t.name)
			seen.outcome = string(row.Status)
			if err == nil && row.Status.Live() {
				for _, p := range row.Parties {
					if p.User == nil || p.User.ID != who.UserID {
						seen.holders = append(seen.holders, wire.WaitHolder{Party: p, Evidence: []wire.HoldEvidence{}})
					}
				}
			}
			if err == nil && row.Status.Live() && len(seen.holders) == 0 && len(row.Parties) > 0 {
				seen.holders = append(seen.holders, wire.WaitHolder{Party: row.Parties[0], Evidence: []wire.HoldEvidence{}})
			}
			return err
		})
		return seen, err
	}
	return t, err
}

// Waiting returns how many stand in line here.
func (s *Service) Waiting() (n int) {
	s.lines.mu.Lock()
	defer s.lines.mu.Unlock()
	for _, l := range s.lines.open {
		n += len(l.waiters)
	}
	return n
}
