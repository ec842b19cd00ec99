package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"sync"

	"github.com/jackc/pgx/v5"
)

// Ask runs a query of one row outside of any transaction, which is the
// shortest way there is.
func (d *DB) Ask(ctx context.Context, into any, query string, args ...any) error {
	return d.wrap(d.suspected.anew(func() (bool, error) {
		err := d.pool.QueryRowContext(ctx, query, args...).Scan(into)
		return d.name == postgres.name && broke(err) && !errors.Is(err, sql.ErrNoRows), err
	}))
}

// look runs fn on the state of one moment of PostgreSQL. Nobody waits for its
// beginning, which goes along with the first question, nor for its end: a read
// of one question is one way there and back.
// It tells whether the connection was lost before the first answer.
func (d *DB) look(ctx context.Context, fn func(*Tx) error) (lost bool, err error) {
	conn, err := d.pool.Conn(ctx)
	if err != nil {
		return false, err
	}
	c, err := gathering(conn)
	if err != nil {
		conn.Close()
		return false, err
	}
	c.start(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`)
	c.reading = true
	defer d.looked(conn, c)
	tx := d.begun(conn)
	tx.gathered = c
	err = tx.run(ctx, fn)
	if broke(c.unbegun) {
		return true, c.unbegun
	}
	if err == nil {
		err = c.failed // whether or not it was passed over
	}
	if err == nil {
		err = ctx.Err()
	}
	return false, err
}

// looked ends a read.
func (d *DB) looked(conn *sql.Conn, c *gatheringConn) {
	begun := len(c.waiting) == 0
	c.on, c.waiting, c.answered = false, nil, nil
	if !begun || c.Conn.Conn().IsClosed() {
		conn.Close()
		return
	}
	d.looks.end(func() {
		defer conn.Close()
		ctx, cancel := context.WithTimeout(context.Background(), c.answers)
		defer cancel()
		c.Conn.ExecContext(ctx, `COMMIT`, nil) // if not, the connection is not used again
	})
}

// looks are the reads that have their answers, and are being ended.
type looks struct {
	mu     sync.Mutex
	closed bool
	ending sync.WaitGroup
}

// end ends a read behind its caller, who waits for it once the database is being
// closed.
func (l *looks) end(fn func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		fn()
		return
	}
	l.ending.Go(fn)
}

// close waits until all have ended.
func (l *looks) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.ending.Wait()
}

// stream asks a question of a read. What it gets is not kept: it may be all that
// there is.
func (c *gatheringConn) stream(ctx context.Context, q *late) (driver.Rows, error) {
	b := &pgx.Batch{}
	for _, w := range c.waiting {
		b.Queue(w.query, w.args...)
	}
	b.Queue(q.query, q.args...)
	res := c.Conn.Conn().SendBatch(ctx, b)
	var err error
	for range c.waiting {
		if err == nil {
			_, err = res.Exec()
			c.unbegun = err
		}
	}
	c.waiting = nil
	var rows pgx.Rows
	if err == nil {
		rows, err = res.Query()
	}
	if err != nil {
		res.Close()
		c.failed = err
		return nil, err
	}
	s := &streamedRows{rows: rows, of: res}
	for _, f := range rows.FieldDescriptions() {
		s.columns = append(s.columns, f.Name)
	}
	return s, nil
}

// streamedRows are the rows of a question as they come.
type streamedRows struct {
	columns []string
	rows    pgx.Rows
	of      pgx.BatchResults
}

// Columns implements driver.Rows.
func (s *streamedRows) Columns() []string { return s.columns }

// Close implements driver.Rows.
func (s *streamedRows) Close() error {
	s.rows.Close()
	return s.of.Close()
}

// Next implements driver.Rows.
func (s *streamedRows) Next(dest []driver.Value) error {
	if s.rows.Next() {
		return readRow(s.rows, dest)
	}
	if err := s.rows.Err(); err != nil {
		return err
	}
	return io.EOF
}
