package lines

import (
	"context"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/coord"
)

// Map tells how the lines of two versions of a file go together, by their blob
// ids, or odb.ErrMissing if the repository at root does not have both.
func Map(ctx context.Context, root, from, to string) (coord.LineMap, error) {
	m := coord.LineMap{From: from, To: to, Shifts: []coord.LineShift{}}
	turns, err := gitrepo.Between(ctx, root, from, to)
	for _, t := range turns {
		m.Shifts = append(m.Shifts, coord.LineShift{FromStart: t.OldStart, FromCount: t.OldCount, ToStart: t.NewStart, ToCount: t.NewCount,
			FromHash: t.Was, ToHash: t.Hash})
	}
	return m, err
}
