package billing

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/wire"
)

// What a price's metadata may say.
const (
	metaPlan = "svc_plan"     // the plan that it buys
	metaSeat = "svc_per_seat" // true: it is paid for each who can work, not once
)

// maxPages is how many pages of prices are looked through: a thousand prices.
const maxPages = 10

// Prices returns what is sold, by plan. Of several prices of a plan for the
// same interval and currency one is sold: the one that the settings name
// first, else the newest. The others are kept by who pays them.
func (s *Stripe) Prices(ctx context.Context) (map[string][]wire.Price, error) {
	query := url.Values{"active": {"true"}, "type": {"recurring"}, "limit": {"100"}}
	var found []price
	for range maxPages {
		var page list[price]
		if err := s.get(ctx, "/v1/prices", query, &page); err != nil {
			return nil, err
		}
		found = append(found, page.Data...)
		if !page.HasMore || len(page.Data) == 0 {
			break
		}
		query.Set("starting_after", page.Data[len(page.Data)-1].ID)
	}
	return s.sold(found), nil
}

// sold chooses among the prices of an account.
func (s *Stripe) sold(found []price) map[string][]wire.Price {
	found = slices.DeleteFunc(found, func(p price) bool {
		return !p.Active || s.planOf(&p) == "" || p.Recurring == nil || p.Recurring.UsageType == "metered"
	})
	slices.SortStableFunc(found, func(a, b price) int {
		return cmp.Or(cmp.Compare(s.rank(&a), s.rank(&b)), -cmp.Compare(a.Created, b.Created), cmp.Compare(a.ID, b.ID))
	})
	out, has := map[string][]wire.Price{}, map[string]bool{}
	for _, p := range found {
		plan, x := s.planOf(&p), priceOf(&p)
		if key := plan + " " + x.Interval + " " + strconv.Itoa(x.IntervalCount) + " " + x.Currency; !has[key] {
			has[key] = true
			out[plan] = append(out[plan], x)
		}
	}
	for _, prices := range out {
		slices.SortStableFunc(prices, func(a, b wire.Price) int { return cmp.Compare(length(a), length(b)) })
	}
	return out
}

// length puts intervals in order.
func length(p wire.Price) int {
	return p.IntervalCount * map[string]int{"day": 1, "week": 7, "month": 30, "year": 365}[p.Interval]
}

// rank is where the settings name a price; behind all others if they do not.
func (s *Stripe) rank(p *price) int {
	named := pricesOf(s.cfg.Prices[s.planOf(p)])
	for i, name := range named {
		if names(name, p) {
			return i
		}
	}
	return len(named)
}

func names(name string, p *price) bool {
	return p.ID == name || p.LookupKey != "" && p.LookupKey == name
}

// planOf returns the plan that a price buys: by its id or lookup key, as
// configured, or by what its metadata says.
func (s *Stripe) planOf(p *price) string {
	if p == nil {
		return ""
	}
	for plan, prices := range s.cfg.Prices {
		if slices.ContainsFunc(pricesOf(prices), func(name string) bool { return names(name, p) }) {
			return plan
		}
	}
	if _, ours := s.cfg.Prices[p.Metadata[metaPlan]]; ours {
		return p.Metadata[metaPlan]
	}
	return ""
}

// pricesOf reads the prices of a plan.
func pricesOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

func priceOf(p *price) wire.Price {
	x := wire.Price{ID: p.ID, Currency: p.Currency, PerSeat: p.Metadata[metaSeat] == "true", TaxIncluded: p.TaxBehavior == "inclusive"}
	if p.Recurring != nil {
		x.Interval, x.IntervalCount = p.Recurring.Interval, max(1, p.Recurring.IntervalCount)
	}
	// Of tiers, and of fractions of a cent, there is no one amount to show.
	if p.BillingScheme != "tiered" && p.UnitAmount != nil && p.UnitAmountDecimal == strconv.FormatInt(*p.UnitAmount, 10) {
		x.Amount = p.UnitAmount
	}
	return x
}

// SetSeats makes a subscription's item be paid for so many. Stripe charges or
// refunds the rest of the interval with the next invoice.
func (s *Stripe) SetSeats(ctx context.Context, item string, seats int) error {
	form := url.Values{"quantity": {strconv.Itoa(seats)}, "proration_behavior": {"create_prorations"}}
	return s.post(ctx, "/v1/subscription_items/"+url.PathEscape(item), "", form, &struct{}{})
}
