// Package share makes a repository the team's: known to its server, with the work
// that is under way on this machine. It does not ask whether it may: commands do.
package share

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

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

// A Report is the JSON of svc share.
type Report struct {
	Server  string   `json:"server"`
	Repos   string   `json:"repos"`
	Shared  bool     `json:"shared"`
	Intents []string `json:"intents"`
}

// Repository makes a repository the team's: registered, with the work under way.
func Repository(ctx context.Context, getenv func(string) string, store login.Store, c *remote.Client, fingerprints []string) (
	rep Report, err error,
) {
	rep = Report{Server: c.Server(), Repos: fingerprints[0], Shared: true}
	if err := Register(ctx, c, fingerprints); err != nil {
		return rep, err
	}
	if rep.Intents, err = moveIntents(ctx, getenv, c, store, fingerprints); err != nil {
		return rep, err
	}
	return rep, Choose(store, rep.Repos, true)
}

// routesWait is how long a command waits for another that changes the routes.
const routesWait = 2 * time.Second

// Choose remembers whose the work in a repository, or in many, is.
func Choose(store login.Store, pattern string, team bool) error {
	_, err := local.ChangeRoutes(store.Dir, routesWait, func(r *local.Routes) { r.Choose(pattern, team) })
	return err
}

// Pattern reports whether a pattern can match remotes.
func Pattern(p string) bool {
	_, err := path.Match(p, "")
	return err == nil && strings.Contains(p, "/")
}

// Register makes a repository known to the team's server, unless it is.
func Register(ctx context.Context, c *remote.Client, fingerprints []string) error {
	_, name, _ := strings.Cut(fingerprints[0], "/")
	repo := wire.CreateRepo{FullName: name, Provider: providerOf(fingerprints[0]), DefaultBranch: "main", Remotes: fingerprints}
	err := c.CreateRepo(ctx, repo)
	switch problem.KindOf(err) {
	case problem.Conflict:
		return nil // it has it
	case problem.Forbidden:
		return Introduce(ctx, c, fingerprints)
	}
	return err
}

// Introduce makes a repository known as the first event of an agent in it would:
// a login may do that, and may not register one by itself.
func Introduce(ctx context.Context, c *remote.Client, fingerprints []string) error {
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
func moveIntents(ctx context.Context, getenv func(string) string, team *remote.Client, store login.Store, fingerprints []string) (
	moved []string, err error,
) {
	moved = []string{}
	place, err := local.Locate(getenv)
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

// Refresh asks the team's server what it has registered.
func Refresh(ctx context.Context, store login.Store, c *remote.Client) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	repos, err := c.Repos(ctx)
	if err != nil {
		return err
	}
	_, err = local.ChangeRoutes(store.Dir, routesWait, func(routes *local.Routes) {
		routes.Server, routes.Known, routes.At = c.Server(), nil, time.Now()
		for _, r := range repos {
			routes.Known = append(routes.Known, r.Remotes...)
		}
	})
	return err
}
