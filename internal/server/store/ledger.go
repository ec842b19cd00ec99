package store

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// The counters of an org, in its row.
const (
	eventSeq    = "event_seq"
	intentSeq   = "intent_seq"
	conflictSeq = "conflict_seq"
	messageSeq  = "message_seq"
)

var counters = [...]string{eventSeq, intentSeq, conflictSeq, messageSeq}

// lockCounters reads an org's counters and keeps others from taking a number.
// Who refers to the org, or reads, does not wait for it.
var lockCounters = `SELECT ` + strings.Join(counters[:], ", ") + ` FROM orgs WHERE id = $1 FOR NO KEY UPDATE`

// A ledger is what a batch on PostgreSQL knows of its org without asking,
// since it alone writes it: how far the counters are, and the events it told.
type ledger struct {
	org   string // "" where there is no such org
	at    [len(counters)]int64
	first int64         // the first event that the batch tells
	told  []coord.Event // those that it told
	dirty bool          // whether the org's row is behind

	saved [len(counters)]int64
}

func newLedger(org string, a *answer) ledger {
	if len(a.rows) == 0 {
		return ledger{}
	}
	l := ledger{org: org}
	for i, v := range a.rows[0] {
		l.at[i] = v.(int64)
	}
	l.first = l.at[0] + 1
	return l
}

func (l *ledger) save() { l.saved = l.at }

// undo goes back to what was saved. What the row has is not known any more.
func (l *ledger) undo() {
	l.dirty = l.org != ""
	l.at = l.saved
	l.told = l.told[:min(len(l.told), int(max(l.at[0]-l.first+1, 0)))]
}

// record has the org's row follow, with the next question.
func (c *gatheringConn) record() {
	if !c.known.dirty {
		return
	}
	c.known.dirty = false
	args, set := []any{c.known.org}, make([]string, len(counters))
	for i, name := range counters {
		args = append(args, c.known.at[i])
		set[i] = name + " = $" + strconv.Itoa(i+2)
	}
	update := `UPDATE orgs SET ` + strings.Join(set, ", ") + ` WHERE id = $1`
	c.forget(update)
	c.later(update, args...)
}

// recordFor does so for a statement that may be about a counter.
func (c *gatheringConn) recordFor(query string) {
	if c.known.dirty && strings.Contains(query, "_seq") {
		c.record()
	}
}

// take takes the next n numbers of a counter of an org and returns the last.
func (tx *Tx) take(ctx context.Context, counter, org string, n int) (last int64, err error) {
	if g := tx.gathered; g != nil && org == g.known.org {
		i := slices.Index(counters[:], counter)
		g.known.at[i] += int64(n)
		g.known.dirty = true
		return g.known.at[i], nil
	}
	err = tx.QueryRowContext(ctx, `UPDATE orgs SET `+counter+` = `+counter+` + $2 WHERE id = $1 RETURNING `+counter, org, n).Scan(&last)
	return last, err
}

// lastTold returns the id of the newest event, if it is known.
func (tx *Tx) lastTold(ctx context.Context, org string) (last int64, known bool, err error) {
	if tx.gathered == nil || org != tx.gathered.known.org {
		return 0, false, nil
	}
	if len(tx.told) > 0 && tx.gathered.foreseeing {
		return 0, true, errForeseen // nothing is written to be foreseen
	}
	err = tx.flush(ctx)
	return tx.gathered.known.at[0], true, err
}

// keepTold remembers events that were told, as who reads them gets them.
func (tx *Tx) keepTold(events []coord.Event, first int64) error {
	g := tx.gathered
	if g == nil || events[0].OrgID != g.known.org {
		return nil
	}
	for i, e := range events {
		text := js(e.Facts)
		e.Facts, e.Payload = nil, nil
		if err := json.Unmarshal([]byte(text), &e.Payload); err != nil {
			return err
		}
		e.Seq, e.OccurredAt = first+int64(i), tx.Now
		complete(&e)
		g.known.told = append(g.known.told, e)
	}
	return nil
}

// toldAfter returns the events after seq, if they are known.
func (tx *Tx) toldAfter(ctx context.Context, org string, seq int64, limit int) (events []coord.Event, known bool, err error) {
	last, known, err := tx.lastTold(ctx, org)
	if !known || err != nil {
		return nil, known, err
	}
	l := &tx.gathered.known
	if seq < l.first-1 {
		return nil, false, nil
	}
	from := int(min(seq, last) - l.first + 1)
	return slices.Clone(l.told[from:min(len(l.told), from+limit)]), true, nil
}
