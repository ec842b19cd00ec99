package outgoing_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/ops/outgoing"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// aged is a team with a year and a half behind it and something under way.
func aged(t *testing.T, x *teamtest.Team) {
	var repos wire.Page[coord.Repo]
	x.W.Must(200, daemontest.Request{Method: "GET", Path: "/v1/repos", Token: x.Ada.Token}, &repos)
	storetest.Past{Org: x.O.ID, Repo: repos.Items[0].ID, User: x.Ada.ID, Other: x.Cyd.ID, Intents: 400}.Live(t, x.W.Store)
	x.Intent(x.Ada, teamtest.APIRepo, "Now", "now/a.go")
	x.Intent(x.Bob, teamtest.APIRepo, "Also now", "now/a.go")
	// Verdicts in the past: two on one conflict count once, on another day than they would alone.
	x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE events
			SET type = 'conflict.feedback', payload = '{"verdict":"false_positive"}', subject_id = 'old-conflict-1'
			WHERE org_id = $1 AND type = 'intent.closed' AND seq % 3 = 0`, x.O.ID)
		if err == nil {
			_, err = tx.ExecContext(ctx, `UPDATE events SET type = 'conflict.resolved', payload = '{"resolution":"cleared"}'
				WHERE org_id = $1 AND type = 'intent.closed' AND seq % 3 = 1`, x.O.ID)
		}
		return err
	})
}

func stats(x *teamtest.Team) map[string]string {
	out := map[string]string{}
	for _, q := range []string{"days=7", "days=30", "days=90", "days=90&repo=acme/api", "days=90&repo=acme/web"} {
		r := x.W.Must(200, daemontest.Request{Method: "GET", Path: "/v1/stats?" + q, Token: x.Ada.Token}, nil)
		out[q] = string(r.Body)
	}
	return out
}

func wantStats(t *testing.T, when string, want, got map[string]string) {
	t.Helper()
	for q := range want {
		if got[q] != want[q] {
			t.Errorf("%s, stats?%s:\n%s\nwant\n%s", when, q, got[q], want[q])
		}
	}
}

func tidy(t *testing.T, x *teamtest.Team) {
	t.Helper()
	if err := x.W.D.Ops.Outgoing.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestSumsSayWhatTheLogSays: figures are the same whether they are counted
// from the log or summed up, and the sums alone carry the days that are over.
func TestSumsSayWhatTheLogSays(t *testing.T) {
	teamtest.Each(t, func(t *testing.T, x *teamtest.Team) {
		aged(t, x)
		want := stats(x)
		tidy(t, x)
		wantStats(t, "summed up", want, stats(x))
		tidy(t, x)
		wantStats(t, "summed up twice", want, stats(x))
		x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.ExecContext(ctx, `DELETE FROM events WHERE org_id = $1
				AND occurred_at < (SELECT until FROM daily_sums_until WHERE org_id = $1)`, x.O.ID)
			return err
		})
		wantStats(t, "without the log of days that are over", want, stats(x))
	})
}

// TestWhatIsOldIsForgotten by the org's policy, and nothing else is.
func TestWhatIsOldIsForgotten(t *testing.T) {
	teamtest.Each(t, func(t *testing.T, x *teamtest.Team) {
		aged(t, x)
		count := func(from string) (n int) {
			x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
				return tx.QueryRowContext(ctx, `SELECT COUNT(*) FROM `+from, x.O.ID).Scan(&n)
			})
			return n
		}
		old := func(column, days string) string {
			const last = `(SELECT MAX(occurred_at) FROM events WHERE org_id = $1)`
			return ` WHERE org_id = $1 AND ` + column + ` < (` + last + ` - CAST(86400000 AS BIGINT) * ` + days + `)`
		}
		kept := count(`conflicts` + old("closed_at", "100") + ` AND resolution = 'agreed'`)
		before := stats(x)
		tidy(t, x)
		if n := count(`events` + old("occurred_at", "400")); n == 0 {
			t.Error("two years are the default; something younger was forgotten")
		}
		x.W.Must(200, daemontest.Request{Method: "PUT", Path: "/v1/policies", Token: x.Ada.Token,
			Body: map[string]any{"rules": map[string]any{"retention_days": 100}}}, nil)
		tidy(t, x)
		for what, from := range map[string]string{
			"events":    `events` + old("occurred_at", "101"),
			"sessions":  `sessions` + old("ended_at", "101"),
			"conflicts": `conflicts` + old("closed_at", "101") + ` AND resolution = 'cleared'`,
		} {
			if n := count(from); n > 0 {
				t.Errorf("%d %s are older than 100 days", n, what)
			}
		}
		if n := count(`events` + old("occurred_at", "80")); n == 0 {
			t.Error("events of 80 to 100 days ago are gone")
		}
		if n := count(`conflicts` + old("closed_at", "100") + ` AND resolution = 'agreed'`); n != kept || kept == 0 {
			t.Errorf("%d of %d conflicts that were agreed on are left; they keep their like from being raised", n, kept)
		}
		after := stats(x)
		for q := range before { // the change of the policy is an event, and no figure
			if before[q] != after[q] {
				t.Errorf("stats?%s changed:\n%s\n%s", q, before[q], after[q])
			}
		}
		x.Intent(x.Cyd, teamtest.APIRepo, "And on", "now/a.go")
		if n := count(`conflicts WHERE org_id = $1 AND closed_at IS NULL`); n != 3 {
			t.Errorf("%d conflicts are live, want those of three who meet", n)
		}
	})
}

// TestOldDeliveriesAreForgotten as events are: those that arrived or were given
// up, and none that is still to be tried.
func TestOldDeliveriesAreForgotten(t *testing.T) {
	teamtest.Each(t, func(t *testing.T, x *teamtest.Team) {
		var hook struct{ ID string }
		x.W.Must(201, daemontest.Request{Method: "POST", Path: "/v1/webhooks", Token: x.Ada.Token, Body: map[string]any{
			"url": "https://hooks.example.com/svc", "event_types": []string{"repo.removed"}}}, &hook)
		for i, d := range []struct {
			id    string
			days  int
			waits bool
		}{{"old", 120, false}, {"waits", 120, true}, {"young", 80, false}} {
			x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
				var next *coord.Time
				if d.waits {
					next = tx.Now.Add(24 * time.Hour).Ptr()
				}
				_, err := tx.ExecContext(ctx, `INSERT INTO webhook_deliveries
					(id, webhook_id, org_id, event_seq, event_type, status, attempts, next_attempt_at, created_at)
					VALUES ($1, $2, $3, $4, 'repo.removed', 'failed', 1, $5, $6)`,
					d.id, hook.ID, x.O.ID, -1-i, next, tx.Now.Add(-time.Duration(d.days)*24*time.Hour))
				return err
			})
		}
		left := func() (ids []string) {
			var page wire.Page[coord.Delivery]
			x.W.Must(200, daemontest.Request{Method: "GET", Path: "/v1/webhooks/" + hook.ID + "/deliveries", Token: x.Ada.Token}, &page)
			for _, d := range page.Items {
				ids = append(ids, d.ID)
			}
			slices.Sort(ids)
			return ids
		}
		tidy(t, x)
		if got := left(); len(got) != 3 {
			t.Errorf("two years are the default; of three deliveries %v are left", got)
		}
		x.W.Must(200, daemontest.Request{Method: "PUT", Path: "/v1/policies", Token: x.Ada.Token,
			Body: map[string]any{"rules": map[string]any{"retention_days": 100}}}, nil)
		tidy(t, x)
		if got, want := left(), []string{"waits", "young"}; !slices.Equal(got, want) {
			t.Errorf("after 100 days %v are left, want %v", got, want)
		}
	})
}

// TestAnEndpointGoesWhileEventsAreHandedOn to it: who deletes it waits for that.
func TestAnEndpointGoesWhileEventsAreHandedOn(t *testing.T) {
	teamtest.Each(t, func(t *testing.T, x *teamtest.Team) {
		var hook struct{ ID string }
		x.W.Must(201, daemontest.Request{Method: "POST", Path: "/v1/webhooks", Token: x.Ada.Token, Body: map[string]any{
			"url": "https://hooks.example.com/svc", "event_types": []string{"repo.removed"}}}, &hook)
		gone := make(chan int, 1)
		x.W.Write(outgoing.FanoutLock(x.O.ID), func(ctx context.Context, tx *store.Tx) error {
			res, err := tx.ExecContext(ctx, `INSERT INTO webhook_deliveries
				(id, webhook_id, org_id, event_seq, event_type, status, attempts, created_at)
				VALUES ('given', $1, $2, -1, 'repo.removed', 'failed', 1, $3)`, hook.ID, x.O.ID, tx.Now)
			if err == nil {
				_, err = res.RowsAffected() // it is there now
			}
			go func() {
				gone <- x.W.Do(daemontest.Request{Method: "DELETE", Path: "/v1/webhooks/" + hook.ID, Token: x.Ada.Token}).Status
			}()
			if x.W.Store.Name() == "postgres" {
				await.True(t, "that somebody waits", func() (waits bool) {
					err := x.W.Store.Ask(ctx, &waits, `SELECT COUNT(*) > 0 FROM pg_locks l JOIN pg_database d ON d.datname = current_database()
						WHERE NOT l.granted AND l.pid IN (SELECT pid FROM pg_stat_activity WHERE datid = d.oid)`)
					return err == nil && waits
				})
			}
			return err
		})
		if status := <-gone; status != 204 {
			t.Errorf("deleting it answers %d", status)
		}
	})
}
