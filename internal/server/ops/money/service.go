// Package money is what an org's plan allows and what it pays: plans and their
// limits, who counts as active this month, and Stripe.
//
// It refuses what a plan has no room for; it never blocks a hook, and it knows
// nothing of what the plan is used for.
package money

import (
	"github.com/svc-hq/svc/internal/server/ops/ground"
)

// A Service carries out the operations about plans and billing.
type Service struct {
	*ground.Ground
	admitted admitted
	catalog  catalog
}

// New returns a Service on g.
func New(g *ground.Ground) *Service { return &Service{Ground: g} }
