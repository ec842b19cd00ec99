package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/copies"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/share"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// shareFlags are the flags of svc share.
type shareFlags struct {
	repos   string
	stop    bool
	refresh bool
	yes     bool
}

func shareCommand(a *app.Run) *cobra.Command {
	var f shareFlags
	cmd := &cobra.Command{
		Use:   "share [--repos PATTERN] [--stop]",
		Short: "Let your team see the work in this repository",
		Long: "Send the work in this repository to the server you logged in to, and move your\n" +
			"live intents there. Without it your team hears only of repositories that its\n" +
			"server has registered; everything else stays on this machine. --repos chooses\n" +
			"all whose remote matches, --stop takes a choice back.",
		Example: "  svc share\n  svc share --repos 'github.com/acme/*'\n  svc share --stop",
		Args:    term.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runShare(cmd.Context(), a, f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.repos, "repos", "", "a pattern of remotes, such as github.com/acme/*")
	fs.BoolVar(&f.stop, "stop", false, "keep the work on this machine from now on")
	fs.BoolVar(&f.refresh, "refresh", false, "only ask the server again which repositories it has registered")
	fs.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	return cmd
}

func runShare(ctx context.Context, a *app.Run, f shareFlags) error {
	store, err := login.Locate(a.Getenv)
	if err != nil {
		return err
	}
	team, err := teamLogin(a, store)
	if err != nil {
		return err
	}
	c, err := a.Connect(team)
	if err != nil {
		return err
	}
	if f.refresh {
		return share.Refresh(ctx, store, c)
	}
	rep := share.Report{Server: team.Server, Repos: f.repos, Shared: !f.stop, Intents: []string{}}
	var fingerprints []string
	if f.repos == "" {
		if fingerprints, err = sharable(a); err != nil {
			return err
		}
		rep.Repos = fingerprints[0]
	} else if !share.Pattern(f.repos) {
		return term.Usagef("--repos %q is no pattern of remotes such as github.com/acme/*", f.repos)
	}
	if a.Terminal.In && !f.yes && !f.stop {
		ok, err := a.Confirm(ctx, fmt.Sprintf("Send the work in %s to %s?", peertext.Path(rep.Repos), team.Server))
		if err != nil {
			return err
		}
		if !ok {
			return term.ErrCancelled
		}
	}
	if err := settle(a, store, f, fingerprints); err != nil {
		return err
	}
	if !f.stop && f.repos == "" {
		rep, err = share.Repository(ctx, a.Getenv, store, c, fingerprints)
	} else {
		err = share.Choose(store, rep.Repos, !f.stop)
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(rep)
	}
	if f.stop {
		fmt.Fprintf(a.Stdout, "The work in %s stays on this machine. What %s has been told already stays there.\n",
			peertext.Path(rep.Repos), team.Server)
		return nil
	}
	printShared(a, rep)
	return nil
}

// settle changes what is remembered of the working copies that the person now
// speaks of: they say which repository it is, and who hears of it.
func settle(a *app.Run, store login.Store, f shareFlags, fingerprints []string) error {
	here, _ := a.Repository()
	chosen := local.Routes{Team: append([]string{f.repos}, fingerprints...)}
	these := func(c copies.Copy) bool { return f.repos == "" && c.Root == here.Root || chosen.Chosen(c.Remotes) }
	if f.stop {
		return copies.Open(store.Dir).Leave(these)
	}
	return copies.Open(store.Dir).Forget(these)
}

func printShared(a *app.Run, rep share.Report) {
	moved := ""
	if n := len(rep.Intents); n > 0 {
		moved = fmt.Sprintf("; what was under way moved there as %s", strings.Join(rep.Intents, ", "))
	}
	fmt.Fprintf(a.Stdout, "The work in %s goes to %s%s.\n", peertext.Path(rep.Repos), rep.Server, moved)
}

// teamLogin is the login of svc login, whatever the local service does.
func teamLogin(a *app.Run, store login.Store) (login.Login, error) {
	c, err := store.Load()
	if err != nil {
		return login.Login{}, err
	}
	l, err := login.Resolve(c, a.Getenv, login.Overrides{})
	if err == nil && !l.LoggedIn() {
		err = errors.New("you are in no team yet: svc login --server https://... adds its server")
	}
	return l, err
}

// sharable returns the names under which a team can know this repository.
func sharable(a *app.Run) ([]string, error) {
	p, err := a.Repository()
	if err != nil {
		return nil, err
	}
	if local.OwnOf(p.Fingerprints[0]) {
		return nil, fmt.Errorf("%s has no remote, so nobody else can have it; git remote add origin <url> first", p.Root)
	}
	return p.Fingerprints, nil
}
