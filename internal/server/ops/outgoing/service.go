// Package outgoing is what the service tells the world outside: the event log
// and its streams, webhooks, chat, the weekly digest, the feed, figures, and
// its own health.
//
// It reads and queues; sending is done by notify's jobs. It changes nothing of
// what it tells.
package outgoing

import (
	"github.com/svc-hq/svc/internal/server/ops/ground"
)

// A Service carries out the operations about what is told outside.
type Service struct{ *ground.Ground }

// New returns a Service on g.
func New(g *ground.Ground) *Service { return &Service{Ground: g} }
