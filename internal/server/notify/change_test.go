package notify_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

func (h *house) patch(in wire.PatchWebhook) coord.Webhook {
	h.t.Helper()
	w, err := h.ops.Outgoing.PatchWebhook(h.t.Context(), h.owner, in)
	if err != nil {
		h.t.Fatal(err)
	}
	return w
}

func (h *house) replay(in wire.ReplayDeliveries) wire.Replayed {
	h.t.Helper()
	out, err := h.ops.Outgoing.ReplayDeliveries(h.t.Context(), h.owner, in)
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

func (r *receiver) requests() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, times := range r.seen {
		n += times
	}
	return n
}

// While a secret is replaced, whoever has either takes every request; after a
// day only the new one is good.
func TestASecretIsReplacedWithoutALoss(t *testing.T) {
	st := storetest.Open(t)
	h := open(t, st)
	var later atomic.Int64
	st.SetClock(func() time.Time { return time.Now().Add(time.Duration(later.Load())) })
	h.start()
	r := listen(t, nil) // verifies with the official library
	w := h.webhook(r.url)
	r.trust(w.Secret)
	h.emit(coord.EventIntentDeclared)
	await.True(t, "the first", func() bool { return r.count() == 1 })
	rotated, err := h.ops.Outgoing.RotateSecret(t.Context(), h.owner, wire.ID{ID: w.ID})
	if err != nil || rotated.Secret == w.Secret {
		t.Fatal(rotated, err)
	}
	await.True(t, "webhook.updated, by who has the old secret", func() bool { return r.count() == 2 })
	r.trust(rotated.Secret)
	h.emit(coord.EventIntentDeclared)
	await.True(t, "the next, by who has the new one", func() bool { return r.count() == 3 })
	later.Store(int64(25 * time.Hour))
	h.emit(coord.EventIntentClosed)
	await.True(t, "one after a day", func() bool { return r.count() == 4 })
	var signatures string
	r.mu.Lock()
	r.told = func(_ coord.Event, got http.Header) { signatures = got.Get("webhook-signature") }
	r.mu.Unlock()
	h.emit(coord.EventIntentClosed)
	await.True(t, "the last", func() bool { return r.count() == 5 })
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(signatures) > 60 {
		t.Errorf("after a day the old secret still signs: %s", signatures)
	}
}

func TestAPausedEndpointIsSentNothingUntilItGoesOn(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		h := open(t, st)
		h.start()
		r, other := listen(t, nil), listen(t, nil)
		w := h.webhook(r.url, "intent.declared")
		r.trust(w.Secret)
		other.trust(w.Secret)
		yes, no := true, false
		if got := h.patch(wire.PatchWebhook{ID: w.ID, Paused: &yes}); !got.Paused || got.PausedAt == nil {
			t.Errorf("paused: %+v", got)
		}
		h.emit(coord.EventIntentDeclared, coord.EventIntentDeclared)
		await.True(t, "both wait", func() bool { return len(h.deliveries(w.ID)) == 2 })
		_, err := h.ops.Outgoing.TestWebhook(t.Context(), h.owner, wire.ID{ID: w.ID})
		if problem.KindOf(err) != problem.Conflict {
			t.Errorf("a test of a paused endpoint: %v", err)
		}
		_, err = h.ops.Outgoing.ReplayDeliveries(t.Context(), h.owner, wire.ReplayDeliveries{ID: w.ID, Since: "2020-01-01T00:00:00Z"})
		if problem.KindOf(err) != problem.Conflict {
			t.Errorf("a replay at a paused endpoint: %v", err)
		}
		if r.count() != 0 {
			t.Errorf("%d events arrived at a paused endpoint", r.count())
		}
		h.patch(wire.PatchWebhook{ID: w.ID, Paused: &no, URL: &other.url})
		await.True(t, "both at the new address", func() bool { return other.count() == 2 })
		if r.count() != 0 {
			t.Errorf("the old address got %d", r.count())
		}
	})
}

// What an endpoint lost can be had again, each delivery under the id it had,
// and what happened while it was off, under new ones.
func TestASpanIsReplayed(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		h := open(t, st)
		h.start()
		r := listen(t, nil)
		w := h.webhook(r.url, "intent.declared")
		r.trust(w.Secret)
		h.emit(coord.EventIntentDeclared, coord.EventIntentDeclared, coord.EventIntentClosed)
		await.True(t, "two", func() bool { return r.count() == 2 })
		types := []coord.EventChoice{"intent.declared", "intent.closed"}
		h.patch(wire.PatchWebhook{ID: w.ID, EventTypes: &types})
		settled := func() bool {
			for _, d := range h.deliveries(w.ID) {
				if d.Status != coord.DeliveryDelivered {
					return false
				}
			}
			return true
		}
		await.True(t, "both settled", settled)
		since := "2020-01-01T00:00:00.000Z"
		if got := h.replay(wire.ReplayDeliveries{ID: w.ID, Since: since, Only: "failed"}); got.Queued != 0 {
			t.Errorf("nothing failed, but %d are sent again", got.Queued)
		}
		if got := h.replay(wire.ReplayDeliveries{ID: w.ID, Since: since}); got.Queued != 3 || got.More {
			t.Errorf("replayed %+v, want the two and the one of a type that was not asked for then", got)
		}
		await.True(t, "five requests", func() bool { return r.requests() == 5 })
		if r.count() != 3 || len(r.seen) != 3 {
			t.Errorf("%d events under %d ids", r.count(), len(r.seen))
		}
		before := "2020-01-02T00:00:00.000Z"
		if got := h.replay(wire.ReplayDeliveries{ID: w.ID, Since: since, Until: &before}); got.Queued != 0 {
			t.Errorf("an empty span replays %d", got.Queued)
		}
		stranger := h.owner
		stranger.OrgID = "0d9fb4c6-6c83-4f2b-9c0e-6b2d1f6f0a11"
		_, err := h.ops.Outgoing.ReplayDeliveries(t.Context(), stranger, wire.ReplayDeliveries{ID: w.ID, Since: since})
		if problem.KindOf(err) != problem.NotFound {
			t.Errorf("another org's deliveries: %v", err)
		}
	})
}

// An endpoint cannot be moved to where it could not have been made.
func TestAnEndpointCannotBeMovedInside(t *testing.T) {
	h := open(t, storetest.Open(t))
	h.out = publicOnly
	h.furnish(ops.Config{PublicURL: "https://svc.example"})
	w := h.webhook("https://hooks.example.com/x")
	for _, inside := range []string{"http://127.0.0.1/", "https://127.0.0.1/", "https://169.254.169.254/latest/meta-data", "https://[::1]/",
		"https://localhost/", "https://10.0.0.7/", "https://user:pw@hooks.example.com/", "https://hooks.example.com:22/", "file:///etc/passwd"} {
		_, err := h.ops.Outgoing.PatchWebhook(t.Context(), h.owner, wire.PatchWebhook{ID: w.ID, URL: &inside})
		if problem.KindOf(err) != problem.Validation {
			t.Errorf("%s: %v", inside, err)
		}
	}
	if got := h.get(w.ID); got.URL != "https://hooks.example.com/x" {
		t.Errorf("it is at %s", got.URL)
	}
}

// Ten thousand deliveries are queued in one step that nobody waits long for.
func TestManyAreReplayedAtOnce(t *testing.T) {
	h := open(t, storetest.Open(t))
	w := h.webhook("https://hooks.example.com/x")
	const n = 10_000
	err := h.st.Write(t.Context(), h.owner.OrgID, func(tx *store.Tx) error {
		due := make([]coord.Delivery, n)
		for i := range due {
			due[i] = coord.Delivery{ID: ground.NewID(), WebhookID: w.ID, OrgID: h.owner.OrgID, EventSeq: int64(1000 + i),
				EventType: coord.EventIntentDeclared}
		}
		if err := tx.InsertDeliveries(t.Context(), due); err != nil {
			return err
		}
		return tx.GiveUpDeliveries(t.Context(), w.ID, "lost")
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := h.replay(wire.ReplayDeliveries{ID: w.ID, Since: "2020-01-01T00:00:00.000Z", Only: "failed"}); got.Queued != n {
		t.Errorf("%d of %d", got.Queued, n)
	}
	if got := h.replay(wire.ReplayDeliveries{ID: w.ID, Since: "2020-01-01T00:00:00.000Z", Only: "failed"}); got.Queued != 0 {
		t.Errorf("what waits is queued %d times more", got.Queued)
	}
}
