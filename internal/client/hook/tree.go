package hook

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/plain"
)

// changedSince returns the files of a working tree that changed since start,
// when HEAD was at head. Git tells what differs from the last commit; the
// times of the files tell what of it is new. touched are files that the
// session changed before: of those, the ones that no longer differ were put
// back.
func changedSince(ctx context.Context, repo *gitrepo.Repo, head string, start time.Time, touched []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience.Of(statusTimeout))
	defer cancel()
	var out []string
	differs := map[string]bool{}
	names, failed := repo.Status(ctx)
	for _, name := range names {
		differs[name] = true
		if changedAfter(repo.Root, name, start) {
			out = append(out, name)
		}
	}
	// What the command changed and committed does not differ any more.
	if before, ok := repo.LastCommitted(); ok && head != "" && repo.Head().SHA != head && before != "" {
		names, err := repo.Changed(ctx, head, repo.Head().SHA)
		failed = errors.Join(failed, err)
		for _, name := range names {
			if !differs[name] && changedAfter(repo.Root, name, start) {
				out = append(out, name)
			}
		}
	}
	for _, name := range touched {
		if !differs[name] && changedAfter(repo.Root, name, start) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), failed
}

// changedAfter reports whether a file changed at or after start. Of a file
// that is gone, the folder tells.
func changedAfter(root, name string, start time.Time) bool {
	p := filepath.Join(root, filepath.FromSlash(name))
	info, err := os.Lstat(p)
	for err != nil && p != root {
		p = filepath.Dir(p)
		info, err = os.Lstat(p)
	}
	return err == nil && !plain.ChangedAt(info).Before(start)
}
