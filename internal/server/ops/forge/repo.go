package forge

import (
	"context"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/githost"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
)

// hostedRepo returns the org's repo that a host tells of, or nil. The host's
// number for it counts first: every event of a repository that was renamed or
// moved shows its new address, whether or not we were told of the move.
func hostedRepo(ctx context.Context, c *ground.Change, from sender, e githost.Event) (*coord.Repo, error) {
	id := e.Repo.HostID()
	repo, err := c.RepoByHostID(ctx, c.Who.OrgID, id)
	if err != nil {
		return nil, err
	}
	if repo == nil {
		if repo, err = repoAt(ctx, c, from, e, id); err != nil || repo == nil {
			return nil, err
		}
		if id != "" && repo.HostID == nil {
			if err := c.SetHostID(ctx, repo.ID, id); err != nil {
				return nil, err
			}
			repo.HostID = &id
		}
	}
	if err := goAlong(ctx, c, *repo, e); err != nil {
		return nil, err
	}
	fresh, err := c.Repo(ctx, c.Who.OrgID, repo.ID)
	return &fresh, err
}

// repoAt finds a repo by the addresses that an event tells, of before a move
// first. One that has another number at that host gave its address away: it
// was renamed, and something new has its old name.
func repoAt(ctx context.Context, c *ground.Change, from sender, e githost.Event, id string) (*coord.Repo, error) {
	for _, at := range addresses(e) {
		fp, ok := scope.Fingerprint(at)
		if !ok {
			continue
		}
		repo, err := c.RepoByRemotes(ctx, c.Who.OrgID, []string{fp})
		switch {
		case err != nil:
			return nil, err
		case repo == nil:
			continue
		case id != "" && repo.HostID != nil && sameHost(*repo.HostID, id):
			if err := c.RemoveRemote(ctx, c.Who.OrgID, fp); err != nil {
				return nil, err
			}
			continue
		}
		return repo, nil
	}
	repo, err := c.RepoByName(ctx, c.Who.OrgID, e.Repo.FullName)
	switch {
	case problem.KindOf(err) == problem.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	case repo.Provider != from.provider || len(repo.Remotes) > 0: // it lives elsewhere
		return nil, nil
	}
	return &repo, nil
}

// sameHost reports whether two numbers were given by one host.
func sameHost(a, b string) bool {
	hostA, _, _ := strings.Cut(a, "#")
	hostB, _, _ := strings.Cut(b, "#")
	return hostA == hostB
}

// addresses returns where an event's repository is and was to be found.
func addresses(e githost.Event) []string {
	now := append([]string{e.Repo.URL}, e.Repo.Clones...)
	if e.Moved == nil || e.Moved.From == "" {
		return now
	}
	var before []string
	for _, at := range now {
		if i := strings.LastIndex(at, e.Repo.FullName); i >= 0 {
			before = append(before, at[:i]+e.Moved.From+at[i+len(e.Repo.FullName):])
		}
	}
	return append(before, now...)
}

// goAlong takes over the address that a host tells of a repo, if it is news.
func goAlong(ctx context.Context, c *ground.Change, repo coord.Repo, e githost.Event) error {
	fp, ok := scope.Fingerprint(e.Repo.URL)
	if !ok || repo.HostID == nil || *repo.HostID != e.Repo.HostID() {
		return nil
	}
	known := false
	for _, r := range repo.Remotes {
		known = known || r == fp
	}
	if known && strings.EqualFold(repo.FullName, e.Repo.FullName) {
		return nil
	}
	return work.Moved(ctx, c, repo, e.Repo.FullName, fp, "host")
}

// moved takes that a repository was renamed, moved or archived.
func moved(ctx context.Context, c *ground.Change, repo coord.Repo, e githost.Event) (wire.HookReceipt, error) {
	if e.Moved.Archived == nil {
		return ground.Done("the repo is %s here", repo.FullName), nil
	}
	if *e.Moved.Archived == (repo.ArchivedAt != nil) {
		return ground.Ignored("that is known"), nil
	}
	at := c.Now.Ptr()
	if !*e.Moved.Archived {
		at = nil // a plan without room refuses the next new repo, not this one
	}
	return ground.Done("archived: %v", *e.Moved.Archived), ground.FirstError(c.ArchiveRepo(ctx, repo.ID, at),
		c.TellOf(ctx, coord.EventRepoUpdated, repo.ID, repo.ID, wire.RepoUpdatedPayload{
			FullName: repo.FullName,
			Archived: e.Moved.Archived,
			By:       "host",
		}))
}
