package store

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A Branch is work of people who do not use svc: a pull request, or a branch
// that was pushed. What it changed is in changes, with its id as copy.
type Branch struct {
	ID           string
	OrgID        string
	Repo         coord.RepoName
	Provider     coord.Provider
	Name         string
	Number       int // of the pull request; 0 if there is none
	Fork         bool
	BaseRef      string
	HeadSHA      string
	URL          string
	FullName     string // of the repository, as its host knows it
	App          string
	Installation int64
	Author       string
	User         *coord.User // the member who wrote it, if it is one
	Files        int         // whose lines are known
	Cut          bool        // there are more
	Since        coord.Time
	PushedAt     coord.Time
}

// Looked reports whether its lines are known: until then it counts for nobody.
func (b Branch) Looked() bool { return b.Files > 0 }

// Outside is what others see of it.
func (b Branch) Outside() *coord.Outside {
	o := &coord.Outside{Provider: b.Provider, URL: b.URL, Author: b.Author, Fork: b.Fork}
	if b.Number != 0 {
		o.Number = &b.Number
	}
	return o
}

const branchColumns = `b.id, b.org_id, r.id, r.full_name, b.provider, b.name, b.number, b.fork, b.base_ref, b.head_sha, b.url, b.full_name,
	b.app, b.installation, b.author, u.id, u.email, u.name, b.files, b.cut, b.since, b.pushed_at
	FROM branches b JOIN repos r ON r.id = b.repo_id LEFT JOIN users u ON u.id = b.user_id`

func scanBranch(r scanner) (b Branch, err error) {
	var id, email, name *string
	err = r.Scan(&b.ID, &b.OrgID, &b.Repo.ID, &b.Repo.FullName, &b.Provider, &b.Name, &b.Number, &b.Fork, &b.BaseRef, &b.HeadSHA, &b.URL,
		&b.FullName, &b.App, &b.Installation, &b.Author, &id, &email, &name, &b.Files, &b.Cut, &b.Since, &b.PushedAt)
	if err == nil && id != nil {
		b.User = &coord.User{ID: *id, Email: *email, Name: *name}
	}
	return b, err
}

// BranchByID returns a branch, or nil.
func (tx *Tx) BranchByID(ctx context.Context, org, id string) (*Branch, error) {
	return maybe(scanBranch(tx.QueryRowContext(ctx, `SELECT `+branchColumns+` WHERE b.org_id = $1 AND b.id = $2`, org, id)))
}

// A BranchFilter narrows the branches of an org.
type BranchFilter struct {
	Repo    string
	Name    string     // of the repository's own
	Number  int        // of a pull request
	Before  coord.Time // pushed to before a moment
	Looked  bool       // those whose lines are known
	Until   coord.Time // for paging: those after the one of that time and id
	UntilID string
	Limit   int
}

// Branches returns branches of an org, the latest pushed first.
func (tx *Tx) Branches(ctx context.Context, org string, want BranchFilter) ([]Branch, error) {
	f := filter{}
	f.and(`b.org_id = ?`, org)
	f.equals("b.repo_id", want.Repo)
	if want.Name != "" {
		f.and(`b.name = ? AND NOT b.fork`, want.Name)
	}
	if want.Number != 0 {
		f.and(`b.number = ?`, want.Number)
	}
	if want.Looked {
		f.and(`b.files > 0`)
	}
	if want.UntilID != "" {
		f.and(`(b.pushed_at < ? OR b.pushed_at = ? AND b.id > ?)`, want.Until, want.Until, want.UntilID)
	}
	if want.Before != 0 {
		f.and(`b.pushed_at < ?`, want.Before)
	}
	return all(ctx, tx, scanBranch, `SELECT `+branchColumns+f.where()+` ORDER BY b.pushed_at DESC, b.id`+f.limit(want.Limit), f.args...)
}

// SaveBranch stores a branch.
func (tx *Tx) SaveBranch(ctx context.Context, b Branch) error {
	var user *string
	if b.User != nil {
		user = &b.User.ID
	}
	_, err := tx.ExecContext(ctx, `
		INSERT INTO branches (id, org_id, repo_id, provider, name, number, fork, base_ref, head_sha, url, full_name, app, installation,
			author, user_id, files, cut, since, pushed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
		ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, number = EXCLUDED.number, fork = EXCLUDED.fork, base_ref = EXCLUDED.base_ref,
			head_sha = EXCLUDED.head_sha, url = EXCLUDED.url, full_name = EXCLUDED.full_name, app = EXCLUDED.app,
			installation = EXCLUDED.installation, author = EXCLUDED.author, user_id = EXCLUDED.user_id, files = EXCLUDED.files,
			cut = EXCLUDED.cut, pushed_at = EXCLUDED.pushed_at`,
		b.ID, b.OrgID, b.Repo.ID, b.Provider, b.Name, b.Number, b.Fork, b.BaseRef, b.HeadSHA, b.URL, b.FullName, b.App, b.Installation,
		b.Author, user, b.Files, b.Cut, b.Since, b.PushedAt)
	return err
}

// SetBranchChanges stores what a branch changed, in place of what was known.
func (tx *Tx) SetBranchChanges(ctx context.Context, b Branch, files []coord.FileFacts) error {
	if _, err := tx.ExecContext(ctx, `DELETE FROM changes WHERE org_id = $1 AND repo_id = $2 AND copy = $3`, b.OrgID, b.Repo.ID,
		b.ID); err != nil {
		return err
	}
	for _, f := range files {
		row := ChangeRow{RepoID: b.Repo.ID, Copy: b.ID, Facts: f, Touched: []Touch{{Worker: b.ID, At: b.PushedAt}}}
		if err := tx.SaveChange(ctx, b.OrgID, row); err != nil {
			return err
		}
	}
	return nil
}

// DeleteBranch forgets a branch and what it changed.
func (tx *Tx) DeleteBranch(ctx context.Context, b Branch) error {
	if err := tx.SetBranchChanges(ctx, b, nil); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM branches WHERE id = $1`, b.ID)
	return err
}
