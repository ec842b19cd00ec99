package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A Slack is a connection to a chat channel: of an org, or of one of its
// repos.
type Slack struct {
	ID          string // of the row; the org's for the org's own
	OrgID       string
	RepoID      string // empty for the org's own
	URL         string // sealed
	Seq         int64  // events up to here have been told
	ConnectedBy string
	ConnectedAt coord.Time
	LastPostAt  *coord.Time
	LastError   *string
	LastErrorAt *coord.Time
}

const slackColumns = `url, seq, connected_by, connected_at, last_post_at, last_error, last_error_at`

// Slacks returns an org's connections, its own first.
func (tx *Tx) Slacks(ctx context.Context, org string) ([]Slack, error) {
	return all(ctx, tx, func(r scanner) (s Slack, err error) {
		err = r.Scan(&s.ID, &s.OrgID, &s.RepoID, &s.URL, &s.Seq, &s.ConnectedBy, &s.ConnectedAt, &s.LastPostAt, &s.LastError, &s.LastErrorAt)
		return s, err
	}, `
		SELECT org_id AS id, org_id, '' AS repo_id, `+slackColumns+` FROM slacks WHERE org_id = $1
		UNION ALL
		SELECT id, org_id, repo_id, `+slackColumns+` FROM slack_repos WHERE org_id = $1
		ORDER BY repo_id`, org)
}

// Slack returns the connection of an org, or of one of its repos, or nil.
func (tx *Tx) Slack(ctx context.Context, org, repo string) (*Slack, error) {
	list, err := tx.Slacks(ctx, org)
	for _, s := range list {
		if s.RepoID == repo {
			return &s, err
		}
	}
	return nil, err
}

const slackChange = ` DO UPDATE SET url = EXCLUDED.url, seq = EXCLUDED.seq, connected_by = EXCLUDED.connected_by,
	connected_at = EXCLUDED.connected_at, last_post_at = EXCLUDED.last_post_at, last_error = EXCLUDED.last_error,
	last_error_at = EXCLUDED.last_error_at`

// SaveSlack stores a connection.
func (tx *Tx) SaveSlack(ctx context.Context, s Slack) error {
	values := []any{s.OrgID, s.URL, s.Seq, s.ConnectedBy, s.ConnectedAt, s.LastPostAt, s.LastError, s.LastErrorAt}
	query := `INSERT INTO slacks (org_id, ` + slackColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (org_id)` + slackChange
	if s.RepoID != "" {
		values = append(values, s.ID, s.RepoID)
		query = `INSERT INTO slack_repos (org_id, ` + slackColumns + `, id, repo_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
			ON CONFLICT (id)` + slackChange
	}
	_, err := tx.ExecContext(ctx, query, values...)
	return err
}

// DeleteSlack ends a connection.
func (tx *Tx) DeleteSlack(ctx context.Context, s Slack) error {
	query := `DELETE FROM slacks WHERE org_id = $1`
	if s.RepoID != "" {
		query = `DELETE FROM slack_repos WHERE id = $1`
	}
	_, err := tx.ExecContext(ctx, query, s.ID)
	return err
}

// ChatManners returns how often an org's channels hear something, and when
// they are left alone.
func (tx *Tx) ChatManners(ctx context.Context, org string) (m wire.ChatManners, err error) {
	m.EveryMinutes = 1
	err = tx.QueryRowContext(ctx, `SELECT every_minutes, quiet FROM chat_manners WHERE org_id = $1`, org).
		Scan(&m.EveryMinutes, asJSON{&m.Quiet})
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return m, err
}

// SetChatManners stores them.
func (tx *Tx) SetChatManners(ctx context.Context, org string, m wire.ChatManners) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO chat_manners (org_id, every_minutes, quiet) VALUES ($1, $2, $3)
		ON CONFLICT (org_id) DO UPDATE SET every_minutes = EXCLUDED.every_minutes, quiet = EXCLUDED.quiet`,
		org, m.EveryMinutes, jsOrNull(m.Quiet))
	return err
}
