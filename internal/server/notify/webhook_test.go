package notify_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/ops/outgoing"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

func copyAll(to io.Writer, from io.Reader) (int64, error) {
	return io.Copy(to, io.LimitReader(from, 1<<20))
}

func decode(text string, to any) error { return json.Unmarshal([]byte(text), to) }

// trouble answers properly only some of the time.
func trouble(w http.ResponseWriter, r *http.Request) bool {
	switch rand.IntN(8) {
	case 0:
		w.WriteHeader(http.StatusInternalServerError)
	case 1:
		w.WriteHeader(http.StatusServiceUnavailable)
	case 2: // a reset
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}
	case 3: // no answer in time
		<-r.Context().Done()
	case 4:
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	default:
		return true
	}
	return false
}

func TestEveryEventArrivesThroughTrouble(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		h := open(t, st)
		h.waits(300 * time.Millisecond)
		h.cfg.Schedule = repeat(20*time.Millisecond, 100_000) // a slow machine makes trouble, too
		h.start()
		r := listen(t, trouble)
		w := h.webhook(r.url)
		r.trust(w.Secret)
		const n = 40
		for i := range n {
			h.emit(coord.EventIntentDeclared)
			if i == n/2 { // a restart in the middle, with deliveries under way
				h.stop()
				h.emit(coord.EventIntentClosed) // committed while nobody delivers
				h.start()
			}
		}
		await.True(t, "all events", func() bool { return r.count() == n+1 })
		await.True(t, "all marked as delivered", func() bool {
			for _, d := range h.deliveries(w.ID) {
				if d.Status != coord.DeliveryDelivered {
					return false
				}
			}
			return true
		})
		if got := h.deliveries(w.ID); len(got) != n+1 {
			t.Errorf("%d deliveries, want %d: one per event", len(got), n+1)
		}
		if len(r.seen) != n+1 {
			t.Errorf("%d message ids for %d events: repetitions cannot be told", len(r.seen), n+1)
		}
	})
}

func TestOnlyWantedEventsSinceCreationAreSent(t *testing.T) {
	h := open(t, storetest.Open(t))
	h.start()
	h.emit(coord.EventIntentDeclared)
	all, some := h.webhookAt(listen(t, nil)), listen(t, nil)
	some.trust(h.webhook(some.url, "conflict.detected", "intent.closed").Secret)
	h.emit(coord.EventIntentDeclared, coord.EventConflictDetected, coord.EventIntentClosed)
	await.True(t, "all", func() bool { return all.count() == 4 }) // with the other's webhook.created
	await.True(t, "some", func() bool { return some.count() == 2 })
}

func TestAnEndpointIsDisabledAfterFiveDaysAndEnabledByItsTest(t *testing.T) {
	st := storetest.Open(t)
	h := open(t, st)
	var now atomic.Int64
	now.Store(time.Now().UnixMilli())
	st.SetClock(func() time.Time { return time.UnixMilli(now.Load()) })
	h.cfg.Schedule = repeat(time.Hour, 200)
	h.cfg.Pause = func(int) time.Duration { return time.Minute }
	var down atomic.Bool
	down.Store(true)
	r := listen(t, func(w http.ResponseWriter, _ *http.Request) bool {
		if down.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
		return !down.Load()
	})
	w := h.webhook(r.url)
	r.trust(w.Secret)
	h.start()
	h.emit(coord.EventIntentDeclared)
	attempts := func() int { return h.deliveries(w.ID)[0].Attempts }
	await.True(t, "a first attempt", func() bool { return len(h.deliveries(w.ID)) == 1 && attempts() == 1 })
	began := now.Load()
	for h.get(w.ID).Enabled {
		was := attempts()
		await.True(t, "the job to be put off", func() bool { // by the clock as it is, not as it will be
			j := h.job("webhook:" + w.ID)
			return j != nil && j.Lease == "" && j.DueAt > st.Now()
		})
		now.Add(2 * time.Hour.Milliseconds())
		st.Queued()
		await.True(t, "another attempt", func() bool { return attempts() > was || !h.get(w.ID).Enabled })
	}
	if after := time.Duration(now.Load()-began) * time.Millisecond; after < 5*24*time.Hour || after > 5*24*time.Hour+3*time.Hour {
		t.Errorf("disabled after %v, want five days", after)
	}
	if d := h.deliveries(w.ID)[0]; d.Status != coord.DeliveryFailed || d.NextAttemptAt != nil {
		t.Errorf("what waited for it = %+v, want failed", d)
	}
	if got := h.events(coord.EventWebhookDisabled); got != 1 {
		t.Errorf("%d webhook.disabled events, want 1", got)
	}
	if _, err := h.ops.Outgoing.Redeliver(t.Context(), h.owner, wire.Redeliver{
		ID:       w.ID,
		Delivery: h.deliveries(w.ID)[0].ID,
	}); problem.KindOf(err) != problem.Conflict {
		t.Errorf("redelivery to a disabled endpoint = %v, want a conflict", err)
	}
	old := h.deliveries(w.ID)[0]
	h.emit(coord.EventIntentClosed) // not for a disabled endpoint
	down.Store(false)
	test, err := h.ops.Outgoing.TestWebhook(t.Context(), h.owner, wire.ID{ID: w.ID})
	if err != nil {
		t.Fatal(err)
	}
	await.True(t, "the test delivery", func() bool {
		d := h.deliveries(w.ID)[0]
		return d.ID == test.DeliveryID && d.Status == coord.DeliveryDelivered && d.EventType == coord.EventWebhookTested
	})
	if got := h.get(w.ID); !got.Enabled || got.FailingSince != nil || got.DisabledReason != nil {
		t.Errorf("after its test the endpoint is %+v", got)
	}
	if _, err := h.ops.Outgoing.Redeliver(t.Context(), h.owner, wire.Redeliver{ID: w.ID, Delivery: old.ID}); err != nil {
		t.Fatal(err)
	}
	await.True(t, "the redelivery", func() bool { return r.count() == 2 })
}

// job returns a job by its key, nil if there is none.
func (h *house) job(key string) (j *store.Job) {
	h.t.Helper()
	err := h.st.Read(h.t.Context(), func(tx *store.Tx) (err error) {
		j, err = tx.JobByKey(h.t.Context(), key)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return j
}

func (h *house) events(t coord.EventType) int {
	h.t.Helper()
	page, err := h.ops.Outgoing.ListEvents(h.t.Context(), h.owner, wire.ListEvents{List: wire.List{Limit: 200}, Type: []coord.EventType{t}})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range page.Items {
		if err := daemontest.Promised(e); err != nil && t == coord.EventWebhookDisabled { // others are the tests' own
			h.t.Error(err)
		}
	}
	return len(page.Items)
}

func TestGoneDisablesAtOnceAndItsMakerIsTold(t *testing.T) {
	h := open(t, storetest.Open(t))
	p := newPostOffice(t)
	p.busy["ana@example.com"] = 1 // not busy this time
	h.withMail(p)
	h.start()
	r := listen(t, func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusGone); return false })
	w := h.webhook(r.url)
	h.emit(coord.EventIntentDeclared)
	await.True(t, "disabled", func() bool { return !h.get(w.ID).Enabled })
	if reason := *h.get(w.ID).DisabledReason; !strings.Contains(reason, "410") {
		t.Errorf("reason %q", reason)
	}
	await.True(t, "the mail", func() bool { return strings.Contains(p.letter("ana@example.com"), "410 Gone") })
}

// Nothing waits for an endpoint that is disabled: neither what was under way
// when it was, nor what was handed on beside it. What another attempt settled
// meanwhile stays as it is.
func TestAttemptsThatEndLateSettleNothingAnew(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		h := open(t, st)
		first := make(chan string, inFlight) // who goes first is told that it is gone
		first <- "gone"
		arrived, disabled := make(chan string, inFlight), make(chan struct{})
		r := listen(t, func(w http.ResponseWriter, r *http.Request) bool {
			arrived <- r.Header.Get("webhook-id")
			select {
			case <-first:
				w.WriteHeader(http.StatusGone)
			case <-disabled:
				w.WriteHeader(http.StatusInternalServerError)
			}
			return false
		})
		w := h.webhook(r.url)
		h.emit(repeatType(coord.EventIntentDeclared, inFlight)...)
		h.start()
		await.True(t, "disabled", func() bool { return !h.get(w.ID).Enabled })
		var last coord.Delivery
		for range inFlight {
			if d := h.delivery(w.ID, strings.TrimPrefix(<-arrived, "msg_")); d.Attempts == 0 {
				last = d
			}
		}
		last.Status, last.NextAttemptAt, last.DeliveredAt = coord.DeliveryDelivered, nil, st.Now().Ptr() // as another replica may find
		late := coord.Delivery{ID: uuid.NewString(), WebhookID: w.ID, OrgID: h.owner.OrgID, EventSeq: 1, EventType: coord.EventIntentClosed}
		err := st.Write(t.Context(), h.owner.OrgID, func(tx *store.Tx) error {
			return errors.Join(tx.SaveDelivery(t.Context(), last), tx.InsertDeliveries(t.Context(), []coord.Delivery{late}),
				outgoing.WakeWebhook(t.Context(), tx, h.owner.OrgID, w.ID))
		})
		if err != nil {
			t.Fatal(err)
		}
		close(disabled)
		await.True(t, "the sender to end", func() bool { return h.job("webhook:"+w.ID) == nil })
		for _, d := range h.deliveries(w.ID) {
			want := coord.DeliveryFailed
			if d.ID == last.ID {
				want = coord.DeliveryDelivered
			}
			if d.Status != want || d.NextAttemptAt != nil {
				t.Errorf("delivery of event %s is %s, next attempt %v; want %s and none", d.EventID, d.Status, d.NextAttemptAt, want)
			}
		}
		if got := h.events(coord.EventWebhookDisabled); got != 1 {
			t.Errorf("%d webhook.disabled events, want 1", got)
		}
	})
}

// inFlight is how many requests one endpoint gets at once.
const inFlight = 4

func (h *house) delivery(webhook, id string) (d coord.Delivery) {
	h.t.Helper()
	err := h.st.Read(h.t.Context(), func(tx *store.Tx) (err error) {
		d, err = tx.Delivery(h.t.Context(), webhook, id)
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

func TestAfterTheLastAttemptADeliveryHasFailed(t *testing.T) {
	h := open(t, storetest.Open(t))
	h.cfg.Schedule = repeat(time.Millisecond, 3)
	h.start()
	r := listen(t, func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, "no such\x1b[8m thing\n")
		return false
	})
	w := h.webhook(r.url)
	h.emit(coord.EventIntentDeclared)
	await.True(t, "failed", func() bool { ds := h.deliveries(w.ID); return len(ds) == 1 && ds[0].Status == coord.DeliveryFailed })
	d := h.deliveries(w.ID)[0]
	if d.Attempts != 4 || *d.ResponseStatus != 400 || *d.Error != "it answered 400 Bad Request: no such thing" {
		t.Errorf("delivery %+v, error %q", d, *d.Error)
	}
}

func TestRetryAfterIsHonoured(t *testing.T) {
	h := open(t, storetest.Open(t))
	var asked atomic.Int32
	r := listen(t, func(w http.ResponseWriter, _ *http.Request) bool {
		asked.Add(1)
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
		return false
	})
	w := h.webhook(r.url)
	h.start()
	h.emit(repeatType(coord.EventIntentDeclared, 10)...)
	await.True(t, "a first answer", func() bool { return h.get(w.ID).FailingSince != nil })
	await.True(t, "the job waits", func() bool {
		j := h.job("webhook:" + w.ID)
		return j != nil && j.Lease == "" && j.DueAt.Sub(h.st.Now()) > 50*time.Minute
	})
	if n := asked.Load(); n > 4 {
		t.Errorf("asked %d times, want at most those under way", n)
	}
}

func repeatType(e coord.EventType, n int) []coord.EventType {
	out := make([]coord.EventType, n)
	for i := range out {
		out[i] = e
	}
	return out
}

func TestCreateWebhookRefusesWhatCannotWork(t *testing.T) {
	h := open(t, storetest.Open(t))
	for _, tt := range []struct {
		name string
		in   wire.CreateWebhook
		kind problem.Kind
		path string
	}{
		{name: "a private address", in: wire.CreateWebhook{URL: "https://10.0.0.1/x"}, kind: problem.Validation, path: "url"},
		{name: "no web address", in: wire.CreateWebhook{URL: "hello"}, kind: problem.Validation, path: "url"},
		{name: "the same url twice", in: wire.CreateWebhook{URL: "https://example.com/there"}, kind: problem.Conflict},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.kind == problem.Conflict {
				h.webhook(tt.in.URL)
			}
			_, err := h.ops.Outgoing.CreateWebhook(t.Context(), h.owner, tt.in)
			if problem.KindOf(err) != tt.kind || !strings.Contains(err.Error(), tt.path) {
				t.Errorf("err = %v, want %s about %q", err, tt.kind, tt.path)
			}
		})
	}
}

// A thousand events to twenty endpoints, one of which never answers and is given
// all the time there is: who waits for it has the test wait in vain.
func TestAHangingEndpointDelaysNoOther(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		h := open(t, st)
		h.start()
		const events, endpoints = burst, 20
		h.webhookAt(listen(t, func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return false }))
		var rs []*receiver
		for range endpoints - 1 {
			rs = append(rs, h.webhookAt(listen(t, nil)))
		}
		start := time.Now()
		for range events / 50 {
			h.emit(repeatType(coord.EventIntentDeclared, 50)...)
		}
		arrived := func() (n int) {
			for _, r := range rs {
				n += r.count()
			}
			return n
		}
		const made = (endpoints - 1) * (endpoints - 2) / 2         // who was there before hears of each new one
		for n := 0; n < events*(endpoints-1)+made; n = arrived() { // as long as there is progress
			await.True(t, fmt.Sprintf("more than %d deliveries", n), func() bool { return arrived() > n })
		}
		t.Logf("%s: %d deliveries in %v (%s per second)", st.Name(), events*(endpoints-1), time.Since(start).Round(time.Millisecond),
			strconv.Itoa(int(events*(endpoints-1)/time.Since(start).Seconds())))
	})
}

func (h *house) webhookAt(r *receiver) *receiver {
	h.t.Helper()
	r.trust(h.webhook(r.url).Secret)
	return r
}
