// Package live keeps one engine.Index per org in memory, current with the
// event log. It is the service's only shared mutable state. Hook answers read
// it as it is; operations that act on what they find bring it up to their own
// transaction first.
package live

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/trail"
)

const (
	maxDelta = 500                    // events after which starting over is cheaper
	recheck  = 500 * time.Millisecond // how late a lost wake-up is noticed
	rebaseOn = 14 * 24 * time.Hour    // how long merged work is remembered
)

// MapsKept is how long it is remembered how two versions of a file go together,
// at least.
const MapsKept = rebaseOn + time.Hour

// pastOf is what is too old to be remembered at a moment of the log. It changes
// with the log and not with the clock, an hour at a time, so that an index that
// followed forgets what one that is read anew never knew.
func pastOf(newest coord.Time) coord.Time {
	at := newest.Add(-rebaseOn)
	return at - at%coord.Time(time.Hour/time.Millisecond)
}

// A Set holds the indexes of all orgs that somebody asked for.
type Set struct {
	// Far says that the database is so far away that a decision can hardly wait
	// for what others wrote: it is read as soon as it is heard of, where somebody
	// is at work.
	Far atomic.Bool
	// Trusting leaves out asking whether others wrote, and hears of nothing that
	// they did, so that a test can show that asking is needed.
	Trusting atomic.Bool

	store *store.Store
	name  string // that no other replica has
	mu    sync.Mutex
	orgs  map[string]*org
}

type org struct {
	id      string
	mu      sync.RWMutex
	ix      *engine.Index // nil until first asked for
	seq     int64         // of the last event that ix knows
	newest  coord.Time    // of all events that ix knows
	sure    atomic.Int64  // up to which event it is certain that these are in the log
	heard   atomic.Int64  // how often it was heard that there may be news
	met     atomic.Int64  // of these, how many ix was brought up to
	turn    chan struct{} // held by the one who reads what is new, not by who writes
	begun   atomic.Int64  // how often somebody began to read that
	read    atomic.Int64  // which of these has brought ix up to date last
	own     own           // what was told here of late
	places  places
	copied  journal                      // what changed of late, for who keeps a copy
	claimed atomic.Pointer[engine.Index] // of ix, for who cannot wait for its lock: see Remembered
	told    notices                      // of claims that ix does not know yet
	checked atomic.Int64                 // when seq was last compared with the log, Unix ms
	ahead   ahead
}

// hear notes that there may be news, and returns how often it was so. It is
// cheap: the next reader pays.
func (o *org) hear() int64 { return o.heard.Add(1) }

// stale reports whether there may be news that ix does not know.
func (o *org) stale() bool { return o.met.Load() < o.heard.Load() }

// New returns an empty Set on s.
func New(st *store.Store) *Set {
	s := &Set{store: st, name: uuid.NewString(), orgs: map[string]*org{}}
	st.WhenSettled(s.settled)
	return s
}

// settled notes that the writes of an org, of which its index may know, are in
// the log up to an event; or that they were undone.
func (s *Set) settled(orgID string, upTo int64) {
	s.mu.Lock()
	o := s.orgs[orgID]
	s.mu.Unlock()
	switch {
	case o == nil:
	case upTo == 0:
		o.forget()
	default:
		for was := o.sure.Load(); was < upTo && !o.sure.CompareAndSwap(was, upTo); was = o.sure.Load() {
		}
	}
}

// Stale notes that orgs have new events. It is cheap: the next reader pays, but
// for those of a database that is far away.
func (s *Set) Stale(orgs []string) {
	if s.Trusting.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range orgs {
		if o := s.orgs[id]; o != nil {
			o.hear()
			s.readAhead(o)
		}
	}
}

// Heard notes that an event is in the log. Readers see what it did, though the
// wake-up that tells this replica of it may still be on its way.
func (s *Set) Heard(orgID string, seq int64) {
	o := s.org(orgID)
	o.mu.RLock()
	known := o.seq >= seq
	o.mu.RUnlock()
	if !known {
		o.hear()
	}
}

func (s *Set) org(id string) *org {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.orgs[id]
	if o == nil {
		o = &org{id: id, turn: make(chan struct{}, 1)}
		o.hear()
		s.orgs[id] = o
	}
	return o
}

// View runs fn on the org's index. It knows every event that was committed
// before View was called, on whichever replica. fn must not change the index
// or keep it.
func (s *Set) View(ctx context.Context, orgID string, fn func(*engine.Index) error) error {
	return s.view(ctx, orgID, s.current, fn)
}

// Recall is View without asking whether others wrote meanwhile: for whoever
// asked just now, by Session, and for whoever has nobody to ask.
func (s *Set) Recall(ctx context.Context, orgID string, fn func(*engine.Index) error) error {
	return s.view(ctx, orgID, s.heard, fn)
}

func (s *Set) view(ctx context.Context, orgID string, refresh func(context.Context, *org) error, fn func(*engine.Index) error) error {
	ctx, step := trail.In(ctx, trail.Index)
	defer step.End()
	o := s.org(orgID)
	for {
		if err := refresh(ctx, o); err != nil {
			return err
		}
		if ran, err := o.view(fn); ran {
			return err
		}
		o.hear() // somebody's attempt to bring it up to date failed meanwhile
	}
}

// view runs fn on the index if there is one.
func (o *org) view(fn func(*engine.Index) error) (ran bool, err error) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if o.ix == nil {
		return false, nil
	}
	return true, fn(o.ix)
}

// heard makes sure that o knows all that this replica has heard of.
func (s *Set) heard(ctx context.Context, o *org) error {
	if ours := o.heard.Load(); o.met.Load() < ours {
		return s.catchUp(ctx, o, func() bool { return o.met.Load() >= ours && o.knows(0) })
	}
	return nil
}

// current makes sure that o knows all that was committed so far. A replica
// that is not alone hears of others' commits a moment late, and an edit that
// is allowed from the past cannot be taken back: it asks for the counter that
// each event raises. Asking costs one look at one row.
func (s *Set) current(ctx context.Context, o *org) error {
	o.ahead.asked.Store(time.Now().UnixMilli())
	if s.fresh(o) {
		return nil
	}
	if o.stale() || s.due(o) || s.Far.Load() { // to ask first whether there is news would be a way more
		ours := o.begun.Load() + 1 // who begins from now on reads for us
		return s.catchUp(ctx, o, func() bool { return o.read.Load() >= ours && o.knows(0) })
	}
	last, err := s.store.LastCommitted(ctx, o.id)
	if err != nil {
		return err
	}
	if o.knows(last) {
		return nil
	}
	return s.catchUp(ctx, o, func() bool { return o.knows(last) })
}

// knows reports whether ix is surely as new as an event.
func (o *org) knows(seq int64) bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.ix != nil && o.seq >= seq && o.sure.Load() >= seq
}

// fresh reports whether o is known to be current without asking anybody.
func (s *Set) fresh(o *org) bool {
	return !o.stale() && (s.Trusting.Load() || !s.due(o) && s.store.Alone())
}

// due reports whether to look for events of whoever writes without being a
// replica. With SQLite there is nobody else.
func (s *Set) due(o *org) bool {
	return s.store.Name() == "postgres" && time.Now().UnixMilli()-o.checked.Load() > recheck.Milliseconds()
}

// catchUp brings o up to what is committed, until it is done. One reads for all
// who wait.
func (s *Set) catchUp(ctx context.Context, o *org, done func() bool) error {
	for {
		unsure, err := s.follow(ctx, o, done)
		if err == nil && unsure {
			err = s.store.AwaitRound(ctx, o.id)
		}
		if err != nil {
			o.hear()
		}
		if err != nil || !unsure {
			return err
		}
	}
}

// follow brings o up to what is committed, unless somebody else has done so once
// it is its turn. It asks before it takes the index in hand: who decides or
// writes does not wait for the database because of it. Writes under way may have
// told o of events before their commit. Should the log have gone on meanwhile, it
// is by these, or by others of another replica that have their ids, because ours
// lost the org's lock and do not know it yet: o is unsure until they have ended.
func (s *Set) follow(ctx context.Context, o *org, done func() bool) (unsure bool, err error) {
	if err := o.take(ctx); err != nil {
		return false, err
	}
	defer func() { <-o.turn }()
	if done() {
		return false, nil
	}
	heard, ours := o.heard.Load(), o.begun.Add(1) // before reading: what is heard from now on is to be read again
	err = s.store.Read(ctx, func(tx *store.Tx) error {
		o.mu.RLock()
		from := min(o.seq, o.sure.Load())
		o.mu.RUnlock()
		if err := tx.Foresee(ctx, func() { s.Foresee(ctx, tx, o.id) }); err != nil {
			return err
		}
		last, err := tx.LastSeq(ctx, o.id)
		if err != nil {
			return err
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		sure := o.sure.Load()
		switch {
		case o.ix == nil || o.seq <= sure && (last >= o.seq || last < from):
			if err = o.refresh(ctx, tx); err == nil {
				o.sure.Store(o.seq)
			}
		case o.seq > sure:
			unsure = last > sure
		} // else a write here brought it further than what is read
		return err
	})
	if err == nil && !unsure {
		o.met.Store(heard)
		o.read.Store(ours)
	}
	return unsure, err
}

// take takes one's turn to read what is new, if it is there to be had.
func (o *org) take(ctx context.Context) error {
	select {
	case o.turn <- struct{}{}:
		return nil
	default:
	}
	select {
	case o.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Within runs fn on the org's index as tx sees it. What fn does to the Draft
// is undone afterwards: the index takes it over from the log once committed.
// tx must hold the org's lock.
func (s *Set) Within(ctx context.Context, tx *store.Tx, orgID string, fn func(*Draft) error) error {
	o := s.org(orgID)
	if tx.Gathers() { // it has the org's lock once it has asked: nobody is to wait for that with the index in hand
		if _, err := tx.LastSeq(ctx, orgID); err != nil {
			return err
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.refresh(ctx, tx); err != nil {
		return err
	}
	sure := o.seq
	if first := tx.Uncommitted(orgID); first > 0 {
		sure = first - 1
	}
	o.sure.Store(sure)
	tx.IfUndone(orgID, o.forget) // it knows what tx told, now
	d := &Draft{reads: o.ix, ix: o.ix, disturbed: map[string]bool{}, replaced: map[string]*engine.Worker{}}
	defer d.rollback()
	err := fn(d)
	if err == nil && !s.store.Alone() {
		err = s.tellClaims(tx, orgID, d)
	}
	return err
}

// forget has the index made anew: it knows of a write that was undone. While
// others write, the log being behind it would tell nothing.
func (o *org) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ix = nil
	o.hear()
}

// refresh brings the index up to what tx sees: by the events since, or from
// scratch.
func (o *org) refresh(ctx context.Context, tx *store.Tx) error {
	last, err := tx.LastSeq(ctx, o.id)
	if err != nil {
		return err
	}
	o.checked.Store(time.Now().UnixMilli())
	if o.ix != nil && last == o.seq {
		return nil
	}
	if o.ix == nil || last < o.seq || last-o.seq > maxDelta {
		return o.reload(ctx, tx, last)
	}
	after, events, about, err := o.news(ctx, tx, last)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(events, func(e coord.Event) bool { return e.Type.Part() == coord.PartAll }) {
		return o.reload(ctx, tx, last)
	}
	newest := o.newest
	for _, e := range events {
		newest = max(newest, e.OccurredAt)
	}
	if err := o.copied.watch(o.ix, last, func() error {
		if past := pastOf(newest); past > pastOf(o.newest) {
			o.ix.Expire(past)
		}
		return o.apply(ctx, tx, after, events, about, pastOf(newest))
	}); err != nil {
		o.ix = nil // half applied: start over
		return err
	}
	o.places.forgetBy(events)
	o.seq, o.newest = last, newest
	if old := o.claimed.Load(); old == nil || o.copied.any(last, func(n engine.Note) bool { return refuses(n, old, o.ix) }) {
		o.claimed.Store(o.ix.Claimed())
	}
	return nil
}

// reload makes the index anew from the records, as of an event.
func (o *org) reload(ctx context.Context, tx *store.Tx, last int64) error {
	ix, newest, err := load(ctx, tx, o.id, func(claims *engine.Index) error {
		o.claimed.Store(claims)
		return o.readRepos(ctx, tx)
	})
	if err != nil {
		return err
	}
	o.ix, o.seq, o.newest = ix, last, newest
	o.copied.restart(last)
	o.places.forget(func(*Place) bool { return true })
	return nil
}
