package live

import (
	"context"
	"math"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/store"
)

// Foresee asks for what bringing the index forward asks for most often, in
// tx.Foresee.
func (s *Set) Foresee(ctx context.Context, tx *store.Tx, orgID string) {
	o := s.org(orgID)
	o.mu.RLock()
	known, seq := o.ix != nil, o.seq
	o.mu.RUnlock()
	last, err := tx.LastSeq(ctx, orgID)
	if err != nil || last == 0 { // it is yet to be asked
		last = math.MaxInt64
		if s.store.Alone() {
			last = o.sure.Load() // others wrote nothing
		}
	}
	switch {
	case !known:
		foreseeLoad(ctx, tx, orgID)
	case seq < last && !o.own.has(seq, last):
		askNews(ctx, tx, orgID, seq)
		tx.Foreseen = map[string]int64{orgID: seq}
	}
}

// askNews asks, in tx.Foresee, for what happened after an event.
func askNews(ctx context.Context, tx *store.Tx, org string, after int64) {
	tx.EventsAfter(ctx, org, after, maxDelta)
	readTold(ctx, tx, org, after)
}

// news returns what happened up to an event that the index does not know, and what
// that is about, if it is at hand. What is after an event is read.
func (o *org) news(ctx context.Context, tx *store.Tx, last int64) (after int64, events []coord.Event, about *told, err error) {
	after = o.from(tx, last)
	if events, about = o.own.takeOver(o.seq, last); about != nil {
		return after, events, about, nil
	}
	if err := tx.Foresee(ctx, func() { askNews(ctx, tx, o.id, after) }); err != nil {
		return after, nil, nil, err
	}
	events, err = tx.EventsAfter(ctx, o.id, after, maxDelta)
	return after, slices.DeleteFunc(events, func(e coord.Event) bool { return e.Seq <= o.seq }), nil, err
}

// from is the event after which to read what is new: that which was foreseen, if
// the index went forward since, for what is after it is at hand.
func (o *org) from(tx *store.Tx, last int64) int64 {
	seq, ok := tx.Foreseen[o.id]
	if delete(tx.Foreseen, o.id); !ok || last-seq > maxDelta { // once: what is written from now on is not in it
		return o.seq
	}
	return min(seq, o.seq)
}

// Rehearse asks of an org that does not exist what Foresee asks, in tx.Foresee.
func Rehearse(ctx context.Context, tx *store.Tx, org string) {
	tx.LastSeq(ctx, org)
	askNews(ctx, tx, org, 0)
	foreseeLoad(ctx, tx, org)
}

// foreseeLoad asks for what load reads first, in tx.Foresee.
func foreseeLoad(ctx context.Context, tx *store.Tx, org string) {
	tx.Policies(ctx, org)
	tx.Repos(ctx, org)
	tx.Remotes(ctx, org)
	tx.Tallies(ctx, org, "")
	tx.Intents(ctx, org, store.IntentFilter{Statuses: coord.LiveIntentStatuses()})
	tx.Sessions(ctx, org, store.SessionFilter{Unended: true})
	tx.Branches(ctx, org, store.BranchFilter{Looked: true})
	tx.ClosedConflicts(ctx, org, "")
}

// told are the intents, sessions and conflicts that events are about, as they are
// now.
type told struct {
	intents  map[string]store.IntentRow
	sessions map[string]store.SessionRow
	unended  map[string][]store.SessionRow // by intent
	closed   map[string][]store.Lasting    // by fingerprint
}

func newTold() *told {
	return &told{map[string]store.IntentRow{}, map[string]store.SessionRow{}, map[string][]store.SessionRow{}, map[string][]store.Lasting{}}
}

// readTold reads what events after one are about, together: each by itself would
// be a way to the database.
func readTold(ctx context.Context, tx *store.Tx, org string, after int64) (*told, error) {
	t := newTold()
	intents, err1 := tx.IntentsTold(ctx, org, after, maxDelta) // all of it is asked, also to be foreseen
	sessions, err2 := tx.SessionsTold(ctx, org, after, maxDelta)
	unended, err3 := tx.UnendedOnTold(ctx, org, after, maxDelta)
	closed, err4 := tx.ClosedTold(ctx, org, after, maxDelta)
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			return nil, err
		}
	}
	for _, c := range closed {
		t.closed[c.Fingerprint] = append(t.closed[c.Fingerprint], c)
	}
	for _, i := range intents {
		t.intents[i.ID] = i
	}
	for _, s := range sessions {
		t.sessions[s.ID] = s
	}
	for _, s := range unended {
		t.unended[*s.IntentID] = append(t.unended[*s.IntentID], s)
	}
	return t, nil
}

// isTold reports whether what an event is about is among what was told.
func isTold(e coord.Event) bool {
	switch e.Type.Part() {
	case coord.PartIntent, coord.PartSession, coord.PartSuppressions:
		return true
	}
	return false
}

// intent returns an intent with the sessions that work on it.
func (t *told) intent(ctx context.Context, tx *store.Tx, org, id string) (i store.IntentRow, on []store.SessionRow, err error) {
	if i, ok := t.intents[id]; ok {
		return i, t.unended[id], nil
	}
	if i, err = tx.IntentByID(ctx, org, id); err == nil {
		on, err = tx.Sessions(ctx, org, store.UnendedOn(id))
	}
	return i, on, err
}

// session returns a session.
func (t *told) session(ctx context.Context, tx *store.Tx, org, id string) (store.SessionRow, error) {
	if s, ok := t.sessions[id]; ok {
		return s, nil
	}
	return tx.Session(ctx, org, id)
}
