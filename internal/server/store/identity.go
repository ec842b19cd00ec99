package store

import (
	"context"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// IssuersOf returns the OpenID providers that an account is bound to.
func (tx *Tx) IssuersOf(ctx context.Context, user string) ([]string, error) {
	return all(ctx, tx, scanText, `SELECT DISTINCT issuer FROM identities WHERE user_id = $1 ORDER BY issuer`, user)
}

// Bind binds an account to an OpenID subject.
func (tx *Tx) Bind(ctx context.Context, user, subject string) error {
	issuer, _, _ := strings.Cut(subject, " ")
	_, err := tx.exec(ctx, `INSERT INTO identities (subject, issuer, user_id, bound_at) VALUES ($1, $2, $3, $4)`,
		subject, issuer, user, tx.Now)
	return tx.duplicate(err, "this sign-in belongs to another account")
}

// Unbind takes an account from its subjects: of one issuer, or with "" of all.
func (tx *Tx) Unbind(ctx context.Context, user, issuer string) (int64, error) {
	return tx.exec(ctx, `DELETE FROM identities WHERE user_id = $1 AND ($2 = '' OR issuer = $2)`, user, issuer)
}

// A SigninLink signs a person in once.
type SigninLink struct {
	UserID    string
	Subject   string // the identity to bind; empty to break the glass
	ExpiresAt coord.Time
}

// InsertSigninLink adds a link; of its code only the hash is kept.
func (tx *Tx) InsertSigninLink(ctx context.Context, l SigninLink, hash string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO signin_links (hash, user_id, subject, expires_at) VALUES ($1, $2, $3, $4)`, hash, l.UserID,
		l.Subject, l.ExpiresAt)
	return err
}

// TakeSigninLink uses a link up and returns it, if it still holds.
func (tx *Tx) TakeSigninLink(ctx context.Context, hash string) (SigninLink, error) {
	if _, err := tx.ExecContext(ctx, `DELETE FROM signin_links WHERE expires_at < $1`, tx.Now); err != nil {
		return SigninLink{}, err
	}
	l, err := one(ctx, tx, "this link was used or is too old; begin again", func(s scanner) (l SigninLink, err error) {
		err = s.Scan(&l.UserID, &l.Subject, &l.ExpiresAt)
		return l, err
	}, `SELECT user_id, subject, expires_at FROM signin_links WHERE hash = $1`, hash)
	if err != nil {
		return l, err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM signin_links WHERE hash = $1`, hash)
	return l, err
}

// KnownAt reports whether a person is signed in from an address: who proved
// who they are there.
func (tx *Tx) KnownAt(ctx context.Context, email, address string) (bool, error) {
	n, err := tx.count(ctx, `SELECT COUNT(*) FROM web_sessions w JOIN users u ON u.id = w.user_id WHERE u.email = $1 AND w.address = $2
		AND w.expires_at > $3`,
		EmailKey(email), address, tx.Now)
	return n > 0, err
}
