package gitrepo

import (
	"bytes"
	"context"
	"fmt"
)

// A Turn is a range of lines that became another.
type Turn struct {
	Hunk
	Was string // hash of the old lines
}

// Between returns what differs between two blobs of the repository at root,
// as its merge would see it, or ErrMissing if it does not have both, or either
// has no lines. Nothing is fetched.
func Between(ctx context.Context, root, from, to string) ([]Turn, error) {
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
	lines := bytes.SplitAfter(sides[0], []byte{'\n'})
	out := make([]Turn, len(found[0].Hunks))
	for i, h := range found[0].Hunks {
		out[i] = Turn{h, hashOf(lines[min(h.OldStart-1, len(lines)):min(h.OldStart-1+h.OldCount, len(lines))])}
	}
	return out, nil
}

// hashOf returns the hash of lines as hunks have it.
func hashOf(lines [][]byte) string {
	sum := newLineHash()
	for _, l := range lines {
		sum.write(l)
		if !bytes.HasSuffix(l, []byte{'\n'}) {
			sum.write([]byte{'\n'})
			sum.missingNewline()
		}
	}
	return sum.String()
}

// maxMapped is the largest version that is compared while an agent waits.
const maxMapped = 8 << 20
