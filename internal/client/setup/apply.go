package setup

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	_ "text/tabwriter" // so that it is initialised late: see verdict

	"github.com/rogpeppe/go-internal/diff"
)

// Empty reports whether there is nothing to do.
func (c *Changes) Empty() bool { return len(c.Files) == 0 }

// Diff shows the changes as unified diffs.
func (c *Changes) Diff() []byte {
	var all []byte
	for _, f := range c.Files {
		before, after := "a/"+f.Path, "b/"+f.Path
		if f.Old == nil {
			before = "/dev/null"
		}
		if f.New == nil {
			after = "/dev/null"
		}
		all = append(all, diff.Diff(before, f.Old, after, f.New)...)
	}
	return all
}

// Apply writes the changes: all of them, or on an error none. Each file is
// replaced in one step and keeps its mode.
func (c *Changes) Apply() (err error) {
	var undo []func()
	defer func() {
		if err == nil {
			return
		}
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i]()
		}
	}()
	staged := make([]string, len(c.Files))
	for i := range c.Files {
		f := &c.Files[i]
		if f.New == nil {
			continue
		}
		dirs, err := f.makeFolder()
		undo = append(undo, func() { f.dropFolders(dirs) })
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		if staged[i], err = f.stage(f.New); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		undo = append(undo, func() { _ = f.tree.root.Remove(staged[i]) })
	}
	for i := range c.Files {
		f := &c.Files[i]
		if err := f.commit(staged[i]); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		undo = append(undo, f.restore)
	}
	for i := range c.Files {
		if f := &c.Files[i]; f.New == nil {
			f.dropFolders(parents(f.real))
		}
	}
	return nil
}

var errChanged = errors.New("changed while we were at work; run this again")

// commit puts the staged file in place, or removes the file.
func (f *Change) commit(staged string) error {
	now, err := f.tree.root.ReadFile(f.real)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if f.Old != nil {
			return errChanged
		}
	case err != nil:
		return err
	case f.Old == nil || !bytes.Equal(now, f.Old):
		return errChanged
	}
	if f.New == nil {
		return f.tree.root.Remove(f.real)
	}
	return f.tree.root.Rename(staged, f.real)
}

// restore puts the old content back after a later file failed.
func (f *Change) restore() {
	if f.Old == nil {
		_ = f.tree.root.Remove(f.real)
		return
	}
	if staged, err := f.stage(f.Old); err == nil {
		_ = f.tree.root.Rename(staged, f.real)
	}
}

// stage writes content to a file beside the one it will replace.
func (f *Change) stage(content []byte) (name string, err error) {
	name = path.Join(path.Dir(f.real), ".svc-init-"+rand.Text()+".tmp")
	w, err := f.tree.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", err
	}
	_, err = w.Write(content)
	if err == nil && f.Old != nil {
		err = w.Chmod(f.mode)
	}
	err = errors.Join(err, w.Sync(), w.Close())
	if err != nil {
		_ = f.tree.root.Remove(name)
	}
	return name, err
}

// makeFolder makes the folders that the file needs and returns them, the
// deepest first.
func (f *Change) makeFolder() (made []string, err error) {
	var missing []string
	for _, dir := range parents(f.real) {
		if _, err := f.tree.root.Stat(dir); err == nil {
			break
		}
		missing = append(missing, dir)
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := f.tree.root.Mkdir(missing[i], 0o755); err != nil {
			return made, err
		}
		made = append([]string{missing[i]}, made...)
	}
	return made, nil
}

// dropFolders removes folders as long as they are empty.
func (f *Change) dropFolders(dirs []string) {
	for _, dir := range dirs {
		if f.tree.root.Remove(dir) != nil {
			return
		}
	}
}

// parents lists the folders of a path, the deepest first.
func parents(name string) []string {
	var dirs []string
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}
