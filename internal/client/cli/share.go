package cli

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/hook/record"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/presence"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/version"
	"github.com/svc-hq/svc/internal/core/wire"
)

// shareFlags are the flags of svc share.
type shareFlags struct {
	repos   string
	stop    bool
	refresh bool
	yes     bool
}

func (a *app) shareCommand() *cobra.Command {
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
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.runShare(cmd.Context(), f) },
	}
	fs := cmd.Flags()
	fs.StringVar(&f.repos, "repos", "", "a pattern of remotes, such as github.com/acme/*")
	fs.BoolVar(&f.stop, "stop", false, "keep the work on this machine from now on")
	fs.BoolVar(&f.refresh, "refresh", false, "only ask the server again which repositories it has registered")
	fs.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	return cmd
}

// A shareReport is the JSON of svc share.
type shareReport struct {
	Server  string   `json:"server"`
	Repos   string   `json:"repos"`
	Shared  bool     `json:"shared"`
	Intents []string `json:"intents"`
}

func (a *app) runShare(ctx context.Context, f shareFlags) error {
	store, err := login.Locate(a.Getenv)
	if err != nil {
		return err
	}
	team, err := a.teamLogin(store)
	if err != nil {
		return err
	}
	c, err := a.connect(team)
	if err != nil {
		return err
	}
	if f.refresh {
		return refreshRoutes(ctx, store, c)
	}
	rep := shareReport{Server: team.Server, Repos: f.repos, Shared: !f.stop, Intents: []string{}}
	var fingerprints []string
	if f.repos == "" {
		if fingerprints, err = a.sharable(); err != nil {
			return err
		}
		rep.Repos = fingerprints[0]
	} else if !remotePattern(f.repos) {
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
	if !f.stop && f.repos == "" {
		rep, err = a.share(ctx, store, c, fingerprints)
	} else {
		err = choose(store, rep.Repos, !f.stop)
	}
	if err != nil {
		return err
	}
	if a.json {
		return a.PrintJSON(rep)
	}
	if f.stop {
		fmt.Fprintf(a.Stdout, "The work in %s stays on this machine. What %s has been told already stays there.\n",
			peertext.Path(rep.Repos), team.Server)
		return nil
	}
	a.printShared(rep)
	return nil
}

// share makes a repository the team's: registered, with the work under way.
func (a *app) share(ctx context.Context, store login.Store, c *remote.Client, fingerprints []string) (rep shareReport, err error) {
	rep = shareReport{Server: c.Server(), Repos: fingerprints[0], Shared: true}
	if err := register(ctx, c, fingerprints); err != nil {
		return rep, err
	}
	if rep.Intents, err = a.moveIntents(ctx, c, store, fingerprints); err != nil {
		return rep, err
	}
	return rep, choose(store, rep.Repos, true)
}

// choose remembers whose the work in a repository, or in many, is.
func choose(store login.Store, pattern string, team bool) error {
	routes, err := local.LoadRoutes(store.Dir)
	if err != nil {
		return err
	}
	routes.Choose(pattern, team)
	return routes.Save(store.Dir)
}

func (a *app) printShared(rep shareReport) {
	moved := ""
	if n := len(rep.Intents); n > 0 {
		moved = fmt.Sprintf("; what was under way moved there as %s", strings.Join(rep.Intents, ", "))
	}
	fmt.Fprintf(a.Stdout, "The work in %s goes to %s%s.\n", peertext.Path(rep.Repos), rep.Server, moved)
}

// remotePattern reports whether a pattern can match remotes.
func remotePattern(p string) bool {
	_, err := path.Match(p, "")
	return err == nil && strings.Contains(p, "/")
}

// teamLogin is the login of svc login, whatever the local service does.
func (a *app) teamLogin(store login.Store) (login.Login, error) {
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
func (a *app) sharable() ([]string, error) {
	p, err := a.repository()
	if err != nil {
		return nil, err
	}
	if local.OwnOf(p.Fingerprints[0]) {
		return nil, fmt.Errorf("%s has no remote, so nobody else can have it; git remote add origin <url> first", p.Root)
	}
	return p.Fingerprints, nil
}

// register makes a repository known to the team's server, unless it is.
func register(ctx context.Context, c *remote.Client, fingerprints []string) error {
	_, name, _ := strings.Cut(fingerprints[0], "/")
	repo := wire.CreateRepo{FullName: name, Provider: providerOf(fingerprints[0]), DefaultBranch: "main", Remotes: fingerprints}
	err := c.CreateRepo(ctx, repo)
	switch problem.KindOf(err) {
	case problem.Conflict:
		return nil // it has it
	case problem.Forbidden:
		return introduce(ctx, c, fingerprints)
	}
	return err
}

// introduce makes a repository known as the first event of an agent in it would:
// a login may do that, and may not register one by itself.
func introduce(ctx context.Context, c *remote.Client, fingerprints []string) error {
	reply, err := c.Visit(ctx, "introduce-"+login.NewUUID(), wire.HookClient{CLIVersion: version.Version},
		wire.HookRepo{RemoteFingerprints: fingerprints})
	if err == nil && reply.SessionID == nil {
		err = fmt.Errorf("%s was not taken in: %s", peertext.Path(fingerprints[0]), peertext.Line(reply.InjectContext, 300))
	}
	return err
}

func providerOf(fingerprint string) coord.Provider {
	if strings.Contains(strings.SplitN(fingerprint, "/", 2)[0], "gitlab") {
		return coord.GitLab
	}
	return coord.GitHub
}

// moveIntents declares the person's live work on the team's server and closes
// it here.
func (a *app) moveIntents(ctx context.Context, team *remote.Client, store login.Store, fingerprints []string) (moved []string, err error) {
	moved = []string{}
	place, err := local.Locate(a.Getenv)
	if err != nil || !place.SetUp() || place.Off() {
		return moved, nil
	}
	s, err := place.Ensure(ctx)
	if err != nil {
		return moved, err
	}
	own, err := remote.New(s.Server, s.Token, remote.Options{})
	if err != nil {
		return moved, err
	}
	along, err := takeAlong(ctx, team, store, fingerprints)
	if err != nil {
		return moved, err
	}
	page, err := own.Intents(ctx, remote.Filter{Repo: fingerprints[0], Owner: "me", Status: "live", Limit: 100})
	if problem.KindOf(err) == problem.NotFound {
		return moved, nil
	}
	if err != nil {
		return moved, err
	}
	for _, in := range slices.Backward(page.Items) { // the oldest first, as they were numbered
		if len(in.Scope.Paths)+len(in.Scope.Symbols) == 0 { // drafts of sessions: hooks make them anew
			continue
		}
		work := wire.DeclareIntent{Title: in.Title, Summary: in.Summary, PlanMD: in.PlanMD, Scope: &in.Scope, Mode: in.Mode, Branch: in.Branch,
			ExternalRef: in.ExternalRef, Repo: &fingerprints[0]}
		to, from := team, own
		if in.SessionID != nil {
			if m, ok := along[*in.SessionID]; ok {
				to, from = team.As(m.there, m.key), own.As(*in.SessionID, m.key)
			}
		}
		there, err := to.Declare(ctx, work)
		if err != nil {
			return moved, fmt.Errorf("%s was not moved: %w", in.Ref, err)
		}
		if err := from.CloseIntent(ctx, in.Ref, coord.OutcomeAbandoned, "moved to "+team.Server()+" as "+there.Intent.Ref); err != nil {
			return moved, err
		}
		moved = append(moved, there.Intent.Ref)
	}
	return moved, nil
}

// A move is a session's way to the team's server: its id there, and the key that
// lets us speak as it.
type move struct{ there, key string }

// takeAlong makes the agents at work in this repository known to the team's
// server, with what each wrote, and returns them by the ids that the local
// service has for them: otherwise the first that speaks would take up what
// another works on.
func takeAlong(ctx context.Context, team *remote.Client, store login.Store, fingerprints []string) (map[string]move, error) {
	along := map[string]move{}
	machine := store.Machine()
	book := presence.Open(store.Dir)
	for _, s := range book.All() {
		if s.Ended || s.Gone() {
			continue
		}
		for _, w := range s.At {
			if w.Server == team.Server() || len(w.Remotes) == 0 || w.Remotes[0] != fingerprints[0] {
				continue
			}
			key := presence.Key(machine, s.Tool, s.ID)
			reply, err := team.Evaluate(ctx, wire.HookRequest{
				Event: wire.HookSessionStart,
				Session: wire.HookSession{ExternalID: s.ID, Tool: s.Tool, Key: key, ParentExternalID: s.Parent,
					ParentKey: presence.Key(machine, s.Tool, s.Parent), Deaf: true}, // it hears with its next hook
				Repo: wire.HookRepo{RemoteFingerprints: w.Remotes},
			})
			if err != nil {
				return nil, fmt.Errorf("the agent at work in %s could not be moved: %w", w.Root, err)
			}
			if reply.SessionID != nil {
				along[w.Session] = move{*reply.SessionID, key}
				if err := record.LeaveUnsent(store.Dir, "", team.Server(), w.Root, s); err != nil {
					return nil, err
				}
				s.Put(presence.Where{Server: team.Server(), Root: w.Root, Remotes: w.Remotes, Session: *reply.SessionID})
				book.Save(s)
			}
			break
		}
	}
	return along, nil
}

// refreshRoutes asks the team's server what it has registered.
func refreshRoutes(ctx context.Context, store login.Store, c *remote.Client) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	repos, err := c.Repos(ctx)
	if err != nil {
		return err
	}
	routes, err := local.LoadRoutes(store.Dir)
	if err != nil {
		return err
	}
	routes.Server, routes.Known, routes.At = c.Server(), nil, time.Now()
	for _, r := range repos {
		routes.Known = append(routes.Known, r.Remotes...)
	}
	return routes.Save(store.Dir)
}
