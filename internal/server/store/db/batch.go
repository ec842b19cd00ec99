package db

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
)

// batches gather the writers of each org on PostgreSQL. Those that wait at the
// same time share one transaction, the org's lock and one commit; each has a
// savepoint of its own, so that one that fails takes nothing with it. Orgs do
// not wait for each other.
type batches struct {
	db   *DB
	mu   sync.Mutex
	orgs map[string]*batch
	work sync.WaitGroup
}

// A batch is the writers of one org. It exists while there are any.
type batch struct {
	waiting []*job
	round   chan struct{} // closed when those that have begun are committed or undone
}

// maxHold is how long a batch goes on beginning writes: other replicas wait
// for the org's lock meanwhile.
const maxHold = 150 * time.Millisecond

// clocksApart is how far the clocks of replicas may be apart.
const clocksApart = 5 * time.Second

// notBefore returns now, or when the org's last writers wrote by their clock, if
// that is a little later: whoever has the org's lock later is later, and does not
// come before them in any line. A clock that is wrong by more is not followed.
func (c *gatheringConn) notBefore(now coord.Time) coord.Time {
	if c.latest > now && c.latest.Sub(now) <= clocksApart {
		return c.latest
	}
	return now
}

// run queues fn with the writers of its org and waits until it is committed or
// has failed. Once begun it is waited for even if ctx ends.
func (b *batches) run(ctx context.Context, org string, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	j := &job{ctx: ctx, fn: fn, out: make(chan error, 1)}
	b.mu.Lock()
	if b.orgs == nil {
		b.orgs = map[string]*batch{}
	}
	o := b.orgs[org]
	switch {
	case o == nil: // it leads, so that nobody has to be woken for it
		b.orgs[org] = &batch{waiting: []*job{j}}
		b.work.Add(1)
		b.mu.Unlock()
		defer b.work.Done()
		if b.lead(org) {
			b.work.Go(func() {
				for b.lead(org) {
				}
			})
		}
		return <-j.out
	case len(o.waiting) >= maxWaiting:
		b.mu.Unlock()
		return errBusy
	default:
		o.waiting = append(o.waiting, j)
	}
	b.mu.Unlock()
	select {
	case err := <-j.out:
		return err
	case <-ctx.Done():
	}
	if b.left(org, j) {
		return ctx.Err()
	}
	return <-j.out
}

// left takes a job back that has not begun.
func (b *batches) left(org string, j *job) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.orgs[org]
	if o == nil {
		return false
	}
	at := slices.Index(o.waiting, j)
	if at < 0 {
		return false
	}
	o.waiting = slices.Delete(slices.Clone(o.waiting), at, at+1) // the batch under way has a part of the old list
	return true
}

// underWay returns what is closed when the writes of an org that have begun
// have ended, nil if none have.
func (b *batches) underWay(org string) chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if o := b.orgs[org]; o != nil {
		return o.round
	}
	return nil
}

// lead commits the next batch of an org, if anybody waits for one. It reports
// whether somebody waits for another.
func (b *batches) lead(org string) (more bool) {
	b.mu.Lock()
	o := b.orgs[org]
	if n := min(len(o.waiting), maxBatch); n > 0 {
		now := o.waiting[:n:n]
		o.waiting = o.waiting[n:]
		o.round = make(chan struct{})
		b.mu.Unlock()
		rest := b.commit(org, now, o.round)
		b.mu.Lock()
		o.waiting = append(rest, o.waiting...)
	}
	if more = len(o.waiting) > 0; !more {
		delete(b.orgs, org)
	}
	b.mu.Unlock()
	return more
}

// commit runs jobs in one transaction, again if it lost to another, and tells
// them how it went. It returns those for which there was no time.
func (b *batches) commit(org string, jobs []*job, round chan struct{}) (rest []*job) {
	var ran int
	careful, began := false, time.Now()
	try := func() (err error) {
		for _, j := range jobs {
			j.err, j.tx = nil, nil
		}
		told := map[string]int64{}
		if ran, err = b.try(org, jobs, told, careful); err != nil {
			b.db.settled.undone(told) // each time: others may have told events with the same ids since
		}
		return err
	}
	err := b.db.retry(func() error {
		err := b.db.suspected.anew(func() (bool, error) {
			err := try()
			return errors.As(err, new(unbegunError)) && broke(err), err
		})
		if !careful && errors.As(err, new(seamError)) {
			careful = true // each is to know how it went before the next begins
			err = try()
		}
		return err
	})
	if err != nil {
		ran = len(jobs)
	}
	b.db.batched(ran, began)
	var done []*Tx
	for _, j := range jobs[:ran] {
		if j.err == nil {
			j.err = err
		}
		if j.err == nil {
			done = append(done, j.tx)
		}
	}
	b.db.settled.committed(done)
	close(round)
	b.db.announce(done...)
	for _, j := range jobs[:ran] {
		j.out <- j.err
	}
	return jobs[ran:]
}

// An unbegunError is why a transaction could not begin: nothing was done.
type unbegunError struct{ error }

// Unwrap returns why it could not.
func (e unbegunError) Unwrap() error { return e.error }

// A seamError is of a statement of a write that had ended well: others have
// begun since, and none of them is to blame.
type seamError struct{ error }

// Unwrap returns why the statement failed.
func (e seamError) Unwrap() error { return e.error }

// try begins, takes the org's lock, runs jobs and commits. It returns how many
// ran, and in told the first event of each org that they told. An error is the
// fate of all that have none of their own.
func (b *batches) try(org string, jobs []*job, told map[string]int64, careful bool) (ran int, err error) {
	ctx := context.Background()
	conn, err := b.db.writes.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	g, err := gathering(conn)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			g.rollback(ctx)
		}
	}()
	g.begin(b.db, org, careful)
	for _, j := range jobs {
		if !g.since.IsZero() && time.Since(g.since) > maxHold {
			break
		}
		ran++
		if j.err = j.ctx.Err(); j.err != nil {
			continue
		}
		j.tx = b.db.begun(steady{conn})
		j.tx.before, j.tx.gathered = told, g
		j.tx.Now = g.notBefore(j.tx.Now)
		g.locked = func() { j.tx.Now = max(j.tx.Now, g.notBefore(b.db.Now())) }
		if err := b.one(ctx, g, j, len(jobs) == 1); err != nil {
			return ran, err
		}
	}
	var notices []notice
	for _, j := range jobs[:ran] {
		if j.err == nil {
			notices = append(notices, j.tx.notices...)
		}
	}
	if err = g.commit(ctx, notices); g.seam != nil {
		err = seamError{g.seam}
	}
	return ran, err
}

// one runs a job, in a savepoint unless it is alone. The error it returns means
// that the whole transaction is lost.
func (b *batches) one(ctx context.Context, g *gatheringConn, j *job, alone bool) error {
	var saved *late
	if !alone {
		saved = g.save()
	}
	j.err = protect(j)
	if j.err == nil {
		j.err = g.failed // whether or not it was passed over
	}
	switch {
	case g.unbegun != nil: // of all
		j.err = nil
		return unbegunError{g.unbegun}
	case g.seam != nil:
		return seamError{g.seam}
	case j.err == nil:
		j.tx.passOn()
		if !alone {
			g.keep()
		}
		return nil
	case b.db.isRetryable(j.err):
		err := j.err
		j.err = nil // to be run again, with the others
		return err
	case alone:
		return j.err
	}
	return g.undo(ctx, saved)
}
