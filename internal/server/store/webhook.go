package store

import (
	"context"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

const webhookColumns = `id, org_id, url, event_types, description, secret, after_seq, created_by, created_at,
	disabled_at, disabled_reason, failures, failing_since, last_failure_at, last_success_at, paused_until,
	held_at, COALESCE(old_secret, ''), old_secret_until`

func scanWebhook(r scanner) (w coord.Webhook, err error) {
	err = r.Scan(&w.ID, &w.OrgID, &w.URL, asJSON{&w.EventTypes}, &w.Description, &w.Secret, &w.AfterSeq, &w.CreatedBy, &w.CreatedAt,
		&w.DisabledAt, &w.DisabledReason, &w.Failures, &w.FailingSince, &w.LastFailureAt, &w.LastSuccessAt, &w.PausedUntil,
		&w.PausedAt, &w.OldSecret, &w.OldSecretUntil)
	w.Enabled, w.Paused = w.DisabledAt == nil, w.PausedAt != nil
	return w, err
}

// InsertWebhook adds an endpoint.
func (tx *Tx) InsertWebhook(ctx context.Context, w coord.Webhook) error {
	_, err := tx.exec(ctx, `
		INSERT INTO webhooks (id, org_id, url, event_types, description, secret, after_seq, created_by, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		w.ID, w.OrgID, w.URL, js(w.EventTypes), w.Description, w.Secret, w.AfterSeq, w.CreatedBy, w.CreatedAt)
	return tx.duplicate(err, "this org has a webhook with this url already")
}

// Webhooks returns an org's endpoints, oldest first.
func (tx *Tx) Webhooks(ctx context.Context, org string) ([]coord.Webhook, error) {
	return all(ctx, tx, scanWebhook, `SELECT `+webhookColumns+` FROM webhooks WHERE org_id = $1 ORDER BY id`, org)
}

// Webhook returns an org's endpoint.
func (tx *Tx) Webhook(ctx context.Context, org, id string) (coord.Webhook, error) {
	return one(ctx, tx, "no such webhook in this org", scanWebhook, `SELECT `+webhookColumns+` FROM webhooks WHERE org_id = $1 AND id = $2`,
		org, id)
}

// DeleteWebhook removes an endpoint with its deliveries.
func (tx *Tx) DeleteWebhook(ctx context.Context, id string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM webhook_deliveries WHERE webhook_id = $1`, id); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM webhooks WHERE id = $1`, id)
	return err
}

// SaveWebhook stores what people decide about an endpoint.
func (tx *Tx) SaveWebhook(ctx context.Context, w coord.Webhook) error {
	var old *string
	if w.OldSecret != "" {
		old = &w.OldSecret
	}
	_, err := tx.exec(ctx, `
		UPDATE webhooks SET url = $2, event_types = $3, description = $4, held_at = $5, secret = $6, old_secret = $7, old_secret_until = $8
		WHERE id = $1`, w.ID, w.URL, js(w.EventTypes), w.Description, w.PausedAt, w.Secret, old, w.OldSecretUntil)
	return tx.duplicate(err, "this org has a webhook with this url already")
}

// SaveWebhookHealth stores how an endpoint fares.
func (tx *Tx) SaveWebhookHealth(ctx context.Context, w coord.Webhook) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE webhooks SET disabled_at = $2, disabled_reason = $3, failures = $4, failing_since = $5,
			last_failure_at = $6, last_success_at = $7, paused_until = $8, after_seq = $9
		WHERE id = $1`,
		w.ID, w.DisabledAt, w.DisabledReason, w.Failures, w.FailingSince, w.LastFailureAt, w.LastSuccessAt, w.PausedUntil, w.AfterSeq)
	return err
}

const deliveryColumns = `id, webhook_id, org_id, event_seq, event_type, status, attempts, response_status, response_ms, error,
	next_attempt_at, created_at, delivered_at`

func scanDelivery(r scanner) (d coord.Delivery, err error) {
	err = r.Scan(&d.ID, &d.WebhookID, &d.OrgID, &d.EventSeq, &d.EventType, &d.Status, &d.Attempts, &d.ResponseStatus, &d.ResponseMS, &d.Error,
		&d.NextAttemptAt, &d.CreatedAt, &d.DeliveredAt)
	d.EventID = strconv.FormatInt(d.EventSeq, 10)
	return d, err
}

// InsertDeliveries adds deliveries that are due now. One that exists, since an
// endpoint gets an event once, is left alone.
func (tx *Tx) InsertDeliveries(ctx context.Context, ds []coord.Delivery) error {
	const perStatement = 100
	for len(ds) > 0 {
		n := min(perStatement, len(ds))
		var f filter
		rows := make([]string, n)
		for i, d := range ds[:n] {
			marks := make([]string, 0, 8)
			for _, v := range []any{d.ID, d.WebhookID, d.OrgID, d.EventSeq, d.EventType, coord.DeliveryPending, tx.Now, tx.Now} {
				marks = append(marks, f.arg(v))
			}
			rows[i] = "(" + strings.Join(marks, ", ") + ", 0)"
		}
		if _, err := tx.ExecContext(ctx, `
			INSERT INTO webhook_deliveries (id, webhook_id, org_id, event_seq, event_type, status, next_attempt_at, created_at, attempts)
			VALUES `+strings.Join(rows, ", ")+` ON CONFLICT DO NOTHING`, f.args...); err != nil {
			return err
		}
		ds = ds[n:]
	}
	return nil
}

// Deliveries returns an endpoint's deliveries before one (all if empty) and
// with one of the statuses (any if none), newest first.
func (tx *Tx) Deliveries(
	ctx context.Context, webhook, before string, statuses []coord.DeliveryStatus, limit int,
) ([]coord.Delivery, error) {
	var f filter
	f.and(`webhook_id = ?`, webhook)
	if before != "" {
		f.and(`id < ?`, before)
	}
	if len(statuses) > 0 {
		in(&f, "status", statuses)
	}
	return all(ctx, tx, scanDelivery, `SELECT `+deliveryColumns+` FROM webhook_deliveries`+f.where()+`
		ORDER BY id DESC`+f.limit(limit), f.args...)
}

// ReplayDeliveries makes the deliveries of a span that do not wait any more due
// now, under their old ids, and returns how many.
func (tx *Tx) ReplayDeliveries(ctx context.Context, webhook string, since, until coord.Time, failed bool) (int, error) {
	only := ``
	if failed {
		only = ` AND status = 'failed'`
	}
	res, err := tx.ExecContext(ctx, `
		UPDATE webhook_deliveries SET status = 'pending', attempts = 0, next_attempt_at = $4, delivered_at = NULL, error = NULL
		WHERE webhook_id = $1 AND created_at >= $2 AND created_at <= $3 AND next_attempt_at IS NULL`+only, webhook, since, until, tx.Now)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}

// UnsentEvents returns the first events of a span, by their ids and types, that
// an endpoint was never to be sent.
func (tx *Tx) UnsentEvents(ctx context.Context, org, webhook string, since, until coord.Time, limit int) ([]coord.Event, error) {
	return all(ctx, tx, func(r scanner) (e coord.Event, err error) { return e, r.Scan(&e.Seq, &e.Type) }, `
		SELECT seq, type FROM events
		WHERE org_id = $1 AND occurred_at >= $2 AND occurred_at <= $3
			AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.webhook_id = $4 AND d.event_seq = events.seq)
		ORDER BY seq LIMIT $5+0`, org, since, until, webhook, limit)
}

// Delivery returns one delivery of an endpoint.
func (tx *Tx) Delivery(ctx context.Context, webhook, id string) (coord.Delivery, error) {
	return one(ctx, tx, "no such delivery of this webhook", scanDelivery,
		`SELECT `+deliveryColumns+` FROM webhook_deliveries WHERE webhook_id = $1 AND id = $2`, webhook, id)
}

// DueDeliveries returns an endpoint's deliveries whose next attempt is due,
// the longest waiting first.
func (tx *Tx) DueDeliveries(ctx context.Context, webhook string, limit int) ([]coord.Delivery, error) {
	return all(ctx, tx, scanDelivery, `
		SELECT `+deliveryColumns+` FROM webhook_deliveries
		WHERE webhook_id = $1 AND next_attempt_at <= $2
		ORDER BY next_attempt_at, event_seq LIMIT $3+0`, webhook, tx.Now, limit)
}

// NextDelivery returns when an endpoint's next attempt is due, or nil.
func (tx *Tx) NextDelivery(ctx context.Context, webhook string) (*coord.Time, error) {
	var at *coord.Time
	err := tx.QueryRowContext(ctx, `SELECT MIN(next_attempt_at) FROM webhook_deliveries WHERE webhook_id = $1`, webhook).Scan(&at)
	return at, err
}

// SaveDelivery stores how a delivery stands.
func (tx *Tx) SaveDelivery(ctx context.Context, d coord.Delivery) error {
	return tx.saveDelivery(ctx, d, ``)
}

// SettleDelivery stores the outcome of an attempt. One that did not arrive says
// nothing of a delivery that does not wait any more: another attempt settled
// it, or its endpoint was disabled, while this one was under way.
func (tx *Tx) SettleDelivery(ctx context.Context, d coord.Delivery) error {
	if d.Status == coord.DeliveryDelivered {
		return tx.saveDelivery(ctx, d, ``)
	}
	return tx.saveDelivery(ctx, d, ` AND next_attempt_at IS NOT NULL`)
}

func (tx *Tx) saveDelivery(ctx context.Context, d coord.Delivery, only string) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE webhook_deliveries SET status = $2, attempts = $3, response_status = $4, response_ms = $5, error = $6,
			next_attempt_at = $7, delivered_at = $8
		WHERE id = $1`+only, d.ID, d.Status, d.Attempts, d.ResponseStatus, d.ResponseMS, d.Error, d.NextAttemptAt, d.DeliveredAt)
	return err
}

// GiveUpDeliveries ends what still waits for an endpoint.
func (tx *Tx) GiveUpDeliveries(ctx context.Context, webhook, reason string) error {
	_, err := tx.ExecContext(ctx, `
		UPDATE webhook_deliveries SET status = $2, error = $3, next_attempt_at = NULL
		WHERE webhook_id = $1 AND next_attempt_at IS NOT NULL`, webhook, coord.DeliveryFailed, reason)
	return err
}

// EventsAt returns events of an org by their ids.
func (tx *Tx) EventsAt(ctx context.Context, org string, seqs []int64) (map[int64]coord.Event, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	var f filter
	f.and(`org_id = ?`, org)
	in(&f, "seq", seqs)
	events, err := all(ctx, tx, scanEvent, `SELECT `+eventColumns+` FROM events`+f.where(), f.args...)
	out := make(map[int64]coord.Event, len(events))
	for _, e := range events {
		out[e.Seq] = e
	}
	return out, err
}

// StartFanout makes an org's log be handed on from now on, if it is not yet.
func (tx *Tx) StartFanout(ctx context.Context, org string) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO fanouts (org_id, seq) SELECT id, event_seq FROM orgs WHERE id = $1
		ON CONFLICT DO NOTHING`, org)
	return err
}

// Behind returns the orgs whose logs have events that were not handed on.
func (tx *Tx) Behind(ctx context.Context) ([]string, error) {
	return all(ctx, tx, scanText, `SELECT f.org_id FROM fanouts f JOIN orgs o ON o.id = f.org_id WHERE o.event_seq > f.seq`)
}

// FanoutSeq returns up to which event an org's log was handed on.
func (tx *Tx) FanoutSeq(ctx context.Context, org string) (seq int64, err error) {
	err = tx.QueryRowContext(ctx, `SELECT seq FROM fanouts WHERE org_id = $1`, org).Scan(&seq)
	return seq, err
}

// SetFanoutSeq notes up to which event an org's log was handed on.
func (tx *Tx) SetFanoutSeq(ctx context.Context, org string, seq int64) error {
	_, err := tx.ExecContext(ctx, `UPDATE fanouts SET seq = $2 WHERE org_id = $1`, org, seq)
	return err
}
