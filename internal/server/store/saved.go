package store

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
)

// An EndedConflict is a conflict that is over, with what says whether it saved
// time.
type EndedConflict struct {
	ConflictRow
	coord.Ended
}

// Pair names the two pieces of work, whichever came first.
func (c ConflictRow) Pair() string {
	return min(c.Holder, c.Challenger) + " " + max(c.Holder, c.Challenger)
}

// LastBy returns who acted on a conflict last, or nil.
func (c ConflictRow) LastBy() *coord.User {
	if n := len(c.Actions); n > 0 {
		return &c.Actions[n-1].By
	}
	return nil
}

// EndedConflicts returns the conflicts that warned or blocked and ended in a
// window, newest first.
func (tx *Tx) EndedConflicts(ctx context.Context, org string, w StatsWindow) ([]EndedConflict, error) {
	f := filter{}
	f.and(`c.org_id = ?`, org)
	f.and(`c.closed_at >= ?`, w.Since)
	f.and(`c.closed_at < ?`, w.Until)
	if w.Repo != "" {
		f.and(`c.repo_id || '' = ?`, w.Repo)
	}
	f.and(`c.severity IN ('warn', 'block')`)
	f.and(`(c.resolution IS NOT NULL OR c.severity = 'block')`)
	f.and(`c.status <> 'overridden'`)
	rows, err := all(ctx, tx, scanConflict, `SELECT `+conflictColumns+conflictTables+f.where()+` ORDER BY c.closed_at DESC, c.number DESC`,
		f.args...)
	if err == nil {
		err = tx.withHistory(ctx, rows)
	}
	if err != nil {
		return nil, err
	}
	over, err := tx.intentEnds(ctx, rows)
	if err != nil {
		return nil, err
	}
	lives, err := tx.lifetimes(ctx, org, w.Since)
	if err != nil {
		return nil, err
	}
	out := make([]EndedConflict, 0, len(rows))
	for _, c := range rows {
		e := coord.Ended{Kind: c.Kind, Severity: c.Severity, Status: c.Status, Resolution: c.Resolution}
		for _, a := range c.Actions {
			e.Actions = append(e.Actions, a.Action)
		}
		for _, v := range c.Feedback {
			e.Verdicts = append(e.Verdicts, v.Verdict)
		}
		ended := func(worker string) bool { return over[worker] != 0 && over[worker] <= *c.ClosedAt }
		e.HolderOver = ended(c.Holder) && !ended(c.Challenger)
		for _, o := range lives[c.Pair()] {
			e.Outlived = e.Outlived || o.number != c.Number && o.from <= *c.ClosedAt && (o.to == nil || *o.to > *c.ClosedAt)
		}
		out = append(out, EndedConflict{c, e})
	}
	return out, nil
}

// intentEnds returns when the sides of conflicts ended, by worker.
func (tx *Tx) intentEnds(ctx context.Context, rows []ConflictRow) (map[string]coord.Time, error) {
	out := map[string]coord.Time{}
	for at := 0; at < len(rows); at += 200 {
		var ids []string
		for _, c := range rows[at:min(at+200, len(rows))] {
			ids = append(ids, c.Holder, c.Challenger)
		}
		f := filter{}
		in(&f, "id", ids)
		f.and(`closed_at IS NOT NULL`)
		_, err := all(ctx, tx, func(r scanner) (id string, err error) {
			var closed coord.Time
			err = r.Scan(&id, &closed)
			out[id] = closed
			return id, err
		}, `SELECT id, closed_at FROM intents`+f.where(), f.args...)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

type lifetime struct {
	number int
	from   coord.Time
	to     *coord.Time // nil while it lives
}

// lifetimes returns when the conflicts that matter were live, since a moment, by
// their two sides.
func (tx *Tx) lifetimes(ctx context.Context, org string, since coord.Time) (map[string][]lifetime, error) {
	out := map[string][]lifetime{}
	for _, when := range []string{`closed_at IS NULL`, `closed_at >= ?`} {
		f := filter{}
		f.and(`org_id = ?`, org)
		if when == `closed_at IS NULL` {
			f.and(when)
		} else {
			f.and(when, since)
		}
		f.and(`severity IN ('warn', 'block')`)
		_, err := all(ctx, tx, func(r scanner) (c ConflictRow, err error) {
			err = r.Scan(&c.Number, &c.Holder, &c.Challenger, &c.FirstSeenAt, &c.ClosedAt)
			out[c.Pair()] = append(out[c.Pair()], lifetime{c.Number, c.FirstSeenAt, c.ClosedAt})
			return c, err
		}, `SELECT number, holder, challenger, first_seen_at, closed_at FROM conflicts`+f.where(), f.args...)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
