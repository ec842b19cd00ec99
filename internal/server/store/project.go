package store

import (
	"context"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

const projectColumns = `id, name, prefixes, created_at, updated_at`

func scanProject(r scanner) (p coord.Project, err error) {
	err = r.Scan(&p.ID, &p.Name, asJSON{&p.Prefixes}, &p.CreatedAt, &p.UpdatedAt)
	p.Repos = []coord.RepoName{}
	return p, err
}

// InsertProject adds a project without repos.
func (tx *Tx) InsertProject(ctx context.Context, org string, p coord.Project) error {
	_, err := tx.exec(ctx, `
		INSERT INTO projects (id, org_id, name, name_key, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6)`, p.ID, org, p.Name, strings.ToLower(p.Name), p.CreatedAt, p.UpdatedAt)
	return tx.duplicate(err, "a project called %s exists", p.Name)
}

// Projects returns an org's projects with their repos, by name.
func (tx *Tx) Projects(ctx context.Context, org string) ([]coord.Project, error) {
	ps, err := all(ctx, tx, scanProject, `SELECT `+projectColumns+` FROM projects WHERE org_id = $1 ORDER BY name_key`, org)
	for i := range ps {
		if err == nil {
			ps[i], err = tx.withRepos(ctx, ps[i], nil)
		}
	}
	return ps, err
}

// Project returns an org's project.
func (tx *Tx) Project(ctx context.Context, org, id string) (coord.Project, error) {
	p, err := one(ctx, tx, "no such project in this org", scanProject, `SELECT `+projectColumns+` FROM projects WHERE org_id = $1
		AND id = $2`, org, id)
	return tx.withRepos(ctx, p, err)
}

func (tx *Tx) withRepos(ctx context.Context, p coord.Project, err error) (coord.Project, error) {
	if err != nil {
		return p, err
	}
	p.Repos, err = all(ctx, tx, scanRepoName, `
		SELECT r.id, r.full_name FROM project_repos x JOIN repos r ON r.id = x.repo_id
		WHERE x.project_id = $1 ORDER BY r.name_key`, p.ID)
	names := map[string]coord.RepoName{}
	for _, r := range p.Repos {
		names[r.ID] = r
	}
	said := p.Prefixes
	p.Prefixes = []coord.Prefix{}
	for _, x := range said {
		if x.Repo, x.Other = names[x.Repo.ID], names[x.Other.ID]; x.Repo.ID != "" && x.Other.ID != "" { // both are still in it
			p.Prefixes = append(p.Prefixes, x)
		}
	}
	return p, err
}

// SetProjectPrefixes stores what people say stands before routes.
func (tx *Tx) SetProjectPrefixes(ctx context.Context, project string, prefixes []coord.Prefix) error {
	_, err := tx.ExecContext(ctx, `UPDATE projects SET prefixes = $2 WHERE id = $1`, project, js(prefixes))
	return err
}

func scanRepoName(s scanner) (r coord.RepoName, err error) {
	err = s.Scan(&r.ID, &r.FullName)
	return r, err
}

// AddProjectRepo puts a repo into a project; doing so twice is one.
func (tx *Tx) AddProjectRepo(ctx context.Context, project, repo string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO project_repos (project_id, repo_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, project, repo)
	return err
}

// RemoveProjectRepo takes a repo out of a project and reports whether it was
// in it.
func (tx *Tx) RemoveProjectRepo(ctx context.Context, project, repo string) (bool, error) {
	n, err := tx.exec(ctx, `DELETE FROM project_repos WHERE project_id = $1 AND repo_id = $2`, project, repo)
	return n > 0, err
}

// TouchProject notes that a project changed.
func (tx *Tx) TouchProject(ctx context.Context, project string) error {
	_, err := tx.ExecContext(ctx, `UPDATE projects SET updated_at = $2 WHERE id = $1`, project, tx.Now)
	return err
}

// DeleteProject removes a project; its repos stay.
func (tx *Tx) DeleteProject(ctx context.Context, project string) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM project_repos WHERE project_id = $1`, project); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM projects WHERE id = $1`, project)
	return err
}

// LinkedRepos returns the repos that share a project with the given one.
func (tx *Tx) LinkedRepos(ctx context.Context, repo string) ([]coord.RepoName, error) {
	return all(ctx, tx, scanRepoName, `
		SELECT DISTINCT r.id, r.full_name
		FROM project_repos a
		JOIN project_repos b ON b.project_id = a.project_id AND b.repo_id <> a.repo_id
		JOIN repos r ON r.id = b.repo_id
		WHERE a.repo_id = $1
		ORDER BY r.id`, repo)
}
