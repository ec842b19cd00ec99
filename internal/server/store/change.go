package store

import (
	"context"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A ChangeRow is a file's difference from its base in one working copy.
type ChangeRow struct {
	RepoID    string
	Copy      string
	Facts     coord.FileFacts
	Touched   []Touch
	UpdatedAt coord.Time
}

// A Touch is one session's latest edit of a file, for the worker it was then.
type Touch struct {
	Worker  string     `json:"worker"`
	Session string     `json:"session"`
	At      coord.Time `json:"at"`
}

const changeColumns = `repo_id, copy, facts, touched, updated_at`

func scanChange(r scanner) (c ChangeRow, err error) {
	err = r.Scan(&c.RepoID, &c.Copy, asJSON{&c.Facts}, asJSON{&c.Touched}, &c.UpdatedAt)
	return c, err
}

// SaveChange stores a file's difference; one that is unchanged is forgotten.
func (tx *Tx) SaveChange(ctx context.Context, org string, c ChangeRow) error {
	if c.Facts.Status == coord.FileUnchanged {
		_, err := tx.ExecContext(ctx, `DELETE FROM changes WHERE org_id = $1 AND repo_id = $2 AND copy = $3 AND path = $4`, org, c.RepoID,
			c.Copy, c.Facts.Path)
		return err
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO changes (org_id, repo_id, copy, path, facts, touched, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (org_id, repo_id, copy, path) DO UPDATE SET facts = EXCLUDED.facts, touched = EXCLUDED.touched,
			updated_at = EXCLUDED.updated_at`,
		org, c.RepoID, c.Copy, c.Facts.Path, js(c.Facts), js(c.Touched), tx.Now)
	return err
}

// Changes returns the changes of an org; of one working copy if repo and copy
// are not empty.
func (tx *Tx) Changes(ctx context.Context, org, repo, copy string) ([]ChangeRow, error) {
	f := filter{}
	f.and(`org_id = ?`, org)
	if repo != "" {
		f.and(`repo_id = ?`, repo)
	}
	if copy != "" {
		f.and(`copy = ?`, copy)
	}
	return all(ctx, tx, scanChange, `SELECT `+changeColumns+` FROM changes`+f.where()+` ORDER BY repo_id, copy, path`, f.args...)
}

// ChangesAt returns what is recorded of a file in a working copy: one row, or
// none.
func (tx *Tx) ChangesAt(ctx context.Context, org, repo, copy, path string) ([]ChangeRow, error) {
	return all(ctx, tx, scanChange, `SELECT `+changeColumns+` FROM changes
		WHERE org_id = $1 AND repo_id = $2 AND copy = $3 AND path = $4`, org, repo, copy, path)
}

// A MergedRow is a file as merged work left it.
type MergedRow struct {
	RepoID   string
	MergeID  string
	Facts    coord.FileFacts
	IntentID *string
	At       coord.Time
}

// InsertMerged records merged work.
func (tx *Tx) InsertMerged(ctx context.Context, org string, m MergedRow) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO merged_changes (org_id, repo_id, merge_id, path, facts, intent_id, at)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING`, org, m.RepoID, m.MergeID, m.Facts.Path, js(m.Facts), m.IntentID, m.At)
	return err
}

const mergedColumns = `repo_id, merge_id, facts, intent_id, at`

func scanMerged(r scanner) (m MergedRow, err error) {
	err = r.Scan(&m.RepoID, &m.MergeID, asJSON{&m.Facts}, &m.IntentID, &m.At)
	return m, err
}

// A MergedFilter narrows merged work.
type MergedFilter struct {
	Since    coord.Time
	Repo, ID string // of one piece of it, if they are not empty
}

// Merged returns merged work of an org.
func (tx *Tx) Merged(ctx context.Context, org string, want MergedFilter) ([]MergedRow, error) {
	f := filter{}
	f.and(`org_id = ?`, org)
	f.and(`at > ?`, want.Since)
	f.equals("repo_id", want.Repo)
	f.equals("merge_id", want.ID)
	return all(ctx, tx, scanMerged, `SELECT `+mergedColumns+` FROM merged_changes`+f.where()+` ORDER BY at, merge_id, path`, f.args...)
}

// A LineMapRow is how two versions of a file of a repo go together.
type LineMapRow struct {
	RepoID string
	Map    coord.LineMap
}

// SaveLineMap records how two versions go together.
func (tx *Tx) SaveLineMap(ctx context.Context, org, repo string, m coord.LineMap) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO line_maps (org_id, repo_id, from_blob, to_blob, shifts, at) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (org_id, repo_id, from_blob, to_blob) DO UPDATE SET shifts = EXCLUDED.shifts, at = EXCLUDED.at`,
		org, repo, m.From, m.To, js(m.Shifts), tx.Now)
	return err
}

// LineMaps returns the line maps of an org that were told since a moment; of
// one repo if that is not empty.
func (tx *Tx) LineMaps(ctx context.Context, org, repo string, since coord.Time) ([]LineMapRow, error) {
	f := filter{}
	f.and(`org_id = ?`, org)
	f.and(`at >= ?`, since)
	if repo != "" {
		f.and(`repo_id = ?`, repo)
	}
	scan := func(r scanner) (m LineMapRow, err error) {
		err = r.Scan(&m.RepoID, &m.Map.From, &m.Map.To, asJSON{&m.Map.Shifts}, &m.Map.At)
		return m, err
	}
	return all(ctx, tx, scan, `SELECT repo_id, from_blob, to_blob, shifts, at FROM line_maps`+f.where()+` ORDER BY at, from_blob, to_blob`,
		f.args...)
}

// ForgetLineMaps drops maps that were told before a moment and, by the log of
// their org, as long ago: an index that follows the log may still have the others.
// What is still wanted is asked for again.
func (tx *Tx) ForgetLineMaps(ctx context.Context, kept time.Duration) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM line_maps WHERE at < $1 AND at < (SELECT MAX(e.occurred_at) FROM events e
		WHERE e.org_id = line_maps.org_id) - CAST($2 AS BIGINT)`, tx.Now.Add(-kept), kept.Milliseconds())
	return err
}
