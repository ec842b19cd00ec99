package backtest

import (
	"context"
	"fmt"
	"os"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/engine"
)

// One replays a single case: two heads, each a commit, that came apart at
// base. It tells what git and svc make of them, not what plans or early
// warnings would have.
func One(ctx context.Context, repo *gitrepo.Repo, base string, heads [2]string) (*Outcome, error) {
	return one(ctx, repo, Case{Kind: Pair, Base: base, Bases: 1, Heads: heads[:]}, "")
}

// Mine does so for the first of the two, in words for who works on it. The
// names are what the heads are called.
func Mine(ctx context.Context, repo *gitrepo.Repo, base string, heads, names [2]string) (*Outcome, error) {
	return one(ctx, repo, Case{Kind: Pair, Base: base, Bases: 1, Heads: heads[:], Names: names[:]}, workerID(0))
}

func one(ctx context.Context, repo *gitrepo.Repo, c Case, viewer string) (*Outcome, error) {
	scratch, err := os.MkdirTemp("", "svc-backtest-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for git's merges: %w", err)
	}
	defer os.RemoveAll(scratch)
	r := &replayer{ctx: ctx, repo: repo, scratch: scratch, history: analysis.NewHistory(ctx, repo.GitDir)}
	defer r.history.Close()
	truth, err := repo.MergePairs(ctx, scratch, [][2]string{{c.Heads[0], c.Heads[1]}})
	if err != nil {
		return nil, err
	}
	sides, err := r.sides(&c)
	if err != nil {
		return nil, err
	}
	o := &Outcome{Case: c, Conflicts: []Conflict{}, Warnings: []Warning{}}
	ix := indexOf(&c, sides)
	o.judge(ix, sides, truth, viewer)
	ix.SetPolicy(name.ID, checkedRules())
	o.Related = len(engine.RelatedWork(ix, workerID(0))) > 0
	return o, nil
}
