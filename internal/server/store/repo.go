package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

const repoColumns = `r.id, r.full_name, r.provider, r.default_branch, r.index_version, r.created_at, r.host_id, r.archived_at, r.removed_at`

func scanRepo(s scanner) (r coord.Repo, err error) {
	host := ""
	err = s.Scan(&r.ID, &r.FullName, &r.Provider, &r.DefaultBranch, &r.IndexVersion, &r.CreatedAt, &host, &r.ArchivedAt, &r.RemovedAt)
	if host != "" {
		r.HostID = &host
	}
	r.Remotes, r.FormerNames, r.SameAs = []string{}, []string{}, []coord.RepoName{}
	return r, err
}

// fullColumns are those of a repo with its remotes, in which there is no space.
const fullColumns = repoColumns + `, (SELECT string_agg(f.fingerprint, ' ' ORDER BY f.position, f.fingerprint) FROM repo_remotes f
	WHERE f.repo_id = r.id)`

func scanFullRepo(s scanner) (r coord.Repo, err error) {
	var remotes *string
	r, err = scanRepo(also{s, []any{&remotes}})
	if remotes != nil {
		r.Remotes = strings.Split(*remotes, " ")
	}
	return r, err
}

// InsertRepo adds a repo with its remotes. A name or remote that another repo
// of the org has is a Conflict.
func (tx *Tx) InsertRepo(ctx context.Context, org string, r coord.Repo) error {
	_, err := tx.exec(ctx, `
		INSERT INTO repos (id, org_id, full_name, name_key, provider, default_branch, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		r.ID, org, r.FullName, strings.ToLower(r.FullName), r.Provider, r.DefaultBranch, r.CreatedAt)
	if err != nil {
		return tx.duplicate(err, "the repo %s exists in this org", r.FullName)
	}
	for _, fp := range r.Remotes {
		if err := tx.AddRemote(ctx, org, r.ID, fp); err != nil {
			return err
		}
	}
	return nil
}

// AddRemote adds one more remote to a repo.
func (tx *Tx) AddRemote(ctx context.Context, org, repo, fingerprint string) error {
	_, err := tx.exec(ctx, `
		INSERT INTO repo_remotes (org_id, fingerprint, repo_id, position)
		VALUES ($1, $2, $3, (SELECT COUNT(*) FROM repo_remotes WHERE repo_id = $3))`, org, fingerprint, repo)
	return tx.duplicate(err, "another repo of this org has the remote %s", fingerprint)
}

// CountRepos returns how many repos of an org are watched: all but archived
// ones.
func (tx *Tx) CountRepos(ctx context.Context, org string) (int, error) {
	return tx.count(ctx, `SELECT COUNT(*) FROM repos WHERE org_id = $1 AND archived_at IS NULL AND removed_at IS NULL`, org)
}

// Repos returns an org's repos by name.
func (tx *Tx) Repos(ctx context.Context, org string) ([]coord.Repo, error) {
	return all(ctx, tx, scanRepo, `SELECT `+repoColumns+` FROM repos r WHERE r.org_id = $1 AND r.removed_at IS NULL ORDER BY r.name_key`, org)
}

// ReposInFull returns an org's repos by name, with all that is known of their
// identity.
func (tx *Tx) ReposInFull(ctx context.Context, org string) ([]coord.Repo, error) {
	repos, err := tx.Repos(ctx, org)
	if err != nil {
		return nil, err
	}
	at := map[string]*coord.Repo{}
	for i := range repos {
		at[repos[i].ID] = &repos[i]
	}
	each := func(take func(r *coord.Repo, text string), query string) error {
		rows, err := tx.QueryContext(ctx, query, org)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id, text string
			if err := rows.Scan(&id, &text); err != nil {
				return err
			}
			if r := at[id]; r != nil {
				take(r, text)
			}
		}
		return rows.Err()
	}
	remotes, err := tx.Remotes(ctx, org)
	if err != nil {
		return nil, err
	}
	for i := range repos {
		repos[i].Remotes = remotes[repos[i].ID]
	}
	if err := each(func(r *coord.Repo, name string) { r.FormerNames = append(r.FormerNames, name) },
		`SELECT repo_id, name FROM repo_names WHERE org_id = $1 AND name <> '' ORDER BY repo_id, at, name`); err != nil {
		return nil, err
	}
	twins, err := tx.Twins(ctx, org)
	for _, t := range twins {
		if a, b := at[t.First.ID], at[t.Second.ID]; a != nil && b != nil {
			a.SameAs, b.SameAs = append(a.SameAs, t.Second), append(b.SameAs, t.First)
		}
	}
	return repos, err
}

// Remotes returns the fingerprints of the remotes of each of an org's repos.
func (tx *Tx) Remotes(ctx context.Context, org string) (map[string][]string, error) {
	rows, err := all(ctx, tx, func(r scanner) (x [2]string, err error) {
		err = r.Scan(&x[0], &x[1])
		return x, err
	}, `SELECT repo_id, fingerprint FROM repo_remotes WHERE org_id = $1 ORDER BY repo_id, position, fingerprint`, org)
	out := map[string][]string{}
	for _, x := range rows {
		out[x[0]] = append(out[x[0]], x[1])
	}
	return out, err
}

// Repo returns an org's repo by id.
func (tx *Tx) Repo(ctx context.Context, org, id string) (coord.Repo, error) {
	return one(ctx, tx, "no such repo in this org", scanFullRepo,
		`SELECT `+fullColumns+` FROM repos r WHERE r.id = $2 AND r.org_id || '' = $1`, org, id)
}

// RepoByName returns an org's repo by owner/name.
func (tx *Tx) RepoByName(ctx context.Context, org, fullName string) (coord.Repo, error) {
	return one(ctx, tx, "no repo "+fullName+" in this org", scanFullRepo,
		`SELECT `+fullColumns+` FROM repos r WHERE r.org_id = $1 AND r.name_key = $2 AND r.removed_at IS NULL`, org, strings.ToLower(fullName))
}

// RepoByFormerName returns the repo that had a name or an id once, or nil.
func (tx *Tx) RepoByFormerName(ctx context.Context, org, name string) (*coord.Repo, error) {
	return tx.maybeRepo(ctx, `SELECT `+fullColumns+` FROM repo_names x JOIN repos r ON r.id = x.repo_id
		WHERE x.org_id = $1 AND x.name_key = $2`, org, strings.ToLower(name))
}

// RepoByHostID returns the repo with a host's number, or nil.
func (tx *Tx) RepoByHostID(ctx context.Context, org, hostID string) (*coord.Repo, error) {
	return tx.maybeRepo(ctx, `SELECT `+fullColumns+` FROM repos r WHERE r.org_id = $1 AND r.host_id = $2 AND r.host_id <> ''`, org, hostID)
}

func (tx *Tx) maybeRepo(ctx context.Context, query string, args ...any) (*coord.Repo, error) {
	r, err := scanFullRepo(tx.QueryRowContext(ctx, query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &r, err
}

// RepoByRemotes returns the org's repo that has one of the fingerprints, the
// earlier in the list the better, or nil.
func (tx *Tx) RepoByRemotes(ctx context.Context, org string, fingerprints []string) (*coord.Repo, error) {
	for _, fp := range fingerprints {
		r, err := tx.maybeRepo(ctx, `SELECT `+fullColumns+` FROM repo_remotes x JOIN repos r ON r.id = x.repo_id
			WHERE x.org_id = $1 AND x.fingerprint = $2`, org, fp)
		if r != nil {
			return r, err
		}
	}
	return nil, nil
}

// SetDefaultBranch changes a repo's default branch.
func (tx *Tx) SetDefaultBranch(ctx context.Context, repo, branch string) error {
	_, err := tx.ExecContext(ctx, `UPDATE repos SET default_branch = $2 WHERE id = $1`, repo, branch)
	return err
}
