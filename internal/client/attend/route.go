package attend

import (
	"context"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/core/scope"
)

// hookStart is how long a hook waits for the local service to start, which
// happens when nobody has worked for a while.
var hookStart = patience.Of(2 * time.Second)

// routesAge is after how long the team's server is asked again what it has
// registered.
const routesAge = time.Minute

// LocalFor returns the local service if a repository's work stays on this
// machine. Who names a server by the environment means that one.
func LocalFor(ctx context.Context, getenv func(string) string, store login.Store, c login.Config, fingerprints []string) (
	s local.Service, here bool, err error) {
	if getenv("SVC_SERVER") != "" || getenv("SVC_TOKEN") != "" {
		return s, false, nil
	}
	place, err := local.Locate(getenv)
	if err != nil || !place.SetUp() {
		return s, false, nil // as if there were none: the login says what is missing
	}
	if c.Token != "" || c.Keychain { // a team has a say
		routes, err := local.LoadRoutes(store.Dir)
		if err != nil {
			return s, true, err
		}
		if routes.ToTeam(c.Server, fingerprints) {
			return s, false, nil
		}
		refreshLater(store, routes)
	}
	s, err = place.Ensure(ctx)
	return s, true, err
}

// LeaveOf says what the server of a stored login may hear of a repository. One
// that the environment names was named for the work that runs in it.
func LeaveOf(l login.Login, store login.Store, fingerprints []string) hook.Leave {
	if l.TokenSource != login.FromConfig {
		return hook.IfKnown
	}
	routes, err := local.LoadRoutes(store.Dir)
	switch {
	case err != nil || routes.Kept(fingerprints):
		return hook.Never
	case routes.Chosen(fingerprints):
		return hook.Chosen
	case routes.ToTeam(l.Server, fingerprints):
		return hook.IfKnown
	}
	refreshLater(store, routes)
	return hook.IfAsked
}

// FingerprintsOf names a repository: by its remotes, or by where it is.
func FingerprintsOf(r *gitrepo.Repo) (out []string) {
	for _, remote := range r.Remotes() {
		if f, ok := scope.Fingerprint(remote.URL); ok {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		out = append(out, local.Fingerprint(r.CommonDir))
	}
	return out
}

// refreshLater has another process ask, which nobody waits for.
func refreshLater(store login.Store, routes local.Routes) {
	if time.Since(routes.At) < routesAge {
		return
	}
	routes.At = time.Now() // so that one asks, not every hook
	if routes.Save(store.Dir) == nil {
		background("", nil, "share", "--refresh")
	}
}
