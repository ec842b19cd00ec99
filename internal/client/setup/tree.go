package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// maxFile bounds what we parse. No host's settings come near it.
const maxFile = 1 << 20

// A tree is the folder that we may write in: the repository, or the home
// folder. Nothing outside it is ever touched.
type tree struct {
	dir  string // without symlinks
	root *os.Root
}

func openTree(dir string) (*tree, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	return &tree{real, root}, nil
}

// resolve follows the symlinks of a path, so that a link inside the tree stays
// one. It refuses what leads out of the tree.
func (t *tree) resolve(rel string) (string, error) {
	at := filepath.Join(t.dir, filepath.FromSlash(rel))
	rest := ""
	for {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			in, err := filepath.Rel(t.dir, real)
			if err != nil || in == ".." || strings.HasPrefix(in, ".."+string(filepath.Separator)) {
				return "", fmt.Errorf("%s is a symlink that leaves %s; replace it with a file and run this again", rel, t.dir)
			}
			return path.Join(filepath.ToSlash(in), rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("%s: %w", rel, err)
		}
		if _, err := os.Lstat(at); err == nil {
			return "", fmt.Errorf("%s is a symlink to something that does not exist; remove it and run this again", rel)
		}
		rest = path.Join(filepath.Base(at), rest)
		at = filepath.Dir(at)
	}
}

// read returns a file's content and mode; the content is nil if there is none.
func (t *tree) read(rel string) ([]byte, fs.FileMode, error) {
	real, err := t.resolve(rel)
	if err != nil {
		return nil, 0, err
	}
	info, err := t.root.Stat(real)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0o644, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", rel, err)
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a file", rel)
	}
	if info.Size() > maxFile {
		return nil, 0, fmt.Errorf("%s is larger than %d KiB; that is no settings file", rel, maxFile>>10)
	}
	data, err := t.root.ReadFile(real)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", rel, err)
	}
	if data == nil {
		data = []byte{}
	}
	return data, info.Mode().Perm(), nil
}

// reader returns files, and nil for those that cannot be read: the plan meets
// the error again when it edits them.
func (t *tree) reader() reader {
	return func(rel string) []byte {
		data, _, _ := t.read(rel)
		return data
	}
}

func (t *tree) exists(rel string) bool {
	_, err := os.Stat(filepath.Join(t.dir, filepath.FromSlash(rel)))
	return err == nil
}

func trimBOM(data []byte) []byte { return bytes.TrimPrefix(data, utf8BOM) }
