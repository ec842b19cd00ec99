package attend

import (
	"context"
	"fmt"
	"time"

	"github.com/svc-hq/svc/internal/client/copies"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/core/scope"
)

// hookStart is how long a hook waits for the local service to start, which
// happens when nobody has worked for a while.
const hookStart = 2 * time.Second

// routesAge is after how long the team's server is asked again what it has
// registered.
const routesAge = time.Minute

// LocalFor returns the local service if a repository's work stays on this
// machine. Who names a server by the environment means that one.
func LocalFor(ctx context.Context, getenv func(string) string, store login.Store, c login.Config, of hook.Identity) (
	s local.Service, here bool, err error) {
	if getenv("SVC_SERVER") != "" || getenv("SVC_TOKEN") != "" {
		return s, false, nil
	}
	place, err := local.Locate(getenv)
	if err != nil || !place.SetUp() {
		return s, false, nil // as if there were none: the login says what is missing
	}
	if c.Token != "" || c.Keychain { // a team has a say
		routes, err := routesOf(store)
		if err != nil {
			return s, true, err
		}
		if staysWith(of, c.Server) || routes.ToTeam(c.Server, of.Fingerprints) {
			return s, false, nil
		}
		refreshLater(store, routes)
	}
	s, err = place.Ensure(ctx)
	return s, true, err
}

// LeaveOf says what the server of a stored login may hear of a repository. One
// that the environment names was named for the work that runs in it.
func LeaveOf(l login.Login, store login.Store, of hook.Identity) (hook.Leave, error) {
	fingerprints := of.Fingerprints
	if l.TokenSource != login.FromConfig {
		return hook.IfKnown, nil
	}
	routes, err := routesOf(store)
	switch {
	case err != nil:
		return hook.Never, err
	case staysWith(of, l.Server) && (routes.Kept(fingerprints) || !routes.ToTeam(l.Server, fingerprints)):
		if routes.Kept(fingerprints) && store.Told != nil {
			store.Told("the routes in " + store.Dir + " say that this clone stays on this machine, but svc share --stop was not run here. " +
				"Edits are still checked with " + l.Server + ".")
		}
		return hook.IfKnown, nil
	case routes.Kept(fingerprints):
		return hook.Never, nil
	case routes.Chosen(fingerprints):
		return hook.Chosen, nil
	case routes.ToTeam(l.Server, fingerprints):
		return hook.IfKnown, nil
	}
	refreshLater(store, routes)
	return hook.IfAsked, nil
}

// staysWith reports whether a working copy is one that a team's server has
// known: its work goes there until a person says otherwise.
func staysWith(of hook.Identity, server string) bool {
	return of.Was != nil && !of.Was.Local() && !of.Was.Out && of.Was.Server == server
}

// insist hides a server and a token that the environment names from a working
// copy that is known to another service. The environment of a hook can be an
// agent's doing.
func insist(getenv func(string) string, store login.Store, c login.Config, of hook.Identity) func(string) string {
	server := getenv("SVC_SERVER")
	if server == "" && getenv("SVC_TOKEN") == "" || of.Was == nil {
		return getenv
	}
	if clean, err := login.CleanServer(server); err == nil {
		server = clean
	}
	stays := (c.Token != "" || c.Keychain) && staysWith(of, c.Server)
	if of.Was.Local() {
		place, err := local.Locate(getenv)
		_, runs := place.Running()
		stays = err == nil && runs && place.SetUp()
	}
	if !stays || server == c.Server && getenv("SVC_TOKEN") == "" {
		return getenv
	}
	if store.Told != nil {
		where := of.Was.Server
		if of.Was.Local() {
			where = "the service on this machine"
		}
		store.Told("SVC_SERVER or SVC_TOKEN names another login, but this clone belongs to " + where + ", which is asked. " +
			"If the change is meant, run svc share here.")
	}
	return func(name string) string {
		if name == "SVC_SERVER" || name == "SVC_TOKEN" {
			return ""
		}
		return getenv(name)
	}
}

// lost is the error for a working copy whose server cannot be asked any more,
// although nobody logged out.
func lost(getenv func(string) string, c login.Config, of hook.Identity) error {
	was := of.Was
	if was == nil || was.Local() || c.Token != "" || c.Keychain || getenv("SVC_TOKEN") != "" {
		return nil
	}
	if was.Out {
		if place, err := local.Locate(getenv); err == nil && place.SetUp() {
			return nil // the person works on their own now
		}
		return fmt.Errorf("%w of %s", hook.ErrLeft, was.Server)
	}
	return fmt.Errorf("this clone belongs to %s, and svc has no login there any more; run svc login --server %s", was.Server, was.Server)
}

// routesOf reads the routes, and tells if they had to be mended.
func routesOf(store login.Store) (local.Routes, error) {
	routes, err := local.LoadRoutes(store.Dir)
	if routes.Mended != "" && store.Told != nil {
		store.Told(routes.Mended)
	}
	return routes, err
}

// IdentityOf says which repository a working copy is, as this machine remembers
// it.
func IdentityOf(store login.Store, r *gitrepo.Repo) hook.Identity {
	of := hook.Identity{Fingerprints: FingerprintsOf(r)}
	if was, ok := copies.Open(store.Dir).Of(r); ok {
		of.Was = &was
	}
	return of
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
	mine := false
	_, err := local.ChangeRoutes(store.Dir, 0, func(now *local.Routes) {
		if mine = time.Since(now.At) >= routesAge; mine {
			now.At = time.Now() // so that one asks, not every hook
		}
	})
	if err == nil && mine {
		background("", nil, "share", "--refresh")
	}
}
