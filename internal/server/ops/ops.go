// Package ops is what the service does, in rooms: each package below it has a
// Service with one method per operation, one file per noun. An operation
// validates, opens one transaction, decides, and returns; it knows nothing of
// HTTP, tools or SQL.
//
// The package itself only puts the rooms together. They are reached through
// api.Call, which checks the caller.
package ops

import (
	"log/slog"

	"github.com/svc-hq/svc/internal/server/eventlog"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops/forge"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/moments"
	"github.com/svc-hq/svc/internal/server/ops/money"
	"github.com/svc-hq/svc/internal/server/ops/outgoing"
	"github.com/svc-hq/svc/internal/server/ops/people"
	"github.com/svc-hq/svc/internal/server/ops/talk"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// Rooms are the services that carry out operations, one per room.
type Rooms struct {
	Ground   *ground.Ground
	Money    *money.Service
	People   *people.Service
	Work     *work.Service
	Talk     *talk.Service
	Moments  *moments.Service
	Forge    *forge.Service
	Outgoing *outgoing.Service
}

// on returns the rooms that stand on g.
func on(g *ground.Ground) *Rooms {
	m := money.New(g)
	w := work.New(g, m)
	t := talk.New(g, w)
	return &Rooms{
		Ground:   g,
		Money:    m,
		People:   people.New(g, m),
		Work:     w,
		Talk:     t,
		Moments:  moments.New(g, w, t),
		Forge:    forge.New(g),
		Outgoing: outgoing.New(g),
	}
}

// Config is what operations need to know of the installation.
type Config = ground.Config

// New returns the rooms on a store, its log and its index of live work.
func New(s *store.Store, log *eventlog.Log, l *live.Set, logger *slog.Logger, cfg Config) *Rooms {
	return on(ground.New(s, log, l, logger, cfg))
}
