package leases

import (
	"context"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/server/eventlog"
	"github.com/svc-hq/svc/internal/server/store"
)

// pollOthers is how often a replica looks whether others have told their edges.
const pollOthers = 15 * time.Millisecond

// Await returns when every edge that could still allow what was told knows of
// it, or may not decide any more. It comes after the commit and holds nothing. If
// ctx ends nobody is there to be told. Where no edge decides there is nothing to
// ask.
func (h *Hub) Await(ctx context.Context, told *store.Noted) {
	if h.Careless || !told.Leased && !h.gives(told.Events) {
		return
	}
	for p, seq := range h.tightened(ctx, told.Events) {
		h.await(ctx, p, seq, told.Leased)
	}
}

// gives reports whether edges decide by leases of this replica in an org of which
// something is told.
func (h *Hub) gives(events []coord.Event) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for p := range h.places {
		if slices.ContainsFunc(events, func(e coord.Event) bool { return e.OrgID == p.org }) {
			return true
		}
	}
	return false
}

// tightened returns the places where events can turn an allow into a block,
// with the last of these events. A place without a repo is the whole org.
func (h *Hub) tightened(ctx context.Context, events []coord.Event) map[place]int64 {
	var out map[place]int64
	for _, e := range events {
		grip := e.Type.Grip()
		if grip == coord.Loosens {
			continue
		}
		if grip == coord.MayGrip {
			grips := true // when in doubt
			_ = h.live.Recall(ctx, e.OrgID, func(ix *engine.Index) error {
				grips = keepsOut(ix, e)
				return nil
			})
			if !grips {
				continue
			}
		}
		if out == nil {
			out = map[place]int64{}
		}
		p := place{e.OrgID, e.RepoID}
		if e.Type.Part() == coord.PartAll { // of a repo that may be another one now
			p.repo = ""
		}
		out[p] = max(out[p], e.Seq)
	}
	return out
}

// keepsOut reports whether the work that an event is about keeps others out of
// what they could edit before it.
func keepsOut(ix *engine.Index, e coord.Event) bool {
	if ix.Hardened(e.RepoID) {
		return true
	}
	var w *engine.Worker
	switch e.Type.Part() {
	case coord.PartIntent:
		w = ix.Worker(e.Subject.ID)
	case coord.PartSession: // of one that ended, sub-agents are alone now
		w = ix.WorksOn(e.RepoID, e.Subject.ID)
	}
	return w != nil && w.Exclusive()
}

// await returns when all edges at a place have seen an event, or have no lease;
// also those of other replicas, where these may give any.
func (h *Hub) await(ctx context.Context, p place, seq int64, elsewhere bool) {
	others := watcher{hub: h}
	for {
		h.mu.Lock()
		late, wait, next := h.behind(p, seq)
		h.mu.Unlock()
		far := elsewhere && others.behind(ctx, p, seq)
		if late == nil && !far {
			return
		}
		if far && (late == nil || wait > pollOthers) {
			wait = pollOthers
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-next:
		case <-timer.C:
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
	}
}

// behind returns an edge here with a lease that has not seen an event, for how
// long its lease holds, and what is closed when an edge has seen more. It asks
// those that wait to come again. The hub is locked.
func (h *Hub) behind(p place, seq int64) (late *edge, wait time.Duration, next <-chan struct{}) {
	now := time.Now()
	for q, t := range h.places {
		if q.org != p.org || p.repo != "" && q.repo != p.repo {
			continue
		}
		if seq > t.want {
			t.want = seq
			wake(&t.news)
		}
		for _, e := range t.edges {
			if left := e.until.Sub(now); left > 0 && e.seen < seq {
				return e, left, t.seen
			}
		}
	}
	return nil, 0, nil
}

// A watcher looks at what other replicas note, for somebody who waits.
type watcher struct {
	hub  *Hub
	lost time.Time // since when it cannot be read
}

// behind reports whether another replica may have an edge that has not seen an
// event. While that cannot be read, it may, as long as any lease could hold.
func (w *watcher) behind(ctx context.Context, p place, seq int64) bool {
	rows, err := w.hub.look(ctx, p.org)
	if err != nil {
		if w.lost.IsZero() {
			w.lost = time.Now()
		}
		return time.Since(w.lost) < w.hub.Times.Period
	}
	late := false
	for _, row := range rows {
		if p.repo != "" && row.RepoID != p.repo || row.Seen >= seq {
			continue
		}
		if w.hub.still(row) {
			late = true
			continue
		}
		_ = w.hub.store.Write(ctx, "", func(tx *store.Tx) error { return tx.DropLease(ctx, row) }) // if not, the next does
	}
	return late
}

// A note is what another replica noted of a repo, as it was last seen, and since
// when it is so.
type note struct {
	renewed int64
	since   time.Time
}

// noted says whose note it is.
type noted struct {
	place
	replica string
}

// look reads what other replicas note of an org, or of all, and forgets what is
// gone: a note that comes again may stand for new leases.
func (h *Hub) look(ctx context.Context, org string) (rows []store.LeaseRow, err error) {
	err = h.store.Read(ctx, func(tx *store.Tx) error {
		rows, err = tx.Leases(ctx, org, h.replica)
		return err
	})
	if err != nil {
		return nil, err
	}
	now, there := time.Now(), map[noted]bool{}
	h.noting.Lock()
	defer h.noting.Unlock()
	for _, row := range rows {
		k := noted{place{row.OrgID, row.RepoID}, row.Replica}
		if there[k] = true; h.notes[k].renewed != row.Renewed || h.notes[k].since.IsZero() {
			h.notes[k] = note{row.Renewed, now}
		}
	}
	for k := range h.notes {
		if !there[k] && (org == "" || k.org == org) {
			delete(h.notes, k)
		}
	}
	return rows, nil
}

// still reports whether a note may yet stand for leases: it was seen to change
// lately.
func (h *Hub) still(row store.LeaseRow) bool {
	h.noting.Lock()
	defer h.noting.Unlock()
	n := h.notes[noted{place{row.OrgID, row.RepoID}, row.Replica}]
	return n.renewed != row.Renewed || time.Since(n.since) < h.Times.Period
}

// follow begins to follow an org's log, if nobody does. The hub is locked.
func (h *Hub) follow(org string) {
	if h.follows[org] != nil {
		return
	}
	select {
	case <-h.ended:
		return
	default:
	}
	ctx, stop := context.WithCancel(context.Background())
	h.follows[org] = stop
	h.done.Go(func() { h.read(ctx, org) })
}

// unfollow ends following orgs in which no edge is. The hub is locked.
func (h *Hub) unfollow() {
	for org, stop := range h.follows {
		some := false
		for p := range h.places {
			some = some || p.org == org
		}
		if !some {
			stop()
			delete(h.follows, org)
		}
	}
}

// read passes what happens in an org on to the edges' questions, and tells the
// other replicas once the edges have seen what those wait for.
func (h *Hub) read(ctx context.Context, org string) {
	var sub *eventlog.Sub
	for ctx.Err() == nil {
		var batch []eventlog.Entry
		var err error
		if sub == nil {
			sub, err = h.log.FollowNow(ctx, org)
		} else {
			batch, err = sub.Next(ctx)
		}
		if err != nil && ctx.Err() == nil {
			h.logger.Warn("following the log for edges failed; they are told at their next question", "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(h.Times.Renew):
			}
		}
		h.tell(batch)
		if !h.store.Alone() {
			h.publish(ctx, batch)
		}
	}
	if sub != nil {
		sub.Close()
	}
}

// tell wakes the questions of edges that a batch of events concerns.
func (h *Hub) tell(batch []eventlog.Entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for p, t := range h.places {
		woken := false
		for i := range batch {
			e := &batch[i].Event
			if e.OrgID != p.org || e.RepoID != "" && e.RepoID != p.repo {
				continue
			}
			woken = true
			if e.Type.Part() == coord.PartMembers || e.Type == coord.EventTokenRevoked {
				t.barred++
			}
		}
		if woken {
			wake(&t.news)
		}
	}
}

// publish notes for other replicas how far the edges here have seen the log.
func (h *Hub) publish(ctx context.Context, batch []eventlog.Entry) {
	events := make([]coord.Event, len(batch))
	for i := range batch {
		events[i] = batch[i].Event
	}
	for p, seq := range h.tightened(ctx, events) {
		h.done.Go(func() {
			for ctx.Err() == nil {
				h.mu.Lock()
				late, wait, next := h.behind(p, seq)
				var here []string
				for q, t := range h.places {
					if q.org == p.org && (p.repo == "" || q.repo == p.repo) && t.listed {
						here = append(here, q.repo)
					}
				}
				h.mu.Unlock()
				if late == nil {
					h.note(ctx, p.org, here, seq)
					return
				}
				timer := time.NewTimer(wait)
				select {
				case <-ctx.Done():
				case <-next:
				case <-timer.C:
				}
				timer.Stop()
			}
		})
	}
}

func (h *Hub) note(ctx context.Context, org string, repos []string, seq int64) {
	err := h.store.Write(ctx, "", func(tx *store.Tx) error {
		for _, repo := range repos {
			if err := tx.LeaseSeen(ctx, h.replica, org, repo, seq); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		h.logger.Warn("telling other replicas what edges have seen failed; they wait for the leases to end", "err", err)
	}
}
