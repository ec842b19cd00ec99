package store

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// SetHostID notes the number that a repo has at its host.
func (tx *Tx) SetHostID(ctx context.Context, repo, hostID string) error {
	_, err := tx.ExecContext(ctx, `UPDATE repos SET host_id = $2 WHERE id = $1`, repo, hostID)
	return err
}

// Heads returns the commits at which a repo's default branch was lately seen,
// the newest last.
func (tx *Tx) Heads(ctx context.Context, repo string) (out []string, err error) {
	text, err := one(ctx, tx, "no such repo", scanText, `SELECT heads FROM repos WHERE id = $1`, repo)
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal([]byte(text), &out)
}

// SetHeads notes at which commits a repo's default branch was lately seen.
func (tx *Tx) SetHeads(ctx context.Context, repo string, heads []string) error {
	text, err := json.Marshal(heads)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `UPDATE repos SET heads = $2 WHERE id = $1`, repo, string(text))
	return err
}

// RenameRepo gives a repo another name and remembers the one before. A name
// that another repo has is a Conflict.
func (tx *Tx) RenameRepo(ctx context.Context, org string, r coord.Repo, name string) error {
	_, err := tx.exec(ctx, `UPDATE repos SET full_name = $2, name_key = $3 WHERE id = $1`, r.ID, name, strings.ToLower(name))
	if err != nil {
		return tx.duplicate(err, "the repo %s exists in this org; merge the two", name)
	}
	if err := tx.forgetName(ctx, org, name); err != nil || strings.EqualFold(name, r.FullName) {
		return err
	}
	return tx.rememberName(ctx, org, r.FullName, r.FullName, r.ID)
}

// rememberName makes a name, or with an empty one an id, lead to a repo.
func (tx *Tx) rememberName(ctx context.Context, org, key, name, repo string) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO repo_names (org_id, name_key, name, repo_id, at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org_id, name_key) DO UPDATE SET repo_id = EXCLUDED.repo_id, at = EXCLUDED.at`, org, strings.ToLower(key), name, repo, tx.Now)
	return err
}

// forgetName takes away a name that leads elsewhere from now on.
func (tx *Tx) forgetName(ctx context.Context, org, name string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM repo_names WHERE org_id = $1 AND name_key = $2`, org, strings.ToLower(name))
	return err
}

// RemoveRemote takes a remote from whichever repo has it.
func (tx *Tx) RemoveRemote(ctx context.Context, org, fingerprint string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM repo_remotes WHERE org_id = $1 AND fingerprint = $2`, org, fingerprint)
	return err
}

// ArchiveRepo stops watching a repo, or with nil watches it again.
func (tx *Tx) ArchiveRepo(ctx context.Context, repo string, at *coord.Time) error {
	_, err := tx.ExecContext(ctx, `UPDATE repos SET archived_at = $2 WHERE id = $1`, repo, at)
	return err
}

// AddRoots notes the first commits of a repo and reports whether one is news.
func (tx *Tx) AddRoots(ctx context.Context, org, repo string, commits []string) (news bool, err error) {
	known, err := all(ctx, tx, scanText, `SELECT commit_id FROM repo_roots WHERE repo_id = $1`, repo)
	if err != nil {
		return false, err
	}
	have := map[string]bool{}
	for _, k := range known {
		have[k] = true
	}
	for _, c := range commits {
		if have[c] {
			continue
		}
		have[c], news = true, true
		if _, err := tx.ExecContext(ctx, `INSERT INTO repo_roots (org_id, commit_id, repo_id) VALUES ($1, $2, $3)`, org, c, repo); err != nil {
			return false, err
		}
	}
	return news, nil
}

// HasRoot reports whether a repo has one of some first commits.
func (tx *Tx) HasRoot(ctx context.Context, repo string, commits []string) (bool, error) {
	f := filter{}
	f.and(`repo_id = ?`, repo)
	in(&f, "commit_id", commits)
	n, err := tx.count(ctx, `SELECT COUNT(*) FROM repo_roots`+f.where(), f.args...)
	return n > 0 && len(commits) > 0, err
}

// SharingRoots returns the other repos with a first commit of a repo.
func (tx *Tx) SharingRoots(ctx context.Context, org, repo string) ([]string, error) {
	return all(ctx, tx, scanText, `
		SELECT DISTINCT b.repo_id FROM repo_roots a JOIN repo_roots b ON b.org_id = a.org_id AND b.commit_id = a.commit_id
		AND b.repo_id <> a.repo_id
		WHERE a.org_id = $1 AND a.repo_id = $2 ORDER BY b.repo_id`, org, repo)
}

// RepoOfCopy returns the repo in which a person's agents last worked in a
// working copy, or nil; of one session if external is not empty.
func (tx *Tx) RepoOfCopy(ctx context.Context, org, user, copy, external string) (*coord.Repo, error) {
	f := filter{}
	f.and(`s.org_id = ? AND s.user_id = ? AND s.worktree_hash = ?`, org, user, copy)
	f.and(`r.removed_at IS NULL`)
	if external != "" {
		f.and(`s.external_id = ? AND s.ended_at IS NULL`, external)
	}
	return tx.maybeRepo(ctx, `SELECT `+fullColumns+` FROM sessions s JOIN repos r ON r.id = s.repo_id`+f.where()+`
		ORDER BY s.last_heartbeat_at DESC LIMIT 1`, f.args...)
}

// A Twin is two records that are, or look like, one repository.
type Twin struct {
	First, Second coord.RepoName
	Why           string
	At            coord.Time
}

// NoteTwins notes that two records may be one repository and reports whether
// that is news. What an admin keeps apart stays so unless the host says that
// they are one.
func (tx *Tx) NoteTwins(ctx context.Context, org, a, b, why string) (news bool, err error) {
	if a > b {
		a, b = b, a
	}
	n, err := tx.exec(ctx, `
		INSERT INTO repo_twins (org_id, first_id, second_id, why, at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (org_id, first_id, second_id) DO UPDATE SET why = EXCLUDED.why, at = EXCLUDED.at, apart_at = NULL
		WHERE EXCLUDED.why = 'host' AND repo_twins.why <> 'host'`, org, a, b, why, tx.Now)
	return n > 0, err
}

// Twins returns the pairs that nobody has decided on.
func (tx *Tx) Twins(ctx context.Context, org string) ([]Twin, error) {
	return all(ctx, tx, func(s scanner) (t Twin, err error) {
		err = s.Scan(&t.First.ID, &t.First.FullName, &t.Second.ID, &t.Second.FullName, &t.Why, &t.At)
		return t, err
	}, `SELECT a.id, a.full_name, b.id, b.full_name, t.why, t.at FROM repo_twins t JOIN repos a ON a.id = t.first_id
		JOIN repos b ON b.id = t.second_id
		WHERE t.org_id = $1 AND t.apart_at IS NULL ORDER BY t.at, a.id, b.id`, org)
}

// KeepApart notes that two records are two repositories.
func (tx *Tx) KeepApart(ctx context.Context, org, a, b string) (found bool, err error) {
	if a > b {
		a, b = b, a
	}
	n, err := tx.exec(ctx, `UPDATE repo_twins SET apart_at = $4 WHERE org_id = $1 AND first_id = $2 AND second_id = $3
		AND apart_at IS NULL`, org, a, b, tx.Now)
	return n > 0, err
}
