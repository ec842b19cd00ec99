package gitrepo

import (
	"path/filepath"
	"sort"
	"strings"
)

// Tracks reports whether the index has files below a folder, or the folder
// itself as a submodule. dir is relative to the root, with slashes. known is
// false where only git can read the index.
func (r *Repo) Tracks(dir string) (files, module, known bool) {
	all, err := r.Indexed()
	if err != nil {
		return false, false, false
	}
	at := sort.SearchStrings(all, dir)
	module = at < len(all) && all[at] == dir
	at = sort.SearchStrings(all, dir+"/")
	files = at < len(all) && strings.HasPrefix(all[at], dir+"/")
	return files, module, true
}

// Gone is the repository of a working copy whose .git is not there any more.
func Gone(root string) *Repo {
	dir := filepath.Join(root, ".git")
	return &Repo{Root: root, GitDir: dir, CommonDir: dir}
}
