package cli

import (
	"context"
	"fmt"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/setup"
	"github.com/svc-hq/svc/internal/client/share"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// nextFlags are which org svc login is for, and what it does once somebody is
// logged in.
type nextFlags struct {
	org   string // its slug; whichever the person chooses, if empty
	yes   bool   // without asking
	repos string // a pattern of remotes to share
}

// afterLogin takes somebody who has just logged in to where their agents are
// coordinated: hooks, and which repositories the team may hear of. What is
// there already is not asked about, and nothing is done that was not said.
func afterLogin(ctx context.Context, a *app.Run, l login.Login, store login.Store, c *remote.Client, next nextFlags) error {
	if next.repos != "" {
		if err := share.Choose(store, next.repos, true); err != nil {
			return err
		}
		fmt.Fprintf(a.Stdout, "The work in %s goes to %s.\n", peertext.Path(next.repos), l.Server)
	}
	if !next.yes && !a.Terminal.In {
		return nil
	}
	hosts, written, err := upHooks(ctx, a, initFlags{yes: next.yes}, thisProgram(ctx))
	if err != nil {
		return err
	}
	if len(written) > 0 {
		fmt.Fprintf(a.Stdout, "Set up the hooks and tools of %s, for every folder. Restart your agents.\n", setup.Titles(hosts...))
	}
	return offerRepository(ctx, a, l, store, c, next.yes)
}

// offerRepository asks once whether the team may see the work in this
// repository, if its server does not have it already.
func offerRepository(ctx context.Context, a *app.Run, l login.Login, store login.Store, c *remote.Client, yes bool) error {
	p, err := a.Repository()
	if err != nil || local.OwnOf(p.Fingerprints[0]) {
		return nil // which no team can have
	}
	routes, err := local.LoadRoutes(store.Dir)
	if err != nil || routes.Kept(p.Fingerprints) {
		return err
	}
	name := peertext.Path(p.Fingerprints[0])
	if routes.ToTeam(l.Server, p.Fingerprints) {
		fmt.Fprintf(a.Stdout, "The team sees the work in %s; svc share --stop keeps yours here.\n", name)
		return nil
	}
	if !yes {
		question := fmt.Sprintf("%s has not registered %s. May the team see the work in it?", l.Server, name)
		if yes, err = a.Confirm(ctx, question); err != nil {
			return err
		}
	}
	if !yes {
		fmt.Fprintf(a.Stdout, "The work in %s stays on this machine; svc share sends it after all.\n", name)
		return share.Choose(store, p.Fingerprints[0], false)
	}
	rep, err := share.Repository(ctx, a.Getenv, store, c, p.Fingerprints)
	if err != nil {
		fmt.Fprintf(a.Stderr, "svc: %s\n", peertext.Clean(err.Error())) // the login holds all the same
		return nil
	}
	printShared(a, rep)
	return nil
}
