package gitrepo

import (
	"context"
	"fmt"
)

// Between returns what differs between two blobs of the repository at root,
// as its merge would see it, or ErrMissing if it does not have both, or either
// has no lines. Nothing is fetched.
func Between(ctx context.Context, root, from, to string) ([]Hunk, error) {
	for _, id := range []string{from, to} {
		if commitID(id) == "" {
			return nil, fmt.Errorf("%.80q: %w", id, ErrMissing)
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
		return nil, fmt.Errorf("%s and %s: %w", from, to, ErrMissing)
	}
	return found[0].Hunks, nil
}

// maxMapped is the largest version that is compared while an agent waits.
const maxMapped = 8 << 20
