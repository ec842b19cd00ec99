package store

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A Subscription is what an org pays for, as Stripe last told.
type Subscription struct {
	OrgID        string
	Customer     string
	Subscription string // empty before the first
	Status       string
	Plan         string
	PeriodEnd    *coord.Time
	Cancels      *coord.Time
	Price        *wire.Price
	Seats        int
	Stranger     bool // the price belongs to no plan that is configured
	UpdatedAt    coord.Time
}

func (tx *Tx) subscription(ctx context.Context, column, value string) (*Subscription, error) {
	var s Subscription
	err := tx.QueryRowContext(ctx, `
		SELECT org_id, customer, subscription, status, plan, period_end, cancels, price, seats, stranger, updated_at
		FROM subscriptions WHERE `+column+` = $1`, value).
		Scan(&s.OrgID, &s.Customer, &s.Subscription, &s.Status, &s.Plan, &s.PeriodEnd, &s.Cancels, asJSON{&s.Price}, &s.Seats, &s.Stranger,
			&s.UpdatedAt)
	return maybe(s, err)
}

// SubscriptionOf returns what an org pays for, or nil if it is no customer.
func (tx *Tx) SubscriptionOf(ctx context.Context, org string) (*Subscription, error) {
	return tx.subscription(ctx, "org_id", org)
}

// SubscriptionOfCustomer returns what a customer of Stripe's pays for, or nil.
func (tx *Tx) SubscriptionOfCustomer(ctx context.Context, customer string) (*Subscription, error) {
	return tx.subscription(ctx, "customer", customer)
}

// SaveSubscription stores what an org pays for.
func (tx *Tx) SaveSubscription(ctx context.Context, s Subscription) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO subscriptions (org_id, customer, subscription, status, plan, period_end, cancels, price, seats, stranger, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (org_id) DO UPDATE SET customer = EXCLUDED.customer, subscription = EXCLUDED.subscription, status = EXCLUDED.status,
			plan = EXCLUDED.plan,
			period_end = EXCLUDED.period_end, cancels = EXCLUDED.cancels, price = EXCLUDED.price, seats = EXCLUDED.seats,
			stranger = EXCLUDED.stranger, updated_at = EXCLUDED.updated_at`,
		s.OrgID, s.Customer, s.Subscription, s.Status, s.Plan, s.PeriodEnd, s.Cancels, jsOrNull(s.Price), s.Seats, s.Stranger, tx.Now)
	return err
}

// SetPlan puts an org on a plan.
func (tx *Tx) SetPlan(ctx context.Context, org, plan string) error {
	_, err := tx.ExecContext(ctx, `UPDATE orgs SET plan = $2 WHERE id = $1`, org, plan)
	return err
}

// Seats returns how many of an org's members can work: owners, admins and
// members, not those who look on or pay.
func (tx *Tx) Seats(ctx context.Context, org string) (n int, err error) {
	err = tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM members WHERE org_id = $1 AND role IN ($2, $3, $4)`,
		org, coord.Owner, coord.Admin, coord.Member).Scan(&n)
	return n, err
}

// Strangers returns how many orgs pay for a price that belongs to no plan.
func (tx *Tx) Strangers(ctx context.Context) (n int, err error) {
	err = tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM subscriptions WHERE stranger`).Scan(&n)
	return n, err
}
