package live

import (
	"context"
	"sync/atomic"
	"time"
)

// ahead is what an org needs to have its news read before anybody asks for them.
type ahead struct {
	asked   atomic.Int64 // when somebody last asked, Unix ms
	reading atomic.Bool
}

const (
	atWork = time.Minute      // after having asked
	pains  = 15 * time.Second // taken to read ahead
)

// readAhead begins to read the news of an org, if the database is far away and
// somebody is at work. Who asks meanwhile waits for the same reading.
func (s *Set) readAhead(o *org) {
	a := &o.ahead
	idle := time.Duration(time.Now().UnixMilli()-a.asked.Load()) * time.Millisecond
	if !s.Far.Load() || idle > atWork || !a.reading.CompareAndSwap(false, true) {
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
