package work

import (
	"context"
	"fmt"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// dependencies reads the refs that an intent depends on and refuses cycles.
func dependencies(ctx context.Context, c *ground.Change, path string, refs []wire.IntentRef,
	i store.IntentRow) ([]store.Dependency, error) {
	if refs == nil {
		return nil, nil
	}
	out := []store.Dependency{}
	var bad []problem.Field
	for k, ref := range refs {
		at := fmt.Sprintf("%s[%d]", path, k)
		d, err := FindIntent(ctx, c.Tx, c.Who, string(ref))
		if problem.KindOf(err) == problem.NotFound {
			bad = append(bad, problem.Field{Path: at, Message: err.Error()})
			continue
		}
		if err != nil {
			return nil, err
		}
		if d.ID == i.ID {
			bad = append(bad, problem.Field{Path: at, Message: "is this intent itself"})
			continue
		}
		if cycle, err := reaches(ctx, c, d.ID, i.ID, map[string]bool{}); err != nil {
			return nil, err
		} else if cycle {
			bad = append(bad, problem.Field{Path: at, Message: d.Ref + " depends on this intent already: they would wait for each other"})
			continue
		}
		if !slices.ContainsFunc(out, func(x store.Dependency) bool { return x.ID == d.ID }) {
			out = append(out, store.Dependency{ID: d.ID, Number: d.Number, Status: d.Status})
		}
	}
	slices.SortFunc(out, func(a, b store.Dependency) int { return a.Number - b.Number })
	return out, problem.Invalid(bad)
}

// reaches reports whether from depends on to, directly or not.
func reaches(ctx context.Context, c *ground.Change, from, to string, seen map[string]bool) (bool, error) {
	if from == to {
		return true, nil
	}
	if seen[from] {
		return false, nil
	}
	seen[from] = true
	next, err := c.Dependencies(ctx, from)
	if err != nil {
		return false, err
	}
	for _, d := range next {
		if found, err := reaches(ctx, c, d.ID, to, seen); found || err != nil {
			return found, err
		}
	}
	return false, nil
}

func refsOf(deps []store.Dependency) []string {
	out := make([]string, len(deps))
	for i, d := range deps {
		out[i] = coord.IntentRef(d.Number)
	}
	return out
}

func ids(deps []store.Dependency) []string {
	out := make([]string, len(deps))
	for i, d := range deps {
		out[i] = d.ID
	}
	return out
}
