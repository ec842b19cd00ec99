package live

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/server/store"
)

// A Place is a session and its repo, as they were last read.
type Place struct {
	Repo    coord.Repo
	Session store.SessionRow
	// Turned says that something has become of the session's conflicts since
	// its agent was told of them.
	Turned bool
}

// A SessionKey names a session as its host does.
type SessionKey struct {
	User, Tool, External string
	Remotes              string // with spaces between
}

// places remembers sessions that were asked for, so that an edit costs no look
// at the database. What an event may have changed is forgotten as the index
// takes the event over.
type places struct {
	mu   sync.Mutex
	at   map[SessionKey]*Place
	last map[SessionKey]*Place       // as they were last read, forgotten or not: see Remembered
	rows map[string]store.SessionRow // by id, likewise: see LastRead
	here map[string]coord.Repo       // the org's repos by remote, for sessions that are new here
	seen int                         // how often something was forgotten
}

// maxPlaces bounds what is remembered of one org.
const maxPlaces = 10_000

// withRoom returns what is remembered, or nothing once that is too much.
func withRoom[K comparable, V any](m map[K]V) map[K]V {
	if m == nil || len(m) >= maxPlaces {
		return map[K]V{}
	}
	return m
}

// Session returns the place of a session as of the last commit that this
// replica knows of; load reads it where it is not remembered, and want tells
// whether what is remembered will do. A nil Place is not remembered.
func (s *Set) Session(ctx context.Context, orgID string, key SessionKey, want func(*Place) bool,
	load func(context.Context) (*Place, error)) (*Place, error) {
	o := s.org(orgID)
	var p *Place
	var seen int
	for ok := false; !ok; {
		if err := s.current(ctx, o); err != nil {
			return nil, err
		}
		if p, seen, ok = o.place(key); !ok {
			o.hear()
		}
	}
	if p != nil && want(p) {
		return p, nil
	}
	p, err := load(ctx)
	if err != nil || p == nil {
		return nil, err
	}
	o.places.mu.Lock()
	defer o.places.mu.Unlock()
	if o.places.seen == seen { // else it may be of before what was forgotten
		o.places.at = withRoom(o.places.at)
		o.places.at[key] = p
	}
	o.places.meet(key, p)
	return p, nil
}

// AtHand runs fn on the org's index and the place of a session, if both are known
// to be as of the last commit and nobody is changing them, as nearly always: it
// asks nobody and waits for nothing. It reports whether fn was run.
func (s *Set) AtHand(orgID string, key SessionKey, fn func(*engine.Index, *Place)) bool {
	o := s.org(orgID)
	if !s.fresh(o) || !o.mu.TryRLock() {
		return false
	}
	defer o.mu.RUnlock()
	o.places.mu.Lock()
	p := o.places.at[key]
	o.places.mu.Unlock()
	if p == nil || o.ix == nil || o.stale() { // what was heard of since may have changed them
		return false
	}
	fn(o.ix, p)
	return true
}

// Met keeps the place of a session that a write found or made, for Remembered.
func (s *Set) Met(orgID string, key SessionKey, p *Place) {
	o := s.org(orgID)
	o.places.mu.Lock()
	defer o.places.mu.Unlock()
	o.places.meet(key, p)
}

func (p *places) meet(key SessionKey, at *Place) {
	p.last = withRoom(p.last)
	p.last[key] = at
	p.note(at.Session)
}

func (p *places) note(s store.SessionRow) {
	p.rows = withRoom(p.rows)
	p.rows[s.ID] = s
}

func (p *places) noteAll(sessions map[string]store.SessionRow) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range sessions {
		p.note(s)
	}
}

// LastRead returns a session as this replica last read it, to foresee what is
// asked about it.
func (s *Set) LastRead(orgID, session string) (store.SessionRow, bool) {
	p := &s.org(orgID).places
	p.mu.Lock()
	defer p.mu.Unlock()
	row, ok := p.rows[session]
	return row, ok
}

// Remembered returns the claims that refuse edits and the place of a session as
// this replica last read them or was told of them, and how long ago it last asked
// the database: for a decision that cannot wait for it any longer. It takes no
// lock that anybody holds who waits for the database. Of a session that is new
// here, the Place has the repo alone. A nil Place means that it knows too little.
func (s *Set) Remembered(orgID string, key SessionKey) (*engine.Index, *Place, time.Duration) {
	o := s.org(orgID)
	ix := o.refusing()
	at := o.places.near(key)
	if ix == nil || at == nil {
		return nil, nil, 0
	}
	return ix, at, time.Since(time.UnixMilli(o.checked.Load()))
}

func (p *places) near(key SessionKey) *Place {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at := p.last[key]; at != nil {
		return at
	}
	for _, remote := range strings.Fields(key.Remotes) {
		if repo, ok := p.here[remote]; ok {
			return &Place{Repo: repo}
		}
	}
	return nil
}

// readRepos reads which repos there are, by remote.
func (o *org) readRepos(ctx context.Context, tx *store.Tx) error {
	repos, err1 := tx.Repos(ctx, o.id)
	remotes, err2 := tx.Remotes(ctx, o.id)
	here := map[string]coord.Repo{}
	for _, r := range repos {
		for _, remote := range remotes[r.ID] {
			if r.ArchivedAt == nil {
				here[remote] = r
			}
		}
	}
	o.places.mu.Lock()
	defer o.places.mu.Unlock()
	o.places.here = here
	return errors.Join(err1, err2)
}

// Known reports whether the session itself is known, and not its repo alone.
func (p *Place) Known() bool { return p.Session.ID != "" }

// refuses reports whether what changed of an index may refuse an edit, or did.
func refuses(n engine.Note, before, now *engine.Index) bool {
	switch n.Kind {
	case engine.NoteWorker:
		w := now.Worker(n.Key)
		return w != nil && w.Exclusive() || before.Worker(n.Key) != nil
	case engine.NoteAccepted, engine.NoteRules:
		return true
	}
	return false
}

// place returns what is remembered of a session, and as of when; not ok means
// that what was heard of may have changed it.
func (o *org) place(key SessionKey) (at *Place, seen int, ok bool) {
	o.mu.RLock() // what is under way with the index will be told to places
	defer o.mu.RUnlock()
	o.places.mu.Lock()
	defer o.places.mu.Unlock()
	return o.places.at[key], o.places.seen, o.ix != nil
}

// Told drops what is remembered of a session whose agent has been told what
// became of its conflicts.
func (s *Set) Told(orgID string, key SessionKey) {
	p := &s.org(orgID).places
	p.mu.Lock()
	defer p.mu.Unlock()
	if x := p.at[key]; x != nil && x.Turned {
		delete(p.at, key)
		p.seen++
	}
}

// forget drops the places for which gone says so.
func (p *places) forget(gone func(*Place) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen++
	for key, x := range p.at {
		if gone(x) {
			delete(p.at, key)
		}
	}
}

// forgetBy drops the places that events may have changed.
func (p *places) forgetBy(events []coord.Event) {
	sessions, intents, parties := map[string]bool{}, map[string]bool{}, map[any]bool{}
	for _, e := range events {
		if e.Subject.Kind == "conflict" {
			parties[e.Payload["holder"]], parties[e.Payload["challenger"]] = true, true
		}
		switch e.Type.Part() {
		case coord.PartSession:
			sessions[e.Subject.ID] = true
		case coord.PartIntent:
			intents[e.Subject.ID] = true
		case coord.PartUses, coord.PartRepos, coord.PartMembers:
			p.forget(func(*Place) bool { return true })
			return
		}
	}
	if len(sessions)+len(intents)+len(parties) > 0 {
		p.forget(func(x *Place) bool {
			if parties[x.Session.ID] || x.Session.IntentID != nil && parties[*x.Session.IntentID] {
				return true
			}
			if x.Session.IntentID == nil && len(intents) > 0 {
				return true // it may have been bound to one of them
			}
			return sessions[x.Session.ID] || x.Session.IntentID != nil && intents[*x.Session.IntentID]
		})
	}
}

// CopyOf names the working copy that a session works in.
func CopyOf(s coord.Session) string {
	if s.WorktreeHash != nil && *s.WorktreeHash != "" {
		return *s.WorktreeHash
	}
	return s.ID
}
