package store

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A WaitRow is somebody waiting for others.
type WaitRow struct {
	ID      string
	Worker  string // ref of the intent, else id of the session
	Target  string
	Holders []string // workers in the way
	Since   coord.Time
	Until   coord.Time
}

// Waits returns the waits of an org that count now.
func (tx *Tx) Waits(ctx context.Context, org string) ([]WaitRow, error) {
	return all(ctx, tx, func(r scanner) (w WaitRow, err error) {
		err = r.Scan(&w.ID, &w.Worker, &w.Target, asJSON{&w.Holders}, &w.Since, &w.Until)
		return w, err
	}, `SELECT id, worker, target, holders, since, until FROM waits WHERE org_id = $1 AND until > $2 ORDER BY since, id`, org, tx.Now)
}

// AddWait notes a wait, in place of the one that its worker had before, and
// forgets those whose time is up.
func (tx *Tx) AddWait(ctx context.Context, org string, w WaitRow) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM waits WHERE org_id = $1 AND (worker = $2 AND target = $3 OR until <= $4)`, org, w.Worker,
		w.Target,
		tx.Now); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO waits (id, org_id, worker, target, holders, since, until) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		w.ID, org, w.Worker, w.Target, js(w.Holders), w.Since, w.Until)
	return err
}

// DropWait forgets a wait.
func (tx *Tx) DropWait(ctx context.Context, id string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM waits WHERE id = $1`, id)
	return err
}
