package work

import (
	"context"
	"fmt"
	"regexp"
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
		out.Items, err = tx.Repos(ctx, who.OrgID)
		return err
	})
	return out, err
}

var fullName = regexp.MustCompile(`^[A-Za-z0-9_.~-]+(/[A-Za-z0-9_.~-]+)+$`)

// upward finds parts of a name that mean a folder, not something in it.
var upward = regexp.MustCompile(`(^|/)\.\.?(/|$)`)

// CreateRepo registers a repository.
func (s *Service) CreateRepo(ctx context.Context, who coord.Caller, in wire.CreateRepo) (out coord.Repo, err error) {
	if !fullName.MatchString(in.FullName) || upward.MatchString(in.FullName) {
		return out, problem.InvalidField("full_name", "must be owner/name")
	}
	remotes, err := fingerprints(in)
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
	return ground.Tell(ctx, tx, who, coord.EventRepoRegistered, r.ID, r.ID, map[string]any{
		"full_name": r.FullName,
		"provider":  r.Provider,
		"automatic": auto,
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

// fingerprints returns the normal form of a new repo's remotes.
func fingerprints(in wire.CreateRepo) ([]string, error) {
	out := []string{}
	if len(in.Remotes) == 0 && Hosts[in.Provider] != "" {
		in.Remotes = []string{Hosts[in.Provider] + "/" + in.FullName}
	}
	var bad []problem.Field
	seen := map[string]bool{}
	for i, r := range in.Remotes {
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
		return tx.Repo(ctx, who.OrgID, selector)
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
	return tx.RepoByName(ctx, who.OrgID, strings.TrimSuffix(selector, ".git"))
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
