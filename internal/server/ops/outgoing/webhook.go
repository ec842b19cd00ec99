package outgoing

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/bulletin"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

const (
	noWebhook   = "no such webhook in this org"
	maxWebhooks = 50
	// JobWebhook is the kind of the job that sends an endpoint what waits for
	// it.
	JobWebhook = "webhook"
)

// A WebhookJob says whose deliveries to send.
type WebhookJob struct {
	Webhook string `json:"webhook"`
}

// WakeWebhook makes an endpoint's deliveries be sent. One job does so at a
// time, so that a slow endpoint takes one place whatever waits for it.
func WakeWebhook(ctx context.Context, tx *store.Tx, org, id string) error {
	return jobs.Add(ctx, tx, jobs.New{Kind: JobWebhook, Org: org, Key: JobWebhook + ":" + id, Payload: WebhookJob{id}})
}

// SecretOf says what the sealed secret of an endpoint is for.
func SecretOf(webhook string) string { return "webhook " + webhook }

// WebhookLock names the queue of those who change an endpoint. It is not the
// org's: sending must not hold up the org's agents.
func WebhookLock(id string) string { return "webhook " + id }

// FanoutLock names the queue of those who hand an org's events on to its
// endpoints.
func FanoutLock(org string) string { return "fanout " + org }

// ListWebhooks returns the org's endpoints.
func (s *Service) ListWebhooks(ctx context.Context, who coord.Caller, _ wire.None) (out wire.Page[coord.Webhook], err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		out.Items, err = tx.Webhooks(ctx, who.OrgID)
		return err
	})
	return out, err
}

// CreateWebhook adds an endpoint, which is told of events from now on.
func (s *Service) CreateWebhook(ctx context.Context, who coord.Caller, in wire.CreateWebhook) (out wire.CreatedWebhook, err error) {
	if len(in.EventTypes) == 0 {
		in.EventTypes = []coord.EventChoice{coord.AllEvents}
	}
	if err := s.checkAddress(&in.URL); err != nil {
		return out, err
	}
	secret := newSecret()
	w := coord.Webhook{
		ID:          ground.NewID(),
		OrgID:       who.OrgID,
		URL:         in.URL,
		EventTypes:  in.EventTypes,
		Description: in.Description,
		Enabled:     true,
		CreatedBy:   who.UserID,
	}
	if w.Secret, err = s.Config.Vault.Seal(SecretOf(w.ID), secret); err != nil {
		return out, err
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		there, err := tx.Webhooks(ctx, who.OrgID)
		if err == nil && len(there) >= maxWebhooks {
			err = problem.Newf(problem.Conflict, "an org has at most %d webhooks; delete one first", maxWebhooks)
		}
		if err != nil {
			return err
		}
		if err := ground.Tell(ctx, tx, who, coord.EventWebhookCreated, w.ID, "",
			wire.WebhookCreatedPayload{EventTypes: w.EventTypes}); err != nil {
			return err
		}
		// Its own creation is the last event that the endpoint is not told of.
		if w.AfterSeq, err = tx.LastSeq(ctx, who.OrgID); err != nil {
			return err
		}
		w.CreatedAt = tx.Now
		return ground.FirstError(tx.InsertWebhook(ctx, w), tx.StartFanout(ctx, who.OrgID))
	})
	return wire.CreatedWebhook{Webhook: w, Secret: secret}, err
}

func newSecret() string {
	key := make([]byte, 32)
	rand.Read(key)
	return "whsec_" + base64.StdEncoding.EncodeToString(key)
}

// checkAddress refuses addresses that nothing is sent to.
func (s *Service) checkAddress(url *string) error {
	*url = strings.TrimSpace(*url)
	if err := s.Config.Outbound.CheckURL(*url); err != nil {
		return problem.InvalidField("url", "%v", err)
	}
	return nil
}

// DeleteWebhook removes an endpoint; what waits for it is not sent.
func (s *Service) DeleteWebhook(ctx context.Context, who coord.Caller, in wire.ID) (out wire.None, err error) {
	err = s.onWebhook(ctx, who, in.ID, func(tx *store.Tx, w coord.Webhook) error {
		if err := tx.Lock(ctx, FanoutLock(who.OrgID)); err != nil { // or it may be given deliveries while it goes
			return err
		}
		if err := tx.DropJob(ctx, JobWebhook+":"+w.ID); err != nil {
			return err
		}
		if err := tx.DeleteWebhook(ctx, w.ID); err != nil {
			return err
		}
		return ground.Tell(ctx, tx, who, coord.EventWebhookDeleted, w.ID, "", wire.EmptyPayload{})
	})
	return out, err
}

func (s *Service) onWebhook(ctx context.Context, who coord.Caller, id string, do func(*store.Tx, coord.Webhook) error) error {
	if err := ground.WantUUID(id, noWebhook); err != nil {
		return err
	}
	return s.Write(ctx, who, func(tx *store.Tx) error {
		if err := tx.Lock(ctx, WebhookLock(id)); err != nil {
			return err
		}
		w, err := tx.Webhook(ctx, who.OrgID, id)
		if err != nil {
			return err
		}
		return do(tx, w)
	})
}

// TestWebhook sends an endpoint an event of its own, whatever types it asked
// for, and enables it if it was disabled.
func (s *Service) TestWebhook(ctx context.Context, who coord.Caller, in wire.ID) (out wire.DeliveryQueued, err error) {
	err = s.onWebhook(ctx, who, in.ID, func(tx *store.Tx, w coord.Webhook) error {
		if w.Paused {
			return pausedWebhook
		}
		again := !w.Enabled
		if err := ground.Tell(ctx, tx, who, coord.EventWebhookTested, w.ID, "", wire.WebhookTestedPayload{EnabledAgain: again}); err != nil {
			return err
		}
		seq, err := tx.LastSeq(ctx, who.OrgID)
		if err != nil {
			return err
		}
		d := coord.Delivery{ID: ground.NewID(), WebhookID: w.ID, OrgID: who.OrgID, EventSeq: seq, EventType: coord.EventWebhookTested}
		out.DeliveryID = d.ID
		if again {
			w.DisabledAt, w.DisabledReason, w.FailingSince = nil, nil, nil
			w.AfterSeq = seq // what happened while it was disabled is not for it
		}
		w.PausedUntil = nil // somebody is watching: no waiting
		return ground.FirstError(tx.SaveWebhookHealth(ctx, w), tx.InsertDeliveries(ctx, []coord.Delivery{d}),
			WakeWebhook(ctx, tx, who.OrgID, w.ID))
	})
	return out, err
}

// ListDeliveries returns an endpoint's delivery log, newest first.
func (s *Service) ListDeliveries(ctx context.Context, who coord.Caller, in wire.ListDeliveries) (out wire.Page[coord.Delivery], err error) {
	if err := ground.WantUUID(in.ID, noWebhook); err != nil {
		return out, err
	}
	var before string
	if err := ground.Uncursor(in.Cursor, &before); err != nil {
		return out, err
	}
	err = s.Read(ctx, func(tx *store.Tx) error {
		if _, err := tx.Webhook(ctx, who.OrgID, in.ID); err != nil {
			return err
		}
		rows, err := tx.Deliveries(ctx, in.ID, before, in.Status, in.Limit+1)
		out.Items, out.NextCursor = ground.Page(rows, in.Limit, func(d coord.Delivery) []any { return []any{d.ID} })
		return err
	})
	return out, err
}

// Redeliver tries a delivery again now, under the same id: a receiver that
// has seen it can tell.
func (s *Service) Redeliver(ctx context.Context, who coord.Caller, in wire.Redeliver) (out wire.DeliveryQueued, err error) {
	if err := ground.WantUUID(in.Delivery, "no such delivery of this webhook"); err != nil {
		return out, err
	}
	err = s.onWebhook(ctx, who, in.ID, func(tx *store.Tx, w coord.Webhook) error {
		d, err := tx.Delivery(ctx, w.ID, in.Delivery)
		if err != nil {
			return err
		}
		if err := sends(w); err != nil {
			return err
		}
		d.Status, d.NextAttemptAt, d.DeliveredAt = coord.DeliveryPending, tx.Now.Ptr(), nil
		w.PausedUntil = nil
		out.DeliveryID = d.ID
		return ground.FirstError(tx.SaveDelivery(ctx, d), tx.SaveWebhookHealth(ctx, w), WakeWebhook(ctx, tx, who.OrgID, w.ID))
	})
	return out, err
}

// WebhookDisabled tells of an endpoint that was disabled: the log, and by mail
// whoever made it, where mail is configured.
func (s *Service) WebhookDisabled(ctx context.Context, tx *store.Tx, w coord.Webhook) error {
	err := ground.Tell(ctx, tx, ground.System(w.OrgID), coord.EventWebhookDisabled, w.ID, "", wire.WebhookDisabledPayload{
		FailingSince: w.FailingSince,
		Reason:       *w.DisabledReason,
	})
	if err != nil || !s.Config.Mail {
		return err
	}
	m, err := tx.Member(ctx, w.OrgID, w.CreatedBy)
	if problem.KindOf(err) == problem.NotFound {
		return nil // they have left; the log and chat tell the others
	}
	if err != nil {
		return err
	}
	org, err := tx.Org(ctx, w.OrgID)
	if err != nil {
		return err
	}
	notice := bulletin.WebhookDisabled(bulletin.DisabledWebhook{Org: org.Name, Webhook: w, URL: s.PageURL("webhook", "")})
	return s.QueueMail(ctx, tx, w.OrgID, bulletin.Mail{To: m.Email, MailShape: notice})
}
