// Package forge is the part that GitHub and GitLab play: their webhooks about
// pull requests and pushes, stacks of pull requests, the apps and tokens with
// which they are reached, and the reports written back to them.
//
// How their messages look and how they are called is known to githost; what
// follows for work is decided here, or asked of package work. No pull request
// is merged or refused from here: a report is all that is written.
package forge

import (
	"github.com/svc-hq/svc/internal/server/ops/ground"
)

// A Service carries out the operations about git hosts.
type Service struct{ *ground.Ground }

// New returns a Service on g.
func New(g *ground.Ground) *Service { return &Service{Ground: g} }
