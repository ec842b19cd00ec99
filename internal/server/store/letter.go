package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A Digest is when and where an org's weekly digest goes.
type Digest struct {
	Enabled  bool
	Day      int // 0 is Sunday
	Hour     int
	Channels []wire.DigestChannel
	LastRun  *wire.DigestRun
}

// Digest returns an org's settings: off, Monday at nine, until they are set.
func (tx *Tx) Digest(ctx context.Context, org string) (Digest, error) {
	d := Digest{Day: 1, Hour: 9, Channels: []wire.DigestChannel{wire.ToSlack, wire.ToEmail}}
	err := tx.QueryRowContext(ctx, `SELECT enabled, day, hour, channels, last_run FROM digests WHERE org_id = $1`, org).
		Scan(&d.Enabled, &d.Day, &d.Hour, asJSON{&d.Channels}, asJSON{&d.LastRun})
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return d, err
}

// SaveDigest stores an org's settings.
func (tx *Tx) SaveDigest(ctx context.Context, org string, d Digest) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO digests (org_id, enabled, day, hour, channels, last_run) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (org_id) DO UPDATE SET enabled = EXCLUDED.enabled, day = EXCLUDED.day, hour = EXCLUDED.hour,
			channels = EXCLUDED.channels, last_run = EXCLUDED.last_run`,
		org, d.Enabled, d.Day, d.Hour, js(d.Channels), jsOrNull(d.LastRun))
	return err
}

// ClaimDigest reports whether a period's digest is the caller's to send: once
// for each, whoever asks.
func (tx *Tx) ClaimDigest(ctx context.Context, org, period string) (bool, error) {
	n, err := tx.exec(ctx, `INSERT INTO digest_runs (org_id, period, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, org, period, tx.Now)
	return n > 0, err
}

// DigestReaders returns the members who want the digest by email.
func (tx *Tx) DigestReaders(ctx context.Context, org string) ([]coord.User, error) {
	return all(ctx, tx, func(r scanner) (u coord.User, err error) {
		err = r.Scan(&u.ID, &u.Email, &u.Name)
		return u, err
	}, `
		SELECT u.id, u.email, u.name
		FROM digest_readers d
		JOIN members m ON m.org_id = d.org_id AND m.user_id = d.user_id
		JOIN users u ON u.id = d.user_id
		WHERE d.org_id = $1 ORDER BY u.email`, org)
}

// SetDigestReader notes whether a user wants the digest by email.
func (tx *Tx) SetDigestReader(ctx context.Context, org, user string, wants bool) error {
	query := `DELETE FROM digest_readers WHERE org_id = $1 AND user_id = $2`
	if wants {
		query = `INSERT INTO digest_readers (org_id, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`
	}
	_, err := tx.ExecContext(ctx, query, org, user)
	return err
}

// InsertMail keeps a sealed mail until it is sent.
func (tx *Tx) InsertMail(ctx context.Context, id, org, sealed string) error {
	_, err := tx.ExecContext(ctx,
		`INSERT INTO mails (id, org_id, content, created_at) VALUES ($1, NULLIF($2, ''), $3, $4)`, id, org, sealed, tx.Now)
	return err
}

// Mail returns a sealed mail, empty if it was sent.
func (tx *Tx) Mail(ctx context.Context, id string) (sealed string, err error) {
	err = tx.QueryRowContext(ctx, `SELECT content FROM mails WHERE id = $1`, id).Scan(&sealed)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return sealed, err
}

// DeleteMail forgets a mail.
func (tx *Tx) DeleteMail(ctx context.Context, id string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM mails WHERE id = $1`, id)
	return err
}

// DeleteOldMails forgets mails that could not be sent for longer than age.
func (tx *Tx) DeleteOldMails(ctx context.Context, age time.Duration) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM mails WHERE created_at < $1`, tx.Now.Add(-age))
	return err
}

// MailTest returns an org's last test letter, or nil.
func (tx *Tx) MailTest(ctx context.Context, org string) (*wire.MailTest, error) {
	var t wire.MailTest
	err := tx.QueryRowContext(ctx, `SELECT email, sent_at, state, detail, at FROM mail_tests WHERE org_id = $1`, org).
		Scan(&t.To, &t.SentAt, &t.State, &t.Detail, &t.At)
	return maybe(t, err)
}

// SaveMailTest notes an org's test letter, in place of the one before.
func (tx *Tx) SaveMailTest(ctx context.Context, org, mail string, t wire.MailTest) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO mail_tests (org_id, mail_id, email, state, detail, sent_at, at) VALUES ($1, $2, $3, $4, '', $5, $5)
		ON CONFLICT (org_id) DO UPDATE SET mail_id = EXCLUDED.mail_id, email = EXCLUDED.email, state = EXCLUDED.state,
			detail = EXCLUDED.detail, sent_at = EXCLUDED.sent_at, at = EXCLUDED.at`, org, mail, t.To, t.State, t.SentAt)
	return err
}
