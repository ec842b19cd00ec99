package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook"
	"github.com/svc-hq/svc/internal/client/host"
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

// leaveOf says what the server of a stored login may hear of a repository. One
// that the environment names was named for the work that runs in it.
func leaveOf(l login.Login, store login.Store, fingerprints []string) hook.Leave {
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

// untold is the error for a repository that the server of a login is to hear
// nothing of: the team has not registered it, and nobody has said svc share or
// svc init in it.
func (a *app) untold(l login.Login, store login.Store, p place) error {
	leave := leaveOf(l, store, p.Fingerprints)
	if leave == hook.IfAsked && slices.ContainsFunc(host.All(), func(h *host.Host) bool { return h.CallsUs(p.Root, "", &host.Host{}) }) {
		return nil
	}
	if leave == hook.IfAsked { // somebody may have registered it meanwhile; whom that asks learns nothing
		if c, err := a.connect(l); err == nil && refreshRoutes(context.Background(), store, c) == nil {
			leave = leaveOf(l, store, p.Fingerprints)
		}
	}
	switch leave {
	case hook.Never:
		return fmt.Errorf("you keep %s on this machine; svc share sends its work to %s", p.Fingerprints[0], l.Server)
	case hook.IfAsked:
		return fmt.Errorf("%s has not registered %s, so it hears nothing of it; svc share sends its work there", l.Server, p.Fingerprints[0])
	}
	return nil
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
