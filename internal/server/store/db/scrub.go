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
	err := d.writer.aside(ctx, func(conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, `VACUUM`)
		return err
	})
	if err == nil {
		err = d.emptyLog(ctx)
	}
	return d.wrap(err)
}

// emptyLog has SQLite's log copied and cut, as soon as nobody reads from it. Who
// follows the log, in this process or another, reads from it always: then it is
// asked to begin it anew, which cuts it as well.
func (d *DB) emptyLog(ctx context.Context) error {
	for end, asked := time.Now().Add(10*time.Second), false; ; asked = true {
		var busy, pages, copied, version int
		err := d.writer.aside(ctx, func(conn *sql.Conn) error {
			if !asked {
				if _, err := conn.ExecContext(ctx, fmt.Sprintf("%s = %d", userVersion, askAnew)); err != nil {
					return err
				}
			}
			if err := conn.QueryRowContext(ctx, userVersion).Scan(&version); err != nil || version != askAnew {
				return err
			}
			defer conn.ExecContext(context.Background(), `PRAGMA busy_timeout = `+busyTimeout)
			if _, err := conn.ExecContext(ctx, `PRAGMA busy_timeout = 0`); err != nil { // others write meanwhile
				return err
			}
			return conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &copied)
		})
		if err != nil && !d.isLocked(err) {
			return err
		}
		if err == nil && (busy == 0 || version != askAnew) {
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
