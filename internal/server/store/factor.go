package store

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
)

// A TOTP is an app of somebody's that shows one-time codes.
type TOTP struct {
	Secret      string      // sealed
	ConfirmedAt *coord.Time // nil until a code has shown that the app has it
	LastStep    int64       // of the newest code that was taken
}

// TOTPOf returns somebody's app, or nil.
func (tx *Tx) TOTPOf(ctx context.Context, user string) (*TOTP, error) {
	rows, err := all(ctx, tx, func(r scanner) (t TOTP, err error) {
		err = r.Scan(&t.Secret, &t.ConfirmedAt, &t.LastStep)
		return t, err
	}, `SELECT secret, confirmed_at, last_step FROM totps WHERE user_id = $1`, user)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// PutTOTP keeps the secret of an app until a code confirms it.
func (tx *Tx) PutTOTP(ctx context.Context, user, sealed string) error {
	n, err := tx.exec(ctx, `INSERT INTO totps (user_id, secret, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (user_id) DO UPDATE SET secret = EXCLUDED.secret, created_at = EXCLUDED.created_at, last_step = 0
		WHERE totps.confirmed_at IS NULL`, user, sealed, tx.Now)
	if err == nil && n == 0 {
		err = problem.Newf(problem.Conflict, "you have an app for one-time codes already; remove it first to set up another")
	}
	return err
}

// TakeTOTP takes the code of a step, which confirms an app, and reports whether
// none as new was taken before.
func (tx *Tx) TakeTOTP(ctx context.Context, user string, step int64) (bool, error) {
	n, err := tx.exec(ctx, `UPDATE totps SET last_step = $2, confirmed_at = COALESCE(confirmed_at, $3) WHERE user_id = $1 AND last_step < $2`,
		user, step, tx.Now)
	return n == 1, err
}

// DeleteTOTP forgets somebody's app and reports whether there was one.
func (tx *Tx) DeleteTOTP(ctx context.Context, user string) (bool, error) {
	n, err := tx.exec(ctx, `DELETE FROM totps WHERE user_id = $1`, user)
	return n == 1, err
}

// SetRecoveryCodes replaces somebody's recovery codes, of which only hashes are
// kept.
func (tx *Tx) SetRecoveryCodes(ctx context.Context, user string, hashes []string) error {
	_, err := tx.exec(ctx, `DELETE FROM recovery_codes WHERE user_id = $1`, user)
	for _, h := range hashes {
		if err == nil {
			_, err = tx.exec(ctx, `INSERT INTO recovery_codes (user_id, hash) VALUES ($1, $2)`, user, h)
		}
	}
	return err
}

// TakeRecoveryCode uses a code up and reports whether it was there.
func (tx *Tx) TakeRecoveryCode(ctx context.Context, user, hash string) (bool, error) {
	n, err := tx.exec(ctx, `DELETE FROM recovery_codes WHERE user_id = $1 AND hash = $2`, user, hash)
	return n == 1, err
}

// CountRecoveryCodes returns how many somebody has left.
func (tx *Tx) CountRecoveryCodes(ctx context.Context, user string) (int, error) {
	return tx.count(ctx, `SELECT COUNT(*) FROM recovery_codes WHERE user_id = $1`, user)
}

// A HalfSignin is somebody who proved one thing and has yet to prove a second.
type HalfSignin struct {
	UserID    string
	Method    coord.SignInMethod
	ExpiresAt coord.Time
}

// InsertHalfSignin adds one; of its ticket only the hash is kept.
func (tx *Tx) InsertHalfSignin(ctx context.Context, h HalfSignin, hash string) error {
	_, err := tx.exec(ctx, `INSERT INTO half_signins (hash, user_id, method, expires_at) VALUES ($1, $2, $3, $4)`, hash, h.UserID, h.Method,
		h.ExpiresAt)
	return err
}

// HalfSignin returns the one of a ticket, if it still holds.
func (tx *Tx) HalfSignin(ctx context.Context, hash string) (HalfSignin, error) {
	return one(ctx, tx, "this sign-in was used or took too long; begin again", func(s scanner) (h HalfSignin, err error) {
		err = s.Scan(&h.UserID, &h.Method, &h.ExpiresAt)
		return h, err
	}, `SELECT user_id, method, expires_at FROM half_signins WHERE hash = $1 AND expires_at > $2`, hash, tx.Now)
}

// DeleteHalfSignins ends those of a person.
func (tx *Tx) DeleteHalfSignins(ctx context.Context, user string) error {
	_, err := tx.exec(ctx, `DELETE FROM half_signins WHERE user_id = $1`, user)
	return err
}

// ProveWebSession notes that the person of a sign-in has just proved who they
// are, and with second that they did so with a second factor.
func (tx *Tx) ProveWebSession(ctx context.Context, id string, second bool) error {
	_, err := tx.exec(ctx, `UPDATE web_sessions SET proved_at = $2, second = second OR $3 WHERE id = $1`, id, tx.Now, second)
	return err
}

// ResetLimit forgets what was counted under a key.
func (tx *Tx) ResetLimit(ctx context.Context, key string) error {
	_, err := tx.exec(ctx, `DELETE FROM rate_limits WHERE key = $1`, key)
	return err
}
