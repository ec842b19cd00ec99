// Package live keeps one engine.Index per org in memory, current with the
// event log. It is the service's only shared mutable state. Hook answers read
// it as it is; operations that act on what they find bring it up to their own
// transaction first.
package live

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/server/store"
)

const (
	maxDelta = 500                    // events after which starting over is cheaper
	recheck  = 500 * time.Millisecond // how late a lost wake-up is noticed
	rebaseOn = 14 * 24 * time.Hour    // how long merged work is remembered
)

// MapsKept is how long it is remembered how two versions of a file go together.
const MapsKept = rebaseOn

// A Set holds the indexes of all orgs that somebody asked for.
type Set struct {
	// Trusting leaves out asking whether others wrote, and hears of nothing that
	// they did, so that a test can show that asking is needed.
	Trusting atomic.Bool

	store *store.Store
	mu    sync.Mutex
	orgs  map[string]*org
}

type org struct {
	id      string
	mu      sync.RWMutex
	ix      *engine.Index // nil until first asked for
	seq     int64         // of the last event that ix knows
	sure    atomic.Int64  // up to which event it is certain that these are in the log
	stale   atomic.Bool
	places  places
	copied  journal      // what changed of late, for who keeps a copy
	checked atomic.Int64 // when seq was last compared with the log, Unix ms
}

// New returns an empty Set on s.
func New(st *store.Store) *Set {
	s := &Set{store: st, orgs: map[string]*org{}}
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

// Stale notes that orgs have new events. It is cheap: the next reader pays.
func (s *Set) Stale(orgs []string) {
	if s.Trusting.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range orgs {
		if o := s.orgs[id]; o != nil {
			o.stale.Store(true)
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
		o.stale.Store(true)
	}
}

func (s *Set) org(id string) *org {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.orgs[id]
	if o == nil {
		o = &org{id: id}
		o.stale.Store(true)
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
	o := s.org(orgID)
	for {
		if err := refresh(ctx, o); err != nil {
			return err
		}
		if ran, err := o.view(fn); ran {
			return err
		}
		// Somebody's attempt to bring it up to date failed meanwhile.
		o.stale.Store(true)
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
	if o.stale.Load() {
		return s.catchUp(ctx, o)
	}
	return nil
}

// current makes sure that o knows all that was committed so far. A replica
// that is not alone hears of others' commits a moment late, and an edit that
// is allowed from the past cannot be taken back: it asks for the counter that
// each event raises. Asking costs one look at one row.
func (s *Set) current(ctx context.Context, o *org) error {
	trusting := s.Trusting.Load()
	if o.stale.Load() || !trusting && s.due(o) {
		return s.catchUp(ctx, o)
	}
	if trusting || s.store.Alone() {
		return nil
	}
	last, err := s.store.LastCommitted(ctx, o.id)
	if err != nil {
		return err
	}
	o.mu.RLock()
	known := o.ix != nil && o.seq >= last && o.sure.Load() >= last
	o.mu.RUnlock()
	if known {
		return nil
	}
	return s.catchUp(ctx, o)
}

// due reports whether to look for events of whoever writes without being a
// replica. With SQLite there is nobody else.
func (s *Set) due(o *org) bool {
	return s.store.Name() == "postgres" && time.Now().UnixMilli()-o.checked.Load() > recheck.Milliseconds()
}

func (s *Set) catchUp(ctx context.Context, o *org) error {
	for {
		unsure, err := s.follow(ctx, o)
		if err == nil && unsure {
			err = s.store.AwaitRound(ctx, o.id)
		}
		if err != nil {
			o.stale.Store(true)
		}
		if err != nil || !unsure {
			return err
		}
	}
}

// follow brings o up to what is committed. Writes under way may have told it of
// events before their commit. Should the log have gone on meanwhile, it is by
// these, or by others of another replica that have their ids, because ours lost
// the org's lock and do not know it yet: o is unsure until they have ended.
func (s *Set) follow(ctx context.Context, o *org) (unsure bool, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.stale.Store(false) // before reading: what commits from now on sets it again
	err = s.store.Read(ctx, func(tx *store.Tx) error {
		sure := o.sure.Load()
		if o.ix == nil || o.seq <= sure {
			err := o.refresh(ctx, tx)
			o.sure.Store(o.seq)
			return err
		}
		last, err := tx.LastSeq(ctx, o.id)
		unsure = last > sure
		return err
	})
	return unsure, err
}

// Within runs fn on the org's index as tx sees it. What fn does to the Draft
// is undone afterwards: the index takes it over from the log once committed.
// tx must hold the org's lock.
func (s *Set) Within(ctx context.Context, tx *store.Tx, orgID string, fn func(*Draft) error) error {
	o := s.org(orgID)
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
	return fn(d)
}

// forget has the index made anew: it knows of a write that was undone. While
// others write, the log being behind it would tell nothing.
func (o *org) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ix = nil
	o.stale.Store(true)
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
	events, err := tx.EventsAfter(ctx, o.id, o.seq, maxDelta)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(events, func(e coord.Event) bool { return e.Type.Part() == coord.PartAll }) {
		return o.reload(ctx, tx, last)
	}
	if err := o.copied.watch(o.ix, last, func() error { return apply(ctx, tx, o.id, o.ix, events) }); err != nil {
		o.ix = nil // half applied: start over
		return err
	}
	o.places.forgetBy(events)
	o.seq = last
	return nil
}

// reload makes the index anew from the records, as of an event.
func (o *org) reload(ctx context.Context, tx *store.Tx, last int64) error {
	ix, err := load(ctx, tx, o.id)
	if err != nil {
		return err
	}
	o.ix, o.seq = ix, last
	o.copied.restart(last)
	o.places.forget(func(*Place) bool { return true })
	return nil
}

// A Draft is an index on which changes can be tried. It remembers whose
// findings they may have altered. The index itself is not embedded: each of its
// own ways to change it would last beyond the transaction, for everybody.
type Draft struct {
	reads
	ix        *engine.Index
	undo      []func()
	tries     int // before it started over
	disturbed map[string]bool
	replaced  map[string]*engine.Worker // as they were before the draft first changed them
}

// reads are the questions to an index that a Draft answers.
type reads interface {
	Worker(id string) *engine.Worker
	Workers(repo string) []string
	Change(repo, copy, path string) *engine.Change
	Changes(worker string) []*engine.Change
	Links(repo string) []string
	Prefixes(repo string) map[string][]string
	Rules(repo string) (*policy.Effective, []coord.ConflictKind)
}

// View returns the index for the engine to look at, as it is tried. Whoever
// changes it there changes it for everybody.
func (d *Draft) View() *engine.Index { return d.ix }

func (d *Draft) rollback() {
	for i := len(d.undo) - 1; i >= 0; i-- {
		d.undo[i]()
	}
}

// StartOver makes the draft an index of its own, read anew from the records as
// tx sees them, and everybody at work in a repo disturbed: for what moves
// records from one repo to another. It comes before anything else is tried.
func (d *Draft) StartOver(ctx context.Context, tx *store.Tx, org, repo string) error {
	ix, err := load(ctx, tx, org)
	if err != nil {
		return err
	}
	d.rollback()
	d.tries += len(d.undo) + 1
	d.undo, d.reads, d.ix = nil, ix, ix
	for _, id := range ix.Workers(repo) {
		d.disturb(id)
	}
	return nil
}

// Disturbed returns the workers whose findings may have changed and who have
// not been Settled since, sorted.
func (d *Draft) Disturbed() []string { return slices.Sorted(maps.Keys(d.disturbed)) }

// Tries is how much was tried so far: while it is the same, so is the index.
func (d *Draft) Tries() int { return d.tries + len(d.undo) }

// Replaced returns the workers that the draft changed or took out, as they were,
// by id.
func (d *Draft) Replaced() []*engine.Worker {
	out := make([]*engine.Worker, 0, len(d.replaced))
	for _, id := range slices.Sorted(maps.Keys(d.replaced)) {
		out = append(out, d.replaced[id])
	}
	return out
}

// Settled notes that a worker's findings are known.
func (d *Draft) Settled(id string) { delete(d.disturbed, id) }

// disturb notes a worker and everybody who touched a file of theirs: to whom
// a file counts depends on who of them is live.
func (d *Draft) disturb(id string) {
	d.disturbed[id] = true
	for _, c := range d.Changes(id) {
		d.disturbTouchers(c)
	}
}

func (d *Draft) disturbTouchers(c *engine.Change) {
	if c == nil {
		return
	}
	for _, t := range c.By {
		d.disturbed[t.Worker] = true
	}
}

// PutWorker adds or replaces a worker.
func (d *Draft) PutWorker(w *engine.Worker) {
	d.keepWorker(w.ID)
	d.ix.PutWorker(w)
	d.disturb(w.ID)
}

// RemoveWorker takes a worker out.
func (d *Draft) RemoveWorker(id string) {
	if d.Worker(id) == nil {
		return
	}
	d.disturb(id)
	d.keepWorker(id)
	d.ix.RemoveWorker(id)
}

func (d *Draft) keepWorker(id string) {
	old := d.Worker(id)
	if _, known := d.replaced[id]; !known && old != nil {
		d.replaced[id] = old
	}
	d.undo = append(d.undo, func() {
		if old != nil {
			d.ix.PutWorker(old)
		} else {
			d.ix.RemoveWorker(id)
		}
	})
}

// PutChange records a file's difference; an unchanged file removes it.
func (d *Draft) PutChange(c *engine.Change) {
	old := d.Change(c.RepoID, c.Copy, c.Facts.Path)
	d.undo = append(d.undo, func() {
		if old != nil {
			d.ix.PutChange(old)
		} else {
			d.ix.RemoveChange(c.RepoID, c.Copy, c.Facts.Path)
		}
	})
	d.ix.PutChange(c)
	d.disturbTouchers(old)
	d.disturbTouchers(c)
}

// PutLineMap records how two versions of a file go together.
func (d *Draft) PutLineMap(repo string, m coord.LineMap) {
	if d.ix.HasLineMap(repo, m.From, m.To) {
		return
	}
	d.undo = append(d.undo, func() { d.ix.RemoveLineMap(repo, m.From, m.To) })
	d.ix.PutLineMap(repo, m)
}

// SetUses tells what live code of a file uses.
func (d *Draft) SetUses(repo coord.RepoName, path string, uses []engine.Use) {
	old := d.ix.Uses(repo.ID, path)
	d.undo = append(d.undo, func() { d.ix.SetUses(repo, path, old) })
	d.ix.SetUses(repo, path, uses)
}

// PutMerged adds what an intent changed and merged.
func (d *Draft) PutMerged(c *engine.Change, i store.IntentRow, at coord.Time) {
	d.ix.PutMerged(&engine.Merged{ID: i.ID, RepoID: c.RepoID, Facts: c.Facts, By: IntentWorker(i, nil), At: at})
	d.undo = append(d.undo, func() { d.ix.RemoveMerged(c.RepoID, i.ID) })
}

// SetMerged replaces the files of merged work that came by no intent.
func (d *Draft) SetMerged(repo, id string, rows []store.MergedRow) {
	old := d.ix.Merged(repo, id)
	put := func(ms []*engine.Merged) {
		d.ix.RemoveMerged(repo, id)
		for _, m := range ms {
			d.ix.PutMerged(m)
		}
	}
	fresh := make([]*engine.Merged, len(rows))
	for i, m := range rows {
		fresh[i] = &engine.Merged{ID: id, RepoID: repo, Facts: m.Facts, At: m.At}
	}
	d.undo = append(d.undo, func() { put(old) })
	put(fresh)
}

// SetRules tries other rules in a repo.
func (d *Draft) SetRules(repo string, p *policy.Effective, demoted []coord.ConflictKind) {
	oldP, oldD := d.Rules(repo)
	d.undo = append(d.undo, func() {
		d.ix.SetPolicy(repo, oldP)
		d.ix.SetDemoted(repo, oldD)
	})
	d.ix.SetPolicy(repo, p)
	d.ix.SetDemoted(repo, demoted)
}

// SetLinks tries other links between repos.
func (d *Draft) SetLinks(repo string, linked []string) {
	old := d.Links(repo)
	d.undo = append(d.undo, func() { d.ix.SetLinks(repo, old) })
	d.ix.SetLinks(repo, linked)
}

// SetPrefixes tries other prefixes of routes between repos.
func (d *Draft) SetPrefixes(repo string, byRepo map[string][]string) {
	old := d.Prefixes(repo)
	d.undo = append(d.undo, func() { d.ix.SetPrefixes(repo, old) })
	d.ix.SetPrefixes(repo, byRepo)
}

// Suppress keeps a finding from being raised.
func (d *Draft) Suppress(s engine.Suppression) {
	old, was := d.ix.Suppression(s.Fingerprint)
	d.undo = append(d.undo, func() {
		d.ix.RemoveSuppression(s.Fingerprint)
		if was {
			d.ix.Suppress(old)
		}
	})
	d.ix.Suppress(s)
}
