// Package jj reads the files of a Jujutsu workspace whose commits are kept by
// git: where its git folder is, which commit is being worked on, and which
// bookmarks there are. It does not start jj, which would take down what is in
// the working copy; whatever is odd or damaged is an error.
package jj

import (
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/svc-hq/svc/internal/client/plain"
)

// Folder is where a workspace keeps what Jujutsu knows of it.
const Folder = ".jj"

// A Workspace is a working copy of Jujutsu's. Its fields are absolute paths.
type Workspace struct {
	Dir  string // its own state
	Repo string // operations and store, which all workspaces of a repository share
	Git  string // the git folder with the commits
}

// At returns the workspace whose root is dir.
func At(dir string) (*Workspace, bool) {
	at := filepath.Join(dir, Folder)
	repo := filepath.Join(at, "repo")
	info, err := os.Lstat(repo)
	if err != nil {
		return nil, false
	}
	if !info.IsDir() { // one that was added: the file says where the repository is
		target := line(repo)
		if target == "" {
			return nil, false
		}
		repo = absolute(at, target)
	}
	store := filepath.Join(repo, "store")
	target := line(filepath.Join(store, "git_target"))
	if target == "" || line(filepath.Join(store, "type")) != "git" {
		return nil, false
	}
	git := absolute(store, target)
	if info, err := os.Lstat(filepath.Join(git, "HEAD")); err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	return &Workspace{Dir: filepath.Join(at, "working_copy"), Repo: repo, Git: git}, true
}

// line returns what a file of one line says, or "".
func line(file string) string {
	data, err := plain.ReadHere(file, 4096)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

func absolute(base, path string) string {
	if path = filepath.FromSlash(path); filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// A View is what a workspace was last brought up to date with.
type View struct {
	Commit    string              // that is worked on: it holds what was on disk when jj last looked
	Bookmarks map[string][]string // names by commit, as jj lists them
}

// Limits of what is read. A view names every head and reference.
const (
	maxSmall = 1 << 20
	maxView  = 32 << 20
)

var errDamaged = errors.New("damaged record of Jujutsu's")

// View reads the workspace's view.
func (w *Workspace) View() (v View, err error) {
	checkout, err := fieldsIn(filepath.Join(w.Dir, "checkout"))
	if err != nil {
		return v, err
	}
	name := checkout[3]
	operation, err := fieldsIn(w.record("operations", checkout[2]))
	if err != nil {
		return v, err
	}
	v.Bookmarks = map[string][]string{}
	err = eachIn(w.record("views", operation[1]), maxView, func(field int, value []byte) error {
		switch field {
		case 5:
			return v.bookmark(value)
		case 8: // an entry of a map: workspace to commit
			one, err := fields(value)
			if err == nil && string(one[1]) == string(name) {
				v.Commit = commit(one[2])
			}
			return err
		}
		return nil
	})
	if err == nil && v.Commit == "" {
		err = errDamaged
	}
	return v, err
}

func (w *Workspace) record(kind string, id []byte) string {
	return filepath.Join(w.Repo, "op_store", kind, hex.EncodeToString(id))
}

// commit returns the name of a commit of git's, "" for none.
func commit(id []byte) string {
	name := hex.EncodeToString(id)
	if len(id) != 20 && len(id) != 32 || strings.Trim(name, "0") == "" {
		return ""
	}
	return name
}

// bookmark takes in a local bookmark. One whose sides disagree stands at each.
func (v *View) bookmark(value []byte) error {
	one, err := fields(value)
	if err != nil {
		return err
	}
	target, err := fields(one[2])
	if err != nil {
		return err
	}
	at := [][]byte{target[1]} // as older versions write it
	if err := each(target[3], func(field int, term []byte) error {
		side, err := fields(term)
		if field == 2 {
			at = append(at, side[1])
		}
		return err
	}); err != nil {
		return err
	}
	for _, id := range at {
		if c := commit(id); c != "" {
			v.Bookmarks[c] = append(v.Bookmarks[c], string(one[1]))
		}
	}
	return nil
}

// Owned reports whether the repository knows the workspace as one of its own: it
// lies in it, or names its folder. Versions of Jujutsu before 0.36 note no
// folders; there its name will do.
func (w *Workspace) Owned() bool {
	root := filepath.Dir(filepath.Dir(w.Dir))
	if w.Repo == filepath.Join(root, Folder, "repo") {
		return strings.HasPrefix(w.Git, root+string(filepath.Separator))
	}
	checkout, err := fieldsIn(filepath.Join(w.Dir, "checkout"))
	if err != nil {
		return false
	}
	listed, here := false, false
	err = eachIn(filepath.Join(w.Repo, "workspace_store", "index"), maxSmall, func(field int, value []byte) error {
		one, err := fields(value)
		if err == nil && field == 1 && string(one[1]) == string(checkout[3]) {
			listed, here = true, same(absolute(w.Repo, string(one[2])), root)
		}
		return err
	})
	if err == nil && listed {
		return here
	}
	_, err = w.View()
	return err == nil && string(checkout[3]) != "default" // which is what the first one is called
}

func same(a, b string) bool {
	one, err := os.Stat(a)
	other, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(one, other)
}

func fieldsIn(file string) (map[int][]byte, error) {
	data, err := plain.ReadHere(file, maxSmall)
	if err != nil {
		return nil, err
	}
	return fields(data)
}

func eachIn(file string, limit int64, visit func(field int, value []byte) error) error {
	data, err := plain.ReadHere(file, limit)
	if err != nil {
		return err
	}
	return each(data, visit)
}
