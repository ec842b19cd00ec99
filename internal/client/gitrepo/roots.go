package gitrepo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxRoots is how many first commits are worth telling: histories that were
// joined have a few, and any of them will do.
const maxRoots = 20

// Roots returns the commits without parents that the checked-out work rests
// on, oldest last: they stay what they are through every rename of the
// repository. A shallow clone does not know them and has none.
func Roots(ctx context.Context, root string) ([]string, error) {
	repo, ok := At(root)
	if !ok {
		return nil, fmt.Errorf("%s is not a git repository", root)
	}
	if repo.Shallow() {
		return nil, nil
	}
	out, err := output(ctx, root, "rev-list", "--max-parents=0", "HEAD")
	if err != nil {
		return nil, err
	}
	roots := strings.Fields(string(out))
	return roots[max(0, len(roots)-maxRoots):], nil
}

// Shallow reports whether the repository has a part of its history only.
func (r *Repo) Shallow() bool {
	_, err := os.Lstat(filepath.Join(r.CommonDir, "shallow"))
	return err == nil
}
