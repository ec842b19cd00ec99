// Package work is what is being done and by whom: intents, the conflicts
// between them, sessions of agents, repos, projects, policies, and the
// contracts that repos share. It also sweeps away what nobody touches any more.
//
// What a caller's words mean ("my session", "this repo", "conflict 12") is
// found here, for the rooms above too. It tells no agent anything by itself:
// moments does, from what is stored here.
package work

import (
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/money"
)

// A Service carries out the operations about work.
type Service struct {
	*ground.Ground
	money *money.Service
	// Beats are when sessions were last heard of.
	Beats Beats
	// ToolCalls are when sessions' agents last called a tool.
	ToolCalls Beats
	called    names
}

// New returns a Service on g. m says whether a plan has room for another repo.
func New(g *ground.Ground, m *money.Service) *Service { return &Service{Ground: g, money: m} }
