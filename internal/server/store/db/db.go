// Package db runs transactions on SQLite and PostgreSQL: it opens and migrates
// a database, gathers writers into commits, and knows what differs between the
// two (dialect.go). It knows no record of the service: what it must know of the
// tables it is given as a Schema.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A Schema is what this package has to know of the tables.
type Schema struct {
	Migrations fs.FS // NNNN_what.sql, see history
	Counters   Counters
	// Latest is a query for when an org's last writers wrote, one number; $1 is
	// its id.
	Latest string
	// Memo makes what is kept for as long as a batch lasts, see Known.
	Memo func() any
	// Fleeting are tables of processes that run on a database, not of its
	// content.
	Fleeting []string
	// Clear refuses a database that is in use, and clears what an unused one
	// has, so that another can be copied into it.
	Clear func(context.Context, *Tx) error
}

// A DB is an open database with its schema up to date.
type DB struct {
	pool   *sql.DB
	dsn    string
	schema *Schema
	dialect
	writer *writer // of SQLite; nil on PostgreSQL
	// What copies SQLite's log.
	copying     sync.WaitGroup
	stopCopying context.CancelFunc
	grown       atomic.Bool // since it last looked
	tail        atomic.Pointer[Tail]
	// PostgreSQL's writers have connections of their own: readers must get on
	// while writers wait for their org's lock.
	writes    *sql.DB
	suspected suspected
	faults    faults
	batches   batches
	looks     looks
	// replica is this process among those on one database; nil where it did
	// not join.
	replica atomic.Pointer[replica]
	// Committed, if set, is told after each commit which orgs have new events.
	Committed func(orgs []string)
	settled   settled
	// Queued, if set, is told after each commit that added jobs.
	Queued func()
	// Observed, if set, is told each statement of a transaction before it is
	// run. Tests look at what there is.
	Observed func(statement string)
	// Batched, if set, is told of each commit of gathered writes how many
	// shared it, and how long it took.
	Batched func(writes int, took time.Duration)
	now     func() time.Time
}

// Open opens the database at dsn, a postgres:// URL or a file path, and
// applies the migrations it lacks.
func Open(ctx context.Context, dsn string, schema *Schema) (*DB, error) {
	d, err := connect(ctx, dsn, schema)
	if err != nil {
		return nil, err
	}
	if err := d.migrate(ctx); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func connect(ctx context.Context, dsn string, schema *Schema) (*DB, error) {
	kind := dialectOf(dsn)
	d := &DB{dsn: dsn, schema: schema, dialect: kind, now: time.Now}
	pool, err := kind.open(dsn, &d.suspected)
	if err != nil {
		return nil, fmt.Errorf("open the %s database: %w", kind.name, err)
	}
	d.pool = pool
	d.batches.db = d
	if kind.name == postgres.name {
		if d.writes, err = kind.openWriter(dsn, &d.suspected); err != nil {
			pool.Close()
			return nil, fmt.Errorf("open the %s database: %w", kind.name, err)
		}
	}
	if kind.name == embedded.name {
		if err := d.checkSQLite(ctx); err != nil {
			pool.Close()
			return nil, err
		}
		if d.writer, err = newWriter(ctx, d); err != nil {
			pool.Close()
			return nil, err
		}
		copying, stop := context.WithCancel(context.WithoutCancel(ctx))
		d.stopCopying = stop
		d.copying.Go(func() { d.copyLog(copying) })
	}
	return d, nil
}

// checkSQLite asserts what durability rests on: a DSN with a typo is silently
// ignored by the driver.
func (d *DB) checkSQLite(ctx context.Context) error {
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
		if err := d.untilFree(ctx, func() error { return d.pool.QueryRowContext(ctx, ask.query).Scan(ask.to) }); err != nil {
			return fmt.Errorf("open the SQLite database %s: %w", d.dsn, err)
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
func (d *DB) untilFree(ctx context.Context, run func() error) error {
	for end := time.Now().Add(5 * time.Second); ; {
		err := run()
		if !d.isLocked(err) || time.Now().After(end) {
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
func (d *DB) Name() string { return d.name }

// Close finishes the writes under way and closes the database.
func (d *DB) Close() error {
	if d.writer != nil {
		d.writer.stop()
		d.stopCopying()
		d.copying.Wait()
	}
	if d.writes != nil {
		d.batches.work.Wait()
		d.looks.close()
		d.writes.Close()
	}
	return d.pool.Close()
}

// A Pool is how much of the connections to a database is in use.
type Pool struct {
	Name        string // readers or writers
	Used, Idle  int
	Most        int
	Waits       int64 // how often somebody waited for one
	WaitSeconds float64
}

// Pools tells of each of the pools of connections.
func (d *DB) Pools() (out []Pool) {
	for i, pool := range []*sql.DB{d.pool, d.writes} {
		if pool != nil {
			s := pool.Stats()
			name := [...]string{"readers", "writers"}[i]
			out = append(out, Pool{name, s.InUse, s.Idle, s.MaxOpenConnections, s.WaitCount, s.WaitDuration.Seconds()})
		}
	}
	return out
}

func (d *DB) batched(writes int, since time.Time) {
	if d.Batched != nil {
		d.Batched(writes, time.Since(since))
	}
}

// Readers is how many connections there are to read by.
func (d *DB) Readers() int { return d.pool.Stats().OpenConnections }

// SetClock replaces the clock, for tests of expiry.
func (d *DB) SetClock(now func() time.Time) { d.now = now }

// Now returns the store's time.
func (d *DB) Now() coord.Time { return coord.TimeOf(d.now()) }

// A querier runs statements: a transaction, or SQLite's writing connection.
type querier interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	QueryRowContext(context.Context, string, ...any) *sql.Row
}

// A Tx is a transaction. Now does not change while it lasts.
type Tx struct {
	querier
	dialect
	Now    coord.Time
	schema *Schema
	// observed is DB.Observed.
	observed func(statement string)
	// Unwritten, if set, is what is still to be written.
	Unwritten Unwritten
	// gathered is where what it writes waits, on PostgreSQL in a batch.
	gathered *gatheringConn
	// failed is why what was unwritten could not be written before a query
	// whose answer cannot say so.
	failed error
	wakes  map[string]span  // orgs with new events, and their ids
	before map[string]int64 // the first ids that writes of the same transaction told before this one

	queued  bool // whether jobs were added
	notices []notice

	undone []func() // what is to be forgotten if it fails
}

// begun is a transaction that has begun.
func (d *DB) begun(q querier) *Tx {
	return &Tx{querier: q, dialect: d.dialect, Now: d.Now(), schema: d.schema, observed: d.Observed}
}

// Unwritten is what the floor above gathers in a transaction, to write it in
// one go.
type Unwritten interface {
	// Concerns reports whether there is something that a statement may be
	// about; of the empty statement, whether there is anything.
	Concerns(statement string) bool
	// Write writes it.
	Write(context.Context) error
}

// SkipLocked ends a SELECT that takes rows nobody else is taking.
func (tx *Tx) SkipLocked() string { return tx.skipLocked }

// IsDuplicate reports whether an error says that a row with the key is there.
func (tx *Tx) IsDuplicate(err error) bool { return tx.isDuplicate(err) }

// Queue notes that the transaction adds jobs.
func (tx *Tx) Queue() { tx.queued = true }

// IfUndone has fn run if the transaction is undone, before anybody hears that.
// It does nothing where tx told no event of the org so far.
func (tx *Tx) IfUndone(org string, fn func()) {
	if tx.wakes[org].last > 0 {
		tx.undone = append(tx.undone, fn)
	}
}

// Read runs fn on the state of one moment.
func (d *DB) Read(ctx context.Context, fn func(*Tx) error) error {
	if d.name == postgres.name {
		return d.wrap(overdue(ctx, d.suspected.anew(func() (bool, error) { return d.look(ctx, fn) })))
	}
	return d.transact(ctx, d.pool, &sql.TxOptions{ReadOnly: true}, fn)
}

// Write runs fn in a transaction and commits it if fn returns nil. Writers of
// one org wait for one another, so fn may act on what it has read: of two
// people who claim a file at once, the second is told. With no org nobody
// queues. fn may run more than once and must not act on the world outside the
// transaction.
func (d *DB) Write(ctx context.Context, org string, fn func(*Tx) error) error {
	if d.writer != nil {
		return d.wrap(d.writer.run(ctx, fn))
	}
	if org == "" {
		return d.retry(func() error {
			return d.suspected.anew(func() (bool, error) {
				begun := false
				err := d.transact(ctx, d.writes, nil, func(tx *Tx) error {
					begun = true
					return fn(tx)
				})
				return !begun && broke(err), err
			})
		})
	}
	return d.wrap(d.batches.run(ctx, org, fn))
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
func (d *DB) retry(run func() error) error {
	const tries = 5
	for try := 1; ; try++ {
		err := run()
		if err == nil || try == tries || !d.isRetryable(err) {
			return err
		}
	}
}

func (d *DB) transact(ctx context.Context, db *sql.DB, opts *sql.TxOptions, fn func(*Tx) error) error {
	tx, err := db.BeginTx(ctx, opts)
	if err != nil {
		return d.wrap(overdue(ctx, err))
	}
	defer tx.Rollback() // no effect once committed
	t := d.begun(tx)
	if err := t.run(ctx, fn); err != nil {
		return d.wrap(overdue(ctx, err))
	}
	if err := ctx.Err(); err != nil { // database/sql may hear of it only later
		return d.wrap(err)
	}
	if err := tx.Commit(); err != nil {
		return d.wrap(overdue(ctx, err))
	}
	d.announce(t)
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

func (d *DB) announce(txs ...*Tx) {
	var orgs []string
	queued := false
	for _, tx := range txs {
		queued = queued || tx.queued
		for org := range tx.wakes {
			orgs = append(orgs, org)
		}
	}
	if len(orgs) > 0 && d.Committed != nil {
		d.Committed(orgs)
	}
	if queued && d.Queued != nil {
		d.Queued()
	}
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

func (tx *Tx) flush(ctx context.Context) error {
	if tx.Unwritten == nil || !tx.Unwritten.Concerns("") {
		return nil
	}
	return tx.Unwritten.Write(ctx)
}

// settle writes what is unwritten before a statement that may be about it.
func (tx *Tx) settle(ctx context.Context, query string) error {
	if tx.observed != nil {
		tx.observed(query)
	}
	if tx.Unwritten == nil || !tx.Unwritten.Concerns(query) {
		return nil
	}
	if tx.gathered != nil && tx.gathered.foreseeing {
		return errForeseen // nothing is written to be foreseen
	}
	return tx.Unwritten.Write(ctx)
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

// storable returns args with each text as both databases can hold it: valid
// UTF-8 without NUL. What people and agents send was checked on its way in;
// what another server answered, a cut error or a reply in Latin-1, was not,
// and PostgreSQL refuses the whole statement over it.
func storable(args []any) []any {
	out := args
	for i, a := range args {
		var text string
		switch a := a.(type) {
		case string:
			text = a
		case *string:
			if a != nil {
				text = *a
			}
		}
		if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
			continue
		}
		if i == 0 || &out[0] == &args[0] {
			out = slices.Clone(args) // they are the caller's
		}
		out[i] = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
	}
	return out
}
