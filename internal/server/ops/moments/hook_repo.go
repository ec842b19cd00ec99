package moments

import (
	"context"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/plan"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/money"
	"github.com/svc-hq/svc/internal/server/ops/work"
)

// hookRepo returns the repo of an event's remotes, registering it if need be.
func hookRepo(ctx context.Context, c *ground.Change, e *hookEvent) (*coord.Repo, string, error) {
	r, err := c.RepoByRemotes(ctx, c.Who.OrgID, e.remotes)
	if err == nil && r == nil {
		r, err = movedRepo(ctx, c, e)
	}
	switch {
	case err != nil:
		return nil, "", err
	case r != nil && r.ArchivedAt != nil:
		return nil, archived(e), nil
	case r != nil:
		return r, "", work.NoteRoots(ctx, c.Tx, c.Who, *r, e.Repo.RootCommits)
	}
	host, name, _ := strings.Cut(e.remotes[0], "/")
	if known, err := c.RepoByName(ctx, c.Who.OrgID, name); err == nil && known.ArchivedAt == nil {
		return &known, "", ground.FirstError(c.AddRemote(ctx, c.Who.OrgID, known.ID, e.remotes[0]),
			work.NoteRoots(ctx, c.Tx, c.Who, known, e.Repo.RootCommits))
	} else if err == nil {
		return nil, archived(e), nil
	}
	if e.Repo.KnownOnly { // it may be private: nobody there asked for us
		return nil, "", nil
	}
	org, err := c.Org(ctx, c.Who.OrgID)
	if err != nil {
		return nil, "", err
	}
	n, err := c.CountRepos(ctx, c.Who.OrgID)
	if err != nil {
		return nil, "", err
	}
	if limit := plan.Limits(org.Plan).Repos; limit > 0 && n >= limit {
		return nil, overLimit(ctx, c, e, org.Plan, limit), money.TellLimit(ctx, c.Tx, c.Who, money.LimitRepos)
	}
	branch := e.Repo.DefaultBranch
	if branch == "" {
		branch = "main"
	}
	repo := coord.Repo{
		ID:            ground.NewID(),
		FullName:      name,
		Provider:      providerOf(host),
		DefaultBranch: branch,
		Remotes:       e.remotes,
		CreatedAt:     c.Now,
	}
	return &repo, "", ground.FirstError(work.InsertRepo(ctx, c.Tx, c.Who, repo, true),
		work.NoteRoots(ctx, c.Tx, c.Who, repo, e.Repo.RootCommits))
}

// movedRepo returns the repo of a working copy whose remotes nobody knows: it
// was renamed or moved, and the copy told of the new address before its host
// did. Its first commits prove it; until the next event that tells them, a
// session that is under way stays where it is.
func movedRepo(ctx context.Context, c *ground.Change, e *hookEvent) (*coord.Repo, error) {
	if e.Repo.WorktreeHash == "" {
		return nil, nil
	}
	if len(e.Repo.RootCommits) == 0 {
		return c.RepoOfCopy(ctx, c.Who.OrgID, c.Who.UserID, e.Repo.WorktreeHash, e.name())
	}
	r, err := c.RepoOfCopy(ctx, c.Who.OrgID, c.Who.UserID, e.Repo.WorktreeHash, "")
	if err != nil || r == nil {
		return nil, err
	}
	if same, err := c.HasRoot(ctx, r.ID, e.Repo.RootCommits); err != nil || !same {
		return nil, err
	}
	return r, work.Moved(ctx, c, *r, "", e.remotes[0], "client")
}

// archived says once per session why nothing happens here.
func archived(e *hookEvent) string {
	if e.Event != wire.HookSessionStart {
		return ""
	}
	return "svc does not watch this repository: it is archived there. An admin can bring it back under Repos."
}

// overLimit says once per session why nothing happens here.
func overLimit(ctx context.Context, c *ground.Change, e *hookEvent, name string, limit int) string {
	if e.Event != wire.HookSessionStart {
		return ""
	}
	return "svc does not watch this repository: the " + name +
		" plan has no room for another one. An admin can upgrade under Settings, Billing."
}

func providerOf(host string) coord.Provider {
	for p, h := range work.Hosts {
		if h == host {
			return p
		}
	}
	return coord.Generic
}

// maxStale is how many refused edits one event is taken at its word for.
const maxStale = 20
