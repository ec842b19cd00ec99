package outgoing_test

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store"
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

// chatDue is for how long the next post waits, by the service's clock; -1 if
// there is none, or one is being made.
func (x *team) chatDue() (d time.Duration) {
	x.Helper()
	x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
		var due, busy sql.NullInt64
		err := tx.QueryRowContext(ctx, `SELECT MIN(due_at), COUNT(lease) FROM jobs WHERE kind LIKE 'slack%' AND failed_at IS NULL`).
			Scan(&due, &busy)
		if d = -1; due.Valid && busy.Int64 == 0 {
			d = max(0, coord.Time(due.Int64).Sub(tx.Now))
		}
		return err
	})
	return d
}

// pass lets the time go by that the next post waits for. While one is being
// made the clock stands: its lease would run out.
func (x *team) pass() {
	x.Helper()
	if d := x.chatDue(); d > 0 {
		x.W.Advance(d + time.Millisecond)
	}
}
