package mergecheck

import (
	"sync/atomic"
	"time"
)

// What a check may cost is counted in processor time, of all that it starts. On
// a busy machine minutes go by while a checker gets seconds, and to end it then
// would waste what it got.

const (
	// DefaultBudget is the processor time of one check in the background.
	DefaultBudget = 2 * time.Minute
	// WaitingBudget is that of one that somebody waits for, and can end.
	WaitingBudget = 10 * time.Minute
	// defaultIdle is how long a checker may do nothing at all: it waits for
	// something that does not come.
	defaultIdle = 10 * time.Minute
	// glance is how often it is looked what a checker has used, at most: a look
	// goes over all processes of the machine, and is to cost little beside them.
	glance      = 200 * time.Millisecond
	glanceShare = 100
	slowGlance  = 5 * time.Second
)

// The reasons for which a checker is ended. What it said until then counts.
const (
	overBudget = "the processor time that a check may take was used up"
	overIdle   = "it did nothing for too long"
)

// left is what the check may still use.
func (c *Check) left() time.Duration { return max(0, c.Budget-c.spent) }

// share sets aside a part of what is left for the next checker, so that the
// others come to their look, too.
func (c *Check) share(part float64) {
	c.allowed = c.spent + time.Duration(float64(c.left())*part)
}

// watch ends a group of processes once it used more than it may. The reason is
// told when it ended.
func (c *Check) watch(pid int, end func()) (why func() string) {
	var reason atomic.Value
	reason.Store("")
	began, done, room := time.Now(), make(chan struct{}), c.allowed-c.spent
	go func() {
		next := time.NewTimer(glance)
		defer next.Stop()
		last, since := time.Duration(-1), time.Now()
		for {
			select {
			case <-done:
				return
			case <-next.C:
			}
			looked := time.Now()
			used, runs, ok := groupTime(pid)
			next.Reset(min(max(glance, glanceShare*time.Since(looked)), slowGlance))
			if !ok { // this system does not tell: the clock has to do
				used, runs = time.Since(began), true
			}
			switch {
			case used > room:
				reason.Store(overBudget)
			case used > last || runs:
				last, since = used, time.Now()
				continue
			case time.Since(since) > c.Idle:
				reason.Store(overIdle)
			default:
				continue
			}
			end()
			return
		}
	}()
	return func() string {
		close(done)
		return reason.Load().(string)
	}
}
