package billing_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/billing"
	"github.com/svc-hq/svc/internal/server/billing/stripetest"
)

var prices = map[string]string{"team": "price_team", "business": "price_business"}

// Every request that we make is one that Stripe's document allows.
func TestRequestsAreAsStripePublishesThem(t *testing.T) {
	mock := stripetest.Start(t)
	cfg := billing.Config{Key: "sk_test_123", WebhookSecret: "whsec_x", Prices: prices, URL: mock, Transport: http.DefaultTransport}
	cfg.Tax = true
	s := billing.New(cfg)
	ctx := t.Context()
	customer, err := s.Customer(ctx, coord.Org{ID: "org", Name: "Acme"}, "ana@example.com")
	if err != nil || !strings.HasPrefix(customer, "cus_") {
		t.Errorf("customer = %q, %v", customer, err)
	}
	page, err := s.Checkout(ctx, billing.Checkout{
		OrgID:    "org",
		Customer: customer,
		Price:    "price_team",
		Seats:    7,
		After:    "https://svc.example.com/settings/billing",
		Attempt:  "1",
	})
	if err != nil {
		t.Errorf("checkout = %q, %v", page, err)
	}
	portal, err := s.Portal(ctx, customer, "https://svc.example.com/settings/billing")
	if u, bad := url.Parse(portal); err != nil || bad != nil || u.Scheme != "https" {
		t.Errorf("portal = %q, %v", portal, err)
	}
	sub, _, err := s.Subscription(ctx, customer)
	if err != nil || !strings.HasPrefix(sub.ID, "sub_") || sub.Status == "" || sub.Plan != "" {
		t.Errorf("subscription = %+v, %v", sub, err)
	}
	if err := s.SetSeats(ctx, sub.Item, 7); err != nil {
		t.Errorf("seats of %q: %v", sub.Item, err)
	}
	if sold, err := s.Prices(ctx); err != nil || len(sold) != 0 {
		t.Errorf("prices that are none of ours = %v, %v", sold, err)
	}
	cfg.Prices = map[string]string{"team": sub.Price.ID, "business": ""}
	sold, err := billing.New(cfg).Prices(ctx)
	if err != nil || len(sold["team"]) != 1 || *sold["team"][0].Amount != 2000 || sold["team"][0].Currency != "usd" ||
		sold["team"][0].Interval != "month" {
		t.Errorf("prices = %v, %v", sold, err)
	}
	wrong := billing.New(billing.Config{Key: "nonsense", Prices: prices, URL: mock, Transport: http.DefaultTransport})
	if _, err := wrong.Customer(ctx, coord.Org{ID: "org", Name: "Acme"}, "ana@example.com"); err == nil {
		t.Error("a key that is none was taken")
	}
}

func subscription(id, status, price string, created int64, more map[string]any) map[string]any {
	s := map[string]any{"id": id, "object": "subscription", "status": status, "created": created,
		"items": map[string]any{
			"object": "list",
			"data":   []any{map[string]any{"id": "si_" + id, "price": map[string]any{"id": price}, "current_period_end": 1800000000}},
		}}
	for k, v := range more {
		s[k] = v
	}
	return s
}

// Of several subscriptions the one that is paid for counts.
func TestWhichSubscriptionCounts(t *testing.T) {
	end := coord.Time(1800000000000)
	for _, tt := range []struct {
		name string
		have []map[string]any
		want billing.Subscription
		paid int
	}{
		{"none", nil, billing.Subscription{}, 0},
		{
			"one",
			[]map[string]any{subscription("a", "active", "price_team", 1, nil)},
			billing.Subscription{ID: "a", Status: "active", Plan: "team", PeriodEnd: &end},
			1,
		},
		{"an old one that ended", []map[string]any{
			subscription("b", "active", "price_business", 2, nil),
			subscription("a", "canceled", "price_team", 1, nil),
		},
			billing.Subscription{ID: "b", Status: "active", Plan: "business", PeriodEnd: &end}, 1},
		{"a new one that failed", []map[string]any{
			subscription("b", "incomplete_expired", "price_business", 2, nil),
			subscription("a", "past_due", "price_team", 1, nil),
		},
			billing.Subscription{ID: "a", Status: "past_due", Plan: "team", PeriodEnd: &end}, 1},
		{"two that ended", []map[string]any{
			subscription("a", "canceled", "price_team", 1, nil),
			subscription("b", "canceled", "price_team", 2, nil),
		},
			billing.Subscription{ID: "b", Status: "canceled", Plan: "team", PeriodEnd: &end}, 0},
		{"one that needs payment and one that ended later", []map[string]any{
			subscription("a", "unpaid", "price_team", 1, nil),
			subscription("b", "canceled", "price_team", 2, nil),
		},
			billing.Subscription{ID: "a", Status: "unpaid", Plan: "team", PeriodEnd: &end}, 0},
		{"two that are paid for", []map[string]any{
			subscription("b", "active", "price_team", 2, nil),
			subscription("a", "trialing", "price_business", 1, nil),
		},
			billing.Subscription{ID: "b", Status: "active", Plan: "team", PeriodEnd: &end}, 2},
		{"cancelled to its end", []map[string]any{subscription("a", "active", "price_team", 1, map[string]any{"cancel_at_period_end": true})},
			billing.Subscription{ID: "a", Status: "active", Plan: "team", PeriodEnd: &end, Cancels: &end}, 1},
		{
			"a price that is not ours",
			[]map[string]any{subscription("a", "active", "price_tshirt", 1, nil)},
			billing.Subscription{ID: "a", Status: "active", PeriodEnd: &end},
			1,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get("customer") != "cus_1" || r.URL.Query().Get("status") != "all" {
					t.Errorf("asked for %s", r.URL)
				}
				json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": tt.have, "has_more": false, "url": "/v1/subscriptions"})
			}))
			defer srv.Close()
			got, paid, err := billing.New(billing.Config{
				Key:       "sk_test_1",
				Prices:    prices,
				URL:       srv.URL,
				Transport: http.DefaultTransport,
			}).Subscription(t.Context(), "cus_1")
			if err != nil || paid != tt.paid || describe(got) != describe(tt.want) {
				t.Errorf("got %s, %d paid, %v; want %s, %d", describe(got), paid, err, describe(tt.want), tt.paid)
			}
		})
	}
}

func describe(s billing.Subscription) string {
	at := func(t *coord.Time) string {
		if t == nil {
			return "-"
		}
		return t.String()
	}
	return fmt.Sprintf("%s %s %q until %s, cancels %s", s.ID, s.Status, s.Plan, at(s.PeriodEnd), at(s.Cancels))
}

// One price is sold for each interval and currency of a plan: as the settings
// name them, by id or lookup key, else by metadata and the newest.
func TestWhichPricesAreSold(t *testing.T) {
	price := func(id, interval, currency string, created int, more map[string]any) map[string]any {
		p := map[string]any{"id": id, "object": "price", "active": true, "type": "recurring", "billing_scheme": "per_unit", "currency": currency,
			"created": created, "unit_amount": 100 * created, "unit_amount_decimal": fmt.Sprint(100 * created),
			"recurring": map[string]any{"interval": interval, "interval_count": 1, "usage_type": "licensed"}}
		for k, v := range more {
			p[k] = v
		}
		return p
	}
	team := func(more map[string]any) map[string]any {
		return map[string]any{"metadata": more}
	}
	pages := [][]map[string]any{{
		price("p_year", "year", "eur", 9, map[string]any{"lookup_key": "team_yearly"}),
		price("p_new", "month", "eur", 8, team(map[string]any{"svc_plan": "team"})),
		price("p_named", "month", "eur", 5, nil),
		price("p_dollar_old", "month", "usd", 3, team(map[string]any{"svc_plan": "team"})),
	}, {
		price("p_dollar", "month", "usd", 4, team(map[string]any{"svc_plan": "team", "svc_per_seat": "true"})),
		price("p_tiers", "month", "eur", 2, map[string]any{"billing_scheme": "tiered", "unit_amount": nil, "unit_amount_decimal": nil,
			"metadata": map[string]any{"svc_plan": "business"}, "tax_behavior": "inclusive"}),
		price("p_metered", "year", "usd", 2, map[string]any{"metadata": map[string]any{"svc_plan": "team"},
			"recurring": map[string]any{"interval": "year", "usage_type": "metered"}}),
		price("p_shirt", "month", "eur", 1, team(map[string]any{"svc_plan": "shirt"})),
	}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, q := 0, r.URL.Query()
		if q.Get("starting_after") == "p_dollar_old" {
			page = 1
		}
		if q.Get("active") != "true" || q.Get("type") != "recurring" {
			t.Errorf("asked for %s", r.URL)
		}
		json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": pages[page], "has_more": page == 0, "url": "/v1/prices"})
	}))
	defer srv.Close()
	s := billing.New(billing.Config{Key: "sk_test_1", URL: srv.URL, Transport: http.DefaultTransport,
		Prices: map[string]string{"team": "p_gone, p_named,team_yearly", "business": ""}})
	sold, err := s.Prices(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, plan := range []string{"team", "business", "shirt"} {
		for _, p := range sold[plan] {
			amount := "tiers"
			if p.Amount != nil {
				amount = fmt.Sprint(*p.Amount)
			}
			got = append(got, fmt.Sprint(plan, " ", p.ID, " ", amount, " ", p.Currency, " ", p.Interval, " ", p.PerSeat, " ", p.TaxIncluded))
		}
	}
	want := "team p_named 500 eur month false false, team p_dollar 400 usd month true false, team p_year 900 eur year false false, " +
		"business p_tiers tiers eur month false true"
	if strings.Join(got, ", ") != want {
		t.Errorf("sold %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// What the library that Stripe publishes (stripe-go 85) made of a body.
func TestSignaturesAreAsStripeMakesThem(t *testing.T) {
	const theirs = "t=1700000000,v1=4c15fb2a43f93ef61eaa3e0893866d57cad9cad4223242cfb96f362480cb4021"
	if ours := stripetest.Sign([]byte(`{"id":"evt_1","object":"event"}`), "whsec_test", time.Unix(1700000000, 0)); ours != theirs {
		t.Errorf("signed as %s, want %s", ours, theirs)
	}
}

// A lost answer is asked for once more under the same key, so that nobody pays
// twice; a refusal is not.
func TestARequestIsRepeatedOnce(t *testing.T) {
	for _, tt := range []struct {
		name  string
		reply func(http.ResponseWriter)
		asked int
	}{
		{"broken off", func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, 2},
		{"an error of theirs", func(w http.ResponseWriter) { w.WriteHeader(500) }, 2},
		{"an error that they say is final", func(w http.ResponseWriter) {
			w.Header().Set("Stripe-Should-Retry", "false")
			w.WriteHeader(500)
		}, 1},
		{"an error of ours", func(w http.ResponseWriter) { w.WriteHeader(400) }, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var keys []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				keys = append(keys, r.Header.Get("Idempotency-Key"))
				tt.reply(w)
			}))
			defer srv.Close()
			s := billing.New(billing.Config{Key: "sk_test_1", URL: srv.URL, Transport: &http.Transport{DisableKeepAlives: true}})
			if _, err := s.Portal(t.Context(), "cus_1", "https://svc.example.com"); err == nil {
				t.Error("no error")
			}
			if len(keys) != tt.asked || keys[0] == "" || keys[0] != keys[len(keys)-1] {
				t.Errorf("asked with the keys %q, want %d times the same", keys, tt.asked)
			}
		})
	}
}

func TestWebhooksAreVerified(t *testing.T) {
	s := billing.New(billing.Config{Key: "sk_test_1", WebhookSecret: "whsec_test", Prices: prices, Transport: http.DefaultTransport})
	event := func(kind, object string) []byte {
		return fmt.Appendf(nil, `{"id":"evt_1","object":"event","api_version":"2020-01-01","type":%q,"created":1,"data":{"object":%s}}`, kind,
			object)
	}
	sign := stripetest.Sign
	good := event("customer.subscription.updated", `{"id":"sub_1","customer":"cus_1"}`)
	now := time.Now()
	for _, tt := range []struct {
		name   string
		body   []byte
		header string
		want   string // the customer
		err    error
	}{
		{"a change", good, sign(good, "whsec_test", now), "cus_1", nil},
		{
			"the customer in full",
			event("checkout.session.completed", `{"customer":{"id":"cus_2"}}`),
			sign(event("checkout.session.completed", `{"customer":{"id":"cus_2"}}`), "whsec_test", now),
			"cus_2",
			nil,
		},
		{"without a signature", good, "", "", billing.ErrUnsigned},
		{"half a signature", good, "t=1", "", billing.ErrForged},
		{"nonsense", good, "nonsense", "", billing.ErrForged},
		{"one of two secrets", good, sign(good, "whsec_test", now) + ",v1=" + strings.Repeat("0", 64) + ",v0=x", "cus_1", nil},
		{"from the future", good, sign(good, "whsec_test", now.Add(6*time.Minute)), "", billing.ErrStale},
		{"another secret", good, sign(good, "whsec_guess", now), "", billing.ErrForged},
		{"another body", append([]byte(" "), good...), sign(good, "whsec_test", now), "", billing.ErrForged},
		{"too old", good, sign(good, "whsec_test", now.Add(-6*time.Minute)), "", billing.ErrStale},
		{"no JSON", []byte("{"), sign([]byte("{"), "whsec_test", now), "", billing.ErrUnreadable},
		{"no event", []byte("{}"), sign([]byte("{}"), "whsec_test", now), "", billing.ErrUnreadable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n, err := s.Read(tt.body, tt.header)
			if !errors.Is(err, tt.err) || n.Customer != tt.want {
				t.Errorf("read %+v, %v; want %q, %v", n, err, tt.want, tt.err)
			}
		})
	}
	for _, kind := range []string{"invoice.paid", "customer.created"} {
		body := event(kind, `{"id":"x","customer":"cus_1"}`)
		if n, err := s.Read(body, sign(body, "whsec_test", now)); err != nil || n.Nothing == "" || n.Customer != "" {
			t.Errorf("%s = %+v, %v", kind, n, err)
		}
	}
	second := []byte(`{"id":"evt_2","object":"v2.core.event","type":"v2.billing.meter.no_meter_found","created":"2026-11-15T09:30:00Z"}`)
	if n, err := s.Read(second, sign(second, "whsec_test", now)); err != nil || n.ID != "evt_2" || n.Nothing == "" {
		t.Errorf("an event of the second kind = %+v, %v", n, err)
	}
	if _, err := s.Read(second, sign(second, "whsec_guess", now)); !errors.Is(err, billing.ErrForged) {
		t.Errorf("a forged one of the second kind: %v", err)
	}
	body := event("customer.subscription.deleted", `{"id":"x"}`)
	if n, err := s.Read(body, sign(body, "whsec_test", now)); err != nil || n.Nothing == "" {
		t.Errorf("without a customer = %+v, %v", n, err)
	}
}

func FuzzRead(f *testing.F) {
	s := billing.New(billing.Config{Key: "sk_test_1", WebhookSecret: "whsec_test", Prices: prices, Transport: http.DefaultTransport})
	f.Add([]byte(`{"id":"evt_1","object":"event","type":"customer.subscription.updated","data":{"object":{"customer":"cus_1"}}}`))
	f.Add([]byte(`{"id":"evt_1","type":"checkout.session.completed","data":{"object":{"customer":{"id":null}}}}`))
	f.Add([]byte(`{"id":"evt_1","type":"checkout.session.completed","data":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		n, err := s.Read(body, stripetest.Sign(body, "whsec_test", time.Now()))
		if err == nil && (n.ID == "" || n.Customer == "" && n.Nothing == "") {
			t.Errorf("%q is read as %+v", body, n)
		}
	})
}
