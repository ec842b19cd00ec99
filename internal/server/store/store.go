// Package store keeps the service's records. The same SQL runs on SQLite and
// PostgreSQL; what differs is in dialect.go. Rules belong to the floors above:
// a query answers, it does not decide.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
)

// A Store is an open database with its schema up to date.
type Store struct {
	db  *sql.DB
	dsn string
	dialect
	writer *writer // of SQLite; nil on PostgreSQL
	// What copies SQLite's log.
	copying     sync.WaitGroup
	stopCopying context.CancelFunc
	// PostgreSQL's writers have connections of their own: readers must get on
	// while writers wait for their org's lock.
	writes  *sql.DB
	batches batches
	// replica is this process among those on one database; nil where it did
	// not join.
	replica atomic.Pointer[replica]
	ready   readiness
	// Committed, if set, is told after each commit which orgs have new events.
	Committed func(orgs []string)
	settled   settled
	// Queued, if set, is told after each commit that added jobs.
	Queued func()
	now    func() time.Time
}

// Open opens the database at dsn, a postgres:// URL or a file path, and
// applies the migrations it lacks.
func Open(ctx context.Context, dsn string) (*Store, error) {
	s, err := connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	if err := s.migrate(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func connect(ctx context.Context, dsn string) (*Store, error) {
	d := dialectOf(dsn)
	db, err := d.open(dsn)
	if err != nil {
		return nil, fmt.Errorf("open the %s database: %w", d.name, err)
	}
	s := &Store{db: db, dsn: dsn, dialect: d, now: time.Now}
	s.batches.store = s
	if d.name == postgres.name {
		if s.writes, err = d.openWriter(dsn); err != nil {
			db.Close()
			return nil, fmt.Errorf("open the %s database: %w", d.name, err)
		}
	}
	if d.name == embedded.name {
		if err := s.checkSQLite(ctx); err != nil {
			db.Close()
			return nil, err
		}
		if s.writer, err = newWriter(ctx, s); err != nil {
			db.Close()
			return nil, err
		}
		copying, stop := context.WithCancel(context.WithoutCancel(ctx))
		s.stopCopying = stop
		s.copying.Go(func() { s.copyLog(copying) })
	}
	return s, nil
}

// checkSQLite asserts what durability rests on: a DSN with a typo is silently
// ignored by the driver.
func (s *Store) checkSQLite(ctx context.Context) error {
	var version, journal string
	var synchronous, foreignKeys int
	for _, ask := range []struct {
		query string
		to    any
	}{
		{`SELECT sqlite_version()`, &version},
		{`PRAGMA journal_mode`, &journal},
		{`PRAGMA synchronous`, &synchronous},
		{`PRAGMA foreign_keys`, &foreignKeys},
	} {
		if err := s.untilFree(ctx, func() error { return s.db.QueryRowContext(ctx, ask.query).Scan(ask.to) }); err != nil {
			return fmt.Errorf("open the SQLite database %s: %w", s.dsn, err)
		}
	}
	if journal != "wal" || synchronous != 2 || foreignKeys != 1 {
		return fmt.Errorf("SQLite runs with journal_mode=%s synchronous=%d foreign_keys=%d, want wal, 2, 1", journal, synchronous, foreignKeys)
	}
	if versionLess(version, minSQLite) {
		return fmt.Errorf("SQLite %s can corrupt its log; %s or newer is needed", version, minSQLite)
	}
	return nil
}

// untilFree runs what opens a connection until nobody else holds the file, for
// some seconds: of several that make a database keep a log at once SQLite
// refuses all but one at once, whatever they are told to wait for.
func (s *Store) untilFree(ctx context.Context, run func() error) error {
	for end := time.Now().Add(5 * time.Second); ; {
		err := run()
		if !s.isLocked(err) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func versionLess(a, b string) bool {
	var x, y [3]int
	fmt.Sscanf(a, "%d.%d.%d", &x[0], &x[1], &x[2])
	fmt.Sscanf(b, "%d.%d.%d", &y[0], &y[1], &y[2])
	for i := range x {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

// Name returns which database it is: sqlite or postgres.
func (s *Store) Name() string { return s.name }

// Close finishes the writes under way and closes the database.
func (s *Store) Close() error {
	if s.writer != nil {
		s.writer.stop()
		s.stopCopying()
		s.copying.Wait()
	}
	if s.writes != nil {
		s.batches.work.Wait()
		s.writes.Close()
	}
	return s.db.Close()
}

// Ready reports whether the database takes writes, by one of them. Reads may
// go on long after the disk is full or the primary became a standby.
func (s *Store) Ready(ctx context.Context) error {
	s.ready.mu.Lock()
	defer s.ready.mu.Unlock()
	if time.Since(s.ready.at) < time.Second { // anybody may ask, as often as they like
		return s.ready.err
	}
	s.ready.err = s.Write(ctx, "", func(tx *Tx) error {
		return tx.SetMeta(ctx, "ready", tx.Now.String())
	})
	s.ready.at = time.Now()
	return s.ready.err
}

type readiness struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

// SetClock replaces the clock, for tests of expiry.
func (s *Store) SetClock(now func() time.Time) { s.now = now }

// Now returns the store's time.
func (s *Store) Now() coord.Time { return coord.TimeOf(s.now()) }

// A querier runs statements: a transaction, or SQLite's writing connection.
type querier interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// A Tx is a transaction. All queries are its methods. Now does not change
// while it lasts.
type Tx struct {
	querier
	dialect
	Now   coord.Time
	store *Store
	// gathered is where what it writes waits, on PostgreSQL in a batch.
	gathered *gatheringConn
	told     []coord.Event // by Emit, and not yet written
	// failed is why events could not be written before a query whose answer
	// cannot say so.
	failed error
	wakes  map[string]span  // orgs with new events, and their ids
	before map[string]int64 // the first ids that writes of the same transaction told before this one

	queued bool // whether jobs were added

	undone []func() // what is to be forgotten if it fails
}

// IfUndone has fn run if the transaction is undone, before anybody hears that.
// It does nothing where tx told no event of the org so far.
func (tx *Tx) IfUndone(org string, fn func()) {
	if tx.wakes[org].last > 0 {
		tx.undone = append(tx.undone, fn)
	}
}

// Read runs fn on the state of one moment.
func (s *Store) Read(ctx context.Context, fn func(*Tx) error) error {
	return s.transact(ctx, s.db, &sql.TxOptions{Isolation: s.snapshot, ReadOnly: true}, fn)
}

// Write runs fn in a transaction and commits it if fn returns nil. Writers of
// one org wait for one another, so fn may act on what it has read: of two
// people who claim a file at once, the second is told. With no org nobody
// queues. fn may run more than once and must not act on the world outside the
// transaction.
func (s *Store) Write(ctx context.Context, org string, fn func(*Tx) error) error {
	if s.writer != nil {
		return s.wrap(s.writer.run(ctx, fn))
	}
	if org == "" {
		return s.retry(func() error { return s.transact(ctx, s.writes, nil, fn) })
	}
	return s.wrap(s.batches.run(ctx, org, fn))
}

// Lock makes tx wait for the writers queued under another name than its
// org's. Take locks before changing anything, so that no two transactions
// wait for each other.
func (tx *Tx) Lock(ctx context.Context, name string) error {
	if tx.lockOrg == "" {
		return nil // one writer: nobody to wait for
	}
	_, err := tx.ExecContext(ctx, tx.lockOrg, name)
	return err
}

// retry runs a transaction again that lost to another.
func (s *Store) retry(run func() error) error {
	const tries = 5
	for try := 1; ; try++ {
		err := run()
		if err == nil || try == tries || !s.isRetryable(err) {
			return err
		}
	}
}

func (s *Store) transact(ctx context.Context, db *sql.DB, opts *sql.TxOptions, fn func(*Tx) error) error {
	tx, err := db.BeginTx(ctx, opts)
	if err != nil {
		return s.wrap(overdue(ctx, err))
	}
	defer tx.Rollback() // no effect once committed
	t := &Tx{querier: tx, dialect: s.dialect, Now: s.Now(), store: s}
	if err := t.run(ctx, fn); err != nil {
		return s.wrap(overdue(ctx, err))
	}
	if err := ctx.Err(); err != nil { // database/sql may hear of it only later
		return s.wrap(err)
	}
	if err := tx.Commit(); err != nil {
		return s.wrap(overdue(ctx, err))
	}
	s.announce(t)
	return nil
}

// overdue says of an error of a transaction whose time is up that this is why:
// its statements are told that they were interrupted, and its commit that it
// was rolled back.
func overdue(ctx context.Context, err error) error {
	if ctx.Err() == context.DeadlineExceeded && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	return err
}

func (s *Store) announce(txs ...*Tx) {
	var orgs []string
	queued := false
	for _, tx := range txs {
		queued = queued || tx.queued
		for org := range tx.wakes {
			orgs = append(orgs, org)
		}
	}
	if len(orgs) > 0 && s.Committed != nil {
		s.Committed(orgs)
	}
	if queued && s.Queued != nil {
		s.Queued()
	}
}

// wrap turns "the database cannot serve" into a problem that says so; others
// pass through.
func (s *Store) wrap(err error) error {
	var known *problem.Error
	if err == nil || errors.As(err, &known) || errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, errBusy) || errors.Is(err, context.DeadlineExceeded) || s.isDown(err) {
		return fmt.Errorf("%w (%w)", &problem.Error{Kind: problem.Unavailable,
			Detail: "the database cannot serve this right now; try again", RetryAfter: 2 * time.Second}, err)
	}
	return err
}

// run runs fn and writes what is left to write.
func (tx *Tx) run(ctx context.Context, fn func(*Tx) error) (err error) {
	ended := false
	defer func() {
		if err == nil && ended {
			return
		}
		for _, forget := range tx.undone {
			forget()
		}
	}()
	if err = fn(tx); err == nil {
		err = errors.Join(tx.failed, tx.flush(ctx))
	}
	if err == nil && tx.gathered != nil {
		err = tx.gathered.end(context.WithoutCancel(ctx))
	}
	ended = true // not by a panic
	return err
}

// settle writes the events that were gathered before a statement that may be
// about them.
func (tx *Tx) settle(ctx context.Context, query string) error {
	if len(tx.told) == 0 || !strings.Contains(query, "event") {
		return nil
	}
	if tx.gathered != nil && tx.gathered.foreseeing {
		return errForeseen // nothing is written to be foreseen
	}
	return tx.flush(ctx)
}

// ExecContext runs a statement.
func (tx *Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := tx.settle(ctx, query); err != nil {
		return nil, err
	}
	return tx.querier.ExecContext(ctx, query, storable(args)...)
}

// QueryContext runs a query.
func (tx *Tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := tx.settle(ctx, query); err != nil {
		return nil, err
	}
	return tx.querier.QueryContext(ctx, query, storable(args)...)
}

// QueryRowContext runs a query of one row.
func (tx *Tx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if err := tx.settle(ctx, query); err != nil {
		tx.failed = err // a row cannot carry it
	}
	return tx.querier.QueryRowContext(ctx, query, storable(args)...)
}

// exec runs a statement and returns how many rows it touched.
func (tx *Tx) exec(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := tx.ExecContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
