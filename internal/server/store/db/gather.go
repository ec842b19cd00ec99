package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A gatheringConn is a connection to PostgreSQL that goes there as seldom as it
// can while a batch of writes, or a read (reading.go), is under way. What an
// org's writers do one after the other is bounded by the ways there and back,
// not by the work:
//
//   - a statement waits for the next question, and goes along with it; what it
//     did is known when somebody asks, at the latest when its write ends;
//   - a question that was answered in the same transaction is answered from
//     memory until something is written to a table that it is about. Others of
//     the org wait for the org's lock meanwhile, so nothing of it changes;
//   - questions that are foreseen (Tx.Foresee) are asked in one go;
//   - the org's counters, and the events that were told, it knows by itself.
//
// Outside of a batch it is the driver's connection as it is.
type gatheringConn struct {
	*stdlib.Conn
	answers    time.Duration // PostgreSQL has given up by then: it, or the line to it, is silent
	on         bool
	reading    bool // see look
	waiting    []*late
	answered   map[string]map[string]*answer // by question, and by what it was asked with
	foreseeing bool
	foreseen   []*late // questions that are to be asked in one go
	known      ledger
	latest     coord.Time // when others last wrote, see notBefore
	opening    *opening   // until it was sent, along with the first question
	unbegun    error      // why the transaction could not begin: nothing was done
	ending     bool       // whether it may have been committed
	since      time.Time  // when it began, and had its lock
	locked     func()     // is told then
	job        int        // which of the batch's writes is under way
	careful    bool       // whether each ends by sending what waits
	failed     error      // of the write under way
	seam       error      // of a write that had ended when a statement of it failed
}

type gatheringConnector struct {
	driver.Connector
	answers time.Duration
}

// Connect implements driver.Connector.
func (c gatheringConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &gatheringConn{Conn: conn.(*stdlib.Conn), answers: c.answers}, nil
}

// gathering returns the connection below one of database/sql. Whoever holds
// that is the only one to use it.
func gathering(conn *sql.Conn) (c *gatheringConn, err error) {
	err = conn.Raw(func(driver any) error {
		c = driver.(*gatheringConn)
		return nil
	})
	return c, err
}

// begin begins a transaction under a lock, which most often has an org's id.
// The lock is taken on the way of the first question.
func (c *gatheringConn) begin(d *DB, name string, careful bool) {
	c.start(`BEGIN`)
	c.careful = careful
	c.later(d.lockOrg, name).opens = true
	if uuid.Validate(name) == nil {
		c.open(d.schema, name)
	}
}

// start begins to gather. The statement that begins the transaction goes along
// with the first question.
func (c *gatheringConn) start(begin string) {
	c.on, c.reading, c.waiting, c.answered = true, false, nil, map[string]map[string]*answer{}
	c.job, c.careful, c.failed, c.seam = 0, false, nil, nil
	c.known, c.latest, c.opening = ledger{}, 0, nil
	c.unbegun, c.ending, c.since, c.locked = nil, false, time.Time{}, nil
	c.later(begin).opens = true
}

// commit commits, and tells other replicas of it on the same way. A transaction
// in which a statement failed, and nobody said so, is rolled back by COMMIT
// without an error.
func (c *gatheringConn) commit(ctx context.Context, notices []notice) error {
	if c.job > 0 {
		c.job++ // a savepoint's: whatever fails now but COMMIT is of a write that has ended
	}
	c.record()
	c.ending = true
	end := c.later(`COMMIT`)
	for _, n := range notices {
		c.later(notify, string(n.on), n.text)
	}
	err := c.send(ctx)
	if end.tag != "" { // whatever became of the notices
		err = nil
	}
	if err == nil && end.tag != `COMMIT` {
		err = errors.New("a failed statement was passed over; nothing was committed")
	}
	c.on = err != nil
	return err
}

// rollback ends a transaction that failed. It is in vain if the connection is
// gone, and so is the transaction.
func (c *gatheringConn) rollback(ctx context.Context) {
	c.on, c.waiting = false, nil
	if c.since.IsZero() {
		return // nothing was sent
	}
	ctx, cancel := context.WithTimeout(ctx, c.answers)
	defer cancel()
	c.Conn.ExecContext(ctx, `ROLLBACK`, nil)
}

// save begins a savepoint, of which undo and keep are the ends.
func (c *gatheringConn) save() *late {
	c.job++
	c.failed = nil
	c.known.save()
	return c.later(`SAVEPOINT job`)
}

func (c *gatheringConn) keep() { c.later(`RELEASE SAVEPOINT job`) }

func (c *gatheringConn) undo(ctx context.Context, saved *late) error {
	clear(c.answered) // some were about what is undone
	c.known.undo()
	for i, w := range c.waiting {
		if w == saved { // nothing was sent since
			c.waiting = c.waiting[:i]
			return nil
		}
	}
	c.waiting = nil
	ctx, cancel := context.WithTimeout(ctx, c.answers)
	defer cancel()
	// Not prepared, as what waits is: nothing can be in a transaction that failed.
	return c.Conn.Conn().PgConn().Exec(ctx, `ROLLBACK TO SAVEPOINT job; RELEASE SAVEPOINT job`).Close()
}

// end ends a write. What it did is known now, or with what is sent next.
func (c *gatheringConn) end(ctx context.Context) error {
	if c.careful {
		return c.send(ctx)
	}
	return nil
}

// A late is a statement that waits, and what became of it.
type late struct {
	conn  *gatheringConn
	job   int
	query string
	args  []any
	sent  bool
	opens bool // whether it begins the transaction
	asks  bool // whether it is a question all the same
	tag   string
	rows  int64
	err   error
	// Of a question:
	with   string // args, to find the answer by
	answer *answer
}

// ran reads what became of a statement.
func (w *late) ran(res pgx.BatchResults) error {
	if w.asks {
		return w.asked(res)
	}
	tag, err := res.Exec()
	w.tag, w.rows = tag.String(), tag.RowsAffected()
	return err
}

// asked reads the answer to a question.
func (w *late) asked(res pgx.BatchResults) error {
	rows, err := res.Query()
	if err == nil {
		w.answer, err = readAnswer(rows)
	}
	return err
}

func (c *gatheringConn) later(query string, args ...any) *late {
	w := &late{conn: c, job: c.job, query: query, args: args}
	c.waiting = append(c.waiting, w)
	return w
}

// LastInsertId implements driver.Result.
func (w *late) LastInsertId() (int64, error) {
	return 0, errors.New("PostgreSQL does not tell the last id; use RETURNING")
}

// RowsAffected implements driver.Result. It sends what waits.
func (w *late) RowsAffected() (int64, error) {
	if !w.sent {
		w.conn.send(context.Background()) // an error is that of w, too
	}
	return w.rows, w.err
}

// send sends what waits.
func (c *gatheringConn) send(ctx context.Context) error {
	if len(c.waiting) == 0 {
		return nil
	}
	return c.ask(ctx, nil)
}

// ask sends what waits, then questions, in one go.
func (c *gatheringConn) ask(ctx context.Context, questions []*late) (err error) {
	waiting := c.waiting
	c.waiting = nil
	if c.Conn.Conn().IsClosed() {
		for _, w := range waiting {
			w.sent, w.err = true, driver.ErrBadConn
		}
		c.failed = driver.ErrBadConn
		c.begun(waiting)
		return driver.ErrBadConn
	}
	b := &pgx.Batch{}
	for _, w := range waiting {
		b.Queue(w.query, w.args...)
	}
	for _, q := range questions {
		b.Queue(q.query, q.args...)
	}
	ctx, cancel := context.WithTimeout(ctx, c.answers)
	defer cancel()
	res := c.Conn.Conn().SendBatch(ctx, b)
	defer func() {
		if e := res.Close(); err == nil {
			err = e
		}
		if c.failed == nil {
			c.failed = err
		}
		c.begun(waiting)
	}()
	for _, w := range waiting {
		w.sent = true
		if err == nil { // those after one that failed were not run
			err = w.ran(res)
			if w.job < c.job && errors.As(err, new(*pgconn.PgError)) { // of a lost connection nobody knows what it did
				c.seam = err
			}
		}
		w.err = err
	}
	for _, q := range questions {
		if err != nil {
			break
		}
		if err = q.asked(res); err == nil && len(q.answer.rows) <= maxRemembered {
			c.remember(q)
		}
	}
	return err
}

// remember keeps the answer to a question, if it is one that changes nothing.
func (c *gatheringConn) remember(q *late) {
	if q.with == "" || q.answer == nil {
		return
	}
	if c.answered[q.query] == nil {
		c.answered[q.query] = map[string]*answer{}
	}
	c.answered[q.query][q.with] = q.answer
}

// ExecContext implements driver.ExecerContext.
func (c *gatheringConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if !c.on {
		return c.Conn.ExecContext(ctx, query, args)
	}
	if c.foreseeing {
		return nil, errForeseen
	}
	c.forget(query)
	c.recordFor(query)
	if c.reading || !mayWait.MatchString(query) {
		if err := c.send(ctx); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, c.answers)
		defer cancel()
		res, err := c.Conn.ExecContext(ctx, query, args)
		if c.failed == nil {
			c.failed = err
		}
		return res, err
	}
	values, err := plain(args)
	if err != nil {
		return nil, err
	}
	if len(c.waiting) >= maxLate {
		if err := c.send(ctx); err != nil {
			return nil, err
		}
	}
	return c.later(query, values...), nil
}

// maxLate bounds what waits: a repository's contracts are thousands of rows.
const maxLate = 256

// QueryContext implements driver.QueryerContext.
func (c *gatheringConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if !c.on {
		return c.Conn.QueryContext(ctx, query, args)
	}
	values, err := plain(args)
	if err != nil {
		return nil, err
	}
	c.recordFor(query)
	q := &late{query: query, args: values}
	switch {
	case OnlyAsks(query):
		q.with = keyOf(values)
		if a := c.answered[query][q.with]; a != nil {
			return &answerRows{answer: a}, nil
		}
		if c.foreseeing {
			c.foreseen = append(c.foreseen, q)
			return nil, errForeseen
		}
	case c.foreseeing:
		return nil, errForeseen
	default:
		c.forget(query)
	}
	if c.reading {
		return c.stream(ctx, q)
	}
	if err := c.ask(ctx, []*late{q}); err != nil {
		return nil, err
	}
	return &answerRows{answer: q.answer}, nil
}

// mayWait are the statements that wait. What makes tables is not among them:
// a question about one is looked at before anything that waits is run.
var mayWait = regexp.MustCompile(`^\s*(INSERT|UPDATE|DELETE|SELECT)\b`)

// maxRemembered bounds the rows of an answer that is remembered: the lists of
// thousands are read once, to make an index of.
const maxRemembered = 64

// plain returns arguments as they are now: a statement that waits must not
// hold on to what its caller goes on to change.
func plain(args []driver.NamedValue) ([]any, error) {
	out := make([]any, len(args))
	for i, a := range args {
		v, err := driver.DefaultParameterConverter.ConvertValue(a.Value)
		if err != nil {
			return nil, fmt.Errorf("argument %d: %w", a.Ordinal, err)
		}
		out[i] = v
	}
	return out, nil
}

// keyOf returns a text that other values do not have. It is never empty.
func keyOf(values []any) string {
	key := []byte("(")
	for _, v := range values {
		switch v := v.(type) {
		case string:
			key = append(strconv.AppendInt(key, int64(len(v)), 10), ':')
			key = append(key, v...)
		case int64:
			key = append(strconv.AppendInt(key, v, 10), ',')
		default:
			key = fmt.Appendf(key, "%T %#v,", v, v)
		}
	}
	return string(key)
}

// OnlyAsks reports whether a query changes and locks nothing.
func OnlyAsks(query string) bool {
	query = strings.TrimLeft(query, " \t\n")
	return strings.HasPrefix(query, "SELECT") && !strings.Contains(query, "FOR UPDATE") && !strings.Contains(query, "pg_")
}

// forget forgets the answers that a statement may have made untrue.
func (c *gatheringConn) forget(statement string) {
	for _, w := range WritesOf(statement) {
		for query := range c.answered {
			if w.Concerns(query) {
				delete(c.answered, query)
			}
		}
	}
}

// An answer is the rows of a query.
type answer struct {
	columns []string
	rows    [][]driver.Value
}

func readAnswer(rows pgx.Rows) (*answer, error) {
	defer rows.Close()
	a := &answer{}
	for _, f := range rows.FieldDescriptions() {
		a.columns = append(a.columns, f.Name)
	}
	for rows.Next() {
		row := make([]driver.Value, len(a.columns))
		if err := readRow(rows, row); err != nil {
			return nil, err
		}
		a.rows = append(a.rows, row)
	}
	return a, rows.Err()
}

// readRow reads the row at which rows are.
func readRow(rows pgx.Rows, into []driver.Value) error {
	values, err := rows.Values()
	for i := 0; i < len(values) && err == nil; i++ {
		into[i], err = driver.DefaultParameterConverter.ConvertValue(values[i])
	}
	return err
}

// answerRows go through an answer.
type answerRows struct {
	*answer
	next int
}

// Columns implements driver.Rows.
func (r *answerRows) Columns() []string { return r.columns }

// Close implements driver.Rows.
func (r *answerRows) Close() error { return nil }

// Next implements driver.Rows.
func (r *answerRows) Next(dest []driver.Value) error {
	if r.next == len(r.rows) {
		return io.EOF
	}
	copy(dest, r.rows[r.next])
	r.next++
	return nil
}
