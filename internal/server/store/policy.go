package store

import (
	"context"

	"github.com/svc-hq/svc/internal/core/policy"
)

// Policies returns the rules that an org has set, by repo; those under the
// empty id are the org's own.
func (tx *Tx) Policies(ctx context.Context, org string) (map[string]policy.Rules, error) {
	out := map[string]policy.Rules{}
	rows, err := tx.QueryContext(ctx, `
		SELECT repo_id, rules FROM policies WHERE org_id = $1
		UNION ALL SELECT id, NULL FROM repos WHERE org_id = $1 AND ignore_case`, org)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ignore []string // repos of which it was noted that the case of paths does not matter
	for rows.Next() {
		var repo string
		var rules *policy.Rules
		if err := rows.Scan(&repo, asJSON{&rules}); err != nil {
			return nil, err
		}
		if rules == nil {
			ignore = append(ignore, repo)
			continue
		}
		out[repo] = *rules
	}
	if out[""].IgnoreCase == nil {
		addCase(out, ignore)
	}
	return out, rows.Err()
}

// addCase adds what clients say of the case of paths where no rule does.
func addCase(rules map[string]policy.Rules, repos []string) {
	for _, id := range repos {
		if r := rules[id]; r.IgnoreCase == nil {
			told := true
			r.IgnoreCase = &told
			rules[id] = r
		}
	}
}

// SetIgnoreCase notes that the case of a repo's paths does not matter, and
// reports whether that is news.
func (tx *Tx) SetIgnoreCase(ctx context.Context, repo string) (bool, error) {
	res, err := tx.ExecContext(ctx, `UPDATE repos SET ignore_case = TRUE WHERE id = $1 AND NOT ignore_case`, repo)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// SavePolicy replaces the rules of an org or, if repo is not empty, of a repo.
func (tx *Tx) SavePolicy(ctx context.Context, org, repo string, rules policy.Rules) error {
	_, err := tx.ExecContext(ctx, `
		INSERT INTO policies (org_id, repo_id, rules, updated_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_id, repo_id) DO UPDATE SET rules = EXCLUDED.rules, updated_at = EXCLUDED.updated_at`, org, repo, js(rules), tx.Now)
	return err
}

// EffectivePolicy returns what holds in a repo.
func (tx *Tx) EffectivePolicy(ctx context.Context, org, repo string) (*policy.Effective, error) {
	rules, err := tx.Policies(ctx, org)
	if err != nil {
		return nil, err
	}
	return policy.Merge(rules[""], rules[repo]), nil
}
