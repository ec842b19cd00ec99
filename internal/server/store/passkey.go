package store

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
)

// A Passkey is a key pair of a person's, of which their device has the secret
// half.
type Passkey struct {
	ID         string
	UserID     string
	Credential string // what the authenticator calls it
	PublicKey  string
	Name       string
	SignCount  int64 // of the authenticator, at its newest use; 0 if it does not count
	Synced     bool  // it may be on several devices of its owner's
	CreatedAt  coord.Time
	LastUsedAt *coord.Time
	CopiedAt   *coord.Time // when its counter last went back
}

const passkeyColumns = `id, user_id, credential, public_key, name, sign_count, synced, created_at, last_used_at, copied_at`

func scanPasskey(r scanner) (k Passkey, err error) {
	err = r.Scan(&k.ID, &k.UserID, &k.Credential, &k.PublicKey, &k.Name, &k.SignCount, &k.Synced, &k.CreatedAt, &k.LastUsedAt, &k.CopiedAt)
	return k, err
}

// PasskeysOf returns somebody's passkeys, the oldest first.
func (tx *Tx) PasskeysOf(ctx context.Context, user string) ([]Passkey, error) {
	return all(ctx, tx, scanPasskey, `SELECT `+passkeyColumns+` FROM passkeys WHERE user_id = $1 ORDER BY created_at, id`, user)
}

// PasskeyByCredential returns a passkey, or nil.
func (tx *Tx) PasskeyByCredential(ctx context.Context, credential string) (*Passkey, error) {
	rows, err := all(ctx, tx, scanPasskey, `SELECT `+passkeyColumns+` FROM passkeys WHERE credential = $1`, credential)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// InsertPasskey adds a passkey.
func (tx *Tx) InsertPasskey(ctx context.Context, k Passkey) error {
	n, err := tx.exec(ctx, `INSERT INTO passkeys (id, user_id, credential, public_key, name, sign_count, synced, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (credential) DO NOTHING`,
		k.ID, k.UserID, k.Credential, k.PublicKey, k.Name, k.SignCount, k.Synced, tx.Now)
	if err == nil && n == 0 {
		err = problem.Newf(problem.Conflict, "this passkey is set up already")
	}
	return err
}

// UsePasskey notes a use of a passkey, with its counter.
func (tx *Tx) UsePasskey(ctx context.Context, id string, count int64) error {
	_, err := tx.exec(ctx, `UPDATE passkeys SET sign_count = $2, last_used_at = $3 WHERE id = $1`, id, count, tx.Now)
	return err
}

// SuspectPasskey notes that a passkey's counter went back.
func (tx *Tx) SuspectPasskey(ctx context.Context, id string) error {
	_, err := tx.exec(ctx, `UPDATE passkeys SET copied_at = $2 WHERE id = $1`, id, tx.Now)
	return err
}

// DeletePasskey forgets one of somebody's passkeys, or all with an empty id, and
// reports whether there was one.
func (tx *Tx) DeletePasskey(ctx context.Context, user, id string) (bool, error) {
	n, err := tx.exec(ctx, `DELETE FROM passkeys WHERE user_id = $1 AND (id = $2 OR $2 = '')`, user, id)
	return n > 0, err
}

// InsertChallenge keeps the hash of what was asked of an authenticator. Strangers
// can ask, so there are at most so many: the oldest make room.
func (tx *Tx) InsertChallenge(ctx context.Context, hash, user string, expires coord.Time, most int) error {
	_, err := tx.exec(ctx, `INSERT INTO passkey_challenges (hash, user_id, expires_at) VALUES ($1, $2, $3)`, hash, user, expires)
	if err == nil {
		_, err = tx.exec(ctx, `DELETE FROM passkey_challenges WHERE expires_at <= $1 OR expires_at < (SELECT expires_at FROM passkey_challenges
			ORDER BY expires_at DESC LIMIT 1 OFFSET $2)`, tx.Now, most-1)
	}
	return err
}

// TakeChallenge uses up what was asked, and reports whether it still held: for a
// new passkey of a person, or for any passkey with an empty one.
func (tx *Tx) TakeChallenge(ctx context.Context, hash, user string) (bool, error) {
	n, err := tx.exec(ctx, `DELETE FROM passkey_challenges WHERE hash = $1 AND user_id = $2 AND expires_at > $3`, hash, user, tx.Now)
	return n == 1, err
}
