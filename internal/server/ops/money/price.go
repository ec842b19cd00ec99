package money

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/plan"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/billing"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/store"
)

const (
	priceAge   = 10 * time.Minute // how long prices are remembered
	priceAgain = 30 * time.Second // after which Stripe is asked again if it failed
	pricePause = 3 * time.Second  // how long a page waits for them
	seatGather = 10 * time.Second // so that ten who join are told of once
)

// catalog remembers what is sold.
type catalog struct {
	mu     sync.Mutex
	prices map[string][]wire.Price
	until  time.Time
	failed error // why there are none
}

// prices returns what is sold, by plan: from Stripe, or as it was last known
// while Stripe cannot be asked.
func (s *Service) prices(ctx context.Context, org string) (map[string][]wire.Price, error) {
	c := &s.catalog
	c.mu.Lock()
	defer c.mu.Unlock()
	now := s.Store.Now().Std()
	if now.Before(c.until) {
		return c.prices, c.failed
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pricePause) // it is for the others, too
	defer cancel()
	found, err := s.Config.Stripe.Prices(ctx)
	if err != nil {
		c.until = now.Add(priceAgain)
		if err = s.stripeFailed(ctx, org, err); c.prices == nil {
			c.failed = err
		}
		return c.prices, c.failed
	}
	if len(found[plan.Team]) == 0 || len(found[plan.Business]) == 0 {
		s.Logger.ErrorContext(ctx, "a plan has no price in Stripe and cannot be bought; name one in SVC_STRIPE_PRICE_TEAM and "+
			"SVC_STRIPE_PRICE_BUSINESS, or give it the metadata svc_plan", "team", len(found[plan.Team]), "business", len(found[plan.Business]))
	}
	c.prices, c.until, c.failed = found, now.Add(priceAge), nil
	return found, nil
}

// offers are the plans that can be bought, with what they cost.
func (s *Service) offers(ctx context.Context, org string) []wire.Offer {
	out := []wire.Offer{}
	if s.Config.Stripe == nil {
		return out
	}
	prices, _ := s.prices(ctx, org) // it is in the log; the plans are shown without
	for _, name := range []string{plan.Team, plan.Business} {
		out = append(out, wire.Offer{Plan: name, Limits: limitsOf(name), Prices: append([]wire.Price{}, prices[name]...)})
	}
	return out
}

// chosen returns the price that somebody wants to pay.
func (s *Service) chosen(ctx context.Context, org string, in wire.Checkout) (out wire.Price, err error) {
	prices, err := s.prices(ctx, org)
	if err != nil {
		return out, err
	}
	sold := prices[in.Plan]
	if len(sold) == 0 {
		return out, problem.Newf(problem.Unavailable,
			"no price is set up for the %s plan; the server's administrator finds in its log what to do", in.Plan)
	}
	if in.Price == nil {
		return sold[0], nil
	}
	i := slices.IndexFunc(sold, func(p wire.Price) bool { return p.ID == *in.Price })
	if i < 0 {
		return out, problem.InvalidField("price", "is none of the %s plan's; GET /v1/billing lists them", in.Plan)
	}
	return sold[i], nil
}

// seatsFor is how many of a price are paid for.
func seatsFor(p wire.Price, seats int) int {
	if p.PerSeat {
		return max(1, seats)
	}
	return 1
}

// follow makes Stripe charge for as many seats as the org has, where the price
// is per seat, and returns how many are paid for now.
func (s *Service) follow(ctx context.Context, org string, found billing.Subscription) (int, error) {
	if found.Price == nil || !found.Price.PerSeat || !billing.Paid(found.Status) {
		return found.Seats, nil
	}
	var seats int
	if err := s.Read(ctx, func(tx *store.Tx) (err error) { seats, err = tx.Seats(ctx, org); return err }); err != nil {
		return 0, err
	}
	if seats = seatsFor(*found.Price, seats); seats == found.Seats {
		return seats, nil
	}
	s.Logger.InfoContext(ctx, "an org has other seats than it pays for; Stripe is told", "org", org, "paid", found.Seats, "seats", seats)
	return seats, s.Config.Stripe.SetSeats(ctx, found.Item, seats)
}

// seated are the events after which an org may have other seats.
var seated = []coord.EventType{coord.EventMemberAdded, coord.EventMemberUpdated, coord.EventMemberRemoved}

// WakeSeats makes Stripe be asked, and told, after members came or went.
func (s *Service) WakeSeats(ctx context.Context, tx *store.Tx, org string, events []coord.Event) error {
	if s.Config.Stripe == nil || !slices.ContainsFunc(events, func(e coord.Event) bool { return slices.Contains(seated, e.Type) }) {
		return nil
	}
	sub, err := tx.SubscriptionOf(ctx, org)
	if err != nil || sub == nil || sub.Price == nil || !sub.Price.PerSeat {
		return err
	}
	job := stripeJob(org, sub.Customer)
	job.At = tx.Now.Add(seatGather)
	return jobs.Gather(ctx, tx, job)
}

// stripeJob asks Stripe what a customer pays for.
func stripeJob(org, customer string) jobs.New {
	return jobs.New{Kind: JobStripe, Org: org, Key: JobStripe + ":" + customer, Payload: StripeJob{customer}}
}

// Strangers returns how many orgs pay for a price that belongs to no plan.
func (s *Service) Strangers(ctx context.Context) (n int, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error { n, err = tx.Strangers(ctx); return err })
	return n, err
}
