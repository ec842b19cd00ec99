// Package billing speaks with Stripe: checkout, the customer portal, what a
// customer is subscribed to, and signed webhooks. It stores nothing and decides
// nothing; package ops does.
package billing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// Config is what it takes to sell plans.
type Config struct {
	Key           string
	WebhookSecret string
	Prices        map[string]string // by plan that is sold: ids and lookup keys of its prices; may be empty
	Tax           bool              // Stripe works out the tax
	URL           string            // of Stripe's API; Stripe's own if empty
	Transport     http.RoundTripper
}

// Stripe is a client of Stripe.
type Stripe struct {
	cfg  Config
	http *http.Client
}

// New returns a client.
func New(c Config) *Stripe {
	return &Stripe{cfg: c, http: &http.Client{Transport: c.Transport, Timeout: 20 * time.Second}}
}

// Customer makes an org a customer and returns Stripe's name for it. Asked
// twice, it is the same one.
func (s *Stripe) Customer(ctx context.Context, org coord.Org, email string) (string, error) {
	var c struct{ ID string }
	err := s.post(ctx, "/v1/customers", "customer "+org.ID,
		url.Values{"name": {org.Name}, "email": {email}, "metadata[org_id]": {org.ID}}, &c)
	return c.ID, err
}

// A Checkout is a purchase about to be made.
type Checkout struct {
	OrgID    string
	Customer string
	Price    string // one of those that are sold
	Seats    int    // how many are paid for
	After    string // where the browser comes back to
	Attempt  string // two of one name are one purchase
}

// Checkout returns where to pay.
func (s *Stripe) Checkout(ctx context.Context, in Checkout) (string, error) {
	form := url.Values{
		"customer":                            {in.Customer},
		"mode":                                {"subscription"},
		"client_reference_id":                 {in.OrgID},
		"line_items[0][price]":                {in.Price},
		"line_items[0][quantity]":             {strconv.Itoa(in.Seats)},
		"subscription_data[metadata][org_id]": {in.OrgID},
		"success_url":                         {in.After + "?checkout=done"},
		"cancel_url":                          {in.After + "?checkout=cancelled"},
	}
	if s.cfg.Tax { // which goes by where the customer is
		form.Set("automatic_tax[enabled]", "true")
		form.Set("tax_id_collection[enabled]", "true")
		form.Set("customer_update[address]", "auto")
		form.Set("customer_update[name]", "auto")
	}
	var page struct{ URL string }
	err := s.post(ctx, "/v1/checkout/sessions", "checkout "+in.Attempt, form, &page)
	return page.URL, err
}

// Portal returns where a customer sees invoices, changes the plan or cancels.
func (s *Stripe) Portal(ctx context.Context, customer, after string) (string, error) {
	var page struct{ URL string }
	err := s.post(ctx, "/v1/billing_portal/sessions", "", url.Values{"customer": {customer}, "return_url": {after}}, &page)
	return page.URL, err
}

// A Subscription is what a customer pays for.
type Subscription struct {
	ID        string
	Status    string
	Plan      string // empty if its price is none of ours
	Item      string // what is paid for, by Stripe's name
	Price     *wire.Price
	Seats     int
	PeriodEnd *coord.Time
	Cancels   *coord.Time // when it ends, if it was cancelled
	created   int64
}

// paid are the statuses in which the plan is to be had. Who is past due is
// being reminded by Stripe.
var paid = []string{"active", "trialing", "past_due"}

// over are those after which it takes a new purchase.
var over = []string{"", "canceled", "incomplete_expired"}

// Paid reports whether a subscription of this status buys its plan.
func Paid(status string) bool { return slices.Contains(paid, status) }

// Over reports whether a subscription of this status has come to its end.
func Over(status string) bool { return slices.Contains(over, status) }

// Subscription returns what a customer is subscribed to now, and how many
// subscriptions of theirs are paid for, which should be no more than one. Of
// several the paid one counts, else the latest.
func (s *Stripe) Subscription(ctx context.Context, customer string) (out Subscription, paidFor int, err error) {
	var all list[subscription]
	// Newest first; nobody has more than a hundred.
	query := url.Values{"customer": {customer}, "status": {"all"}, "limit": {"100"}}
	if err := s.get(ctx, "/v1/subscriptions", query, &all); err != nil {
		return out, 0, err
	}
	for _, sub := range all.Data {
		x := s.read(&sub)
		if Paid(x.Status) {
			paidFor++
		}
		if better(x, out) {
			out = x
		}
	}
	return out, paidFor, nil
}

func better(a, b Subscription) bool {
	rank := func(s Subscription) int {
		switch {
		case Paid(s.Status):
			return 2
		case !Over(s.Status):
			return 1
		}
		return 0
	}
	if ra, rb := rank(a), rank(b); ra != rb || b.ID == "" {
		return ra > rb || b.ID == ""
	}
	return a.created > b.created
}

func (s *Stripe) read(sub *subscription) Subscription {
	x := Subscription{ID: sub.ID, Status: sub.Status, created: sub.Created}
	at := func(seconds int64) *coord.Time {
		if seconds == 0 {
			return nil
		}
		t := coord.Time(seconds * 1000)
		return &t
	}
	x.Cancels = at(sub.CancelAt)
	for _, item := range sub.Items.Data {
		if plan := s.planOf(item.Price); item.Price != nil && (plan != "" || x.Plan == "") { // the plan, not what is bought beside it
			price := priceOf(item.Price)
			x.Plan, x.PeriodEnd, x.Price, x.Seats, x.Item = plan, at(item.CurrentPeriodEnd), &price, item.Quantity, item.ID
		}
	}
	if sub.CancelAtPeriodEnd && x.Cancels == nil {
		x.Cancels = x.PeriodEnd
	}
	return x
}

// A Notice says that something about a customer changed.
type Notice struct {
	ID       string // of the event; the same when it is sent again
	Customer string
	Nothing  string // why there is nothing to do, if so
}

// Why a webhook is refused.
var (
	ErrUnsigned   = errors.New("it is not signed")
	ErrForged     = errors.New("its signature does not match the secret")
	ErrStale      = errors.New("it was signed more than five minutes ago")
	ErrUnreadable = errors.New("it is no event of Stripe")
)

// Read verifies a webhook and returns what it is about. Of the state that it
// tells nothing is taken: webhooks come in any order, so the state is asked
// for.
func (s *Stripe) Read(body []byte, signature string) (n Notice, err error) {
	if err := verify(body, signature, s.cfg.WebhookSecret, time.Now()); err != nil {
		return n, err
	}
	var e event
	err = json.Unmarshal(body, &e)
	if err == nil && e.ID != "" && strings.HasPrefix(e.Object, "v2.") {
		// Stripe sends these beside the others if asked to: they name their object and hold no data.
		return Notice{ID: e.ID, Nothing: fmt.Sprintf("nothing is to be done for %q, an event of Stripe's second kind", e.Type)}, nil
	}
	if err != nil || e.ID == "" || e.Data == nil {
		return n, ErrUnreadable
	}
	n.ID = e.ID
	if !strings.HasPrefix(e.Type, "customer.subscription.") && e.Type != "checkout.session.completed" {
		n.Nothing = fmt.Sprintf("nothing is to be done for %q", e.Type)
		return n, nil
	}
	var object struct{ Customer json.RawMessage }
	if err := json.Unmarshal(e.Data.Object, &object); err != nil {
		return n, ErrUnreadable
	}
	if n.Customer = idOf(object.Customer); n.Customer == "" {
		n.Nothing = "it names no customer"
	}
	return n, nil
}

// idOf reads a reference, which is an id or the whole object.
func idOf(text json.RawMessage) string {
	var id string
	if json.Unmarshal(text, &id) == nil {
		return id
	}
	var object struct{ ID string }
	json.Unmarshal(text, &object) // what cannot be read is no reference
	return object.ID
}
