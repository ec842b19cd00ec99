package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
)

// A WebSession is a person's sign-in to the dashboard.
type WebSession struct {
	ID         string     `json:"id"`
	UserID     string     `json:"-"`
	UserAgent  string     `json:"user_agent"`
	Address    string     `json:"address"`
	CreatedAt  coord.Time `json:"created_at"`
	LastSeenAt coord.Time `json:"last_seen_at"`
	ExpiresAt  coord.Time `json:"expires_at"`
	Method     coord.SignInMethod
	Second     bool       // a second factor was shown
	ProvedAt   coord.Time // when the person last proved who they are
}

const webSessionColumns = `id, user_id, user_agent, address, created_at, last_seen_at, expires_at, method, second, proved_at`

func scanWebSession(r scanner) (w WebSession, err error) {
	err = r.Scan(&w.ID, &w.UserID, &w.UserAgent, &w.Address, &w.CreatedAt, &w.LastSeenAt, &w.ExpiresAt, &w.Method, &w.Second,
		&w.ProvedAt)
	return w, err
}

// InsertWebSession adds a sign-in; of its cookie only the hash is kept.
func (tx *Tx) InsertWebSession(ctx context.Context, w WebSession, hash string) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO web_sessions (`+webSessionColumns+`, hash)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
		w.ID, w.UserID, w.UserAgent, w.Address, w.CreatedAt, w.LastSeenAt, w.ExpiresAt, w.Method, w.Second, w.ProvedAt, hash)
	return err
}

// WebSession returns the sign-in of a cookie, or nil if there is none that
// was seen since idleSince and has not expired.
func (tx *Tx) WebSession(ctx context.Context, hash string, idleSince coord.Time) (*WebSession, error) {
	w, err := scanWebSession(tx.QueryRowContext(ctx, `
		SELECT `+webSessionColumns+` FROM web_sessions
		WHERE hash = $1 AND expires_at > $2 AND last_seen_at > $3`, hash, tx.Now, idleSince))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &w, err
}

// TouchWebSession notes that a sign-in was used.
func (tx *Tx) TouchWebSession(ctx context.Context, id string) error {
	_, err := tx.ExecContext(ctx, `UPDATE web_sessions SET last_seen_at = $2 WHERE id = $1`, id, tx.Now)
	return err
}

// DeleteWebSession ends one sign-in.
func (tx *Tx) DeleteWebSession(ctx context.Context, id string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM web_sessions WHERE id = $1`, id)
	return err
}

// DeleteWebSessions ends all sign-ins of a user but one.
func (tx *Tx) DeleteWebSessions(ctx context.Context, user, except string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM web_sessions WHERE user_id = $1 AND id <> $2`, user, except)
	return err
}

// A DeviceStatus is where a device's request for a token stands.
type DeviceStatus string

const (
	DevicePending  DeviceStatus = "pending"
	DeviceApproved DeviceStatus = "approved"
	DeviceDenied   DeviceStatus = "denied"
	DeviceRedeemed DeviceStatus = "redeemed"
)

// A DeviceCode is a device's request for a token.
type DeviceCode struct {
	ID         string
	UserCode   string
	Status     DeviceStatus
	Hostname   string
	CLIVersion string
	Address    string
	OrgID      *string
	UserID     *string
	Interval   int // seconds between polls
	CreatedAt  coord.Time
	ExpiresAt  coord.Time
	LastPollAt *coord.Time
	Admin      bool   // it asks for an administrator's rights
	AskedOrg   string // slug of the org it asks for; empty for whichever the person chooses
}

const deviceColumns = `id, user_code, status, hostname, cli_version, address, org_id, user_id, interval_seconds, created_at, expires_at,
	last_poll_at, admin, asked_org`

func scanDevice(r scanner) (d DeviceCode, err error) {
	err = r.Scan(&d.ID, &d.UserCode, &d.Status, &d.Hostname, &d.CLIVersion, &d.Address, &d.OrgID, &d.UserID, &d.Interval, &d.CreatedAt,
		&d.ExpiresAt, &d.LastPollAt, &d.Admin, &d.AskedOrg)
	return d, err
}

// InsertDevice adds a device's request; of its code only the hash is kept.
func (tx *Tx) InsertDevice(ctx context.Context, d DeviceCode, deviceHash string) error {
	_, err := tx.exec(ctx, `
		INSERT INTO device_codes (`+deviceColumns+`, device_hash)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
		d.ID, d.UserCode, d.Status, d.Hostname, d.CLIVersion, d.Address, d.OrgID, d.UserID, d.Interval, d.CreatedAt, d.ExpiresAt, d.LastPollAt,
		d.Admin, d.AskedOrg, deviceHash)
	return tx.duplicate(err, "this code is taken")
}

// DeviceByHash returns a device's request by its secret code.
func (tx *Tx) DeviceByHash(ctx context.Context, hash string) (DeviceCode, error) {
	return one(ctx, tx, "no such device code", scanDevice, `SELECT `+deviceColumns+` FROM device_codes WHERE device_hash = $1`, hash)
}

// DeviceByUserCode returns a pending request by the code a person typed.
func (tx *Tx) DeviceByUserCode(ctx context.Context, code string) (DeviceCode, error) {
	return one(ctx, tx, "no request is waiting under this code; check it, or run svc login again", scanDevice, `
		SELECT `+deviceColumns+` FROM device_codes
		WHERE user_code = $1 AND status = 'pending' AND expires_at > $2`, code, tx.Now)
}

// UpdateDevice stores a request's new state.
func (tx *Tx) UpdateDevice(ctx context.Context, d DeviceCode) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE device_codes SET status = $2, org_id = $3, user_id = $4, interval_seconds = $5, last_poll_at = $6
		WHERE id = $1`, d.ID, d.Status, d.OrgID, d.UserID, d.Interval, d.LastPollAt)
	return err
}

// DeleteExpiredSignins forgets sign-ins and requests that have expired.
func (tx *Tx) DeleteExpiredSignins(ctx context.Context) error {
	for _, q := range []string{
		`DELETE FROM web_sessions WHERE expires_at < $1`,
		`DELETE FROM device_codes WHERE expires_at < $1`,
		`DELETE FROM invites WHERE expires_at < $1`,
		`DELETE FROM half_signins WHERE expires_at < $1`,
		`DELETE FROM passkey_challenges WHERE expires_at < $1`,
		`DELETE FROM signups WHERE expires_at < $1`,
	} {
		// A day's grace, so that "expired" can be told from "never existed".
		if _, err := tx.ExecContext(ctx, q, tx.Now.Add(-24*time.Hour)); err != nil {
			return err
		}
	}
	return nil
}

// A Limit allows burst events at once and one more per every.
type Limit struct {
	Every time.Duration
	Burst int
}

// PerWindow returns the limit of n events in a window, all of which may come
// at once.
func PerWindow(n int, window time.Duration) Limit { return Limit{window / time.Duration(n), n} }

// Full refuses with a RateLimited problem if the limit of a key is used up. It
// counts nothing: for limits that count failures only.
func (tx *Tx) Full(ctx context.Context, key string, l Limit, detail string) error {
	_, err := tx.next(ctx, key, l, detail)
	return err
}

// Take counts one event under key and refuses it with a RateLimited problem
// if the limit is used up (GCRA: one number per key). A refused event is not
// counted. It must run inside Write with one lock for all users of the key.
func (tx *Tx) Take(ctx context.Context, key string, l Limit, detail string) error {
	next, err := tx.next(ctx, key, l, detail)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `
		INSERT INTO rate_limits (key, tat) VALUES ($1, $2)
		ON CONFLICT (key) DO UPDATE SET tat = EXCLUDED.tat`, key, next)
	return err
}

// next returns where a key's count goes with one more event.
func (tx *Tx) next(ctx context.Context, key string, l Limit, detail string) (coord.Time, error) {
	tat, err := all(ctx, tx, func(r scanner) (t coord.Time, err error) { err = r.Scan(&t); return t, err },
		`SELECT tat FROM rate_limits WHERE key = $1`, key)
	if err != nil {
		return 0, err
	}
	next := tx.Now
	if len(tat) == 1 && tat[0] > next {
		next = tat[0]
	}
	next = next.Add(l.Every)
	if over := next.Sub(tx.Now) - l.Every*time.Duration(l.Burst); over > 0 {
		return 0, problem.Later(over, "%s", detail)
	}
	return next, nil
}
