package live

import (
	"context"
	"sync/atomic"
	"time"
)

// ahead is what decides whether news of an org are read before anybody asks for
// them: where reading takes so long that a decision can hardly wait for it, and
// somebody is at work.
type ahead struct {
	asked   atomic.Int64 // when somebody last asked, Unix ms
	reading atomic.Bool
}

// Far reports whether a database is far away, by how long it took to answer.
func Far(took time.Duration) bool { return took >= far }

const (
	far    = 20 * time.Millisecond
	atWork = time.Minute      // after having asked
	pains  = 15 * time.Second // taken to read ahead
)

// readAhead begins to read the news of an org, if it is worth while. Who asks
// meanwhile waits for the same reading.
func (s *Set) readAhead(o *org) {
	a := &o.ahead
	idle := time.Duration(time.Now().UnixMilli()-a.asked.Load()) * time.Millisecond
	if !Far(time.Duration(s.took.Load())) || idle > atWork || !a.reading.CompareAndSwap(false, true) {
		return
	}
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), pains)
		defer cancel()
		err := s.heard(ctx, o)
		a.reading.Store(false)
		if err == nil && o.stale() { // heard of just before, when this one was still reading
			s.readAhead(o)
		}
	}()
}
