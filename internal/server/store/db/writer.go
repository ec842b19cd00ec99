package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// errBusy says that too many writes wait.
var errBusy = errors.New("too many writes are waiting")

// A writer is SQLite's one writing connection. Writes that wait at the same
// time share one commit, and so one fsync: that is what makes durability
// cheap. Each runs in a savepoint of its own, so one that fails takes nothing
// with it.
type writer struct {
	db    *DB
	conn  *sql.Conn
	jobs  chan *job
	round atomic.Pointer[chan struct{}] // closed when the writes that have begun have ended
	done  chan struct{}
	stopO sync.Once
	quit  chan struct{}
	// between takes what is to be done between two batches
	between chan func()
}

type job struct {
	ctx context.Context
	fn  func(*Tx) error
	tx  *Tx
	err error
	out chan error
}

const (
	maxBatch   = 64
	maxWaiting = 4096
)

func newWriter(ctx context.Context, d *DB) (*writer, error) {
	conn, err := d.pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{db: d, conn: conn, jobs: make(chan *job, maxWaiting), done: make(chan struct{}), quit: make(chan struct{}),
		between: make(chan func())}
	go w.loop()
	return w, nil
}

func (w *writer) stop() {
	w.stopO.Do(func() { close(w.quit) })
	<-w.done
	w.conn.Close()
}

// run queues fn and waits until it is committed or has failed. Once queued it
// is waited for even if ctx ends: the answer must tell what happened.
func (w *writer) run(ctx context.Context, fn func(*Tx) error) error {
	j := &job{ctx: ctx, fn: fn, out: make(chan error, 1)}
	select {
	case <-w.quit:
		return errBusy
	case <-ctx.Done():
		return ctx.Err()
	case w.jobs <- j:
	}
	select {
	case err := <-j.out:
		return err
	case <-w.done:
		select {
		case err := <-j.out:
			return err
		default:
			return errBusy
		}
	}
}

func (w *writer) loop() {
	defer close(w.done)
	for {
		select {
		case j := <-w.jobs:
			w.batch(w.gather(j))
		case do := <-w.between:
			do()
		case <-w.quit:
			for { // finish what was accepted
				select {
				case j := <-w.jobs:
					w.batch(w.gather(j))
				default:
					return
				}
			}
		}
	}
}

func (w *writer) gather(first *job) []*job {
	batch := []*job{first}
	for len(batch) < maxBatch {
		select {
		case j := <-w.jobs:
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

func (w *writer) batch(batch []*job) {
	round := make(chan struct{})
	w.round.Store(&round)
	told := map[string]int64{}
	began := time.Now()
	err := w.commit(batch, told)
	w.db.batched(len(batch), began)
	if err != nil {
		w.db.settled.undone(told)
	}
	var done []*Tx
	for _, j := range batch {
		if err != nil && j.err == nil {
			j.err = err
		}
		if j.err == nil {
			done = append(done, j.tx)
		}
	}
	w.db.settled.committed(done)
	close(round)
	// Announce before answering: whoever gets the answer may rely on
	// subscribers having been woken.
	w.db.announce(done...)
	for _, j := range batch {
		j.out <- j.err
	}
}

// commit runs the batch in one transaction. An error it returns is the fate
// of every job that has none of its own; told is as in batches.try.
func (w *writer) commit(batch []*job, told map[string]int64) error {
	ctx := context.Background()
	if _, err := w.conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	for _, j := range batch {
		if err := w.one(ctx, j, told); err != nil {
			w.conn.ExecContext(ctx, `ROLLBACK`)
			return err
		}
	}
	if _, err := w.conn.ExecContext(ctx, `COMMIT`); err != nil {
		w.conn.ExecContext(ctx, `ROLLBACK`)
		return err
	}
	w.db.grown.Store(true)
	if t := w.db.tail.Load(); t != nil {
		t.wake()
	}
	return nil
}

// one runs a job in its savepoint. The error it returns means that the whole
// transaction is gone, as SQLite does by itself when the disk is full.
func (w *writer) one(ctx context.Context, j *job, told map[string]int64) error {
	if j.err = j.ctx.Err(); j.err != nil {
		return nil
	}
	if _, err := w.conn.ExecContext(ctx, `SAVEPOINT job`); err != nil {
		return err
	}
	j.tx = w.db.begun(steady{w.conn})
	j.tx.before = told
	if j.err = protect(j); j.err == nil {
		j.tx.passOn()
	} else if _, err := w.conn.ExecContext(ctx, `ROLLBACK TO job`); err != nil {
		return errors.Join(j.err, err)
	}
	_, err := w.conn.ExecContext(ctx, `RELEASE job`)
	return err
}

func protect(j *job) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", p, debug.Stack())
		}
	}()
	return j.tx.run(j.ctx, j.fn)
}

// steady runs statements to their end whatever becomes of the caller: SQLite
// answers an interrupted write by rolling back the whole transaction, and
// with it the writes of others.
type steady struct{ conn *sql.Conn }

func (s steady) ExecContext(ctx context.Context, q string, args ...any) (sql.Result, error) {
	return s.conn.ExecContext(context.WithoutCancel(ctx), q, args...)
}

func (s steady) QueryContext(ctx context.Context, q string, args ...any) (*sql.Rows, error) {
	return s.conn.QueryContext(context.WithoutCancel(ctx), q, args...)
}

func (s steady) QueryRowContext(ctx context.Context, q string, args ...any) *sql.Row {
	return s.conn.QueryRowContext(context.WithoutCancel(ctx), q, args...)
}
