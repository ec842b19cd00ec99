package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A Pull is a pull or merge request, as far as its host told us.
type Pull struct {
	ID           string
	OrgID        string
	RepoID       string
	Provider     coord.Provider
	Number       int
	State        coord.PullState
	Draft        bool
	HeadRef      string
	HeadSHA      string
	SameRepo     bool
	BaseRef      string
	MergeSHA     string
	URL          string
	FullName     string
	Private      bool
	App          string
	Installation int64
	ChangedAt    coord.Time
	Report       PullReport
}

// A PullReport is what a pull request says of its conflicts.
type PullReport struct {
	Kind string // comment or check; empty if it says nothing
	ID   int64
	SHA  string // the head that a check is on
	Hash string // of its text
}

const pullColumns = `p.id, p.org_id, p.repo_id, p.provider, p.number, p.state, p.draft, p.head_ref, p.head_sha, p.same_repo, p.base_ref,
	p.merge_sha, p.url, p.full_name,
	p.private, p.app, p.installation, p.changed_at, p.report_kind, p.report_id, p.report_sha, p.report_hash`

func scanPull(r scanner) (p Pull, err error) {
	err = r.Scan(&p.ID, &p.OrgID, &p.RepoID, &p.Provider, &p.Number, &p.State, &p.Draft, &p.HeadRef, &p.HeadSHA, &p.SameRepo, &p.BaseRef,
		&p.MergeSHA, &p.URL, &p.FullName,
		&p.Private, &p.App, &p.Installation, &p.ChangedAt, &p.Report.Kind, &p.Report.ID, &p.Report.SHA, &p.Report.Hash)
	return p, err
}

// Pull returns a repo's pull request by number, or nil.
func (tx *Tx) Pull(ctx context.Context, repo string, provider coord.Provider, number int) (*Pull, error) {
	return maybe(scanPull(tx.QueryRowContext(ctx, `SELECT `+pullColumns+` FROM pulls p WHERE p.repo_id = $1 AND p.provider = $2
		AND p.number = $3`, repo, provider, number)))
}

// PullByID returns a pull request, or nil.
func (tx *Tx) PullByID(ctx context.Context, id string) (*Pull, error) {
	return maybe(scanPull(tx.QueryRowContext(ctx, `SELECT `+pullColumns+` FROM pulls p WHERE p.id = $1`, id)))
}

func maybe[T any](v T, err error) (*T, error) {
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &v, err
}

// SavePull stores a pull request; what it reports stays.
func (tx *Tx) SavePull(ctx context.Context, p Pull) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO pulls (id, org_id, repo_id, provider, number, state, draft, head_ref, head_sha, same_repo, base_ref, merge_sha, url,
		full_name, private, app, installation, changed_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
		ON CONFLICT (id) DO UPDATE SET state = EXCLUDED.state, draft = EXCLUDED.draft, head_ref = EXCLUDED.head_ref,
			head_sha = EXCLUDED.head_sha, same_repo = EXCLUDED.same_repo,
			base_ref = EXCLUDED.base_ref, merge_sha = EXCLUDED.merge_sha, url = EXCLUDED.url, full_name = EXCLUDED.full_name,
				private = EXCLUDED.private,
			app = EXCLUDED.app, installation = EXCLUDED.installation, changed_at = EXCLUDED.changed_at`,
		p.ID, p.OrgID, p.RepoID, p.Provider, p.Number, p.State, p.Draft, p.HeadRef, p.HeadSHA, p.SameRepo, p.BaseRef, p.MergeSHA, p.URL,
		p.FullName, p.Private, p.App, p.Installation, p.ChangedAt)
	return err
}

// SavePullReport stores what a pull request says of its conflicts.
func (tx *Tx) SavePullReport(ctx context.Context, id string, r PullReport) error {
	_, err := tx.ExecContext(ctx, `UPDATE pulls SET report_kind = $2, report_id = $3, report_sha = $4, report_hash = $5 WHERE id = $1`, id,
		r.Kind, r.ID, r.SHA, r.Hash)
	return err
}

// The work of a pull request: intents on its branch, unless that is a fork's,
// where a name proves nothing, and intents that name its number.
const ofPull = ` i.org_id = p.org_id AND i.repo_id = p.repo_id AND (p.same_repo AND i.branch = p.head_ref OR i.pr_number = p.number)`

// IntentsOfPull returns the intents that a pull request is about, oldest
// first: those that are live, and those that closed since a moment.
func (tx *Tx) IntentsOfPull(ctx context.Context, p Pull, closedSince coord.Time) ([]IntentRow, error) {
	return all(ctx, tx, scanIntent, `
		SELECT `+intentColumns+intentTables+` JOIN pulls p ON p.id = $1
		WHERE`+ofPull+` AND (i.closed_at IS NULL OR i.closed_at >= $2)
		ORDER BY i.number`, p.ID, closedSince)
}

// PullsInto returns the merged pull requests whose target was a branch, and
// which were merged no later than a moment, oldest first.
func (tx *Tx) PullsInto(ctx context.Context, repo string, provider coord.Provider, branch string, until coord.Time) ([]Pull, error) {
	return all(ctx, tx, scanPull, `
		SELECT `+pullColumns+` FROM pulls p
		WHERE p.repo_id = $1 AND p.provider = $2 AND p.base_ref = $3 AND p.state = 'merged' AND p.changed_at <= $4
		ORDER BY p.changed_at, p.number`, repo, provider, branch, until)
}

// PullsFrom returns the merged pull requests from a branch of the repository
// itself that were merged no earlier than a moment, oldest first.
func (tx *Tx) PullsFrom(ctx context.Context, repo string, provider coord.Provider, branch string, since coord.Time) ([]Pull, error) {
	return all(ctx, tx, scanPull, `
		SELECT `+pullColumns+` FROM pulls p
		WHERE p.repo_id = $1 AND p.provider = $2 AND p.head_ref = $3 AND p.same_repo AND p.state = 'merged' AND p.changed_at >= $4
		ORDER BY p.changed_at, p.number`, repo, provider, branch, since)
}

// PullsWaiting returns the pull requests that were merged into another branch
// than the given one and still have live work.
func (tx *Tx) PullsWaiting(ctx context.Context, repo string, provider coord.Provider, main string) ([]Pull, error) {
	return all(ctx, tx, scanPull, `
		SELECT `+pullColumns+` FROM pulls p
		WHERE p.repo_id = $1 AND p.provider = $2 AND p.base_ref <> $3 AND p.state = 'merged' AND EXISTS (SELECT 1
			FROM intents i WHERE`+ofPull+` AND i.closed_at IS NULL)
		ORDER BY p.changed_at, p.number`, repo, provider, main)
}

// PullsOf returns the pull requests that can be written to and are about the
// given intents: those that are open, and those that report something.
func (tx *Tx) PullsOf(ctx context.Context, org string, intents []string) ([]string, error) {
	f := filter{}
	f.and(`p.org_id = ? AND (p.app <> '' OR p.provider = ? AND EXISTS (SELECT 1 FROM gitlab_tokens t WHERE t.org_id = p.org_id)
		OR p.provider = ? AND EXISTS (SELECT 1 FROM github_tokens t WHERE t.org_id = p.org_id))`, org, coord.GitLab, coord.GitHub)
	in(&f, "i.id", intents)
	return all(ctx, tx, scanText, `SELECT DISTINCT p.id FROM pulls p JOIN intents i ON`+ofPull+f.where()+`
		AND (p.state = 'open' OR p.report_id <> 0) ORDER BY p.id`, f.args...)
}

// PullsChecked returns the open pull requests of some repos that have a check of
// ours: a claim that comes or goes may change what it says.
func (tx *Tx) PullsChecked(ctx context.Context, org string, repos []string) ([]string, error) {
	f := filter{}
	f.and(`p.org_id = ? AND p.state = 'open' AND p.report_id <> 0 AND p.report_kind = 'check'`, org)
	in(&f, "p.repo_id", repos)
	return all(ctx, tx, scanText, `SELECT p.id FROM pulls p`+f.where()+` ORDER BY p.id`, f.args...)
}

// OpenPulls returns the ids of an org's open pull requests on a host.
func (tx *Tx) OpenPulls(ctx context.Context, org string, provider coord.Provider) ([]string, error) {
	return all(ctx, tx, scanText, `SELECT id FROM pulls WHERE org_id = $1 AND provider = $2 AND state = 'open' ORDER BY id`, org, provider)
}

// PullsAt returns a repo's open pull requests whose head is a commit.
func (tx *Tx) PullsAt(ctx context.Context, repo string, provider coord.Provider, sha string) ([]Pull, error) {
	return all(ctx, tx, scanPull, `
		SELECT `+pullColumns+` FROM pulls p WHERE p.repo_id = $1 AND p.provider = $2 AND p.head_sha = $3 AND p.state = 'open'
		ORDER BY p.number`, repo, provider, sha)
}

// MergedBy returns the paths of merged work that intents of the pull request
// with a merge commit already account for.
func (tx *Tx) MergedBy(ctx context.Context, org, repo, mergeSHA string) ([]string, error) {
	return all(ctx, tx, scanText, `
		SELECT DISTINCT m.path FROM merged_changes m JOIN intents i ON i.id = m.intent_id JOIN pulls p ON`+ofPull+`
		WHERE m.org_id = $1 AND m.repo_id = $2 AND p.merge_sha = $3 AND p.state = 'merged'`, org, repo, mergeSHA)
}

// MergedOf returns the files of one piece of merged work.
func (tx *Tx) MergedOf(ctx context.Context, org, repo, mergeID string) ([]MergedRow, error) {
	return all(ctx, tx, scanMerged, `SELECT `+mergedColumns+` FROM merged_changes WHERE org_id = $1 AND repo_id = $2 AND merge_id = $3
		ORDER BY path`, org, repo, mergeID)
}

// DeleteMerged forgets a file of merged work.
func (tx *Tx) DeleteMerged(ctx context.Context, org, repo, mergeID, path string) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM merged_changes WHERE org_id = $1 AND repo_id = $2 AND merge_id = $3 AND path = $4`, org,
		repo, mergeID, path)
	return err
}
