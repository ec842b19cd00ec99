package live

import (
	"sync"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/store"
)

// maxOwn bounds how many events of an org are kept: who needs them comes soon.
const maxOwn = 64

// own are the latest events of an org, without a gap, that were told by writes
// here which said all that there is to know of them. The index takes these over
// without reading them.
type own struct {
	mu   sync.Mutex
	told []Own
}

// An Own is an event that was told here and committed. Of one that is about an
// intent it has the intent as the write left it, with the sessions that work on
// it.
type Own struct {
	Event  coord.Event
	Intent *store.IntentRow
	On     []store.SessionRow
}

// Took keeps what a write told, once it is committed. It must be all that the
// write told of the org.
func (s *Set) Took(orgID string, told []Own) {
	if len(told) == 0 {
		return
	}
	w := &s.org(orgID).own
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.told); n >= maxOwn || n > 0 && w.told[n-1].Event.Seq+1 != told[0].Event.Seq {
		w.told = nil
	}
	w.told = append(w.told, told...)
}

// has reports whether the events after one and up to another are kept.
func (w *own) has(after, last int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.covers(after, last)
}

func (w *own) covers(after, last int64) bool {
	n := len(w.told)
	return n > 0 && after < last && w.told[0].Event.Seq <= after+1 && last <= w.told[n-1].Event.Seq
}

// takeOver returns the events after one and up to another as they are read, with
// what they are about, and keeps them no longer: the index has them now. about is
// nil if they are not kept.
func (w *own) takeOver(after, last int64) (events []coord.Event, about *told) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.covers(after, last) {
		return nil, nil
	}
	first := w.told[0].Event.Seq
	about = newTold()
	for _, o := range w.told[after+1-first : last+1-first] {
		events = append(events, o.Event)
		if o.Intent != nil {
			about.intents[o.Intent.ID], about.unended[o.Intent.ID] = *o.Intent, o.On
		}
	}
	w.told = w.told[last+1-first:]
	return events, about
}
