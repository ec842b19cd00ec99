package money

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/plan"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/billing"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// InitialPlan is the plan of an org that pays nothing: without billing there
// is nothing to upgrade to, so there are no limits.
func (s *Service) InitialPlan() string {
	if s.Config.Stripe == nil {
		return plan.SelfHosted
	}
	return plan.Free
}

// planOf returns the plan that a subscription buys.
func (s *Service) planOf(sub *store.Subscription) string {
	if s.Config.Stripe != nil && sub != nil && sub.Plan != "" && billing.Paid(sub.Status) {
		return sub.Plan
	}
	return s.InitialPlan()
}

// ReconcilePlans puts every org on the plan that it pays for, for when billing
// was switched on or off.
func (s *Service) ReconcilePlans(ctx context.Context) error {
	var orgs []coord.Org
	if err := s.Read(ctx, func(tx *store.Tx) (err error) { orgs, err = tx.Orgs(ctx); return err }); err != nil {
		return err
	}
	for _, o := range orgs {
		var want string
		err := s.Read(ctx, func(tx *store.Tx) error {
			sub, err := tx.SubscriptionOf(ctx, o.ID)
			want = s.planOf(sub)
			return err
		})
		if err == nil && want != o.Plan {
			err = s.Write(ctx, ground.System(o.ID), func(tx *store.Tx) error {
				sub, err := tx.SubscriptionOf(ctx, o.ID)
				if err != nil {
					return err
				}
				return s.setPlan(ctx, tx, o.ID, sub)
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setPlan puts an org on the plan that its subscription buys, and tells of it
// if that is another one.
func (s *Service) setPlan(ctx context.Context, tx *store.Tx, id string, sub *store.Subscription) error {
	org, err := tx.Org(ctx, id)
	if err != nil {
		return err
	}
	now := s.planOf(sub)
	if now == org.Plan {
		return nil
	}
	return ground.FirstError(tx.SetPlan(ctx, id, now), s.tellBilling(ctx, tx, id, org.Plan, now, sub))
}

func (s *Service) tellBilling(ctx context.Context, tx *store.Tx, org, was, now string, sub *store.Subscription) error {
	return ground.Emit(ctx, tx, ground.System(org), ground.Happening{
		Type:    coord.EventBillingUpdated,
		Subject: coord.Entity{Kind: "org", ID: org},
		Payload: wire.BillingPayload{Plan: now, PreviousPlan: was, Status: paymentStatus(sub)},
	})
}

func paymentStatus(sub *store.Subscription) string {
	if sub == nil || sub.Status == "" {
		return "none"
	}
	return sub.Status
}

// GetBilling tells an org's plan, what it pays for, and what it could buy.
func (s *Service) GetBilling(ctx context.Context, who coord.Caller, _ wire.None) (out wire.Billing, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		org, err := tx.Org(ctx, who.OrgID)
		if err != nil {
			return err
		}
		sub, err := tx.SubscriptionOf(ctx, who.OrgID)
		if err != nil {
			return err
		}
		out = wire.Billing{Available: s.Config.Stripe != nil, Plan: org.Plan, Status: paymentStatus(sub)}
		if sub != nil {
			out.Subscribed, out.CurrentPeriodEnd, out.CancelsAt = !billing.Over(sub.Status), sub.PeriodEnd, sub.Cancels
		}
		if out.Subscribed {
			out.Price = sub.Price
		}
		out.Seats, err = tx.Seats(ctx, who.OrgID)
		return err
	})
	if err == nil {
		out.Offers = s.offers(ctx, who.OrgID)
	}
	return out, err
}

// needsStripe refuses what cannot be done without billing.
func (s *Service) needsStripe() error {
	if s.Config.Stripe == nil {
		return problem.Newf(problem.BillingUnavailable, "billing is not configured on this server: every org has everything, without limits")
	}
	return nil
}

// stripeFailed logs what Stripe said, which is for whoever set it up, and
// returns what the caller is told.
func (s *Service) stripeFailed(ctx context.Context, org string, err error) error {
	s.Logger.ErrorContext(ctx, "Stripe did not do what it was asked", "org", org, "err", err)
	return problem.Newf(problem.Unavailable, "Stripe did not answer as it should; try again in a minute. The server's log says why")
}

// CheckOut returns where to pay for a plan.
func (s *Service) CheckOut(ctx context.Context, who coord.Caller, in wire.Checkout) (out wire.PageURL, err error) {
	if err := s.needsStripe(); err != nil {
		return out, err
	}
	var org coord.Org
	var sub *store.Subscription
	var seats int
	err = s.Read(ctx, func(tx *store.Tx) error {
		if org, err = tx.Org(ctx, who.OrgID); err != nil {
			return err
		}
		if seats, err = tx.Seats(ctx, who.OrgID); err != nil {
			return err
		}
		sub, err = tx.SubscriptionOf(ctx, who.OrgID)
		return err
	})
	if err != nil {
		return out, err
	}
	if sub != nil && !billing.Over(sub.Status) {
		return out, problem.Newf(problem.AlreadySubscribed,
			"this org has a subscription (%s); change it in the portal (POST /v1/billing/portal)", sub.Status)
	}
	price, err := s.chosen(ctx, org.ID, in)
	if err != nil {
		return out, err
	}
	seats = seatsFor(price, seats)
	if sub == nil {
		if sub, err = s.becomeCustomer(ctx, who, org); err != nil {
			return out, err
		}
	}
	// Two who buy at once, or one who asks twice, get the same page, so that
	// they do not pay twice.
	hour := s.Store.Now().Std().Truncate(time.Hour).Unix()
	out.URL, err = s.Config.Stripe.Checkout(ctx, billing.Checkout{
		OrgID:    org.ID,
		Customer: sub.Customer,
		Price:    price.ID,
		Seats:    seats,
		After:    s.URL("settings", "billing"),
		Attempt:  fmt.Sprintf("%s %s %d %s %s %d", org.ID, price.ID, seats, sub.Customer, sub.Subscription, hour),
	})
	if err != nil {
		return out, s.stripeFailed(ctx, org.ID, err)
	}
	return out, nil
}

func (s *Service) becomeCustomer(ctx context.Context, who coord.Caller, org coord.Org) (*store.Subscription, error) {
	id, err := s.Config.Stripe.Customer(ctx, org, who.Email)
	if err != nil {
		return nil, s.stripeFailed(ctx, org.ID, err)
	}
	var sub *store.Subscription
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		if sub, err = tx.SubscriptionOf(ctx, org.ID); err != nil || sub != nil { // somebody was quicker
			return err
		}
		sub = &store.Subscription{OrgID: org.ID, Customer: id}
		return tx.SaveSubscription(ctx, *sub)
	})
	return sub, err
}

// OpenPortal returns where to see invoices, change the plan or cancel.
func (s *Service) OpenPortal(ctx context.Context, who coord.Caller, _ wire.None) (out wire.PageURL, err error) {
	if err := s.needsStripe(); err != nil {
		return out, err
	}
	var sub *store.Subscription
	if err := s.Read(ctx, func(tx *store.Tx) error { sub, err = tx.SubscriptionOf(ctx, who.OrgID); return err }); err != nil {
		return out, err
	}
	if sub == nil {
		return out, problem.Newf(problem.Conflict, "there is nothing to manage yet; choose a plan first (POST /v1/billing/checkout)")
	}
	if out.URL, err = s.Config.Stripe.Portal(ctx, sub.Customer, s.URL("settings", "billing")); err != nil {
		return out, s.stripeFailed(ctx, who.OrgID, err)
	}
	return out, nil
}

// JobStripe is the kind of the job that asks Stripe what a customer pays for.
const JobStripe = "stripe"

// A StripeJob says which customer.
type StripeJob struct {
	Customer string `json:"customer"`
}

// ReceiveStripe takes a webhook of Stripe. It is only taken as a hint: what
// counts is what Stripe answers when asked, so that order does not matter.
func (s *Service) ReceiveStripe(ctx context.Context, _ coord.Caller, in wire.Hook) (out wire.HookReceipt, err error) {
	if err := s.needsStripe(); err != nil {
		return out, s.RefuseHook(ctx, "stripe", "", err)
	}
	n, err := s.Config.Stripe.Read(in.Body, in.Header("Stripe-Signature"))
	switch {
	case errors.Is(err, billing.ErrUnreadable):
		return out, s.RefuseHook(ctx, "stripe", "", problem.Newf(problem.BadRequest, "this webhook is refused: %v", err))
	case err != nil:
		return out, s.RefuseHook(ctx, "stripe", "", problem.Newf(problem.Forbidden, "this webhook is refused: %v", err))
	}
	err = s.Store.Write(ctx, JobStripe, func(tx *store.Tx) error {
		first, err := tx.NoteReceipt(ctx, JobStripe, n.ID)
		switch {
		case err != nil:
			return err
		case !first:
			out = wire.HookReceipt{Status: "duplicate", Reason: "it came before"}
			return nil
		case n.Nothing != "":
			out = ground.Ignored("%s", n.Nothing)
			return nil
		}
		out, err = s.askStripe(ctx, tx, n.Customer)
		return err
	})
	if err == nil && out.Status != "done" {
		s.Logger.InfoContext(ctx, "left a webhook aside", "provider", "stripe", "delivery", n.ID, "status", out.Status, "reason", out.Reason)
	}
	return out, err
}

func (s *Service) askStripe(ctx context.Context, tx *store.Tx, customer string) (wire.HookReceipt, error) {
	sub, err := tx.SubscriptionOfCustomer(ctx, customer)
	if err != nil {
		return wire.HookReceipt{}, err
	}
	if sub == nil {
		return ground.Ignored("no org here is the customer %s", ground.Clip(customer, 100)), nil
	}
	return ground.Done("Stripe is asked what the customer pays for"), jobs.Add(ctx, tx, stripeJob(sub.OrgID, customer))
}

// RunStripe asks Stripe what a customer pays for, and puts the org on that
// plan. One run at a time asks for a customer, and one that was asked for
// meanwhile runs after it: the last answer counts.
func (s *Service) RunStripe(ctx context.Context, r *jobs.Run) error {
	var in StripeJob
	if err := r.Decode(&in); err != nil || s.Config.Stripe == nil {
		return err
	}
	found, paidFor, err := s.Config.Stripe.Subscription(ctx, in.Customer)
	if err != nil {
		return err
	}
	if paidFor > 1 {
		s.Logger.ErrorContext(ctx, "an org pays for several subscriptions; cancel all but one in Stripe", "org", r.OrgID, "customer",
			in.Customer, "subscriptions", paidFor)
	}
	if strange(found) {
		s.Logger.ErrorContext(ctx,
			"an org pays for a price that belongs to no plan and keeps the plan it had; add the price to SVC_STRIPE_PRICE_TEAM or "+
				"SVC_STRIPE_PRICE_BUSINESS, or give it the metadata svc_plan", "org", r.OrgID, "subscription", found.ID, "price", priceID(found))
	}
	if found.Seats, err = s.follow(ctx, r.OrgID, found); err != nil {
		return err
	}
	return s.Write(ctx, ground.System(r.OrgID), func(tx *store.Tx) error {
		was, err := tx.SubscriptionOfCustomer(ctx, in.Customer)
		if err != nil || was == nil {
			return err
		}
		return ground.FirstError(s.pays(ctx, tx, *was, found), r.Finish(ctx, tx))
	})
}

// strange reports whether somebody pays for what is no plan of ours.
func strange(x billing.Subscription) bool { return x.Plan == "" && billing.Paid(x.Status) }

func priceID(x billing.Subscription) string {
	if x.Price == nil {
		return ""
	}
	return x.Price.ID
}

// pays notes what an org pays for now, puts it on that plan, and tells.
func (s *Service) pays(ctx context.Context, tx *store.Tx, was store.Subscription, found billing.Subscription) error {
	now := store.Subscription{
		OrgID:        was.OrgID,
		Customer:     was.Customer,
		Subscription: found.ID,
		Status:       found.Status,
		Plan:         found.Plan,
		PeriodEnd:    found.PeriodEnd,
		Cancels:      found.Cancels,
		Price:        found.Price,
		Seats:        found.Seats,
		Stranger:     strange(found),
	}
	// Who pays does not lose what they paid for; what they paid for once, with
	// another subscription that is over, they do not get again.
	if now.Stranger && (was.Subscription == now.Subscription || billing.Paid(was.Status)) {
		now.Plan = was.Plan
	}
	before, err := tx.Org(ctx, was.OrgID)
	if err != nil {
		return err
	}
	err = ground.FirstError(tx.SaveSubscription(ctx, now), tx.StartFanout(ctx, was.OrgID), s.setPlan(ctx, tx, was.OrgID, &now))
	if err != nil {
		return err
	}
	if s.planOf(&now) == before.Plan && now.Status != was.Status { // which setPlan does not tell
		return s.tellBilling(ctx, tx, was.OrgID, before.Plan, before.Plan, &now)
	}
	return nil
}
