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
	hunks, err := Compare(ctx, sides[0], sides[1])
	if err == nil && len(hunks) == 0 {
		err = odb.ErrMissing
	}
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", from, to, err)
	}
	return diff.Turns(sides[0], hunks), nil
}

// Compare returns what differs between two texts as git's merge would see it, or
// odb.ErrMissing if either has no lines.
func Compare(ctx context.Context, before, after []byte) ([]diff.Hunk, error) {
	found, err := diffContents(ctx, [][2][]byte{{before, after}})
	if err == nil && found[0].Binary {
		err = odb.ErrMissing
	}
	if err != nil {
		return nil, err
	}
	return found[0].Hunks, nil
}

// maxMapped is the largest version that is compared while an agent waits.
const maxMapped = 8 << 20

// BlobAtBase returns the blob id that a file has in the commit that the work in
// root started from, or "" where it has none or git does not tell.
func BlobAtBase(ctx context.Context, root, path string) string {
	base, err := Base(ctx, root, "")
	if err != nil {
		return ""
	}
	entries, err := Entries(ctx, root, base, []string{path})
	if err != nil || len(entries) != 1 || entries[0].Path != path {
		return ""
	}
	return entries[0].ID
}
