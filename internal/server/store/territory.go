package store

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
)

// WorkedOn returns the paths that each intent of a repo claims or edited, of
// those that changed since a moment: nothing else of them is read, since a busy
// repo has hundreds.
func (tx *Tx) WorkedOn(ctx context.Context, org, repo string, since coord.Time) ([][]string, error) {
	return all(ctx, tx, func(r scanner) ([]string, error) {
		var scope struct {
			Paths []string `json:"paths"`
		}
		var observed []string
		err := r.Scan(asJSON{&scope}, asJSON{&observed})
		return append(scope.Paths, observed...), err
	}, `SELECT scope, observed FROM intents WHERE org_id = $1 AND repo_id = $2 AND updated_at > $3`, org, repo, since)
}

// CollidedAt returns the paths on which each conflict of a repo that is worth a
// warning rests, of those that changed since a moment. A path may come twice.
func (tx *Tx) CollidedAt(ctx context.Context, org, repo string, since coord.Time) ([][]string, error) {
	return all(ctx, tx, func(r scanner) (paths []string, err error) {
		var evidence []struct {
			Path string `json:"path"`
		}
		err = r.Scan(asJSON{&evidence})
		for _, e := range evidence {
			if e.Path != "" {
				paths = append(paths, e.Path)
			}
		}
		return paths, err
	}, `SELECT evidence FROM conflicts
		WHERE org_id = $1 AND (repo_id = $2 OR dependent_repo_id = $2) AND severity IN ('warn', 'block') AND updated_at > $3`, org, repo, since)
}
