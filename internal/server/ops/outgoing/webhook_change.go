package outgoing

import (
	"context"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

const (
	// bothValid is how long the secret before signs beside a new one: enough
	// for whoever deploys the new one once a day.
	bothValid = 24 * time.Hour
	// maxUnsent is how many events that an endpoint was never sent one replay
	// adds: agents of the org wait for the transaction.
	maxUnsent = 1000
)

var pausedWebhook = problem.Newf(problem.Conflict, "this endpoint is paused; let it go on first")

// sends refuses to queue anything for an endpoint that is sent nothing.
func sends(w coord.Webhook) error {
	switch {
	case !w.Enabled:
		return problem.Newf(problem.Conflict, "this endpoint is disabled; its test call enables it again")
	case w.Paused:
		return pausedWebhook
	}
	return nil
}

// PatchWebhook changes where an endpoint is, what it is told of, and whether it
// is told for now.
func (s *Service) PatchWebhook(ctx context.Context, who coord.Caller, in wire.PatchWebhook) (out coord.Webhook, err error) {
	if in.URL != nil {
		if err := s.checkAddress(in.URL); err != nil {
			return out, err
		}
	}
	err = s.onWebhook(ctx, who, in.ID, func(tx *store.Tx, w coord.Webhook) error {
		changed := applyWebhook(&w, in, tx.Now)
		if out = w; len(changed) == 0 {
			return nil
		}
		err := ground.FirstError(tx.SaveWebhook(ctx, w), tx.SaveWebhookHealth(ctx, w),
			ground.Tell(ctx, tx, who, coord.EventWebhookUpdated, w.ID, "", wire.WebhookUpdatedPayload{Changed: changed, Paused: w.Paused}))
		if err != nil || w.Paused || !w.Enabled {
			return err
		}
		return WakeWebhook(ctx, tx, who.OrgID, w.ID)
	})
	return out, err
}

func applyWebhook(w *coord.Webhook, in wire.PatchWebhook, now coord.Time) (changed []string) {
	if in.URL != nil && *in.URL != w.URL {
		// Another place has not failed yet.
		w.URL, w.Failures, w.FailingSince, w.PausedUntil = *in.URL, 0, nil, nil
		changed = append(changed, "url")
	}
	if in.EventTypes != nil {
		w.EventTypes = *in.EventTypes
		changed = append(changed, "event_types")
	}
	if in.Description != nil || in.Clears("description") {
		w.Description = in.Description
		changed = append(changed, "description")
	}
	if in.Paused != nil && *in.Paused != w.Paused {
		if w.Paused, w.PausedAt = *in.Paused, nil; w.Paused {
			w.PausedAt = now.Ptr()
		}
		changed = append(changed, "paused")
	}
	return changed
}

// RotateSecret gives an endpoint a new secret. The one before signs, too, for a
// day, so that receivers can change theirs without losing a request.
func (s *Service) RotateSecret(ctx context.Context, who coord.Caller, in wire.ID) (out wire.RotatedSecret, err error) {
	secret := newSecret()
	err = s.onWebhook(ctx, who, in.ID, func(tx *store.Tx, w coord.Webhook) error {
		sealed, err := s.Config.Vault.Seal(SecretOf(w.ID), secret)
		if err != nil {
			return err
		}
		out = wire.RotatedSecret{Secret: secret, OldSecretUntil: tx.Now.Add(bothValid)}
		w.OldSecret, w.OldSecretUntil, w.Secret = w.Secret, &out.OldSecretUntil, sealed
		return ground.FirstError(tx.SaveWebhook(ctx, w),
			ground.Tell(ctx, tx, who, coord.EventWebhookUpdated, w.ID, "",
				wire.WebhookUpdatedPayload{Changed: []string{"secret"}, Paused: w.Paused}))
	})
	return out, err
}

// ReplayDeliveries makes the deliveries of a span again, each under its old id,
// and those that were never made because the endpoint was off.
func (s *Service) ReplayDeliveries(ctx context.Context, who coord.Caller, in wire.ReplayDeliveries) (out wire.Replayed, err error) {
	since, err := ground.Moment("since", in.Since)
	if err != nil {
		return out, err
	}
	var end coord.Time
	if in.Until != nil {
		if end, err = ground.Moment("until", *in.Until); err != nil {
			return out, err
		}
		if end < since {
			return out, problem.InvalidField("until", "is before since")
		}
	}
	err = s.onWebhook(ctx, who, in.ID, func(tx *store.Tx, w coord.Webhook) error {
		if err := sends(w); err != nil {
			return err
		}
		until := end
		if until == 0 {
			until = tx.Now
		}
		if out.Queued, err = tx.ReplayDeliveries(ctx, w.ID, since, until, in.Only == "failed"); err != nil {
			return err
		}
		if in.Only != "failed" {
			if err := s.sendUnsent(ctx, tx, w, since, until, &out); err != nil {
				return err
			}
		}
		if w.PausedUntil = nil; out.Queued == 0 {
			return nil
		}
		return ground.FirstError(tx.SaveWebhookHealth(ctx, w), WakeWebhook(ctx, tx, who.OrgID, w.ID),
			ground.Tell(ctx, tx, who, coord.EventWebhookReplayed, w.ID, "",
				wire.WebhookReplayedPayload{Since: since, Until: until, Deliveries: out.Queued}))
	})
	return out, err
}

// sendUnsent adds deliveries of events that an endpoint wants and was never
// sent, but none from before it was made.
func (s *Service) sendUnsent(ctx context.Context, tx *store.Tx, w coord.Webhook, since, until coord.Time, out *wire.Replayed) error {
	events, err := tx.UnsentEvents(ctx, w.OrgID, w.ID, max(since, w.CreatedAt), until, maxUnsent+1)
	if err != nil {
		return err
	}
	if out.More = len(events) > maxUnsent; out.More {
		events = events[:maxUnsent]
	}
	var due []coord.Delivery
	for _, e := range events {
		if w.Wants(e.Type) {
			due = append(due, coord.Delivery{ID: ground.NewID(), WebhookID: w.ID, OrgID: w.OrgID, EventSeq: e.Seq, EventType: e.Type})
		}
	}
	out.Queued += len(due)
	return tx.InsertDeliveries(ctx, due)
}
