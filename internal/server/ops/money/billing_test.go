package money_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/billing/stripetest"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A fakeStripe stands in for Stripe where its state matters: package billing
// is held against Stripe's own document.
type fakeStripe struct {
	*httptest.Server
	mu        sync.Mutex
	keys      map[string]string // idempotency key to answer
	customers int
	pages     int
	subs      []map[string]any
	prices    []map[string]any
	seats     []string // what was set, as item=quantity
	down      bool
}

const stripeSecret = "whsec_test"

func newFakeStripe(t testing.TB) *fakeStripe {
	s := &fakeStripe{keys: map[string]string{}, prices: []map[string]any{
		stripePrice("price_team", "month", 2000, nil), stripePrice("price_business", "month", 9900, nil),
	}}
	once := func(r *http.Request, answer func() string) string {
		key := r.Header.Get("Idempotency-Key")
		if key == "" || s.keys[key] == "" {
			s.keys[key] = answer()
		}
		return s.keys[key]
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/customers", func(w http.ResponseWriter, r *http.Request) {
		id := once(r, func() string { s.customers++; return fmt.Sprint("cus_", s.customers) })
		teamtest.Answer(w, 200, map[string]any{"id": id, "object": "customer"})
	})
	mux.HandleFunc("POST /v1/checkout/sessions", func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		page := once(r, func() string {
			s.pages++
			return fmt.Sprintf("https://checkout.stripe.test/%d/%s/%s/%s", s.pages, r.Form.Get("customer"), r.Form.Get("line_items[0][price]"),
				r.Form.Get("line_items[0][quantity]"))
		})
		teamtest.Answer(w, 200, map[string]any{"id": "cs_1", "object": "checkout.session", "url": page})
	})
	mux.HandleFunc("POST /v1/billing_portal/sessions", func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		teamtest.Answer(w, 200, map[string]any{
			"id":     "bps_1",
			"object": "billing_portal.session",
			"url":    "https://portal.stripe.test/" + r.Form.Get("customer"),
		})
	})
	mux.HandleFunc("GET /v1/subscriptions", func(w http.ResponseWriter, r *http.Request) {
		teamtest.Answer(w, 200, map[string]any{"object": "list", "data": s.subs, "has_more": false, "url": "/v1/subscriptions"})
	})
	mux.HandleFunc("GET /v1/prices", func(w http.ResponseWriter, r *http.Request) {
		teamtest.Answer(w, 200, map[string]any{"object": "list", "data": s.prices, "has_more": false, "url": "/v1/prices"})
	})
	mux.HandleFunc("POST /v1/subscription_items/{id}", func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		s.seats = append(s.seats, r.PathValue("id")+"="+r.Form.Get("quantity"))
		s.item()["quantity"], _ = strconv.Atoi(r.Form.Get("quantity"))
		teamtest.Answer(w, 200, s.item())
	})
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.down {
			teamtest.Answer(w, 500, map[string]any{"error": map[string]any{"type": "api_error", "message": "down"}})
			return
		}
		if r.Header.Get("Authorization") != "Bearer sk_test_1" {
			teamtest.Answer(w, 401, map[string]any{"error": map[string]any{"type": "invalid_request_error"}})
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// stripePrice is a price as Stripe tells it.
func stripePrice(id, interval string, amount int, metadata map[string]any) map[string]any {
	return map[string]any{"id": id, "object": "price", "active": true, "type": "recurring", "billing_scheme": "per_unit", "currency": "usd",
		"created": 1, "unit_amount": amount, "unit_amount_decimal": strconv.Itoa(amount), "metadata": metadata,
		"recurring": map[string]any{"interval": interval, "interval_count": 1, "usage_type": "licensed"}}
}

// item is what the one subscription is for.
func (s *fakeStripe) item() map[string]any {
	return s.subs[0]["items"].(map[string]any)["data"].([]any)[0].(map[string]any)
}

// has makes a customer have one subscription, to one of the prices or to
// another.
func (s *fakeStripe) has(id, status, price string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	paid := map[string]any{"id": price}
	for _, p := range s.prices {
		if p["id"] == price {
			paid = p
		}
	}
	s.subs = []map[string]any{{"id": id, "object": "subscription", "status": status, "created": 1, "customer": "cus_1",
		"items": map[string]any{
			"object": "list",
			"data": []any{map[string]any{"id": "si", "object": "subscription_item", "price": paid, "quantity": 1,
				"current_period_end": 1800000000}},
		}}}
}

func (s *fakeStripe) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// stripeEvent is a signed webhook.
func stripeEvent(kind, customer string) request {
	body := fmt.Appendf(nil, `{"id":"evt_%s","object":"event","type":%q,"created":%d,"data":{"object":{"id":"sub_1","customer":%q}}}`,
		uuid.NewString(), kind, time.Now().Unix(), customer)
	return signedStripe(body, stripeSecret, time.Now())
}

func signedStripe(body []byte, secret string, at time.Time) request {
	return request{Method: "POST", Path: "/v1/billing/webhook", Body: body,
		Header: map[string]string{"Stripe-Signature": stripetest.Sign(body, secret, at)}}
}

func stripeConfig(dsn, url string) daemon.Config {
	return daemon.Config{
		Database: dsn,
		Allow:    "127.0.0.1",
		Stripe: daemon.StripeConfig{
			Key:           "sk_test_1",
			WebhookSecret: stripeSecret,
			PriceTeam:     "price_team",
			PriceBusiness: "price_business",
			URL:           url,
		},
	}
}

// onStripe runs a test with a team whose server sells plans, on every database.
func onStripe(t *testing.T, test func(*testing.T, *team, *fakeStripe)) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		s := newFakeStripe(t)
		x := newTeam(t, daemontest.StartWith(t, stripeConfig(dsn, s.URL)), "Acme")
		x.plan("free")
		test(t, x, s)
	})
}

func (x *team) billing(token string) (b wire.Billing) {
	x.Helper()
	x.W.Must(200, request{Method: "GET", Path: "/v1/billing", Token: token}, &b)
	return b
}

func (x *team) pay(path, token string, body any, to any) problem.Body {
	x.Helper()
	res := x.W.Do(request{Method: "POST", Path: path, Token: token, Body: body})
	var b problem.Body
	if res.Status == 200 {
		res.JSON(x, to)
	} else {
		res.JSON(x, &b)
	}
	return b
}

func TestWithoutBillingThereIsNothingToPay(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		for _, role := range []coord.Role{coord.Owner, coord.Admin, coord.Billing} {
			if b := x.billing(x.O.Tokens[role]); b.Available || b.Plan != "self_hosted" || b.Status != "none" || b.Subscribed {
				t.Errorf("billing for %s = %+v", role, b)
			}
		}
		for _, role := range []coord.Role{coord.Owner, coord.Billing} {
			for path, body := range map[string]any{"/v1/billing/checkout": map[string]any{"plan": "team"}, "/v1/billing/portal": nil} {
				if b := x.pay(path, x.O.Tokens[role], body, nil); b.Status != 503 || b.Type != problem.BillingUnavailable.Type() {
					t.Errorf("%s for %s = %+v", path, role, b)
				}
			}
		}
		if res := x.W.Do(stripeEvent("customer.subscription.updated", "cus_1")); res.Status != 503 {
			t.Errorf("a webhook of Stripe = %d", res.Status)
		}
	})
}

// The story of a subscription: bought, changed, not paid, paid, cancelled.
func TestASubscriptionFromCheckoutToItsEnd(t *testing.T) {
	onStripe(t, func(t *testing.T, x *team, s *fakeStripe) {
		payer, neighbour := x.O.Tokens[coord.Billing], x.W.Org("Other")
		if b := x.billing(payer); !b.Available || b.Plan != "free" || b.Subscribed {
			t.Fatalf("at the start %+v", b)
		}
		if b := x.pay("/v1/billing/portal", payer, nil, nil); b.Status != 409 {
			t.Errorf("the portal of no customer = %+v", b)
		}
		var first, again, other wire.PageURL
		x.pay("/v1/billing/checkout", payer, map[string]any{"plan": "team"}, &first)
		x.pay("/v1/billing/checkout", x.Ada.Token, map[string]any{"plan": "team"}, &again)
		x.pay("/v1/billing/checkout", x.Ada.Token, map[string]any{"plan": "business"}, &other)
		if first.URL != "https://checkout.stripe.test/1/cus_1/price_team/1" || again != first ||
			other.URL != "https://checkout.stripe.test/2/cus_1/price_business/1" || s.customers != 1 {
			t.Errorf("checkout = %v, %v, %v; %d customers", first, again, other, s.customers)
		}
		if b := x.billing(payer); b.Subscribed || b.Plan != "free" || b.Status != "none" {
			t.Errorf("before anything is paid %+v", b)
		}
		tell := func(kind string) {
			t.Helper()
			x.W.Must(200, stripeEvent(kind, "cus_1"), nil)
		}
		becomes := func(plan, status string, subscribed bool) {
			t.Helper()
			await.True(t, "the plan is "+plan+", "+status, func() bool {
				b := x.billing(payer)
				return b.Plan == plan && b.Status == status && b.Subscribed == subscribed
			})
		}
		s.has("sub_1", "active", "price_team")
		tell("checkout.session.completed")
		becomes("team", "active", true)
		if u := x.usage(x.Ada); u.Plan != "team" || *u.Limits.Repos != 25 {
			t.Errorf("usage = %+v", u)
		}
		if b := x.billing(neighbour.Owner()); b.Plan != "self_hosted" || b.Subscribed || b.Status != "none" {
			t.Errorf("another org's billing became %+v", b)
		}
		if b := x.pay("/v1/billing/checkout", payer, map[string]any{"plan": "business"}, nil); b.Status != 409 ||
			b.Type != problem.AlreadySubscribed.Type() {
			t.Errorf("buying a second one = %+v", b)
		}
		var portal wire.PageURL
		if x.pay("/v1/billing/portal", payer, nil, &portal); portal.URL != "https://portal.stripe.test/cus_1" {
			t.Errorf("portal = %v", portal)
		}
		s.has("sub_1", "active", "price_business")
		tell("customer.subscription.updated")
		becomes("business", "active", true)
		s.has("sub_1", "past_due", "price_business")
		tell("customer.subscription.updated")
		becomes("business", "past_due", true)
		s.has("sub_1", "unpaid", "price_business")
		tell("customer.subscription.updated")
		becomes("free", "unpaid", true)
		s.has("sub_1", "active", "price_business")
		tell("customer.subscription.updated")
		becomes("business", "active", true)
		s.has("sub_1", "canceled", "price_business")
		tell("customer.subscription.deleted")
		becomes("free", "canceled", false)
		var fresh wire.PageURL
		if x.pay("/v1/billing/checkout", payer, map[string]any{"plan": "team"}, &fresh); fresh.URL == first.URL || fresh.URL == "" {
			t.Errorf("buying anew leads to %v", fresh)
		}
		got := []string{}
		for _, p := range x.told(coord.EventBillingUpdated) {
			got = append(got, fmt.Sprint(p["previous_plan"], ">", p["plan"], " ", p["status"]))
		}
		want := "business>free canceled, free>business active, business>free unpaid, business>business past_due, team>business active, " +
			"free>team active"
		if strings.Join(got, ", ") != want {
			t.Errorf("told %s\nwant %s", strings.Join(got, ", "), want)
		}
	})
}

// Whatever order webhooks come in, and however often, the plan is what Stripe
// says now; what is not Stripe's changes nothing and the log says why.
func TestWebhooksOfStripeThatAreRefusedOrComeInAnyOrder(t *testing.T) {
	onStripe(t, func(t *testing.T, x *team, s *fakeStripe) {
		payer := x.O.Tokens[coord.Billing]
		var page wire.PageURL
		x.pay("/v1/billing/checkout", payer, map[string]any{"plan": "team"}, &page)
		s.has("sub_1", "active", "price_business")
		good := stripeEvent("customer.subscription.updated", "cus_1")
		body := good.Body.([]byte)
		unsigned := good
		unsigned.Header = nil
		changed := good
		changed.Body = append([]byte(" "), body...)
		for name, tt := range map[string]struct {
			r      request
			status int
			log    string
		}{
			"unsigned":       {unsigned, 403, "it is not signed"},
			"another secret": {signedStripe(body, "whsec_guess", time.Now()), 403, "does not match the secret"},
			"changed":        {changed, 403, "does not match the secret"},
			"stale":          {signedStripe(body, stripeSecret, time.Now().Add(-10*time.Minute)), 403, "signed more than five minutes ago"},
			"no event":       {signedStripe([]byte("{}"), stripeSecret, time.Now()), 400, "no event of Stripe"},
		} {
			res := x.W.Do(tt.r)
			if res.Status != tt.status {
				t.Errorf("%s = %d %s", name, res.Status, res.Body)
			}
			teamtest.Contains(t, "the log", x.W.Log.String(), "refused a webhook", "provider=stripe", tt.log)
		}
		if b := x.billing(payer); b.Plan != "free" {
			t.Errorf("after what was refused the plan is %s", b.Plan)
		}
		for name, tt := range map[string]struct{ r request }{
			"a stranger": {stripeEvent("customer.subscription.updated", "cus_99")},
			"an invoice": {stripeEvent("invoice.paid", "cus_1")},
		} {
			var got wire.HookReceipt
			if x.W.Must(200, tt.r, &got); got.Status != "ignored" || got.Reason == "" {
				t.Errorf("%s = %+v", name, got)
			}
		}

		// The end arrives first; what happened before it arrives late.
		s.has("sub_1", "canceled", "price_business")
		x.W.Must(200, stripeEvent("customer.subscription.deleted", "cus_1"), nil)
		await.True(t, "it is cancelled", func() bool { return x.billing(payer).Status == "canceled" })
		var first, second wire.HookReceipt
		x.W.Must(200, good, &first)
		x.W.Must(200, good, &second)
		if first.Status != "done" || second.Status != "duplicate" {
			t.Errorf("late = %+v, again = %+v", first, second)
		}
		teamtest.Contains(t, "the log", x.W.Log.String(), "left a webhook aside", "duplicate")
		x.stripeSettled()
		if b := x.billing(payer); b.Plan != "free" || b.Status != "canceled" {
			t.Errorf("an old webhook made it %+v", b)
		}

		// While Stripe cannot be asked, the hint is kept.
		s.set(func() { s.down = true })
		x.W.Must(200, stripeEvent("customer.subscription.updated", "cus_1"), nil)
		if b := x.pay("/v1/billing/portal", payer, nil, nil); b.Status != 503 || b.Type != problem.Unavailable.Type() {
			t.Errorf("the portal without Stripe = %+v", b)
		}
		s.has("sub_2", "active", "price_team")
		s.set(func() { s.down = false })
		x.W.Advance(time.Minute)
		await.True(t, "the plan is team", func() bool { return x.billing(payer).Plan == "team" })
	})
}

// stripeSettled waits until nothing is left to ask Stripe.
func (x *team) stripeSettled() {
	x.Helper()
	await.True(x, "Stripe has been asked", func() bool { return !x.stripeWaits("due", "running", "scheduled") })
}

// stripeWaits reports whether Stripe is still to be asked something.
func (x *team) stripeWaits(states ...string) bool {
	page := x.W.Metrics()
	return slices.ContainsFunc(states, func(state string) bool {
		return strings.Contains(page, `svc_jobs{kind="stripe",state="`+state+`"}`)
	})
}

// Odd states in Stripe are for the operator to mend.
func TestOddSubscriptionsAreLogged(t *testing.T) {
	onStripe(t, func(t *testing.T, x *team, s *fakeStripe) {
		payer := x.O.Tokens[coord.Billing]
		var page wire.PageURL
		x.pay("/v1/billing/checkout", payer, map[string]any{"plan": "team"}, &page)
		s.has("sub_1", "active", "price_tshirt")
		x.W.Must(200, stripeEvent("customer.subscription.created", "cus_1"), nil)
		await.True(t, "it is known", func() bool { return x.billing(payer).Subscribed })
		if b := x.billing(payer); b.Plan != "free" {
			t.Errorf("a price of no plan bought %+v", b)
		}
		teamtest.Contains(t, "the log", x.W.Log.String(), "a price that belongs to no plan")
		s.has("sub_1", "active", "price_team")
		s.set(func() { s.subs = append(s.subs, s.subs[0]) })
		x.W.Must(200, stripeEvent("customer.subscription.created", "cus_1"), nil)
		await.True(t, "the plan is team", func() bool { return x.billing(payer).Plan == "team" })
		teamtest.Contains(t, "the log", x.W.Log.String(), "pays for several subscriptions")
		// After a price change who pays keeps what they paid for, and the
		// operator hears of it.
		s.has("sub_1", "past_due", "price_team_2027")
		x.W.Must(200, stripeEvent("customer.subscription.updated", "cus_1"), nil)
		await.True(t, "the change is known", func() bool { return x.billing(payer).Status == "past_due" })
		if b := x.billing(payer); b.Plan != "team" {
			t.Errorf("after a price change the plan is %+v", b)
		}
		metric := func(n string) {
			t.Helper()
			page := x.W.Metrics()
			teamtest.Contains(t, "the metrics", page, "\nsvc_billing_strange_prices "+n+"\n")
		}
		metric("1")
		// A plan that is over is not to be had again by paying for something else.
		s.has("sub_1", "canceled", "price_team")
		x.W.Must(200, stripeEvent("customer.subscription.deleted", "cus_1"), nil)
		await.True(t, "it is over", func() bool { return x.billing(payer).Plan == "free" })
		metric("0")
		s.has("sub_2", "active", "price_tshirt")
		x.W.Must(200, stripeEvent("customer.subscription.created", "cus_1"), nil)
		await.True(t, "it is known", func() bool { return x.billing(payer).Subscribed })
		if b := x.billing(payer); b.Plan != "free" {
			t.Errorf("another purchase brought an old plan back: %+v", b)
		}
	})
}

// Switching billing on or off puts orgs on the plan that holds then.
func TestBillingSwitchedOnAndOff(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		s := newFakeStripe(t)
		x := newTeam(t, daemontest.StartWith(t, stripeConfig(dsn, s.URL)), "Acme")
		paying := newTeam(t, x.W, "Paying")
		var page wire.PageURL
		paying.pay("/v1/billing/checkout", paying.Ada.Token, map[string]any{"plan": "team"}, &page)
		s.has("sub_1", "active", "price_team")
		x.W.Must(200, stripeEvent("customer.subscription.created", "cus_1"), nil)
		await.True(t, "the plan is team", func() bool { return paying.billing(paying.Ada.Token).Plan == "team" })
		x.W.Stop()

		x.W = daemontest.StartWith(t, daemon.Config{Database: dsn})
		paying.W = x.W
		if a, b := x.billing(x.Ada.Token).Plan, paying.billing(paying.Ada.Token).Plan; a != "self_hosted" || b != "self_hosted" {
			t.Errorf("without billing the plans are %s and %s", a, b)
		}
		x.W.Stop()

		x.W = daemontest.StartWith(t, stripeConfig(dsn, s.URL))
		paying.W = x.W
		if a, b := x.billing(x.Ada.Token).Plan, paying.billing(paying.Ada.Token).Plan; a != "free" || b != "team" {
			t.Errorf("with billing again the plans are %s and %s", a, b)
		}
	})
}
