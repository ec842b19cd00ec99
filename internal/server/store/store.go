// Package store keeps the service's records: one file per noun, alike, on the
// machinery of store/db. The same SQL runs on SQLite and PostgreSQL. Rules
// belong to the floors above: a query answers, it does not decide.
package store

import (
	"context"
	"embed"
	"errors"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/store/db"
	"github.com/svc-hq/svc/internal/server/trail"
)

//go:embed migrations/*.sql
var migrations embed.FS

// The counters of an org, in its row.
const (
	eventSeq    = "event_seq"
	intentSeq   = "intent_seq"
	conflictSeq = "conflict_seq"
	messageSeq  = "message_seq"
)

// schema is what the machinery has to know of the tables.
var schema = &db.Schema{
	Migrations: migrations,
	Counters:   db.Counters{Table: "orgs", Columns: []string{eventSeq, intentSeq, conflictSeq, messageSeq}},
	Latest:     `SELECT occurred_at FROM events WHERE org_id = $1 ORDER BY seq DESC LIMIT 1`,
	Memo:       func() any { return &ledger{} },
	Fleeting:   []string{"migrations", "replicas", "waits", "edge_leases"},
	Clear:      func(ctx context.Context, t *db.Tx) error { return (&Tx{Tx: t}).clear(ctx) },
}

// SchemaHash names the schema that the migrations of this binary make.
func SchemaHash() string { return schema.Hash() }

// What replicas tell each other about orgs, by Notify, TellReplicas and Listen.
const (
	NewEvents    db.Channel = "svc_events"    // there are new events
	NewStandings db.Channel = "svc_standings" // somebody's token, role or membership changed
	NewClaims    db.Channel = "svc_claims"    // what keeps others out from now on
)

// MaxNotice is how long a notice of TellReplicas may be.
const MaxNotice = db.MaxNotice

// Orgs are those that a notification of Notify names.
func Orgs(text string) []string { return db.Orgs(text) }

// A Store is an open database with its schema up to date.
type Store struct {
	*db.DB
	ready readiness
}

// Open opens the database at dsn, a postgres:// URL or a file path, and
// applies the migrations it lacks.
func Open(ctx context.Context, dsn string) (*Store, error) { return opened(db.Open(ctx, dsn, schema)) }

// Existing opens a database as it is, to be read: it applies no migrations,
// and refuses one of another version.
func Existing(ctx context.Context, dsn string) (*Store, error) {
	return opened(db.Existing(ctx, dsn, schema))
}

func opened(d *db.DB, err error) (*Store, error) {
	if err != nil {
		return nil, err
	}
	return &Store{DB: d}, nil
}

// A Tx is a transaction. All queries are its methods.
type Tx struct {
	*db.Tx
	told   []coord.Event // by Emit, and not yet written
	events []coord.Event // that were written, with their ids
	// unleased says that no other replica let edges decide when it had the
	// org's lock.
	unleased bool
	// Foreseen are the events of orgs after which news were asked for in
	// Foresee, for who brings an index forward.
	Foreseen map[string]int64
}

// Emitted returns the events that a write told, with their ids, once it has ended.
func (tx *Tx) Emitted() []coord.Event { return tx.events }

// Read runs fn on the state of one moment.
func (s *Store) Read(ctx context.Context, fn func(*Tx) error) error {
	ctx, step := trail.In(ctx, trail.Read)
	defer step.End()
	return s.DB.Read(ctx, ours(fn))
}

// Write runs fn in a transaction and commits it if fn returns nil. Writers of
// one org wait for one another, so fn may act on what it has read: of two
// people who claim a file at once, the second is told. With no org nobody
// queues. fn may run more than once and must not act on the world outside the
// transaction.
func (s *Store) Write(ctx context.Context, org string, fn func(*Tx) error) error {
	ctx, step := trail.In(ctx, trail.Transaction)
	defer step.End()
	var wait trail.Step // of the last try
	err := noting(ctx, fn, func(fn func(*Tx) error) error {
		return s.DB.Write(ctx, org, ours(func(tx *Tx) error {
			err := fn(tx)
			if err == nil {
				_, wait = trail.In(ctx, trail.CommitWait)
			}
			return err
		}))
	})
	wait.End()
	return err
}

// ours gives fn the queries of this package, and has what it emits written.
func ours(fn func(*Tx) error) func(*db.Tx) error {
	return func(t *db.Tx) error {
		tx := &Tx{Tx: t}
		t.Unwritten = unwritten{tx}
		return fn(tx)
	}
}

// Fault is what the database has said of its own disk, room or files.
type Fault = db.Fault

// Ready reports whether the database can be read and takes writes, by one of
// each where all work passes, and by what operations have met lately. Reads may
// go on long after the disk is full or the primary became a standby, writes where
// no event can be told, and both while other pages cannot be read.
func (s *Store) Ready(ctx context.Context) error {
	s.ready.mu.Lock()
	defer s.ready.mu.Unlock()
	if time.Since(s.ready.at) >= time.Second { // anybody may ask, as often as they like
		before := s.ready.err
		if s.ready.err = s.try(ctx); s.ready.err == nil {
			s.Works(before)
		}
		s.ready.at = time.Now()
	}
	if fault := s.Faulty(); fault != nil {
		return errors.Join(fault, s.ready.err)
	}
	return s.ready.err
}

// try reads and writes.
func (s *Store) try(ctx context.Context) error {
	return errors.Join(
		s.Read(ctx, func(tx *Tx) error {
			var n int
			const some = `SELECT (SELECT COUNT(*) FROM (SELECT seq FROM events ORDER BY org_id DESC, seq DESC LIMIT 1) e)
				+ (SELECT COUNT(*) FROM (SELECT id FROM sessions ORDER BY id DESC LIMIT 1) s)
				+ (SELECT COUNT(*) FROM (SELECT id FROM intents ORDER BY id DESC LIMIT 1) i)`
			return tx.QueryRowContext(ctx, some).Scan(&n)
		}),
		s.Write(ctx, "", func(tx *Tx) error {
			// It changes no row, and takes the lock that telling an event takes.
			if _, err := tx.ExecContext(ctx, `UPDATE events SET seq = seq WHERE org_id = '' AND seq = 0`); err != nil {
				return err
			}
			return tx.SetMeta(ctx, "ready", tx.Now.String())
		}))
}

type readiness struct {
	mu  sync.Mutex
	at  time.Time // when it was last tried
	err error     // what came of it
}

// CopyTo copies everything, as it is at one moment, into an empty database,
// of whichever kind. told hears of each table that is done. Either all of it
// arrives or nothing.
func (s *Store) CopyTo(ctx context.Context, to *Store, told func(table string, rows int)) error {
	return s.DB.CopyTo(ctx, to.DB, told)
}

// ErrNotEmpty is why nothing was copied into a database.
var ErrNotEmpty = errors.New("it has content, and nothing is overwritten: name an empty database")

// clear refuses a database that is in use, and clears what an unused one has.
func (tx *Tx) clear(ctx context.Context) error {
	for _, table := range []string{"orgs", "users"} {
		if n, err := tx.count(ctx, `SELECT COUNT(*) FROM `+table); err != nil || n > 0 {
			return errors.Join(err, ErrNotEmpty)
		}
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM meta`)
	return err
}
