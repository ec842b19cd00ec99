package cli

import (
	"context"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/core/scope"
)

// How long a hook and a command wait for the local service to start, which
// happens when nobody has worked for a while.
const (
	hookStart    = 2 * time.Second
	commandStart = 20 * time.Second
)

// localFor returns the local service if a repository's work stays on this
// machine. Who names a server by the environment means that one.
func localFor(ctx context.Context, getenv func(string) string, store login.Store, c login.Config, fingerprints []string) (
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

// fingerprintsOf names a repository: by its remotes, or by where it is.
func fingerprintsOf(r *gitrepo.Repo) (out []string) {
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
