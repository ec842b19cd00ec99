package work

import (
	"context"
	"fmt"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/plan"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/money"
	"github.com/svc-hq/svc/internal/server/store"
)

// ListRepos returns the org's repos.
func (s *Service) ListRepos(ctx context.Context, who coord.Caller, _ wire.None) (out wire.Page[coord.Repo], err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		out.Items, err = tx.ReposInFull(ctx, who.OrgID)
		return err
	})
	return out, err
}

// CreateRepo registers a repository.
func (s *Service) CreateRepo(ctx context.Context, who coord.Caller, in wire.CreateRepo) (out coord.Repo, err error) {
	if len(in.Remotes) == 0 && Hosts[in.Provider] != "" {
		in.Remotes = []string{Hosts[in.Provider] + "/" + in.FullName}
	}
	remotes, err := fingerprints(in.Remotes)
	if err != nil {
		return out, err
	}
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		if err := s.repoLimit(ctx, tx, who); err != nil {
			return err
		}
		out = coord.Repo{
			ID:            ground.NewID(),
			FullName:      in.FullName,
			Provider:      in.Provider,
			DefaultBranch: in.DefaultBranch,
			Remotes:       remotes,
			CreatedAt:     tx.Now,
			FormerNames:   []string{},
			SameAs:        []coord.RepoName{},
		}
		return InsertRepo(ctx, tx, who, out, false)
	})
	if problem.KindOf(err) == problem.PlanLimit {
		err = s.money.LimitReached(ctx, who, money.LimitRepos, err)
	}
	return out, err
}

// InsertRepo stores a new repo and tells of it.
func InsertRepo(ctx context.Context, tx *store.Tx, who coord.Caller, r coord.Repo, auto bool) error {
	if err := tx.InsertRepo(ctx, who.OrgID, r); err != nil {
		return err
	}
	return ground.Tell(ctx, tx, who, coord.EventRepoRegistered, r.ID, r.ID, wire.RepoRegisteredPayload{
		FullName:  r.FullName,
		Provider:  r.Provider,
		Automatic: auto,
	})
}

// repoLimit refuses one more repo than the plan allows.
func (s *Service) repoLimit(ctx context.Context, tx *store.Tx, who coord.Caller) error {
	org, err := tx.Org(ctx, who.OrgID)
	if err != nil {
		return err
	}
	n, err := tx.CountRepos(ctx, who.OrgID)
	if limit := plan.Limits(org.Plan).Repos; err == nil && limit > 0 && n >= limit {
		err = problem.Newf(problem.PlanLimit, "the %s plan has room for %d repos; remove one or upgrade under Settings, Billing", org.Plan, limit)
	}
	return err
}

// Hosts tells where a provider's repos live, for a repo without remotes.
var Hosts = map[coord.Provider]string{coord.GitHub: "github.com", coord.GitLab: "gitlab.com", coord.Bitbucket: "bitbucket.org"}

// fingerprints returns the normal form of a repo's remotes.
func fingerprints(remotes []string) ([]string, error) {
	out := []string{}
	var bad []problem.Field
	seen := map[string]bool{}
	for i, r := range remotes {
		fp, ok := scope.Fingerprint(r)
		if !ok {
			bad = append(bad, problem.Field{
				Path:    fmt.Sprintf("remotes[%d]", i),
				Message: "must be a remote such as git@github.com:owner/name.git or github.com/owner/name",
			})
			continue
		}
		if !seen[fp] {
			seen[fp] = true
			out = append(out, fp)
		}
	}
	return out, problem.Invalid(bad)
}

// FindRepo returns the repo that a selector names: owner/name or a remote
// fingerprint, and its id where a client has it.
func FindRepo(ctx context.Context, tx *store.Tx, who coord.Caller, selector string) (coord.Repo, error) {
	if shape.IsUUID(selector) {
		r, err := tx.Repo(ctx, who.OrgID, selector)
		if err == nil && r.RemovedAt == nil {
			return r, nil
		}
		return former(ctx, tx, who, selector, problem.Newf(problem.NotFound, "no such repo in this org"))
	}
	if fp, ok := scope.Fingerprint(selector); ok {
		r, err := tx.RepoByRemotes(ctx, who.OrgID, []string{fp})
		if err != nil {
			return coord.Repo{}, err
		}
		if r != nil {
			return *r, nil
		}
	}
	r, err := tx.RepoByName(ctx, who.OrgID, strings.TrimSuffix(selector, ".git"))
	if problem.KindOf(err) == problem.NotFound {
		return former(ctx, tx, who, strings.TrimSuffix(selector, ".git"), err)
	}
	return r, err
}

// former returns the repo that a selector named before it was renamed or
// merged, or else the error.
func former(ctx context.Context, tx *store.Tx, who coord.Caller, selector string, missing error) (coord.Repo, error) {
	r, err := tx.RepoByFormerName(ctx, who.OrgID, selector)
	switch {
	case err != nil:
		return coord.Repo{}, err
	case r == nil:
		return coord.Repo{}, missing
	}
	return *r, nil
}

// RepoFilter reads the repo that a list is narrowed to: its id, or "" for all.
func RepoFilter(ctx context.Context, tx *store.Tx, who coord.Caller, selector string) (string, error) {
	if selector == "" {
		return "", nil
	}
	r, err := RepoField(ctx, tx, who, "repo", selector)
	return r.ID, err
}

// RepoField is FindRepo for a selector inside a body or query: what is not
// there is the field's fault.
func RepoField(ctx context.Context, tx *store.Tx, who coord.Caller, path, selector string) (coord.Repo, error) {
	r, err := FindRepo(ctx, tx, who, selector)
	if problem.KindOf(err) == problem.NotFound {
		return r, problem.Newf(problem.NotFound, "%s: no repo %s in this org; write it as owner/name, or open it with an agent to register it",
			path, peertext.Quoted(selector))
	}
	return r, err
}
