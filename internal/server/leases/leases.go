// Package leases lets edges decide edits by themselves for a few seconds at a
// time, and has operations that could turn an allow into a block wait until
// every edge knows of them or its time is up (Gray and Cheriton, 1989).
//
// The replica that an edge asks keeps its lease in memory. In the database it
// notes that it gives leases on the repository, before the first is valid, so
// that others wait for it. Clocks are never compared: an edge counts from when
// it asked, its replica from when that arrived, and whoever waits for another
// replica from when it saw that replica's note stand still.
package leases

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/eventlog"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
)

// Times are how long things last. Tests have shorter ones.
type Times struct {
	Lease  time.Duration // of an edge, from when its question arrived
	Period time.Duration // of a replica's note, from when its renewal began; longer than Lease
	Renew  time.Duration // between two renewals
	Hold   time.Duration // how long an edge's question waits for something to tell; shorter than Lease, without which nobody listens for it
}

// DefaultTimes are those of a service.
func DefaultTimes() Times {
	return Times{Lease: wire.LeaseTime, Period: wire.LeaseTime + 3*time.Second, Renew: time.Second, Hold: wire.FollowHold}
}

// A Hub keeps the leases of one replica.
type Hub struct {
	Times Times
	// Careless leaves out waiting for edges, so that a test can show that
	// waiting is needed.
	Careless bool

	store   *store.Store
	log     *eventlog.Log
	live    *live.Set
	logger  *slog.Logger
	replica string

	listing sync.Mutex // held while the replica's notes are written, in order

	noting sync.Mutex
	notes  map[noted]note // of other replicas, as they were last seen

	mu      sync.Mutex
	places  map[place]*table
	follows map[string]context.CancelFunc // of the log, by org
	renewed time.Time                     // when the last renewal that succeeded began
	ended   chan struct{}
	done    sync.WaitGroup
}

// A place is a repo of an org.
type place struct{ org, repo string }

// A table is the edges that follow one repo here.
type table struct {
	edges  map[string]*edge
	listed bool          // whether the database has the replica's note
	want   int64         // an event that somebody waits for the edges to see
	told   int64         // what the note says that all edges have seen
	barred int           // how often somebody's standing changed
	news   chan struct{} // closed when there is something to tell
	seen   chan struct{} // closed when an edge has seen more, or left
}

type edge struct {
	seen  int64
	until time.Time
	turn  int // how often it came
}

// New returns a Hub of a replica.
func New(st *store.Store, log *eventlog.Log, l *live.Set, logger *slog.Logger) *Hub {
	return &Hub{Times: DefaultTimes(), store: st, log: log, live: l, logger: logger, replica: uuid.NewString(),
		places: map[place]*table{}, notes: map[noted]note{}, follows: map[string]context.CancelFunc{}, ended: make(chan struct{})}
}

// Replica is what the replica's notes are signed with.
func (h *Hub) Replica() string { return h.replica }

// Run renews the replica's notes until ctx ends, and takes them out then.
func (h *Hub) Run(ctx context.Context) {
	_, _ = h.look(ctx, "") // notes of a service that ended, which need not be waited for from the first claim on
	tick := time.NewTicker(h.Times.Renew)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			h.end(context.WithoutCancel(ctx))
			return
		case <-tick.C:
			if err := h.renew(ctx); err != nil && ctx.Err() == nil {
				h.logger.Warn("renewing the leases of edges failed; they ask instead of deciding", "err", err)
			}
		}
	}
}

// An Entry is an edge's question under way.
type Entry struct {
	Lease time.Duration // from when the edge asked
	hub   *Hub
	place place
	name  string
	asked int64     // what the edge has seen
	stood int       // how often standings had changed when it came
	was   time.Time // until when it could decide before
	turn  int       // how often it had come
}

// Enter gives an edge a lease from when its question arrived, and notes what
// it has seen; one whose copy is not complete gets none. The lease counts
// before anything is read for the answer: whoever commits later than that sees
// it, and what was committed before is in the answer.
func (h *Hub) Enter(ctx context.Context, org, repo, name string, seen int64, complete bool, arrived time.Time) (*Entry, error) {
	p := place{org, repo}
	e := &Entry{hub: h, place: p, name: name, asked: seen}
	h.mu.Lock()
	defer h.mu.Unlock()
	for !h.listed(p, arrived) { // again, should a renewal have taken the note of a place without edges out meanwhile
		h.mu.Unlock()
		err := h.list(ctx, p, arrived)
		h.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	t := h.table(p)
	e.stood = t.barred
	x := t.edges[name]
	if x == nil {
		x = &edge{}
		t.edges[name] = x
	}
	if complete && seen > x.seen {
		x.seen = seen
		wake(&t.seen)
	}
	x.turn++
	e.Lease, e.was, e.turn = h.Times.Lease, x.until, x.turn
	if until := arrived.Add(e.Lease); until.After(x.until) {
		x.until = until
	}
	return e, nil
}

// Void takes the lease back before the edge has heard of it: its answer does
// not make its copy complete.
func (e *Entry) Void() {
	e.hub.mu.Lock()
	defer e.hub.mu.Unlock()
	e.Lease = 0
	t := e.hub.places[e.place]
	if t == nil {
		return
	}
	if x := t.edges[e.name]; x != nil && x.turn == e.turn { // else it has asked again, and that counts
		x.until = e.was
		wake(&t.seen)
	}
}

// Leave gives a lease back.
func (h *Hub) Leave(org, repo, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.places[place{org, repo}]; t != nil {
		delete(t.edges, name)
		wake(&t.seen)
	}
}

// News returns what is closed when there may be something new to tell. It is
// taken before looking.
func (e *Entry) News() <-chan struct{} {
	e.hub.mu.Lock()
	defer e.hub.mu.Unlock()
	return e.hub.table(e.place).news
}

// Awaited reports whether somebody waits for the edge to see more than it had.
func (e *Entry) Awaited() bool {
	e.hub.mu.Lock()
	defer e.hub.mu.Unlock()
	return e.hub.table(e.place).want > e.asked
}

// Doubtful reports whether somebody's standing changed since the edge came, so
// that it has to be asked anew who it is.
func (e *Entry) Doubtful() bool {
	e.hub.mu.Lock()
	defer e.hub.mu.Unlock()
	return e.hub.table(e.place).barred != e.stood
}

// table returns the table of a place. The hub is locked.
func (h *Hub) table(p place) *table {
	t := h.places[p]
	if t == nil {
		t = &table{edges: map[string]*edge{}, news: make(chan struct{}), seen: make(chan struct{})}
		h.places[p] = t
	}
	return t
}

func wake(c *chan struct{}) {
	close(*c)
	*c = make(chan struct{})
}

// listed reports whether the database has the note of a lease on p, which ends
// after arrived, and whether that is new enough. The hub is locked.
func (h *Hub) listed(p place, arrived time.Time) bool {
	t := h.places[p]
	return t != nil && t.listed && !h.renewed.Add(h.Times.Period).Before(arrived.Add(h.Times.Lease))
}

// list makes sure that the database has the note of a lease on p, which ends
// after arrived, and that it is new enough.
func (h *Hub) list(ctx context.Context, p place, arrived time.Time) error {
	h.listing.Lock()
	defer h.listing.Unlock()
	h.mu.Lock()
	enough := h.listed(p, arrived) // by somebody else, meanwhile
	h.mu.Unlock()
	if enough {
		return nil
	}
	began := time.Now()
	// Under the org's lock: a write that saw no note is committed before the
	// first lease, and in what the edge is told.
	err := h.store.Write(ctx, p.org, func(tx *store.Tx) error {
		if err := tx.PutLease(ctx, h.replica, p.org, p.repo); err != nil {
			return err
		}
		return tx.RenewLeases(ctx, h.replica)
	})
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.renewed = began
	h.table(p).listed = true
	h.follow(p.org)
	return nil
}

// renew says that this replica lives, as long as it has leases, and takes out
// the notes of repos where it has none any more.
func (h *Hub) renew(ctx context.Context) error {
	h.listing.Lock()
	defer h.listing.Unlock()
	now := time.Now()
	var over []place
	h.mu.Lock()
	for p, t := range h.places {
		for name, e := range t.edges {
			if now.After(e.until) {
				delete(t.edges, name)
				wake(&t.seen)
			}
		}
		if len(t.edges) == 0 && t.listed {
			t.listed = false // before it is taken out: the next edge lists it again
			over = append(over, p)
		}
		if len(t.edges) == 0 {
			wake(&t.news)
			delete(h.places, p)
		}
	}
	some := len(h.places) > 0
	seen := h.unpublished(now)
	h.unfollow()
	h.mu.Unlock()
	if !some && len(over) == 0 {
		return nil
	}
	err := h.store.Write(ctx, "", func(tx *store.Tx) error {
		for _, p := range over {
			if err := tx.EndLease(ctx, h.replica, p.org, p.repo); err != nil {
				return err
			}
		}
		for p, seq := range seen {
			if err := tx.LeaseSeen(ctx, h.replica, p.org, p.repo, seq); err != nil {
				return err
			}
		}
		if !some {
			return nil
		}
		return tx.RenewLeases(ctx, h.replica)
	})
	if err == nil {
		h.mu.Lock()
		h.renewed = now
		h.mu.Unlock()
	}
	return err
}

// unpublished returns what all edges of a place have seen and other replicas
// have not been told: should a wake-up be lost, they wait no longer than to the
// next renewal. The hub is locked.
func (h *Hub) unpublished(now time.Time) map[place]int64 {
	if h.store.Alone() {
		return nil
	}
	out := map[place]int64{}
	for p, t := range h.places {
		low := int64(math.MaxInt64)
		for _, e := range t.edges {
			if e.until.After(now) {
				low = min(low, e.seen)
			}
		}
		if t.listed && low > t.told && low < math.MaxInt64 {
			t.told, out[p] = low, low
		}
	}
	return out
}

// end waits for the leases that were given, and takes the notes out.
func (h *Hub) end(ctx context.Context) {
	close(h.ended)
	h.mu.Lock()
	for org, stop := range h.follows {
		stop()
		delete(h.follows, org)
	}
	var last time.Time
	var all []place
	for p, t := range h.places {
		all = append(all, p)
		for _, e := range t.edges {
			if e.until.After(last) {
				last = e.until
			}
		}
	}
	h.mu.Unlock()
	h.done.Wait()
	if len(all) == 0 || time.Until(last) > 0 {
		return // others wait until the notes have stood still for long enough
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	err := h.store.Write(ctx, "", func(tx *store.Tx) error {
		for _, p := range all {
			if err := tx.EndLease(ctx, h.replica, p.org, p.repo); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.logger.Warn("taking out the notes of leases failed; they run out", "err", err)
	}
}
