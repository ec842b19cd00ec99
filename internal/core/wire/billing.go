package wire

import "github.com/svc-hq/svc/internal/core/coord"

// Billing is an org's plan and what it pays for.
type Billing struct {
	Available        bool        `json:"available" doc:"Billing is configured on this server; without it every org is self_hosted"`
	Plan             string      `json:"plan" enum:"free,team,business,self_hosted"`
	Status           string      `json:"status" doc:"As Stripe calls it: active, trialing, past_due, unpaid, canceled and so on; none without a subscription"`
	Subscribed       bool        `json:"subscribed" doc:"There is a subscription that has not ended: change it in the portal"`
	CurrentPeriodEnd *coord.Time `json:"current_period_end"`
	CancelsAt        *coord.Time `json:"cancels_at" doc:"When it ends, if it was cancelled"`
	Price            *Price      `json:"price" doc:"What is paid now; null without a subscription"`
	Seats            int         `json:"seats" doc:"How many a price per seat is paid for: owners, admins and members"`
	Offers           []Offer     `json:"offers" doc:"The plans that can be bought here"`
}

// An Offer is a plan that can be bought.
type Offer struct {
	Plan   string      `json:"plan" enum:"team,business"`
	Limits UsageLimits `json:"limits"`
	Prices []Price     `json:"prices" doc:"The shortest interval first; empty while Stripe cannot be asked, or nothing is sold"`
}

// A Price is what a plan costs.
type Price struct {
	ID            string `json:"id"`
	Amount        *int64 `json:"amount" doc:"In the currency's smallest unit; null if it goes by tiers, which Stripe's page shows"`
	Currency      string `json:"currency" doc:"ISO 4217, in small letters"`
	Interval      string `json:"interval" enum:"day,week,month,year"`
	IntervalCount int    `json:"interval_count"`
	PerSeat       bool   `json:"per_seat"`
	TaxIncluded   bool   `json:"tax_included"`
}

// Checkout asks for a page to pay on.
type Checkout struct {
	Plan  string  `json:"plan" required:"true" enum:"team,business"`
	Price *string `json:"price" maxLength:"200" doc:"One of the offer's prices; the first of them if missing"`
}

// A PageURL is where a browser goes on.
type PageURL struct {
	URL string `json:"url" format:"uri"`
}
