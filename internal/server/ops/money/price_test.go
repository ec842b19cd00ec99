package money_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/billing"
	"github.com/svc-hq/svc/internal/server/billing/stripetest"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// fromMock is an event of Stripe's with one of stripe-mock's own objects in it.
func fromMock(t *testing.T, mock, path, kind string, change map[string]any) request {
	t.Helper()
	req, _ := http.NewRequest("GET", mock+path, nil)
	req.Header.Set("Authorization", "Bearer sk_test_1")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	object := map[string]any{}
	if err := json.NewDecoder(res.Body).Decode(&object); err != nil || res.StatusCode != 200 {
		t.Fatalf("%s: %d %v", path, res.StatusCode, err)
	}
	for k, v := range change {
		object[k] = v
	}
	body, _ := json.Marshal(map[string]any{
		"id": "evt_" + uuid.NewString(), "object": "event", "api_version": "2020-08-27", "created": time.Now().Unix(), "livemode": false,
		"pending_webhooks": 1, "request": map[string]any{"id": nil, "idempotency_key": nil}, "type": kind,
		"data": map[string]any{"object": object},
	})
	return signedStripe(body, stripeSecret, time.Now())
}

// The scene of a price change, with Stripe's own stand-in: what is sold is
// shown with its price, bought, and kept when another price is sold; the
// operator hears of the price that belongs to no plan any more.
func TestAPriceChangeAtStripesOwnStandIn(t *testing.T) {
	if testing.Short() {
		return // make test builds stripe-mock
	}
	mock := stripetest.Start(t)
	stripe := billing.New(billing.Config{Key: "sk_test_1", URL: mock, Transport: http.DefaultTransport})
	sub, _, err := stripe.Subscription(t.Context(), "cus_1") // it has one, whoever asks
	if err != nil || sub.Price == nil {
		t.Fatalf("its subscription is %+v, %v", sub, err)
	}
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		cfg := stripeConfig(dsn, mock)
		cfg.Stripe.PriceTeam, cfg.Stripe.PriceBusiness, cfg.Stripe.Tax = sub.Price.ID, "", true
		x := newTeam(t, daemontest.StartWith(t, cfg), "Acme")
		x.plan("free")
		payer := x.O.Tokens[coord.Billing]
		b := x.billing(payer)
		if len(b.Offers) != 2 || len(b.Offers[0].Prices) != 1 || *b.Offers[0].Prices[0].Amount != 2000 ||
			b.Offers[0].Prices[0].Currency != "usd" || b.Offers[0].Prices[0].Interval != "month" || len(b.Offers[1].Prices) != 0 {
			t.Fatalf("offers = %+v", b.Offers)
		}
		teamtest.Contains(t, "the log", x.W.Log.String(), "a plan has no price in Stripe")
		var page wire.PageURL
		if p := x.pay("/v1/billing/checkout", payer, map[string]any{"plan": "business"}, &page); p.Status != 503 {
			t.Errorf("buying what has no price = %+v", p)
		}
		if p := x.pay("/v1/billing/checkout", payer, map[string]any{"plan": "team"}, &page); p.Status != 0 {
			t.Fatalf("checkout = %+v", p)
		}
		var customer string
		x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
			made, err := tx.SubscriptionOf(ctx, x.O.ID)
			customer = made.Customer
			return err
		})
		tell := func(kind string) {
			t.Helper()
			var got wire.HookReceipt
			x.W.Must(200, fromMock(t, mock, "/v1/subscriptions/"+sub.ID, kind, map[string]any{"customer": customer}), &got)
			if got.Status != "done" {
				t.Errorf("%s = %+v", kind, got)
			}
			x.stripeSettled()
		}
		tell("customer.subscription.created")
		if b := x.billing(payer); b.Plan != "team" || b.Status != "active" || b.Price == nil || *b.Price.Amount != 2000 {
			t.Fatalf("after the purchase %+v", b)
		}
		if x.pay("/v1/billing/portal", payer, nil, &page); !strings.HasPrefix(page.URL, "https://") {
			t.Errorf("portal = %v", page)
		}
		x.W.Stop()

		cfg.Stripe.PriceTeam = "price_team_2027"
		x.W = daemontest.StartWith(t, cfg)
		if b := x.billing(payer); b.Plan != "team" {
			t.Errorf("after the start with another price: %+v", b)
		}
		tell("customer.subscription.updated")
		if b := x.billing(payer); b.Plan != "team" || b.Status != "active" || len(b.Offers[0].Prices) != 0 {
			t.Errorf("after a webhook with the old price: %+v", b)
		}
		teamtest.Contains(t, "the log", x.W.Log.String(), "belongs to no plan and keeps the plan it had", sub.Price.ID)
		teamtest.Contains(t, "the metrics", x.W.Metrics(), "\nsvc_billing_strange_prices 1\n")

		var got wire.HookReceipt
		thin := fmt.Appendf(nil, `{"id":"evt_%s","object":"v2.core.event","type":"v1.billing.meter.error_report_triggered","livemode":false,`+
			`"created":"2026-11-15T09:30:00.000Z","related_object":{"id":"mtr_1","type":"billing.meter","url":"/v1/billing/meters/mtr_1"}}`,
			uuid.NewString())
		if x.W.Must(200, signedStripe(thin, stripeSecret, time.Now()), &got); got.Status != "ignored" {
			t.Errorf("an event of the second version = %+v", got)
		}
	})
}

// A plan is sold for a month and for a year; what is paid for is shown.
func TestAPlanForAYear(t *testing.T) {
	onStripe(t, func(t *testing.T, x *team, s *fakeStripe) {
		payer := x.O.Tokens[coord.Billing]
		s.set(func() {
			s.prices = append(s.prices, stripePrice("price_team_year", "year", 20000, map[string]any{"svc_plan": "team"}))
		})
		b := x.billing(payer)
		if len(b.Offers[0].Prices) != 2 || b.Offers[0].Prices[1].ID != "price_team_year" || *b.Offers[0].Prices[1].Amount != 20000 {
			t.Fatalf("offers = %+v", b.Offers)
		}
		var page wire.PageURL
		for _, price := range []string{"price_business", "price_free", ""} {
			p := x.pay("/v1/billing/checkout", payer, map[string]any{"plan": "team", "price": price}, &page)
			if p.Type != problem.Validation.Type() {
				t.Errorf("price %q = %+v", price, p)
			}
		}
		if x.pay("/v1/billing/checkout", payer, map[string]any{"plan": "team", "price": "price_team_year"}, &page); page.URL !=
			"https://checkout.stripe.test/1/cus_1/price_team_year/1" {
			t.Errorf("page = %v", page)
		}
		s.has("sub_1", "active", "price_team_year")
		x.W.Must(200, stripeEvent("customer.subscription.created", "cus_1"), nil)
		await.True(t, "the plan is team", func() bool { return x.billing(payer).Plan == "team" })
		if b := x.billing(payer); b.Price == nil || b.Price.Interval != "year" {
			t.Errorf("what is paid = %+v", b.Price)
		}
		// While Stripe is down the prices are as they were.
		s.set(func() { s.down = true })
		x.W.Advance(time.Hour)
		if b := x.billing(payer); len(b.Offers[0].Prices) != 2 {
			t.Errorf("while Stripe is down: %+v", b.Offers)
		}
	})
}

// A price per seat is paid for everybody who can work, and follows them.
func TestSeatsFollowMembers(t *testing.T) {
	onStripe(t, func(t *testing.T, x *team, s *fakeStripe) {
		payer := x.O.Tokens[coord.Billing]
		s.set(func() {
			s.prices = []map[string]any{stripePrice("price_seat", "month", 800, map[string]any{"svc_plan": "team", "svc_per_seat": "true"})}
		})
		seats := x.billing(payer).Seats
		var page wire.PageURL
		x.pay("/v1/billing/checkout", payer, map[string]any{"plan": "team"}, &page)
		if want := fmt.Sprintf("https://checkout.stripe.test/1/cus_1/price_seat/%d", seats); page.URL != want || seats < 3 {
			t.Errorf("page = %v, want %s", page, want)
		}
		s.has("sub_1", "active", "price_seat")
		s.set(func() { s.item()["quantity"] = seats })
		x.W.Must(200, stripeEvent("customer.subscription.created", "cus_1"), nil)
		await.True(t, "the plan is team", func() bool { return x.billing(payer).Plan == "team" })
		told := func(want string) {
			t.Helper()
			known := func() (got bool) {
				s.set(func() { got = strings.Join(s.seats, " ") == want })
				return got
			}
			await.True(t, "changes of members are gathered", func() bool { return x.stripeWaits("scheduled") || known() })
			// Once: a clock that runs on ends leases, and what is asked twice is told twice.
			x.W.Advance(seatsGather)
			await.True(t, "Stripe is told of "+want, known)
		}
		var viewer, fresh coord.Membership
		add := func(role, email string, to any) {
			t.Helper()
			x.W.Must(201, request{Method: "POST", Path: "/v1/members", Token: x.Ada.Token,
				Body: map[string]any{"email": email, "name": email, "role": role}}, to)
		}
		add("viewer", "looks@example.com", &viewer)
		add("member", "works@example.com", &fresh)
		told(fmt.Sprintf("si=%d", seats+1))
		x.W.Must(200, request{Method: "PATCH", Path: "/v1/members/" + viewer.ID, Token: x.Ada.Token, Body: map[string]any{"role": "member"}}, nil)
		told(fmt.Sprintf("si=%d si=%d", seats+1, seats+2))
		x.W.Must(204, request{Method: "DELETE", Path: "/v1/members/" + fresh.ID, Token: x.Ada.Token}, nil)
		told(fmt.Sprintf("si=%d si=%d si=%d", seats+1, seats+2, seats+1))
		// What Stripe tells of it changes nothing more.
		x.W.Must(200, stripeEvent("customer.subscription.updated", "cus_1"), nil)
		x.stripeSettled()
		s.set(func() {
			if len(s.seats) != 3 {
				t.Errorf("Stripe is told of %v", s.seats)
			}
		})
		if b := x.billing(payer); b.Seats != seats+1 {
			t.Errorf("seats = %d, want %d", b.Seats, seats+1)
		}
	})
}

// seatsGather is for how long changes of members are gathered.
const seatsGather = 11 * time.Second
