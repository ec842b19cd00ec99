package work

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store"
)

// maxSpots bounds an answer; no map shows more.
const maxSpots = 2000

// GetTerritory tells where in a repo work happened of late, and where it
// collided.
func (s *Service) GetTerritory(ctx context.Context, who coord.Caller, in wire.GetTerritory) (out wire.Territory, err error) {
	spots := map[string]*wire.Spot{}
	at := func(path string) *wire.Spot {
		if spots[path] == nil {
			spots[path] = &wire.Spot{Path: path}
		}
		return spots[path]
	}
	err = s.Read(ctx, func(tx *store.Tx) error {
		repo, err := RepoField(ctx, tx, who, "repo", in.Repo)
		if err != nil {
			return err
		}
		since := tx.Now.Add(-time.Duration(in.Days) * 24 * time.Hour)
		worked, err := tx.WorkedOn(ctx, who.OrgID, repo.ID, since)
		if err != nil {
			return err
		}
		for _, paths := range worked {
			for path := range once(paths) {
				at(path).Touched++
			}
		}
		collided, err := tx.CollidedAt(ctx, who.OrgID, repo.ID, since)
		for _, paths := range collided {
			for path := range once(paths) {
				at(path).Collided++
			}
		}
		return err
	})
	out.Items = make([]wire.Spot, 0, len(spots))
	for _, sp := range spots {
		out.Items = append(out.Items, *sp)
	}
	slices.SortFunc(out.Items, func(a, b wire.Spot) int {
		return cmp.Or(cmp.Compare(b.Touched+b.Collided, a.Touched+a.Collided), cmp.Compare(a.Path, b.Path))
	})
	out.Items = out.Items[:min(len(out.Items), maxSpots)]
	return out, err
}

// once returns each of a list once.
func once(list []string) iter.Seq[string] {
	slices.Sort(list)
	return slices.Values(slices.Compact(list))
}
