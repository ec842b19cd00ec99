package db

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
)

// Counters are the columns of a table from which the records of an org get
// their numbers. The row's id is the org's.
type Counters struct {
	Table   string
	Columns []string
}

// lock is a query that reads an org's counters, and when others last wrote, and
// keeps others from taking a number. Who refers to the org, or reads, does not
// wait for it.
func (s *Schema) lock() string {
	return `SELECT ` + strings.Join(s.Counters.Columns, ", ") + `, (` + s.Latest + `) FROM ` + s.Counters.Table +
		` WHERE id = $1 FOR NO KEY UPDATE`
}

// A ledger is what a batch on PostgreSQL knows of its org without asking,
// since it alone writes it: how far the counters are, and whatever the floor
// above keeps beside them.
type ledger struct {
	Counters
	org   string // "" where there is no such org
	began []int64
	at    []int64
	saved []int64
	dirty bool // whether the org's row is behind
	memo  any  // of Schema.Memo
}

func newLedger(schema *Schema, org string, a *answer) ledger {
	if len(a.rows) == 0 {
		return ledger{}
	}
	l := ledger{Counters: schema.Counters, org: org, memo: schema.Memo()}
	for i := range l.Columns {
		l.at = append(l.at, a.rows[0][i].(int64))
	}
	l.began, l.saved = slices.Clone(l.at), slices.Clone(l.at)
	return l
}

func (l *ledger) save() { l.saved = slices.Clone(l.at) }

// undo goes back to what was saved. What the row has is not known any more.
func (l *ledger) undo() {
	l.dirty = l.org != ""
	l.at = slices.Clone(l.saved)
}

// record has the org's row follow, with the next question.
func (c *gatheringConn) record() {
	if !c.known.dirty {
		return
	}
	c.known.dirty = false
	args, set := []any{c.known.org}, make([]string, len(c.known.Columns))
	for i, name := range c.known.Columns {
		args = append(args, c.known.at[i])
		set[i] = name + " = $" + strconv.Itoa(i+2)
	}
	update := `UPDATE ` + c.known.Table + ` SET ` + strings.Join(set, ", ") + ` WHERE id = $1`
	c.forget(update)
	c.later(update, args...)
}

// recordFor does so for a statement that may be about a counter.
func (c *gatheringConn) recordFor(query string) {
	if c.known.dirty && slices.ContainsFunc(c.known.Columns, func(name string) bool { return strings.Contains(query, name) }) {
		c.record()
	}
}

// An opening is what a batch asks as soon as it has its org's lock: how far the
// counters are, and when others last wrote.
type opening struct {
	schema *Schema
	org    string
	asked  *late
}

// open has it asked along with the first question, before whatever waits by then.
func (c *gatheringConn) open(schema *Schema, org string) {
	c.opening = &opening{schema, org, c.later(schema.lock(), org)}
	c.opening.asked.opens, c.opening.asked.asks = true, true
}

// begun takes note of what the first way to the database brought.
func (c *gatheringConn) begun(sent []*late) {
	if !c.since.IsZero() {
		return
	}
	c.since = time.Now()
	for _, w := range sent {
		if w.opens && w.err != nil {
			if !c.ending {
				c.unbegun = w.err
			}
			return
		}
	}
	if o := c.opening; o != nil {
		c.opening, c.known = nil, newLedger(o.schema, o.org, o.asked.answer)
		for _, row := range o.asked.answer.rows {
			latest, _ := row[len(row)-1].(int64) // NULL if nobody wrote
			c.latest = coord.Time(latest)
		}
	}
	if c.locked != nil {
		c.locked()
	}
}

// knows reports whether a batch knows the counters of an org. It asks for them
// if nobody did so far.
func (c *gatheringConn) knows(org string) bool {
	if c == nil || org == "" {
		return false
	}
	if o := c.opening; o != nil && o.org == org && !c.foreseeing {
		c.send(context.Background()) // an error is that of whatever comes next, too
	}
	return org == c.known.org
}

// Opens reports whether the counters of an org are asked for with what is
// foreseen now in any case.
func (tx *Tx) Opens(org string) bool {
	g := tx.gathered
	return g != nil && g.foreseeing && g.opening != nil && g.opening.org == org
}

// Advance takes the next n numbers of a counter of an org and returns the last.
func (tx *Tx) Advance(ctx context.Context, counter, org string, n int) (last int64, err error) {
	if g := tx.gathered; g.knows(org) {
		i := slices.Index(g.known.Columns, counter)
		g.known.at[i] += int64(n)
		g.known.dirty = true
		return g.known.at[i], nil
	}
	table := tx.schema.Counters.Table
	err = tx.QueryRowContext(ctx, `UPDATE `+table+` SET `+counter+` = `+counter+` + $2 WHERE id = $1 RETURNING `+counter, org, n).Scan(&last)
	return last, err
}

// A Known is a counter of an org, as a batch knows it without asking.
type Known struct {
	Began, Now int64 // how far it was when the batch began, and is
	Memo       any   // what Schema.Memo made for the batch
}

// Known returns how far a counter of an org is, if that is known without
// asking. What is unwritten is written first, since it may take numbers.
func (tx *Tx) Known(ctx context.Context, counter, org string) (k Known, ok bool, err error) {
	g := tx.gathered
	if !g.knows(org) {
		return Known{}, false, nil
	}
	if err := tx.settle(ctx, ""); err != nil {
		return Known{}, true, err
	}
	i := slices.Index(g.known.Columns, counter)
	return Known{Began: g.known.began[i], Now: g.known.at[i], Memo: g.known.memo}, true, nil
}
