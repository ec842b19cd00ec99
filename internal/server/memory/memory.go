// Package memory keeps the words of what a team did lately in memory, one
// text index per org that somebody searches, current with the event log.
// Neither database's own full-text search is used: their words, ranks and
// ties differ, and what is searched is bounded anyway.
package memory

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/textsearch"
	"github.com/svc-hq/svc/internal/server/store"
)

const (
	// Window is how far back the memory reaches.
	Window = 90 * 24 * time.Hour
	// PerKind is how many of each kind are remembered: the newest.
	PerKind = 5000

	maxDelta = 1000             // events after which starting over is cheaper
	maxOrgs  = 32               // indexes kept; the one not used for longest goes
	unused   = 30 * time.Minute // after which an index goes
)

// A Set holds the indexes of the orgs that are searched.
type Set struct {
	store *store.Store
	mu    sync.Mutex
	orgs  map[string]*org
}

type org struct {
	id   string
	mu   sync.RWMutex
	ix   *textsearch.Index
	seq  int64      // of the last event that ix knows
	said coord.Time // up to when statuses are known
	used time.Time  // guarded by Set.mu
}

// A Record is a memory with who may see it.
type Record struct {
	coord.Memory
	Users []string // who alone may see it; nil for everybody
}

// New returns an empty Set on s.
func New(s *store.Store) *Set { return &Set{store: s, orgs: map[string]*org{}} }

// A Question is what to look for.
type Question struct {
	Text  string
	User  string // who asks
	Kinds []coord.MemoryKind
	Repo  string // id, or empty for all
	Limit int
}

// Find returns what matches best among what the asker may see.
func (s *Set) Find(ctx context.Context, orgID string, q Question) ([]coord.Memory, error) {
	o := s.org(orgID)
	for {
		if err := s.refresh(ctx, o); err != nil {
			return nil, err
		}
		if out, ran := o.find(q, s.store.Now()); ran {
			return out, nil
		}
		// Somebody's attempt to bring it up to date failed meanwhile.
	}
}

// find looks into the index if there is one.
func (o *org) find(q Question, now coord.Time) (out []coord.Memory, ran bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if o.ix == nil {
		return nil, false
	}
	hits := o.ix.Find(textsearch.Query{
		Text:  q.Text,
		Now:   int64(now),
		Since: int64(now.Add(-Window)),
		Limit: q.Limit,
		Keep: func(d *textsearch.Doc) bool {
			r := d.Data.(*Record)
			return slices.Contains(q.Kinds, r.Kind) && (q.Repo == "" || r.Repo != nil && r.Repo.ID == q.Repo) && (r.Users == nil ||
				slices.Contains(r.Users, q.User))
		},
	})
	out = make([]coord.Memory, len(hits))
	for i, h := range hits {
		out[i] = h.Data.(*Record).Memory
		if out[i].Snippet = h.Snippet; out[i].Snippet == "" {
			out[i].Snippet = out[i].Title
		}
	}
	return out, true
}

// org returns an org's index and drops those that nobody uses any more.
func (s *Set) org(id string) *org {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	o := s.orgs[id]
	if o == nil {
		o = &org{id: id}
		s.orgs[id] = o
	}
	o.used = now
	var oldest *org
	for key, x := range s.orgs {
		if now.Sub(x.used) > unused {
			delete(s.orgs, key)
		} else if x != o && (oldest == nil || x.used.Before(oldest.used)) {
			oldest = x
		}
	}
	if len(s.orgs) > maxOrgs && oldest != nil {
		delete(s.orgs, oldest.id)
	}
	return o
}

// refresh brings an index up to the last commit.
func (s *Set) refresh(ctx context.Context, o *org) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return s.store.Read(ctx, func(tx *store.Tx) error {
		last, err := tx.LastSeq(ctx, o.id)
		if err != nil {
			return err
		}
		if o.ix == nil || last < o.seq || last-o.seq > maxDelta {
			if err := o.load(ctx, tx); err != nil {
				o.ix = nil
				return err
			}
			o.seq = last
			return nil
		}
		if last > o.seq {
			events, err := tx.EventsAfter(ctx, o.id, o.seq, maxDelta)
			if err != nil {
				return err
			}
			if err := o.apply(ctx, tx, events); err != nil {
				o.ix = nil // half applied: start over
				return err
			}
			o.seq = last
		}
		return o.statuses(ctx, tx)
	})
}

// put remembers something, in place of what was known of it.
func (o *org) put(r Record, order int64, text string) {
	title := r.Title
	if r.Kind == coord.MemoryIntents || r.Kind == coord.MemoryConflicts {
		title = r.Ref + " " + title
	}
	o.ix.Put(textsearch.Doc{Kind: string(r.Kind), ID: r.ID, Order: order, At: int64(r.At), Title: title, Body: text, Data: &r})
}
