package store

import (
	"context"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// Emit writes an event into the log, in the transaction of what it tells of.
// Its id is the next of the org: the counter's row stays locked until commit,
// so ids follow commit order. The events of a transaction are gathered until
// somebody asks for them or it ends: a write in a crowd tells of sixty.
func (tx *Tx) Emit(ctx context.Context, e coord.Event) error {
	if e.Facts == nil && e.Payload == nil {
		e.Payload = map[string]any{}
	}
	if e.Facts == nil {
		e.Facts = e.Payload
	}
	if n := len(tx.told); n > 0 && tx.told[n-1].OrgID != e.OrgID {
		if err := tx.flush(ctx); err != nil {
			return err
		}
	}
	tx.told = append(tx.told, e)
	return nil
}

// unwritten is the events of a transaction that are not written yet.
type unwritten struct{ tx *Tx }

// Concerns implements db.Unwritten.
func (u unwritten) Concerns(statement string) bool {
	return len(u.tx.told) > 0 && (statement == "" || strings.Contains(statement, "event"))
}

// Write implements db.Unwritten.
func (u unwritten) Write(ctx context.Context) error { return u.tx.flush(ctx) }

// flush writes the events that were gathered.
func (tx *Tx) flush(ctx context.Context) error {
	if len(tx.told) == 0 {
		return nil
	}
	events := tx.told
	tx.told = nil
	org := events[0].OrgID
	last, err := tx.Advance(ctx, eventSeq, org, len(events))
	if err != nil {
		return err
	}
	first := last - int64(len(events)) + 1
	rows := make([]written, len(events))
	for i := range events {
		events[i].Seq, events[i].OccurredAt = first+int64(i), tx.Now
		rows[i] = written{events[i], js(events[i].Facts)}
	}
	tx.events = append(tx.events, events...)
	if err := tx.keepTold(ctx, rows); err != nil {
		return err
	}
	for len(rows) > 0 {
		n := 1
		for _, size := range []int{32, 8, 2} { // few texts, so that each is parsed once
			if len(rows) >= size {
				n = size
				break
			}
		}
		if err := tx.insertEvents(ctx, rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	tx.NoteEvents(org, first, last)
	return nil
}

func (tx *Tx) insertEvents(ctx context.Context, events []written) error {
	var f filter
	rows := make([]string, len(events))
	for i, e := range events {
		marks := make([]string, 0, 10)
		for _, v := range []any{e.OrgID, e.Seq, e.Type, e.OccurredAt, e.Actor.Kind, e.Actor.ID, e.Subject.Kind, e.Subject.ID, e.RepoID,
			e.payload} {
			marks = append(marks, f.arg(v))
		}
		rows[i] = "(" + strings.Join(marks, ", ") + ")"
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO events (org_id, seq, type, occurred_at, actor_kind, actor_id, subject_kind, subject_id, repo_id, payload)
		VALUES `+strings.Join(rows, ", "), f.args...)
	return err
}

const eventColumns = `org_id, seq, type, occurred_at, actor_kind, actor_id, subject_kind, subject_id, repo_id, payload`

func scanEvent(r scanner) (e coord.Event, err error) {
	err = r.Scan(&e.OrgID, &e.Seq, &e.Type, &e.OccurredAt, &e.Actor.Kind, &e.Actor.ID, &e.Subject.Kind, &e.Subject.ID, &e.RepoID,
		asJSON{&e.Payload})
	complete(&e)
	return e, err
}

// complete fills in what is not stored.
func complete(e *coord.Event) {
	e.ID = strconv.FormatInt(e.Seq, 10)
	e.Version = coord.EventVersion
}

// LastSeq returns the id of an org's newest event, 0 if there is none.
func (tx *Tx) LastSeq(ctx context.Context, org string) (int64, error) {
	if tx.Opens(org) {
		return 0, nil
	}
	last, known, err := tx.Known(ctx, eventSeq, org)
	if known {
		return last.Now, err
	}
	var n int64
	err = tx.QueryRowContext(ctx, `SELECT event_seq FROM orgs WHERE id = $1`, org).Scan(&n)
	return n, err
}

// LastCommitted returns the id of the newest event of an org that is
// committed, by the shortest way there is.
func (s *Store) LastCommitted(ctx context.Context, org string) (seq int64, err error) {
	err = s.Ask(ctx, &seq, `SELECT event_seq FROM orgs WHERE id = $1`, org)
	return seq, err
}

// NewestEventAt returns when the newest event of an org happened, by the clock.
func (tx *Tx) NewestEventAt(ctx context.Context, org string) (at coord.Time, err error) {
	err = tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(occurred_at), 0) FROM events WHERE org_id = $1`, org).Scan(&at)
	return at, err
}

// LastSeqs returns the newest event id of each of the orgs.
func (tx *Tx) LastSeqs(ctx context.Context, orgs []string) (map[string]int64, error) {
	f := filter{}
	in(&f, "id", orgs)
	out := map[string]int64{}
	rows, err := tx.QueryContext(ctx, `SELECT id, event_seq FROM orgs`+f.where(), f.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var n int64
		if err := rows.Scan(&id, &n); err != nil {
			return nil, err
		}
		out[id] = n
	}
	return out, rows.Err()
}

// EventsAfter returns an org's events after seq, oldest first.
func (tx *Tx) EventsAfter(ctx context.Context, org string, seq int64, limit int) ([]coord.Event, error) {
	if events, known, err := tx.toldAfter(ctx, org, seq, limit); known {
		return events, err
	}
	return all(ctx, tx, scanEvent, `
		SELECT `+eventColumns+` FROM events
		WHERE org_id = $1 AND seq > $2
		ORDER BY seq LIMIT $3+0`, org, seq, limit)
}

// An EventFilter narrows the audit log.
type EventFilter struct {
	Types   []coord.EventType
	Subject string
	Before  int64 // only events older than this one; 0 for all
	Since   coord.Time
	Until   coord.Time
	Limit   int
}

// Events returns an org's events, newest first.
func (tx *Tx) Events(ctx context.Context, org string, want EventFilter) ([]coord.Event, error) {
	f := filter{}
	f.and(`org_id = ?`, org)
	in(&f, "type", want.Types)
	if want.Subject != "" {
		f.and(`subject_id = ?`, want.Subject)
	}
	if want.Before > 0 {
		f.and(`seq < ?`, want.Before)
	}
	// Events are listed by number, and numbers follow time but for what was
	// written at once: the index by time finds where to begin and end.
	if want.Since > 0 {
		f.and(`occurred_at >= ? AND seq >= COALESCE((SELECT MIN(seq) FROM (SELECT seq FROM events WHERE org_id = ? AND occurred_at >= ?
			ORDER BY occurred_at LIMIT 200) AS first), 0)`, want.Since, org, want.Since)
	}
	if want.Until > 0 {
		f.and(`occurred_at < ? AND seq <= COALESCE((SELECT MAX(seq) FROM (SELECT seq FROM events WHERE org_id = ? AND occurred_at < ?
			ORDER BY occurred_at DESC LIMIT 200) AS last), 0)`, want.Until, org, want.Until)
	}
	return all(ctx, tx, scanEvent, `SELECT `+eventColumns+` FROM events`+f.where()+` ORDER BY seq DESC`+f.limit(want.Limit), f.args...)
}
