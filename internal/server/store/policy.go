package store

import (
	"context"

	"github.com/svc-hq/svc/internal/core/policy"
)

// Policies returns the rules that an org has set, by repo; those under the
// empty id are the org's own.
func (tx *Tx) Policies(ctx context.Context, org string) (map[string]policy.Rules, error) {
	out := map[string]policy.Rules{}
	rows, err := tx.QueryContext(ctx, `SELECT repo_id, rules FROM policies WHERE org_id = $1`, org)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var repo string
		var rules policy.Rules
		if err := rows.Scan(&repo, asJSON{&rules}); err != nil {
			return nil, err
		}
		out[repo] = rules
	}
	return out, rows.Err()
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
