// Package moments has the operations that an agent's hooks and tools call while
// it works: the events of its hooks and the answer to each, the briefing, the
// check of a scope before it is touched, the inbox, and waiting until something
// is free.
//
// Whatever is told an agent is told here, once, and noted in the transaction
// that tells it. What there is to tell comes from the rooms below: nothing is
// found out here that they do not know.
package moments

import (
	"time"

	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/talk"
	"github.com/svc-hq/svc/internal/server/ops/work"
)

// A Service carries out what happens to an agent.
type Service struct {
	*ground.Ground
	work  *work.Service
	talk  *talk.Service
	waits waits
	lines lines

	// Doubt is how long an edit waits for the service to know that it has seen
	// every claim. An agent's hook has given up soon after.
	Doubt time.Duration
}

// New returns a Service on g.
func New(g *ground.Ground, w *work.Service, t *talk.Service) *Service {
	return &Service{
		Ground: g,
		Doubt:  300 * time.Millisecond,
		work:   w,
		talk:   t,
		waits:  waits{open: map[string]int{}},
		lines:  lines{open: map[string]*line{}, watch: map[string]*lookout{}},
	}
}
