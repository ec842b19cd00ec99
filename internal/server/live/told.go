package live

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/server/store"
)

// Who claims on one replica has the answer when the others can hear of it at the
// earliest, and to read it takes them as long as an agent waits, if the database
// is slow. So a claim is told along with its commit, all that refuses edits by
// it. That is a hint: it is believed only until the log is read, and only where
// somebody cannot wait for that.

// notices are claims that other replicas told of, oldest first.
type notices struct {
	mu  sync.Mutex
	all []notice
}

type notice struct {
	heard int64 // how often it had been heard that there may be news
	work  *engine.Worker
}

// maxNotices bounds what is kept of an org that nobody asks about.
const maxNotices = 256

// tellClaims tells the other replicas of what d keeps others out of and did not
// before.
func (s *Set) tellClaims(tx *store.Tx, orgID string, d *Draft) error {
	for _, id := range slices.Sorted(maps.Keys(d.replaced)) {
		w := d.Worker(id)
		if w == nil || !w.Exclusive() || !claimsMore(w, d.replaced[id]) {
			continue
		}
		only := *w
		only.Claims = slices.DeleteFunc(slices.Clone(w.Claims), func(c coord.Claim) bool { return c.Mode != coord.Exclusive })
		if w.Intent != nil { // what it is about refuses nobody
			intent := *w.Intent
			intent.Task, only.Intent = nil, &intent
		}
		if err := tellWork(tx, s.name+" "+orgID+" ", only); err != nil {
			return err
		}
	}
	return nil
}

// claimsMore reports whether somebody is kept out by w who was not before.
func claimsMore(w, before *engine.Worker) bool {
	if before == nil {
		return true
	}
	had := map[string]bool{}
	for _, c := range before.Claims {
		had[c.Selector] = had[c.Selector] || c.Mode == coord.Exclusive
	}
	return slices.ContainsFunc(w.Claims, func(c coord.Claim) bool { return c.Mode == coord.Exclusive && !had[c.Selector] })
}

// tellWork tells of a worker, in as many notices as its claims need.
func tellWork(tx *store.Tx, from string, w engine.Worker) error {
	text, err := json.Marshal(&w, json.Deterministic(true))
	switch n := len(w.Claims) / 2; {
	case err != nil:
		return err
	case len(from)+len(text) <= store.MaxNotice:
		tx.TellReplicas(store.NewClaims, from+string(text))
	case n > 0:
		rest := w
		w.Claims, rest.Claims = w.Claims[:n], w.Claims[n:]
		if err := tellWork(tx, from, w); err != nil {
			return err
		}
		return tellWork(tx, from, rest)
	} // else it has to be read
	return nil
}

// Listen hears of claims on other replicas until ctx ends.
func (s *Set) Listen(ctx context.Context) {
	s.store.Listen(ctx, store.NewClaims, s.claimTold, func(error) {}) // what is missed is read
}

func (s *Set) claimTold(text string) {
	from, text, _ := strings.Cut(text, " ")
	orgID, text, _ := strings.Cut(text, " ")
	if from == s.name || s.Trusting.Load() {
		return
	}
	s.mu.Lock()
	o := s.orgs[orgID]
	s.mu.Unlock()
	w := new(engine.Worker)
	if o == nil || json.Unmarshal([]byte(text), w) != nil { // nobody asked about it here, or of another version
		return
	}
	o.told.add(notice{o.hear(), w}, o.met.Load())
	s.readAhead(o)
}

// add keeps a notice, and forgets those that are met.
func (n *notices) add(it notice, met int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = slices.DeleteFunc(n.all, func(it notice) bool { return it.heard <= met })
	n.all = append(n.all, it)
	n.all = n.all[max(0, len(n.all)-maxNotices):]
}

// since returns the notices that are not met.
func (n *notices) since(met int64) []notice {
	n.mu.Lock()
	defer n.mu.Unlock()
	at := slices.IndexFunc(n.all, func(it notice) bool { return it.heard > met })
	if at < 0 {
		return nil
	}
	return slices.Clone(n.all[at:])
}

// refusing returns what refuses edits, as it was last read, and what was told
// since; nil if nothing was read.
func (o *org) refusing() *engine.Index {
	met := o.met.Load() // first: what is met by then is in what was read
	ix := o.claimed.Load()
	told := o.told.since(met)
	if ix == nil || len(told) == 0 {
		return ix
	}
	ix = ix.Claimed()
	for _, it := range told {
		w := *it.work
		if known := ix.Worker(w.ID); known != nil {
			w.Claims = slices.Concat(known.Claims, w.Claims)
		}
		ix.PutWorker(&w)
	}
	return ix
}
