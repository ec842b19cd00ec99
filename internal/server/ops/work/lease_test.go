package work_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A queue is a team that leases resources in acme/shop.
type queue struct {
	*testing.T
	world   *daemontest.World
	servers []*daemontest.World
	token   string
}

func newQueue(t *testing.T, dsn string) *queue {
	w := daemontest.Start(t, dsn)
	q := &queue{T: t, world: w, servers: []*daemontest.World{w}}
	if strings.HasPrefix(dsn, "postgres") {
		q.servers = append(q.servers, w.Replica())
	}
	o := w.Org("Acme")
	q.token = o.Owner()
	w.Must(201, request{Method: "POST", Path: "/v1/repos", Token: q.token, Body: map[string]any{"full_name": "acme/shop"}}, nil)
	return q
}

func (q *queue) rules(rules map[string]any) {
	q.world.Must(200, request{Method: "PUT", Path: "/v1/policies", Token: q.token, Body: map[string]any{"rules": rules}}, nil)
}

// ask declares an intent of its own for resources.
func (q *queue) ask(server int, keys ...string) coord.Intent {
	var out struct{ Intent coord.Intent }
	q.servers[server%len(q.servers)].Must(201, request{Method: "POST", Path: "/v1/intents", Token: q.token, Body: map[string]any{
		"title": "Run it", "repo": "acme/shop", "separate": true, "scope": map[string]any{"contracts": keys}}}, &out)
	return out.Intent
}

func (q *queue) close(i coord.Intent) {
	q.world.Must(200, request{Method: "POST", Path: "/v1/intents/" + i.Ref + "/close", Token: q.token,
		Body: map[string]any{"outcome": "abandoned"}}, nil)
}

// held returns who has what now, and fails where two have one.
func (q *queue) held() map[string]string {
	q.Helper()
	out := map[string]string{}
	var list struct{ Items []coord.Intent }
	q.world.Must(200, request{Method: "GET", Path: "/v1/intents?status=live&limit=200", Token: q.token}, &list)
	for _, i := range list.Items {
		for _, l := range i.Leases {
			if l.Resource == nil {
				continue
			}
			if other := out[*l.Resource]; other != "" {
				q.Errorf("%s and %s both have %s", other, i.Ref, *l.Resource)
			}
			out[*l.Resource] = i.Ref
		}
	}
	return out
}

// Of fifty who ask for twenty ports at once twenty get one each. What they
// release goes to those who asked first, and nobody ever shares one.
func TestFiftyAgentsRaceForTwentyPorts(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		q := newQueue(t, dsn)
		q.rules(map[string]any{"resource_ranges": map[string]any{"port": "4000-4019"}})
		intents := make([]coord.Intent, 50)
		var wg sync.WaitGroup
		for i := range intents {
			wg.Go(func() { intents[i] = q.ask(i, "res:port:*") })
		}
		wg.Wait()
		if got := len(q.held()); got != 20 {
			t.Fatalf("%d ports are leased, want 20", got)
		}
		slices.SortFunc(intents, func(a, b coord.Intent) int { return a.Number - b.Number })
		for k, i := range intents {
			l := i.Leases[0]
			switch has := l.Resource != nil; {
			case has != (k < 20):
				t.Errorf("%s, number %d of those who asked, has a port: %v", i.Ref, k+1, has)
			case !has && (l.Note == nil || *l.Note != "all of 4000-4019 are taken"):
				t.Errorf("%s is told %v", i.Ref, l.Note)
			case has && !slices.Contains(i.Scope.Contracts, *l.Resource):
				t.Errorf("%s has %s, and its scope says %v", i.Ref, *l.Resource, i.Scope.Contracts)
			}
		}
		for _, i := range intents[:20] {
			wg.Go(func() { q.close(i) })
		}
		wg.Wait()
		held := q.held()
		for k, i := range intents[20:] {
			if has := slices.Contains(slices.Collect(maps.Values(held)), i.Ref); has != (k < 20) {
				t.Errorf("%s, number %d in line, has a port: %v", i.Ref, k+1, has)
			}
		}
	})
}

// Whose clock is behind does not come before those who asked earlier by a clock
// that is ahead, neither in a line nor where two claim one file.
func TestAClockAheadPutsNobodyBack(t *testing.T) {
	q := newQueue(t, storetest.Postgres(t))
	q.servers[1] = q.world.ReplicaWith(func(cfg *daemon.Config) {
		clock := cfg.Clock
		cfg.Clock = func() time.Time { return clock().Add(2 * time.Second) }
	})
	const key = "res:env:staging"
	one, two, three := q.ask(0, key), q.ask(1, key), q.ask(0, key)
	q.close(one)
	if q.held()[key] != two.Ref {
		t.Errorf("held = %v after %s ended: %s asked before %s", q.held(), one.Ref, two.Ref, three.Ref)
	}
	claim := func(server int) (out wire.Declared) {
		q.servers[server].Must(201, request{Method: "POST", Path: "/v1/intents", Token: q.token, Body: map[string]any{
			"title": fmt.Sprint("Rewrite it at ", server), "repo": "acme/shop", "separate": true, "mode": "exclusive",
			"scope": map[string]any{"paths": []string{"a.go"}}}}, &out)
		return out
	}
	first, second := claim(1).Intent, claim(0).Intent
	if first.CreatedAt > second.CreatedAt {
		t.Errorf("%s was made after %s, and says it was %d ms before", second.Ref, first.Ref, first.CreatedAt-second.CreatedAt)
	}
}

// Fifty who ask for the number of a migration at once get fifty numbers, after
// all that are known, and none of them is handed out again: not when its intent
// has ended, and not by a service that starts anew.
func TestAMigrationsNumberIsHandedOutOnce(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		q := newQueue(t, dsn)
		const folder = "res:migration:db/migrations"
		first := q.ask(0, folder)
		if l := first.Leases[0]; l.Resource != nil || l.Note == nil || !strings.Contains(*l.Note, "svc index") {
			t.Fatalf("of a folder that nobody knows: %+v", l)
		}
		q.close(first)
		q.ask(0, folder+"/0042")
		var mu sync.Mutex
		seen := map[string]string{}
		take := func(server int) coord.Intent {
			i := q.ask(server, folder)
			mu.Lock()
			defer mu.Unlock()
			l := i.Leases[0]
			if l.Resource == nil {
				t.Errorf("%s got none: %+v", i.Ref, l)
				return i
			}
			if other := seen[*l.Resource]; other != "" {
				t.Errorf("%s and %s were given %s", other, i.Ref, *l.Resource)
			}
			seen[*l.Resource] = i.Ref
			return i
		}
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() { q.close(take(i)) })
		}
		wg.Wait()
		for n := 43; n < 93; n++ {
			if seen[fmt.Sprintf("%s/%d", folder, n)] == "" {
				t.Errorf("nobody was given %d", n)
			}
		}
		q.world.Restart()
		q.servers = []*daemontest.World{q.world}
		if i := take(0); *i.Leases[0].Name != "93" {
			t.Errorf("after a restart the next is %s, want 93", *i.Leases[0].Name)
		}
	})
}

// One has a named resource, the next is blocked until it is released, and has
// it then. A wait for it ends with the lease.
func TestANamedResourceGoesToTheNextInLine(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		q := newQueue(t, dsn)
		const key = "res:env:staging"
		one, two, three := q.ask(0, key), q.ask(0, key), q.ask(1, key)
		if q.held()[key] != one.Ref || two.Status != coord.IntentBlocked || three.Status != coord.IntentBlocked {
			t.Fatalf("held = %v, %s is %s, %s is %s", q.held(), two.Ref, two.Status, three.Ref, three.Status)
		}
		q.world.Must(http.StatusOK, request{Method: "PATCH", Path: "/v1/intents/" + one.Ref, Token: q.token,
			Body: map[string]any{"scope_remove": map[string]any{"contracts": []string{key}}}}, nil)
		if q.held()[key] != two.Ref {
			t.Fatalf("held = %v after %s let go", q.held(), one.Ref)
		}
		var now coord.Intent
		q.world.Must(200, request{Method: "GET", Path: "/v1/intents/" + two.Ref, Token: q.token}, &now)
		if now.Status != coord.IntentActive || len(now.BlockedBy) > 0 {
			t.Errorf("%s is %s, blocked by %v", now.Ref, now.Status, now.BlockedBy)
		}
		q.close(two)
		if q.held()[key] != three.Ref {
			t.Errorf("held = %v after %s ended", q.held(), two.Ref)
		}
	})
}
