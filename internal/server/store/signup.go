package store

import (
	"context"
	"fmt"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A Signup lets whoever holds an address make an org, once.
type Signup struct {
	Email     string
	ExpiresAt coord.Time
}

// InsertSignup adds one; of its code only the hash is kept.
func (tx *Tx) InsertSignup(ctx context.Context, s Signup, hash string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO signups (hash, email, expires_at) VALUES ($1, $2, $3)`, hash, EmailKey(s.Email), s.ExpiresAt)
	return err
}

// Signup returns the one of a code.
func (tx *Tx) Signup(ctx context.Context, hash string) (Signup, error) {
	return one(ctx, tx, "this link was used or is too old; begin again", func(r scanner) (s Signup, err error) {
		err = r.Scan(&s.Email, &s.ExpiresAt)
		return s, err
	}, `SELECT email, expires_at FROM signups WHERE hash = $1 AND expires_at > $2`, hash, tx.Now)
}

// DeleteSignups uses up all that an address has.
func (tx *Tx) DeleteSignups(ctx context.Context, email string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM signups WHERE email = $1`, EmailKey(email))
	return err
}

// FreeSlug returns slug, with a number behind it if an org has it already.
func (tx *Tx) FreeSlug(ctx context.Context, slug string) (string, error) {
	for n, free := 2, slug; ; n++ {
		taken, err := tx.count(ctx, `SELECT COUNT(*) FROM orgs WHERE slug = $1`, free)
		if err != nil || taken == 0 {
			return free, err
		}
		free = fmt.Sprintf("%s-%d", slug, n)
	}
}
