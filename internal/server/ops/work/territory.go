package work

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
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
		intents, err := tx.Intents(ctx, who.OrgID, store.IntentFilter{Repo: repo.ID, Changed: since})
		if err != nil {
			return err
		}
		for _, i := range intents {
			for path := range pathsOf(i) {
				at(path).Touched++
			}
		}
		conflicts, err := tx.Conflicts(ctx, who.OrgID, store.ConflictFilter{
			Repo:       repo.ID,
			Changed:    since,
			Severities: []coord.Severity{coord.SeverityWarn, coord.SeverityBlock},
		})
		for _, c := range conflicts {
			for path := range placesOf(c.Conflict) {
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

// pathsOf returns the paths that an intent claims, each once.
func pathsOf(i store.IntentRow) map[string]bool {
	out := map[string]bool{}
	for _, c := range live.ClaimsOf(i) {
		if c.Kind == coord.ClaimPath {
			out[c.Selector] = true
		}
	}
	return out
}

// placesOf returns the files that a conflict rests on, each once.
func placesOf(c coord.Conflict) map[string]bool {
	out := map[string]bool{}
	for _, e := range c.Evidence {
		if e.Path != nil {
			out[*e.Path] = true
		}
	}
	return out
}
