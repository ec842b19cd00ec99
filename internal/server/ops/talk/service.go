// Package talk is what people and agents say to each other: messages and
// conversations, questions and what is known without asking, search, and what
// wants a person's attention.
//
// It stores and finds words. It does not decide when an agent hears them:
// moments does.
package talk

import (
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
)

// A Service carries out the operations of talking.
type Service struct {
	*ground.Ground
	work *work.Service
}

// New returns a Service on g. Whose agent speaks, and from where, w finds out.
func New(g *ground.Ground, w *work.Service) *Service { return &Service{Ground: g, work: w} }
