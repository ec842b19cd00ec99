package store

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A PatchRow is the difference of a working copy, sealed.
type PatchRow struct {
	RepoID, Copy string
	UserID       string
	WorkerID     string // the intent, or the session where there is none
	Base         string
	Sealed       string
}

// SavePatch replaces what a working copy handed over.
func (tx *Tx) SavePatch(ctx context.Context, org string, p PatchRow) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO patches (org_id, repo_id, copy, user_id, worker_id, base, sealed, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (org_id, repo_id, copy) DO UPDATE SET user_id = EXCLUDED.user_id, worker_id = EXCLUDED.worker_id,
			base = EXCLUDED.base, sealed = EXCLUDED.sealed, at = EXCLUDED.at`,
		org, p.RepoID, p.Copy, p.UserID, p.WorkerID, p.Base, p.Sealed, tx.Now)
	return err
}

// Patch returns what a working copy handed over: one row, or none.
func (tx *Tx) Patch(ctx context.Context, org, repo, copy string) ([]PatchRow, error) {
	scan := func(r scanner) (p PatchRow, err error) {
		err = r.Scan(&p.RepoID, &p.Copy, &p.UserID, &p.WorkerID, &p.Base, &p.Sealed)
		return p, err
	}
	return all(ctx, tx, scan, `SELECT repo_id, copy, user_id, worker_id, base, sealed FROM patches
		WHERE org_id = $1 AND repo_id = $2 AND copy = $3`, org, repo, copy)
}

// DeletePatch forgets what a working copy handed over.
func (tx *Tx) DeletePatch(ctx context.Context, org, repo, copy string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM patches WHERE org_id = $1 AND repo_id = $2 AND copy = $3`, org, repo, copy)
	return err
}

// DeleteWorkersPatches forgets what was handed over of work that is over.
func (tx *Tx) DeleteWorkersPatches(ctx context.Context, org, worker string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM patches WHERE org_id = $1 AND worker_id = $2`, org, worker)
	return err
}

// DeletePatches forgets all that was handed over in an org; in one repo if that
// is not empty.
func (tx *Tx) DeletePatches(ctx context.Context, org, repo string) error {
	f := filter{}
	f.and(`org_id = ?`, org)
	if repo != "" {
		f.and(`repo_id = ?`, repo)
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM patches`+f.where(), f.args...)
	return err
}

// ForgetPatches drops what was handed over before a moment: who is still at
// work hands it over again.
func (tx *Tx) ForgetPatches(ctx context.Context, before coord.Time) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM patches WHERE at < $1`, before)
	return err
}
