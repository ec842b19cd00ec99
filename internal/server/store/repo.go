package store

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

const repoColumns = `r.id, r.full_name, r.provider, r.default_branch, r.index_version, r.created_at`

func scanRepo(s scanner) (r coord.Repo, err error) {
	err = s.Scan(&r.ID, &r.FullName, &r.Provider, &r.DefaultBranch, &r.IndexVersion, &r.CreatedAt)
	r.Remotes = []string{}
	return r, err
}

// InsertRepo adds a repo with its remotes. A name or remote that another repo
// of the org has is a Conflict.
func (tx *Tx) InsertRepo(ctx context.Context, org string, r coord.Repo) error {
	_, err := tx.ExecContext(ctx, `
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
	_, err := tx.ExecContext(ctx, `
		INSERT INTO repo_remotes (org_id, fingerprint, repo_id, position)
		VALUES ($1, $2, $3, (SELECT COUNT(*) FROM repo_remotes WHERE repo_id = $3))`, org, fingerprint, repo)
	return tx.duplicate(err, "another repo of this org has the remote %s", fingerprint)
}

// CountRepos returns how many repos an org has.
func (tx *Tx) CountRepos(ctx context.Context, org string) (int, error) {
	return tx.count(ctx, `SELECT COUNT(*) FROM repos WHERE org_id = $1`, org)
}

// Repos returns an org's repos by name.
func (tx *Tx) Repos(ctx context.Context, org string) ([]coord.Repo, error) {
	repos, err := all(ctx, tx, scanRepo, `SELECT `+repoColumns+` FROM repos r WHERE r.org_id = $1 ORDER BY r.name_key`, org)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, r := range repos {
		at[r.ID] = i
	}
	rows, err := tx.QueryContext(ctx, `SELECT repo_id, fingerprint FROM repo_remotes WHERE org_id = $1 ORDER BY repo_id, position`, org)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, fp string
		if err := rows.Scan(&id, &fp); err != nil {
			return nil, err
		}
		repos[at[id]].Remotes = append(repos[at[id]].Remotes, fp)
	}
	return repos, rows.Err()
}

// Repo returns an org's repo by id.
func (tx *Tx) Repo(ctx context.Context, org, id string) (coord.Repo, error) {
	r, err := one(ctx, tx, "no such repo in this org", scanRepo, `SELECT `+repoColumns+` FROM repos r WHERE r.org_id = $1 AND r.id = $2`, org, id)
	return tx.withRemotes(ctx, r, err)
}

// RepoByName returns an org's repo by owner/name.
func (tx *Tx) RepoByName(ctx context.Context, org, fullName string) (coord.Repo, error) {
	r, err := one(ctx, tx, "no repo "+fullName+" in this org", scanRepo, `
		SELECT `+repoColumns+` FROM repos r WHERE r.org_id = $1 AND r.name_key = $2`, org, strings.ToLower(fullName))
	return tx.withRemotes(ctx, r, err)
}

// RepoByRemotes returns the org's repo that has one of the fingerprints, the
// earlier in the list the better, or nil.
func (tx *Tx) RepoByRemotes(ctx context.Context, org string, fingerprints []string) (*coord.Repo, error) {
	for _, fp := range fingerprints {
		r, err := scanRepo(tx.QueryRowContext(ctx, `
			SELECT `+repoColumns+` FROM repo_remotes x JOIN repos r ON r.id = x.repo_id
			WHERE x.org_id = $1 AND x.fingerprint = $2`, org, fp))
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		r, err = tx.withRemotes(ctx, r, err)
		return &r, err
	}
	return nil, nil
}

func (tx *Tx) withRemotes(ctx context.Context, r coord.Repo, err error) (coord.Repo, error) {
	if err != nil {
		return r, err
	}
	r.Remotes, err = all(ctx, tx, scanText, `SELECT fingerprint FROM repo_remotes WHERE repo_id = $1 ORDER BY position`, r.ID)
	return r, err
}

// SetDefaultBranch changes a repo's default branch.
func (tx *Tx) SetDefaultBranch(ctx context.Context, repo, branch string) error {
	_, err := tx.ExecContext(ctx, `UPDATE repos SET default_branch = $2 WHERE id = $1`, repo, branch)
	return err
}
