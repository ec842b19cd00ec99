package notify

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops/outgoing"
	"github.com/svc-hq/svc/internal/server/outbound"
	"github.com/svc-hq/svc/internal/server/store"
)

// DefaultSchedule is the time from each failed attempt to the next: ten
// attempts over three days.
var DefaultSchedule = []time.Duration{5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

const (
	inFlight     = 4                // requests to one endpoint at once
	perLook      = 64               // deliveries read at once
	turn         = 30 * time.Second // then others may have the place
	disableAfter = 5 * 24 * time.Hour
	// lull is how long an endpoint may have nothing to fail at before its next
	// failure counts as the first again.
	lull          = 36 * time.Hour
	maxRetryAfter = 24 * time.Hour
	patience      = 5 // failures in a row after which an endpoint is left alone for a while
)

// DefaultPause doubles from five seconds to five minutes.
func DefaultPause(failures int) time.Duration {
	return jobs.Jitter(min(5*time.Minute, 5*time.Second<<min(failures, 10)))
}

// sendWebhook sends one endpoint what waits for it.
func (n *Notifier) sendWebhook(ctx context.Context, r *jobs.Run) error {
	var in outgoing.WebhookJob
	if err := r.Decode(&in); err != nil {
		return err
	}
	for end := time.Now().Add(turn); time.Now().Before(end); {
		select {
		case <-r.Stopping:
			return jobs.Later(n.Store.Now())
		default:
		}
		again, err := n.sendDue(ctx, r, in.Webhook)
		if err != nil || again == nil {
			return err
		}
		if *again > n.Store.Now() {
			return jobs.Later(*again)
		}
	}
	return jobs.Later(n.Store.Now())
}

// A load is what one look at the database gives a sender to do.
type load struct {
	hook   coord.Webhook
	due    []coord.Delivery
	events map[int64]coord.Event
	// to sign with
	secrets []string
}

// sendDue makes the attempts that are due and returns when to look again, nil
// if nothing waits.
func (n *Notifier) sendDue(ctx context.Context, r *jobs.Run, id string) (again *coord.Time, err error) {
	var l load
	err = n.Store.Read(ctx, func(tx *store.Tx) error {
		if l.hook, err = tx.Webhook(ctx, r.OrgID, id); err != nil {
			return err
		}
		if l.hook.Paused { // going on wakes it
			return nil
		}
		if l.hook.PausedUntil != nil && *l.hook.PausedUntil > tx.Now {
			again = l.hook.PausedUntil
			return nil
		}
		if l.due, err = tx.DueDeliveries(ctx, id, perLook); err != nil {
			return err
		}
		if len(l.due) == 0 {
			again, err = tx.NextDelivery(ctx, id)
			return err
		}
		again = &tx.Now
		l.events, err = tx.EventsAt(ctx, r.OrgID, seqsOf(l.due))
		return err
	})
	if problem.KindOf(err) == problem.NotFound {
		return nil, nil // it was deleted meanwhile
	}
	if err == nil && !l.hook.Enabled {
		return nil, n.giveUp(ctx, l.hook)
	}
	if err != nil || len(l.due) == 0 {
		return again, err
	}
	if l.secrets, err = n.secrets(l.hook); err != nil {
		return nil, err
	}
	return again, n.attempt(ctx, l, r.Stopping)
}

// secrets returns those that requests to an endpoint are signed with: its own
// and, for a while, the one before.
func (n *Notifier) secrets(w coord.Webhook) (out []string, err error) {
	sealed := []string{w.Secret}
	if w.OldSecret != "" && w.OldSecretUntil != nil && *w.OldSecretUntil > n.Store.Now() {
		sealed = append(sealed, w.OldSecret)
	}
	for _, text := range sealed {
		secret, err := n.Vault.Open(outgoing.SecretOf(w.ID), text)
		if err != nil {
			return nil, err
		}
		out = append(out, secret)
	}
	return out, nil
}

// giveUp ends what waits for a disabled endpoint. Events may have been handed on
// to it beside its disabling.
func (n *Notifier) giveUp(ctx context.Context, w coord.Webhook) error {
	return n.Store.Write(ctx, outgoing.WebhookLock(w.ID), func(tx *store.Tx) error {
		now, err := tx.Webhook(ctx, w.OrgID, w.ID)
		switch {
		case problem.KindOf(err) == problem.NotFound, err == nil && now.Enabled: // its test call asks for another run
			return nil
		case err != nil:
			return err
		}
		return tx.GiveUpDeliveries(ctx, w.ID, disabledText(now))
	})
}

func disabledText(w coord.Webhook) string { return "the endpoint was disabled: " + *w.DisabledReason }

func seqsOf(ds []coord.Delivery) (seqs []int64) {
	for _, d := range ds {
		seqs = append(seqs, d.EventSeq)
	}
	return seqs
}

// attempt sends the deliveries of a load, a few at once, and records what
// came of them. It stops early when the endpoint asks for a break or the server
// shuts down.
func (n *Notifier) attempt(ctx context.Context, l load, stopping <-chan struct{}) error {
	done := make(chan outcome, inFlight)
	next, flying, paused := 0, 0, false
	var ready []outcome
	for {
		limit := inFlight
		if l.hook.Failures > 0 {
			limit = 1 // feel one's way
		}
		select {
		case <-stopping:
			paused = true
		default:
		}
		for !paused && next < len(l.due) && flying < limit && ctx.Err() == nil {
			w, d := l.hook, l.due[next]
			e, found := l.events[d.EventSeq]
			next, flying = next+1, flying+1
			go func() { done <- n.post(ctx, w, d, e, found, l.secrets) }()
		}
		if flying == 0 {
			break
		}
		o := <-done
		flying--
		ready = append(ready, o)
		if ctx.Err() != nil {
			continue // what was cut off is tried again
		}
		if len(ready) >= 16 || flying == 0 || !o.ok {
			var err error
			if paused, err = n.record(ctx, &l.hook, ready); err != nil {
				return err // those under way are tried again
			}
			ready = ready[:0]
		}
	}
	return ctx.Err()
}

// An outcome is what came of one attempt.
type outcome struct {
	coord.Delivery
	ok      bool
	answer  outbound.Answer
	err     error
	missing bool // the event is no longer in the log
}

func (n *Notifier) post(ctx context.Context, w coord.Webhook, d coord.Delivery, e coord.Event, found bool, secrets []string) outcome {
	if !found {
		return outcome{Delivery: d, missing: true, err: fmt.Errorf("the event is no longer in the log")}
	}
	body, err := json.Marshal(e, json.Deterministic(true))
	if err != nil {
		return outcome{Delivery: d, missing: true, err: err}
	}
	header, err := Sign(secrets, d.MessageID(), time.Now(), body)
	if err != nil {
		return outcome{Delivery: d, missing: true, err: err}
	}
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", "svc/"+n.Version)
	a, err := n.Outbound.Post(ctx, w.URL, header, body)
	ok := err == nil && a.Status >= 200 && a.Status < 300
	n.Tried("webhook", ok)
	return outcome{Delivery: d, ok: ok, answer: a, err: err}
}

// Sign returns the headers of the Standard Webhooks scheme, with a signature
// for each secret: a receiver takes the request if one of them is right.
func Sign(secrets []string, id string, at time.Time, body []byte) (http.Header, error) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	var signatures []string
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
		if err != nil {
			return nil, fmt.Errorf("unreadable webhook secret: %w", err)
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.", id, stamp)
		mac.Write(body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	h := http.Header{}
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", stamp)
	h.Set("webhook-signature", strings.Join(signatures, " "))
	return h, nil
}

// record stores outcomes and how the endpoint fares, and reports whether it
// is to be left alone now.
func (n *Notifier) record(ctx context.Context, w *coord.Webhook, done []outcome) (paused bool, err error) {
	was := *w
	err = n.Store.Write(ctx, outgoing.WebhookLock(w.ID), func(tx *store.Tx) error {
		now, err := tx.Webhook(ctx, w.OrgID, w.ID)
		if problem.KindOf(err) == problem.NotFound {
			paused = true
			return nil
		}
		if err != nil {
			return err
		}
		*w = now
		for _, o := range done {
			d := n.settle(w, o, tx.Now)
			if err := tx.SettleDelivery(ctx, d); err != nil {
				return err
			}
		}
		if now.Enabled && !w.Enabled {
			if err := n.disabled(ctx, tx, *w); err != nil {
				return err
			}
		}
		paused = !w.Enabled || w.Paused || w.PausedUntil != nil && *w.PausedUntil > tx.Now
		return tx.SaveWebhookHealth(ctx, *w)
	})
	if err != nil {
		*w = was
	}
	return paused, err
}

// settle works out what an attempt means for its delivery and its endpoint.
func (n *Notifier) settle(w *coord.Webhook, o outcome, now coord.Time) coord.Delivery {
	d := o.Delivery
	d.Attempts++
	ms := int(o.answer.Took.Milliseconds())
	d.ResponseMS, d.ResponseStatus, d.Error, d.NextAttemptAt = &ms, nil, nil, nil
	if o.answer.Status != 0 {
		d.ResponseStatus = &o.answer.Status
	}
	if o.ok {
		d.Status, d.DeliveredAt = coord.DeliveryDelivered, now.Ptr()
		w.Failures, w.FailingSince, w.PausedUntil, w.LastSuccessAt = 0, nil, nil, now.Ptr()
		return d
	}
	reason := reasonOf(o)
	d.Error = &reason
	if o.missing || d.Attempts > len(n.Schedule) {
		d.Status = coord.DeliveryFailed
	} else {
		after := max(jobs.Jitter(n.Schedule[d.Attempts-1]), retryAfter(o.answer.Header, now))
		d.NextAttemptAt = now.Add(after).Ptr()
	}
	if !o.missing {
		n.suffer(w, o, now)
	}
	return d
}

func reasonOf(o outcome) string {
	if o.err != nil {
		return o.err.Error()
	}
	reason := fmt.Sprintf("it answered %d %s", o.answer.Status, http.StatusText(o.answer.Status))
	if o.answer.Status >= 300 && o.answer.Status < 400 {
		reason += "; redirects are not followed, so give the final address"
	}
	if text := peertext.Line(o.answer.Body, 200); text != "" {
		reason += ": " + text
	}
	return reason
}

// suffer notes a failure of an endpoint: it is left alone for a while if it
// asked for that or does not answer at all, and disabled if it is gone or has
// failed for days.
func (n *Notifier) suffer(w *coord.Webhook, o outcome, now coord.Time) {
	w.Failures++
	if w.FailingSince == nil || w.LastFailureAt != nil && now.Sub(*w.LastFailureAt) > lull {
		w.FailingSince = now.Ptr()
	}
	w.LastFailureAt = now.Ptr()
	busy := slices.Contains([]int{429, 502, 503, 504}, o.answer.Status)
	if wait := retryAfter(o.answer.Header, now); busy || w.Failures >= patience {
		w.PausedUntil = now.Add(max(wait, n.Pause(w.Failures))).Ptr()
	}
	switch {
	case o.answer.Status == http.StatusGone:
		disable(w, now, "it answered 410 Gone")
	case now.Sub(*w.FailingSince) >= disableAfter:
		disable(w, now, "no delivery has succeeded for five days")
	}
}

func disable(w *coord.Webhook, now coord.Time, reason string) {
	w.Enabled, w.DisabledAt, w.DisabledReason = false, now.Ptr(), &reason
}

func (n *Notifier) disabled(ctx context.Context, tx *store.Tx, w coord.Webhook) error {
	if err := tx.GiveUpDeliveries(ctx, w.ID, disabledText(w)); err != nil {
		return err
	}
	return n.Ops.Outgoing.WebhookDisabled(ctx, tx, w)
}

// retryAfter reads a Retry-After header: seconds or a date, a day at most.
func retryAfter(h http.Header, now coord.Time) time.Duration {
	text := h.Get("Retry-After")
	var d time.Duration
	if s, err := strconv.Atoi(text); err == nil && s > 0 && s < 1<<30 {
		d = time.Duration(s) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		d = at.Sub(now.Std())
	}
	return min(max(d, 0), maxRetryAfter)
}
