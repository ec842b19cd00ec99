package store

import (
	"context"
	"database/sql"
	"errors"
	"unicode/utf8"
)

// LastNumber returns the highest number that was handed out of a resource of a
// repo; 0 if none was.
func (tx *Tx) LastNumber(ctx context.Context, repo, resource string) (n int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT last FROM resource_numbers WHERE repo_id = $1 AND resource = $2`, repo, resource).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}

// KeepNumber notes that a number was handed out.
func (tx *Tx) KeepNumber(ctx context.Context, repo, resource string, n int64) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO resource_numbers (repo_id, resource, last) VALUES ($1, $2, $3)
		ON CONFLICT (repo_id, resource) DO UPDATE SET last = EXCLUDED.last WHERE resource_numbers.last < EXCLUDED.last`, repo, resource, n)
	return err
}

// FilesBelow returns the known files of a repo whose path begins with a prefix.
func (tx *Tx) FilesBelow(ctx context.Context, repo, prefix string) ([]string, error) {
	return all(ctx, tx, scanText, `SELECT path FROM repo_files WHERE repo_id = $1 AND SUBSTR(path, 1, $2) = $3 ORDER BY path`,
		repo, utf8.RuneCountInString(prefix), prefix)
}
