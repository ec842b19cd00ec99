package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/client/plain"
)

// findRenames looks for the old names of new files. A new file may be an old
// one that was moved, inside what was asked for or from outside it, with git
// mv or without git's knowledge. Ordinary edits never pay for this.
func (w *worktree) findRenames() error {
	fresh := false
	for _, d := range w.found {
		fresh = fresh || d.Status == diff.Added && (d.Binary || len(d.Hunks) > 0)
	}
	if !fresh {
		return nil
	}
	// Most new files replace nothing: then there is no need to compare contents.
	gone, err := goneFiles(w.ctx, w.root, w.base)
	if err != nil || len(gone) == 0 {
		return err
	}
	var all []diff.Delta
	if len(w.untracked) > 0 {
		all, err = w.diffWithUntracked()
	} else {
		all, err = w.diff("", "--diff-filter=R", w.base, "--")
	}
	if err != nil {
		return err
	}
	for i := range all {
		d := w.found[all[i].Path]
		if all[i].Status != diff.Renamed || d == nil || d.Status != diff.Added {
			continue
		}
		*d = all[i]
		if old := w.found[d.OldPath]; old != nil && old.Status == diff.Deleted {
			delete(w.found, d.OldPath)
		}
	}
	return nil
}

// diffWithUntracked lets git compare as if the new files had been added, with
// a copy of its index: the real one belongs to the user.
func (w *worktree) diffWithUntracked() ([]diff.Delta, error) {
	index, err := w.copyIndex()
	if err != nil {
		return nil, err
	}
	defer os.Remove(index)
	for names := range slices.Chunk(w.untracked, 200) {
		cmd := command(w.ctx, w.root, append([]string{"add", "--intent-to-add", "--force", "--"}, names...)...)
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+index)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, gitError(w.ctx, "add", string(out), err)
		}
	}
	return w.diff(index, "--diff-filter=R", w.base, "--")
}

func (w *worktree) copyIndex() (string, error) {
	dst, err := os.CreateTemp("", "svc-index-*")
	if err != nil {
		return "", fmt.Errorf("copy the index: %w", err)
	}
	defer dst.Close()
	repo, ok := At(w.root)
	if !ok {
		os.Remove(dst.Name())
		return "", fmt.Errorf("copy the index: %s is no working copy", w.root)
	}
	name, err := repo.index()
	if err != nil {
		os.Remove(dst.Name())
		return "", fmt.Errorf("copy the index: %w", err)
	}
	info, _ := os.Lstat(name)
	data, err := plain.ReadHere(name, odb.MaxIndex)
	if errors.Is(err, fs.ErrNotExist) { // no index yet: git makes one
		os.Remove(dst.Name())
		return dst.Name(), nil
	}
	if err == nil {
		_, err = dst.Write(data)
	}
	if err == nil && info != nil { // by it git knows what was written since
		err = os.Chtimes(dst.Name(), info.ModTime(), info.ModTime())
	}
	if err != nil {
		os.Remove(dst.Name())
		return "", fmt.Errorf("copy the index: %w", err)
	}
	return dst.Name(), nil
}
