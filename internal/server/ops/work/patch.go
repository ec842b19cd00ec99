package work

import (
	"context"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// patchesKept is how long a difference is kept at the most: who is still at work
// hands it over again with the next check.
const patchesKept = 24 * time.Hour

// ExchangePatches keeps the difference of a working copy for the machines whose
// work is related to it, and hands out theirs. Who has no live work in that
// working copy gets nothing and leaves nothing, and so does everybody where the
// policy does not let members share.
func (s *Service) ExchangePatches(ctx context.Context, who coord.Caller, in wire.ExchangePatches) (out wire.Patches, err error) {
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		out = wire.Patches{Patches: []wire.Patch{}}
		repo, err := RepoField(ctx, c.Tx, who, "repo", in.Repo)
		if err != nil {
			return err
		}
		ix := c.Live.View()
		if who.DataMode == coord.DataMetadataOnly || !engine.SharesPatches(ix, repo.ID) {
			return c.DeletePatches(ctx, who.OrgID, repo.ID)
		}
		out.Allowed = true
		w := engine.InCopy(ix, repo.ID, in.Copy, who.UserID)
		if w == nil {
			return nil
		}
		if err := s.keepPatch(ctx, c, repo.ID, w, in); err != nil {
			return err
		}
		for _, r := range engine.RelatedWork(ix, w.ID) {
			if slices.Contains(in.Of, r.Copy) {
				if err := s.handPatch(ctx, c, repo.ID, r, &out); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return out, err
}

func (s *Service) keepPatch(ctx context.Context, c *ground.Change, repo string, w *engine.Worker, in wire.ExchangePatches) error {
	if in.Diff == "" || in.Base == "" {
		return c.DeletePatch(ctx, c.Who.OrgID, repo, in.Copy)
	}
	sealed, err := s.Config.Vault.Seal(patchOf(c.Who.OrgID, repo, in.Copy), in.Diff)
	if err != nil {
		return err
	}
	return c.SavePatch(ctx, c.Who.OrgID, store.PatchRow{
		RepoID: repo, Copy: in.Copy, UserID: c.Who.UserID, WorkerID: w.ID, Base: in.Base, Sealed: sealed,
	})
}

// handPatch hands out what related work left, as long as it is the same work.
func (s *Service) handPatch(ctx context.Context, c *ground.Change, repo string, r engine.Related, out *wire.Patches) error {
	rows, err := c.Patch(ctx, c.Who.OrgID, repo, r.Copy)
	if err != nil {
		return err
	}
	for _, p := range rows {
		if p.WorkerID != r.Worker.ID || p.UserID != r.Worker.User.ID {
			continue
		}
		diff, err := s.Config.Vault.Open(patchOf(c.Who.OrgID, repo, p.Copy), p.Sealed)
		if err != nil {
			return err
		}
		out.Patches = append(out.Patches, wire.Patch{Copy: p.Copy, Base: p.Base, Diff: diff})
	}
	return nil
}

// patchOf is what a difference is sealed for.
func patchOf(org, repo, copy string) string { return "patch " + org + " " + repo + " " + copy }
