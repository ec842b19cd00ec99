// Package jobs runs background work from a durable queue on the store. A job
// is added in the transaction of its cause, leased by one replica, retried
// with backoff, and ended in the transaction of its effect where that is in
// the database too: such an effect happens exactly once. An effect outside the
// database (a mail, a request) happens at least once, and carries an id by
// which the other side can tell a repetition. It does not know what its jobs
// are for.
package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/trail"
)

const (
	lease     = 15 * time.Second // how long after a crash another replica takes over
	poll      = time.Second      // at most this late if every hint is lost
	stale     = 30 * time.Second // without a successful poll the queue counts as stuck
	maxReason = 500
)

// New describes a job to add.
type New struct {
	Kind    string
	Org     string     // empty for work of the server itself
	Key     string     // of all jobs with a key one exists at a time
	Payload any        // becomes JSON
	At      coord.Time // not before; now if zero
}

// Add queues a job as part of tx; see store.Tx.AddJob for what a key means.
func Add(ctx context.Context, tx *store.Tx, n New) error { return n.with(ctx, tx, tx.AddJob) }

// Gather is Add, except that a job that waits already keeps its time.
func Gather(ctx context.Context, tx *store.Tx, n New) error {
	return n.with(ctx, tx, tx.AddPatientJob)
}

// Move is Add, except that a job that waits already gets the new time.
func Move(ctx context.Context, tx *store.Tx, n New) error { return n.with(ctx, tx, tx.MoveJob) }

func (n New) with(ctx context.Context, tx *store.Tx, add func(context.Context, store.Job) error) error {
	payload, err := json.Marshal(n.Payload)
	if err != nil {
		return fmt.Errorf("payload of a %s job: %w", n.Kind, err)
	}
	if n.At == 0 {
		n.At = tx.Now
	}
	return add(ctx, store.Job{
		ID:      uuid.Must(uuid.NewV7()).String(),
		Kind:    n.Kind,
		OrgID:   n.Org,
		Key:     n.Key,
		Payload: string(payload),
		DueAt:   n.At,
	})
}

// A Kind is one sort of job and how it is done.
type Kind struct {
	Name    string
	Limit   int                                     // how many at once on this replica
	Timeout time.Duration                           // of one run
	Retry   func(attempt int) (time.Duration, bool) // after how long to try again; false to give up
	Run     func(context.Context, *Run) error
}

// A Run is one try at a job.
type Run struct {
	store.Job
	// Stopping is closed when the server shuts down: long work should come to
	// an end and return Later.
	Stopping <-chan struct{}
	ended    bool
}

// Decode reads the job's payload.
func (r *Run) Decode(to any) error {
	if err := json.Unmarshal([]byte(r.Payload), to); err != nil {
		return Hopeless(fmt.Errorf("unreadable payload: %w", err))
	}
	return nil
}

// ErrLost says that another replica has taken the job over.
var ErrLost = errors.New("the lease of this job was lost")

// Finish ends the job as part of tx, the transaction of its effect: both
// happen or neither.
func (r *Run) Finish(ctx context.Context, tx *store.Tx) error { return r.finish(ctx, tx, nil) }

// FinishUntil is Finish for a job with a timetable: it waits for its next run.
func (r *Run) FinishUntil(ctx context.Context, tx *store.Tx, next coord.Time) error {
	return r.finish(ctx, tx, &next)
}

func (r *Run) finish(ctx context.Context, tx *store.Tx, next *coord.Time) error {
	ok, err := tx.FinishJob(ctx, r.ID, r.Lease, next)
	if err == nil && !ok {
		err = ErrLost
	}
	r.ended = err == nil
	return err
}

type later struct{ at coord.Time }

func (l later) Error() string { return "again at " + l.at.String() }

// Later makes a job run again at the given time, without counting as a
// failure.
func Later(at coord.Time) error { return later{at} }

type hopeless struct{ error }

func (h hopeless) Unwrap() error { return h.error }

// Hopeless marks an error that no retry would mend.
func Hopeless(err error) error { return hopeless{err} }

// IsHopeless reports whether an error is marked so.
func IsHopeless(err error) bool { return errors.As(err, new(hopeless)) }

// Backoff returns a Retry that waits first, then twice as long each time up
// to most, with jitter of a fifth, and gives up after tries.
func Backoff(first, most time.Duration, tries int) func(int) (time.Duration, bool) {
	return func(attempt int) (time.Duration, bool) {
		if attempt >= tries {
			return 0, false
		}
		d := most
		if attempt < 32 {
			d = min(most, first<<(attempt-1))
		}
		return Jitter(d), true
	}
}

// Jitter spreads d by a fifth either way, so that what failed together does
// not come back together.
func Jitter(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*rand.Float64()))
}

// A Queue runs the jobs of a store.
type Queue struct {
	store *store.Store
	log   *slog.Logger
	wake  chan struct{}
	seen  atomic.Int64 // unix ms of the last successful poll
	kinds map[string]*kind
	order []string
	// Observe, if set, is told how each run ended.
	Observe func(kind, result string, took time.Duration)
	// Drain is how long runs may go on after shutdown began.
	Drain time.Duration
}

type kind struct {
	Kind
	busy atomic.Int32
}

// NewQueue returns a Queue on s. Kinds must be registered before Run.
func NewQueue(s *store.Store, log *slog.Logger) *Queue {
	q := &Queue{store: s, log: log, wake: make(chan struct{}, 1), kinds: map[string]*kind{},
		Observe: func(string, string, time.Duration) {}, Drain: 8 * time.Second}
	s.Queued = q.poke
	q.seen.Store(time.Now().UnixMilli())
	return q
}

// TakeOver gives back what an earlier process left running when it died,
// without waiting for its leases to run out. It is for a database that only
// one process serves.
func (q *Queue) TakeOver(ctx context.Context) error {
	return q.store.Write(ctx, "", func(tx *store.Tx) error { return tx.ReleaseJobs(ctx) })
}

// Register tells the queue how to do a kind of job.
func (q *Queue) Register(kinds ...Kind) {
	for _, k := range kinds {
		if _, twice := q.kinds[k.Name]; twice {
			panic("jobs: kind " + k.Name + " registered twice")
		}
		q.kinds[k.Name] = &kind{Kind: k}
		q.order = append(q.order, k.Name)
	}
}

func (q *Queue) poke() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Run takes and does jobs until ctx ends, then waits for those under way: for
// Drain they may finish, then they are cancelled and given back.
func (q *Queue) Run(ctx context.Context) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var running sync.WaitGroup
	for ctx.Err() == nil {
		next, err := q.takeDue(ctx, work, &running)
		if err != nil && ctx.Err() == nil {
			q.log.Warn("taking jobs failed; trying again", "err", err)
		}
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
		case <-q.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
	stop := time.AfterFunc(q.Drain, cancel)
	defer stop.Stop()
	running.Wait()
}

// takeDue starts what is due and returns for how long there is nothing else.
func (q *Queue) takeDue(ctx, work context.Context, running *sync.WaitGroup) (time.Duration, error) {
	var due []string
	var next *coord.Time
	free := q.free()
	err := q.store.Read(ctx, func(tx *store.Tx) (err error) {
		if due, err = tx.DueKinds(ctx, free); err != nil {
			return err
		}
		next, err = tx.NextDue(ctx, free)
		return err
	})
	if err != nil {
		return poll, err
	}
	for _, name := range due {
		if err := q.take(ctx, work, q.kinds[name], running); err != nil {
			return poll, err
		}
	}
	q.seen.Store(time.Now().UnixMilli())
	switch {
	case len(due) > 0 || next == nil:
		return poll, nil // the end of a run wakes the queue
	default:
		return min(poll, max(next.Sub(q.store.Now()), time.Millisecond*10)), nil
	}
}

// free returns the kinds that have room for another run.
func (q *Queue) free() []string {
	names := []string{""} // never empty: an empty filter would mean all
	for _, name := range q.order {
		if k := q.kinds[name]; int(k.busy.Load()) < k.Limit {
			names = append(names, name)
		}
	}
	return names
}

func (q *Queue) take(ctx, work context.Context, k *kind, running *sync.WaitGroup) error {
	var taken []store.Job
	err := q.store.Write(ctx, "", func(tx *store.Tx) (err error) {
		taken, err = tx.TakeJobs(ctx, k.Name, uuid.NewString(), tx.Now.Add(lease), k.Limit-int(k.busy.Load()))
		return err
	})
	if err != nil {
		return err // what was not committed is not ours, though we have read it
	}
	for _, j := range taken {
		k.busy.Add(1)
		running.Go(func() {
			defer q.poke()
			defer k.busy.Add(-1)
			q.do(ctx, work, k, &Run{Job: j, Stopping: ctx.Done()})
		})
	}
	return nil
}

func (q *Queue) do(ctx, work context.Context, k *kind, r *Run) {
	start := time.Now()
	run, cancel := context.WithTimeout(work, k.Timeout)
	defer cancel()
	held := make(chan struct{})
	go func() {
		defer close(held)
		q.hold(run, cancel, r)
	}()
	traced, end := trail.Job(run, k.Name)
	err := protect(traced, k.Run, r)
	end()
	cancel()
	<-held
	result, err := q.settle(context.WithoutCancel(work), k, r, err, work.Err() != nil)
	q.Observe(k.Name, result, time.Since(start))
	if err != nil {
		q.log.Warn("a job did not end as it should", "kind", k.Name, "job", r.ID, "org", r.OrgID, "result", result, "attempt", r.Attempts,
			"err", err)
	}
}

// hold renews the lease while the run lasts, and ends the run if it is lost.
func (q *Queue) hold(ctx context.Context, cancel func(), r *Run) {
	tick := time.NewTicker(lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		held := true
		err := q.store.Write(ctx, "", func(tx *store.Tx) (err error) {
			held, err = tx.RenewJob(ctx, r.ID, r.Lease, tx.Now.Add(lease))
			return err
		})
		if err == nil && !held {
			cancel()
			return
		}
	}
}

func protect(ctx context.Context, run func(context.Context, *Run) error, r *Run) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return run(ctx, r)
}

// settle records how a run ended. The error it returns is worth a line in the
// log.
func (q *Queue) settle(ctx context.Context, k *kind, r *Run, err error, stopped bool) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var again later
	var end func(*store.Tx) (bool, error)
	var result string
	switch {
	case err == nil && r.ended:
		return "done", nil
	case err == nil:
		result, end = "done", func(tx *store.Tx) (bool, error) { return tx.FinishJob(ctx, r.ID, r.Lease, nil) }
	case errors.As(err, &again):
		result, err = "later", nil
		end = func(tx *store.Tx) (bool, error) { return tx.FinishJob(ctx, r.ID, r.Lease, &again.at) }
	case errors.Is(err, ErrLost):
		return "lost", err
	case stopped:
		result, end = "released", func(tx *store.Tx) (bool, error) { return tx.ReleaseJob(ctx, r.ID, r.Lease) }
	default:
		result, end = q.failed(ctx, k, r, err)
	}
	held := false
	if e := q.store.Write(ctx, "", func(tx *store.Tx) (e error) { held, e = end(tx); return e }); e != nil {
		return "unsettled", errors.Join(err, e) // the lease runs out and somebody tries again
	}
	if !held {
		return "lost", errors.Join(err, ErrLost)
	}
	return result, err
}

func (q *Queue) failed(ctx context.Context, k *kind, r *Run, err error) (string, func(*store.Tx) (bool, error)) {
	cause := err.Error()
	if len(cause) > maxReason {
		cause = strings.ToValidUTF8(cause[:maxReason], "") // without half a letter at the end
	}
	wait, more := k.Retry(r.Attempts)
	if h := (hopeless{}); !more || errors.As(err, &h) {
		return "failed", func(tx *store.Tx) (bool, error) { return tx.FailJob(ctx, r.ID, r.Lease, cause) }
	}
	return "retry", func(tx *store.Tx) (bool, error) { return tx.RetryJob(ctx, r.ID, r.Lease, tx.Now.Add(wait), cause) }
}

// Ready reports, for the readiness check, how the queue fares; an error means
// that it is stuck.
func (q *Queue) Ready(ctx context.Context) (string, error) {
	counts, err := q.Counts(ctx)
	if err != nil {
		return "", err
	}
	states := map[string]int{}
	for _, c := range counts {
		states[c.State] += c.Count
	}
	detail := fmt.Sprintf("%d due, %d running, %d scheduled, %d failed", states["due"], states["running"], states["scheduled"],
		states["failed"])
	if seen := time.UnixMilli(q.seen.Load()); time.Since(seen) > stale {
		return detail, errors.New("the queue has not been polled for a while: " + detail)
	}
	return detail, nil
}

// Counts tells how many jobs are in which state.
func (q *Queue) Counts(ctx context.Context) (out []store.JobCount, err error) {
	err = q.store.Read(ctx, func(tx *store.Tx) error {
		out, err = tx.JobCounts(ctx)
		return err
	})
	return out, err
}
