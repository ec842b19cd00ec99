// Package people is who may come in: accounts, sign-in with a password, OpenID
// or a device's code, members and their roles, invites, and tokens.
//
// It says who somebody is and lets them in. It does not decide what they may
// then call: the rows of api.Table do. Nor does it know what their agents work
// on.
package people

import (
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/money"
)

// A Service carries out the operations about people.
type Service struct {
	*ground.Ground
	money *money.Service
}

// New returns a Service on g. A new org begins on the plan that m gives it.
func New(g *ground.Ground, m *money.Service) *Service { return &Service{Ground: g, money: m} }
