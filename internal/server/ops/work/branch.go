package work

import (
	"context"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// BranchKept is how long work of people who do not use svc counts after the last
// push to it: what nobody goes on with is in nobody's way.
const BranchKept = 14 * 24 * time.Hour

// ListBranches returns the work of people who do not use svc, the latest first.
func (s *Service) ListBranches(ctx context.Context, who coord.Caller, in wire.ListBranches) (out wire.Page[wire.Branch], err error) {
	want := store.BranchFilter{Looked: true, Limit: in.Limit + 1}
	if err := ground.Uncursor(in.Cursor, &want.Until, &want.UntilID); err != nil {
		return out, err
	}
	out.Items = []wire.Branch{}
	err = s.Read(ctx, func(tx *store.Tx) error {
		if want.Repo, err = RepoFilter(ctx, tx, who, in.Repo); err != nil {
			return err
		}
		rows, err := tx.Branches(ctx, who.OrgID, want)
		rows, out.NextCursor = ground.Page(rows, in.Limit, func(b store.Branch) []any { return []any{b.PushedAt, b.ID} })
		for _, b := range rows {
			out.Items = append(out.Items, wire.Branch{ID: b.ID, Repo: b.Repo, Branch: b.Name, Base: b.BaseRef, Outside: *b.Outside(), User: b.User,
				Files: b.Files, Cut: b.Cut, Since: b.Since, PushedAt: b.PushedAt})
		}
		return err
	})
	return out, err
}

// ForgetBranch ends work of people who do not use svc.
func ForgetBranch(ctx context.Context, c *ground.Change, b store.Branch) error {
	if err := c.DeleteBranch(ctx, b); err != nil || !b.Looked() {
		return err
	}
	c.Live.PutBranch(b, nil)
	return TellBranch(ctx, c, coord.EventBranchGone, b)
}

// TellBranch tells what became of work of people who do not use svc.
func TellBranch(ctx context.Context, c *ground.Change, t coord.EventType, b store.Branch) error {
	return c.TellOf(ctx, t, b.ID, b.Repo.ID, wire.BranchPayload{Number: b.Outside().Number, Files: b.Files})
}

// forgetStale ends what nobody pushed to for too long.
func forgetStale(ctx context.Context, c *ground.Change, org string) error {
	rows, err := c.Branches(ctx, org, stale(c.Tx))
	for _, b := range rows {
		if err == nil {
			err = ForgetBranch(ctx, c, b)
		}
	}
	return err
}

func stale(tx *store.Tx) store.BranchFilter {
	return store.BranchFilter{Before: tx.Now.Add(-BranchKept), Limit: maxExpired}
}
