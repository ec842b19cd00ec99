package work_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// Of ten people who claim one file at once, the first must hear of nobody, the
// second of one, and so on: 45 reports in all. This is the promise the service
// makes, so it is tested on both databases, on PostgreSQL with two replicas.
func TestSimultaneousClaimsAreAllReported(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		servers := []*daemontest.World{w}
		if strings.HasPrefix(dsn, "postgres") {
			servers = append(servers, w.Replica())
		}
		o := w.Org("Acme")
		w.Must(201, request{Method: "POST", Path: "/v1/repos", Token: o.Owner(), Body: map[string]any{"full_name": "acme/shop"}}, nil)
		const n = 10
		var tokens []string
		for range n {
			u := w.Member(o, coord.Member)
			tokens = append(tokens, w.Token(o, &u, coord.Scopes()...))
		}
		titles := strings.Fields("Login Tax Seats Prices Search Export Avatars Quotas Backups Themes") // no two about one task
		reports, numbers := make([]int, n), make([]int, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				var out struct {
					Intent    struct{ Number int }
					Conflicts []struct{ Ref string }
				}
				servers[i%len(servers)].Must(201, request{Method: "POST", Path: "/v1/intents", Token: tokens[i],
					Body: map[string]any{"title": titles[i], "repo": "acme/shop", "scope": map[string]any{"paths": []string{"auth/login.go"}}}}, &out)
				reports[i], numbers[i] = len(out.Conflicts), out.Intent.Number
			})
		}
		wg.Wait()
		sum, seen := 0, map[int]bool{}
		for i := range n {
			sum += reports[i]
			if seen[numbers[i]] || numbers[i] < 1 || numbers[i] > n {
				t.Errorf("number %d was given twice or is out of line", numbers[i])
			}
			seen[numbers[i]] = true
		}
		if sum != n*(n-1)/2 {
			t.Errorf("%d reports %v, want %d", sum, reports, n*(n-1)/2)
		}
		var log struct{ Items []coord.Event }
		w.Must(200, request{Method: "GET", Path: "/v1/events?type=conflict.detected&limit=200", Token: o.Owner()}, &log)
		if len(log.Items) != n*(n-1)/2 {
			t.Errorf("the log tells of %d conflicts, want %d", len(log.Items), n*(n-1)/2)
		}
	})
}

// However a remote is written, it is one repo.
func TestARemoteIsOneRepoHoweverItIsWritten(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		var made coord.Repo
		w.Must(201, request{Method: "POST", Path: "/v1/repos", Token: o.Owner(),
			Body: map[string]any{
				"full_name": "acme/shop",
				"remotes":   []string{"git@github.com:Acme/Shop.git", "https://github.com/acme/shop/"},
			}}, &made)
		if len(made.Remotes) != 1 || made.Remotes[0] != "github.com/acme/shop" {
			t.Errorf("remotes = %v", made.Remotes)
		}
		for _, remote := range []string{"ssh://git@github.com/acme/shop", "ssh://git@github.com:22/acme/shop.git",
			"git://github.com/acme/shop.git",
			"https://user:secret@GitHub.com:443/acme/shop.git", "http://github.com/acme/shop", "github.com/acme/shop", "github.com:acme/shop/"} {
			res := w.Do(request{
				Method: "POST",
				Path:   "/v1/repos",
				Token:  o.Owner(),
				Body:   map[string]any{"full_name": "acme/other", "provider": "generic", "remotes": []string{remote}},
			})
			if res.Status != 409 {
				t.Errorf("%s = %d, want 409: it is acme/shop\n%s", remote, res.Status, res.Body)
			}
			if strings.Contains(string(res.Body), "secret") {
				t.Errorf("the answer repeats a secret: %s", res.Body)
			}
		}
		for _, bad := range []string{"not a remote", "file:///tmp/x", "../x", "https://"} {
			w.Must(400, request{
				Method: "POST",
				Path:   "/v1/repos",
				Token:  o.Owner(),
				Body:   map[string]any{"full_name": "acme/bad", "remotes": []string{bad}},
			}, nil)
		}
	})
}
