package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// Scrub takes what was deleted out of the database's files: SQLite leaves it in
// pages that are free, and in its log. PostgreSQL cleans up after itself, in its
// own time.
func (d *DB) Scrub(ctx context.Context) error {
	if d.writer == nil {
		return nil
	}
	return d.wrap(d.writer.aside(ctx, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, `VACUUM`); err != nil {
			return err
		}
		return emptyLog(ctx, conn)
	}))
}

// emptyLog copies SQLite's log and cuts it, as soon as nobody reads from it.
func emptyLog(ctx context.Context, conn *sql.Conn) error {
	for end := time.Now().Add(10 * time.Second); ; {
		var busy, pages, copied int
		if err := conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &copied); err != nil {
			return err
		}
		if busy == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%w: the log is being read", errBusy)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// aside runs fn on the writing connection between two batches, outside of any
// transaction.
func (w *writer) aside(ctx context.Context, fn func(*sql.Conn) error) error {
	out := make(chan error, 1)
	select {
	case w.between <- func() { out <- fn(w.conn) }:
		return <-out
	case <-w.done:
		return errBusy
	case <-ctx.Done():
		return ctx.Err()
	}
}
