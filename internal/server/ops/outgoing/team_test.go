package outgoing_test

import (
	"testing"

	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
)

type (
	agent   = teamtest.Agent
	request = daemontest.Request
)

// A team is what all rooms' tests work with, and what only these ask of it.
type team struct{ *teamtest.Team }

const apiRepo = teamtest.APIRepo

// onTeams runs a test with a team on every database.
func onTeams(t *testing.T, test func(*testing.T, *team)) {
	teamtest.Each(t, func(t *testing.T, x *teamtest.Team) { test(t, &team{x}) })
}
