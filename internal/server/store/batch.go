package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
)

// batches gather the writers of each org on PostgreSQL. Those that wait at the
// same time share one transaction, the org's lock and one commit; each has a
// savepoint of its own, so that one that fails takes nothing with it. Orgs do
// not wait for each other.
type batches struct {
	store *Store
	mu    sync.Mutex
	orgs  map[string]*batch
	work  sync.WaitGroup
}

// A batch is the writers of one org. It exists while there are any.
type batch struct {
	waiting []*job
}

// maxHold is how long a batch goes on beginning writes: other replicas wait
// for the org's lock meanwhile.
const maxHold = 150 * time.Millisecond

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
	case o == nil:
		b.orgs[org] = &batch{waiting: []*job{j}}
		b.work.Go(func() { b.lead(org) })
	case len(o.waiting) >= maxWaiting:
		b.mu.Unlock()
		return errBusy
	default:
		o.waiting = append(o.waiting, j)
	}
	b.mu.Unlock()
	return <-j.out
}

// Writing reports whether writes of an org are under way in this process, so
// that its index may know of events that are not committed yet.
func (s *Store) Writing(org string) bool {
	if s.writer != nil {
		return s.writer.busy.Load()
	}
	s.batches.mu.Lock()
	defer s.batches.mu.Unlock()
	return s.batches.orgs[org] != nil
}

// lead commits batches of an org until nobody waits.
func (b *batches) lead(org string) {
	for {
		b.mu.Lock()
		o := b.orgs[org]
		if len(o.waiting) == 0 {
			delete(b.orgs, org)
			b.mu.Unlock()
			return
		}
		n := min(len(o.waiting), maxBatch)
		now := o.waiting[:n:n]
		o.waiting = o.waiting[n:]
		b.mu.Unlock()
		if rest := b.commit(org, now); len(rest) > 0 {
			b.mu.Lock()
			o.waiting = append(rest, o.waiting...)
			b.mu.Unlock()
		}
	}
}

// commit runs jobs in one transaction, again if it lost to another, and tells
// them how it went. It returns those for which there was no time.
func (b *batches) commit(org string, jobs []*job) (rest []*job) {
	var ran int
	err := b.store.retry(func() (err error) {
		for _, j := range jobs {
			j.err, j.tx = nil, nil
		}
		ran, err = b.try(org, jobs)
		return err
	})
	if err != nil && b.store.Aborted != nil {
		b.store.Aborted()
	}
	if err != nil {
		ran = len(jobs)
	}
	var done []*Tx
	for _, j := range jobs[:ran] {
		if j.err == nil {
			j.err = err
		}
		if j.err == nil {
			done = append(done, j.tx)
		}
	}
	b.store.announce(done...)
	for _, j := range jobs[:ran] {
		j.out <- j.err
	}
	return jobs[ran:]
}

// try begins, takes the org's lock, runs jobs and commits. It returns how many
// ran. An error is the fate of all that have none of their own.
func (b *batches) try(org string, jobs []*job) (ran int, err error) {
	ctx := context.Background()
	conn, err := b.store.writes.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `BEGIN`); err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			conn.ExecContext(ctx, `ROLLBACK`) // in vain if the connection is gone, and so is the transaction
		}
	}()
	if _, err := conn.ExecContext(ctx, b.store.lockOrg, org); err != nil {
		return 0, err
	}
	began, saved := time.Now(), false
	for i, j := range jobs {
		if i > 0 && time.Since(began) > maxHold {
			break
		}
		ran++
		begin := `SAVEPOINT job`
		switch {
		case len(jobs) == 1:
			begin = ""
		case saved:
			begin = `RELEASE SAVEPOINT job; SAVEPOINT job` // in one message: each costs a way there and back
		}
		if j.err = j.ctx.Err(); j.err != nil {
			continue
		}
		if err := b.one(ctx, conn, j, begin); err != nil {
			return ran, err
		}
		saved = true
	}
	return ran, commitPostgres(ctx, conn)
}

// commitPostgres commits. A transaction in which a statement failed, and
// nobody said so, is rolled back by COMMIT without an error.
func commitPostgres(ctx context.Context, conn *sql.Conn) error {
	return conn.Raw(func(c any) error {
		tag, err := c.(*stdlib.Conn).Conn().Exec(ctx, `COMMIT`)
		if err == nil && tag.String() != "COMMIT" {
			err = errors.New("a failed statement was passed over; nothing was committed")
		}
		return err
	})
}

// one runs a job, in a savepoint unless it is alone and begin is empty. The
// error it returns means that the whole transaction is lost.
func (b *batches) one(ctx context.Context, conn *sql.Conn, j *job, begin string) error {
	if begin != "" {
		if _, err := conn.ExecContext(ctx, begin); err != nil {
			return err
		}
	}
	j.tx = &Tx{querier: steady{conn}, dialect: b.store.dialect, Now: b.store.Now(), store: b.store}
	if j.err = protect(j); j.err == nil {
		return nil
	}
	if b.store.isRetryable(j.err) {
		err := j.err
		j.err = nil // to be run again, with the others
		return err
	}
	if begin == "" {
		return j.err
	}
	if _, err := conn.ExecContext(ctx, `ROLLBACK TO SAVEPOINT job`); err != nil {
		return err
	}
	return nil
}
