package notify_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/eventlog"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/notify"
	"github.com/svc-hq/svc/internal/server/ops"
	"github.com/svc-hq/svc/internal/server/outbound"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/vault"
)

// A house is a server without its HTTP side, with one org and its owner.
type house struct {
	t     testing.TB
	st    *store.Store
	ops   *ops.Rooms
	owner coord.Caller
	out   *outbound.Client
	vault *vault.Vault
	cfg   notify.Config
	queue *jobs.Queue
	stop  func()
}

var quiet = slog.New(slog.DiscardHandler)

func open(t testing.TB, st *store.Store) *house {
	t.Helper()
	v, err := vault.FromSetting("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
	if err != nil {
		t.Fatal(err)
	}
	h := &house{t: t, st: st, vault: v}
	h.waits(await.Patience)
	made, err := h.ops.People.Bootstrap(t.Context(), "Acme", "ana@example.com", "Ana")
	if err != nil {
		t.Fatal(err)
	}
	h.owner = coord.Caller{
		OrgID:  made.Org.ID,
		UserID: made.User.ID,
		Email:  made.User.Email,
		Name:   made.User.Name,
		Role:   coord.Owner,
		Via:    coord.ViaCookie,
	}
	h.cfg = notify.Config{Schedule: repeat(20*time.Millisecond, 60), Pause: func(int) time.Duration { return 5 * time.Millisecond },
		Gather: time.Millisecond, Quiet: time.Millisecond}
	return h
}

// waits says how long an endpoint may take to answer: on a slow machine each that
// does answer must be in time.
func (h *house) waits(timeout time.Duration) {
	allow, _ := outbound.ParseAllow("127.0.0.1")
	h.out = outbound.New(outbound.Policy{Allow: allow, Timeout: timeout})
	h.furnish(ops.Config{PublicURL: "https://svc.example"})
}

func (h *house) furnish(c ops.Config) {
	c.Vault, c.Outbound = h.vault, h.out
	h.ops = ops.New(h.st, eventlog.New(h.st, quiet), live.New(h.st), quiet, c)
}

func repeat(d time.Duration, n int) []time.Duration {
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = d
	}
	return out
}

// start begins the background work; stop ends it as a shutdown would.
func (h *house) start() {
	h.t.Helper()
	c := h.cfg
	c.Store, c.Ops, c.Vault, c.Outbound, c.Log, c.Version = h.st, h.ops, h.vault, h.out, quiet, "test"
	n := notify.New(c)
	h.queue = jobs.NewQueue(h.st, quiet)
	h.queue.Drain = time.Second
	n.Register(h.queue)
	h.st.Committed = n.Woken
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { h.queue.Run(ctx) })
	wg.Go(func() { n.Run(ctx) })
	var once sync.Once
	h.stop = func() { once.Do(func() { cancel(); wg.Wait() }) }
	h.t.Cleanup(h.stop)
}

// emit writes events into the log, as operations do.
func (h *house) emit(types ...coord.EventType) {
	h.t.Helper()
	err := h.st.Write(h.t.Context(), h.owner.OrgID, func(tx *store.Tx) error {
		for _, t := range types {
			if err := tx.Emit(h.t.Context(), coord.Event{OrgID: h.owner.OrgID, Type: t, Actor: coord.Entity{Kind: "user", ID: h.owner.UserID},
				Subject: coord.Entity{Kind: "intent", ID: "x"}, Payload: map[string]any{"ref": "INT-1"}}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *house) webhook(url string, types ...coord.EventChoice) wire.CreatedWebhook {
	h.t.Helper()
	w, err := h.ops.Outgoing.CreateWebhook(h.t.Context(), h.owner, wire.CreateWebhook{URL: url, EventTypes: types})
	if err != nil {
		h.t.Fatal(err)
	}
	return w
}

func (h *house) deliveries(webhook string) []coord.Delivery {
	h.t.Helper()
	page, err := h.ops.Outgoing.ListDeliveries(h.t.Context(), h.owner, wire.ListDeliveries{ID: webhook, List: wire.List{Limit: 200}})
	if err != nil {
		h.t.Fatal(err)
	}
	return page.Items
}

func (h *house) get(webhook string) coord.Webhook {
	h.t.Helper()
	page, err := h.ops.Outgoing.ListWebhooks(h.t.Context(), h.owner, wire.None{})
	if err != nil {
		h.t.Fatal(err)
	}
	for _, w := range page.Items {
		if w.ID == webhook {
			return w
		}
	}
	h.t.Fatal("the webhook is gone")
	return coord.Webhook{}
}

// A receiver takes webhooks as somebody else's server would: it verifies them
// with the official library and counts each id.
type receiver struct {
	t      testing.TB
	url    string
	mood   func(http.ResponseWriter, *http.Request) bool // false if it has answered already
	mu     sync.Mutex
	secret string
	seen   map[string]int    // by webhook-id
	events map[string]string // event id to type
	told   func(coord.Event, http.Header)
}

func listen(t testing.TB, mood func(http.ResponseWriter, *http.Request) bool) *receiver {
	t.Helper()
	r := &receiver{t: t, mood: mood, seen: map[string]int{}, events: map[string]string{}}
	srv := httptest.NewServer(r)
	t.Cleanup(func() { srv.CloseClientConnections(); srv.Close() })
	r.url = srv.URL + "/hook"
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body := new(strings.Builder)
	if _, err := copyAll(body, req.Body); err != nil {
		return
	}
	if r.mood != nil && !r.mood(w, req) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	wh, err := standardwebhooks.NewWebhook(r.secret)
	if err == nil {
		err = wh.Verify([]byte(body.String()), req.Header)
	}
	var e coord.Event
	if err == nil {
		err = decode(body.String(), &e)
	}
	if err != nil {
		r.t.Errorf("a request did not verify: %v", err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.seen[req.Header.Get("webhook-id")]++
	r.events[e.ID] = string(e.Type)
	if r.told != nil {
		r.told(e, req.Header)
	}
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.events)
}

func (r *receiver) trust(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = secret
}

// publicOnly is a way out without an operator's exception.
var publicOnly = outbound.New(outbound.Policy{})
