package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/svc-hq/svc/internal/core/coord"
)

const tokenColumns = `t.id, t.org_id, t.user_id, t.created_by, t.name, t.kind, t.prefix, t.scopes, t.created_at, t.last_used_at,
	t.expires_at, t.revoked_at`

func scanToken(r scanner) (t coord.Token, err error) {
	err = r.Scan(&t.ID, &t.OrgID, &t.UserID, &t.CreatedBy, &t.Name, &t.Kind, &t.Prefix, asJSON{&t.Scopes}, &t.CreatedAt, &t.LastUsedAt,
		&t.ExpiresAt, &t.RevokedAt)
	return t, err
}

// InsertToken adds a token; of its secret only the hash is kept.
func (tx *Tx) InsertToken(ctx context.Context, t coord.Token, hash string) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO tokens (id, org_id, user_id, created_by, name, kind, prefix, hash, scopes, created_at, expires_at, by_agent)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		t.ID, t.OrgID, t.UserID, t.CreatedBy, t.Name, t.Kind, t.Prefix, hash, js(t.Scopes), t.CreatedAt, t.ExpiresAt, t.ByAgent)
	return err
}

// Token returns an org's token by id.
func (tx *Tx) Token(ctx context.Context, org, id string) (coord.Token, error) {
	return one(ctx, tx, "no such token", scanToken, `SELECT `+tokenColumns+` FROM tokens t WHERE t.id = $2 AND t.org_id || '' = $1`, org, id)
}

// Tokens returns a page of an org's tokens, newest first; of one user only if
// user is not empty.
func (tx *Tx) Tokens(ctx context.Context, org, user string, p Page) ([]coord.Token, error) {
	f := filter{}
	f.and(`t.org_id = ?`, org)
	if user != "" {
		f.and(`t.user_id = ?`, user)
	}
	if p.After != "" {
		f.and(`t.id < ?`, p.After)
	}
	return all(ctx, tx, scanToken, `SELECT `+tokenColumns+` FROM tokens t`+f.where()+` ORDER BY t.id DESC`+f.limit(p.Limit), f.args...)
}

// RevokeToken ends a token.
func (tx *Tx) RevokeToken(ctx context.Context, org, id string) error {
	_, err := tx.ExecContext(ctx, `UPDATE tokens SET revoked_at = $3 WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL`, org, id, tx.Now)
	return err
}

// LiveTokens returns the ids of a user's tokens in an org that still work.
func (tx *Tx) LiveTokens(ctx context.Context, org, user string) ([]string, error) {
	return all(ctx, tx, scanText, `SELECT id FROM tokens WHERE org_id = $1 AND user_id = $2 AND revoked_at IS NULL ORDER BY id`, org, user)
}

func scanText(r scanner) (s string, err error) {
	err = r.Scan(&s)
	return s, err
}

// TouchToken notes that a token was used.
func (tx *Tx) TouchToken(ctx context.Context, id string, at coord.Time) error {
	_, err := tx.ExecContext(ctx, `UPDATE tokens SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)`, id, at)
	return err
}

// CallerByToken returns who a token speaks for, or nil if it does not exist,
// has expired or was revoked, or its user left the org.
func (tx *Tx) CallerByToken(ctx context.Context, hash string) (*coord.Caller, *coord.Time, error) {
	var c coord.Caller
	var user, email, name, role *string
	var expires *coord.Time
	err := tx.QueryRowContext(ctx, `
		SELECT t.id, t.name, t.kind, t.scopes, t.expires_at, t.by_agent, o.id, o.slug, o.data_mode, u.id, u.email, u.name, m.role
		FROM tokens t
		JOIN orgs o ON o.id = t.org_id
		LEFT JOIN users u ON u.id = t.user_id
		LEFT JOIN members m ON m.org_id = t.org_id AND m.user_id = t.user_id
		WHERE t.hash = $1 AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > $2) AND u.disabled_at IS NULL`, hash, tx.Now).
		Scan(&c.TokenID, &c.TokenName, &c.TokenKind, asJSON{&c.Scopes}, &expires, &c.ByAgent, &c.OrgID, &c.OrgSlug, &c.DataMode, &user, &email,
			&name, &role)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	c.Via = coord.ViaToken
	if c.TokenKind == coord.ServiceToken {
		return &c, expires, nil
	}
	if role == nil {
		return nil, nil, nil
	}
	c.UserID, c.Email, c.Name, c.Role = *user, *email, *name, coord.Role(*role)
	return &c, expires, nil
}

// TokenCreator returns who made a token, empty if nobody is recorded.
func (tx *Tx) TokenCreator(ctx context.Context, id string) (string, error) {
	var by *string
	err := tx.QueryRowContext(ctx, `SELECT created_by FROM tokens WHERE id = $1`, id).Scan(&by)
	if err != nil || by == nil {
		return "", err
	}
	return *by, nil
}
