package store

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
)

// SentSince returns when a sender sent things of a kind since a moment, the
// newest first.
func (tx *Tx) SentSince(ctx context.Context, org, sender, kind string, since coord.Time) ([]coord.Time, error) {
	return all(ctx, tx, func(r scanner) (t coord.Time, err error) {
		err = r.Scan(&t)
		return t, err
	}, `SELECT at FROM sends WHERE org_id = $1 AND sender = $2 AND kind = $3 AND at > $4 ORDER BY at DESC`, org, sender, kind, since)
}

// NoteSend notes that a sender sent something, and forgets what was before a
// moment.
func (tx *Tx) NoteSend(ctx context.Context, id, org, sender, kind string, forget coord.Time) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM sends WHERE org_id = $1 AND sender = $2 AND kind = $3 AND at <= $4`, org, sender, kind,
		forget); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO sends (id, org_id, sender, kind, at) VALUES ($1, $2, $3, $4, $5)`, id, org, sender, kind,
		tx.Now)
	return err
}
