package gitrepo

import (
	"context"
	"fmt"

	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
)

// Between returns what differs between two blobs of the repository at root,
// as its merge would see it, or odb.ErrMissing if it does not have both, or either
// has no lines. Nothing is fetched.
func Between(ctx context.Context, root, from, to string) ([]diff.Turn, error) {
	for _, id := range []string{from, to} {
		if odb.CommitID(id) == "" {
			return nil, fmt.Errorf("%.80q: %w", id, odb.ErrMissing)
		}
	}
	objects := NewObjects(ctx, root)
	defer objects.Close()
	var sides [2][]byte
	for i, id := range []string{from, to} {
		var err error
		if sides[i], err = objects.Blob(id, maxMapped); err != nil {
			return nil, err
		}
	}
	found, err := diffContents(ctx, [][2][]byte{sides})
	if err != nil {
		return nil, err
	}
	if found[0].Binary || len(found[0].Hunks) == 0 {
		return nil, fmt.Errorf("%s and %s: %w", from, to, odb.ErrMissing)
	}
	return diff.Turns(sides[0], found[0].Hunks), nil
}

// maxMapped is the largest version that is compared while an agent waits.
const maxMapped = 8 << 20
