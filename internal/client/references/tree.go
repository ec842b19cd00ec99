package references

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
)

// A tree is the files of one version, to find what an import means.
type tree interface {
	has(file string) bool
	list(dir string) []string   // names of the files in a folder
	read(file string) []byte    // nil when it is not there or too large
	ending(end string) []string // paths of the files whose names end so
	named(base string) []string // paths of the files called so, wherever they lie
}

// MaxSource is the size above which a file is not parsed.
const MaxSource = 1 << 20

// ReadFile reads a file that is not too large and not a link.
func ReadFile(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxSource {
		return nil, gitrepo.ErrTooLarge
	}
	return os.ReadFile(name)
}

// OnDisk is the tree in a folder.
func OnDisk(ctx context.Context, root string) tree { return &diskTree{ctx: ctx, root: root} }

// InGit is the tree of a commit or tree of the repository at root.
func InGit(ctx context.Context, root, treeish string, objects *gitrepo.Objects) tree {
	return &gitTree{ctx: ctx, root: root, treeish: treeish, objects: objects}
}

// A diskTree is what lies in a folder.
type diskTree struct {
	ctx   context.Context
	root  string
	names map[string][]string // of all files that git knows, by base
}

func (t *diskTree) has(file string) bool {
	info, err := os.Stat(filepath.Join(t.root, file))
	return err == nil && info.Mode().IsRegular()
}

func (t *diskTree) list(dir string) []string {
	entries, err := os.ReadDir(filepath.Join(t.root, dir))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		if e.Type().IsRegular() {
			out = append(out, e.Name())
		}
	}
	return out
}

func (t *diskTree) read(file string) []byte {
	data, err := ReadFile(filepath.Join(t.root, file))
	if err != nil {
		return nil
	}
	return data
}

func (t *diskTree) ending(end string) []string {
	t.named("")
	return endingIn(t.names, end)
}

// endingIn picks those paths, in order.
func endingIn(names map[string][]string, end string) (out []string) {
	for base, files := range names {
		if strings.HasSuffix(base, end) {
			out = append(out, files...)
		}
	}
	sort.Strings(out)
	return out
}

func (t *diskTree) named(base string) []string {
	if t.names == nil {
		t.names = map[string][]string{}
		files, _ := gitrepo.Files(t.ctx, t.root) // without them names stay unresolved
		for _, f := range files {
			t.names[path.Base(f)] = append(t.names[path.Base(f)], f)
		}
	}
	return t.names[base]
}

// A gitTree is a version in the repository. It is listed when first asked.
type gitTree struct {
	ctx     context.Context
	root    string
	treeish string
	objects *gitrepo.Objects
	files   map[string]string   // path to id
	folders map[string][]string // folder to names
	names   map[string][]string // base to paths
}

func (t *gitTree) load() {
	if t.files != nil {
		return
	}
	t.files, t.folders = map[string]string{}, map[string][]string{}
	entries, err := gitrepo.Entries(t.ctx, t.root, t.treeish, nil)
	if err != nil {
		return // imports stay unresolved
	}
	for _, e := range entries {
		if e.Mode == gitrepo.ModeSubmodule || e.Mode == gitrepo.ModeSymlink {
			continue
		}
		t.files[e.Path] = e.ID
		dir := path.Dir(e.Path)
		t.folders[dir] = append(t.folders[dir], path.Base(e.Path))
	}
}

func (t *gitTree) has(file string) bool {
	t.load()
	_, ok := t.files[file]
	return ok
}

func (t *gitTree) list(dir string) []string {
	t.load()
	names := t.folders[path.Clean(dir)]
	sort.Strings(names)
	return names
}

func (t *gitTree) ending(end string) []string {
	t.named("")
	return endingIn(t.names, end)
}

func (t *gitTree) named(base string) []string {
	t.load()
	if t.names == nil {
		t.names = map[string][]string{}
		for f := range t.files {
			t.names[path.Base(f)] = append(t.names[path.Base(f)], f)
		}
		for _, all := range t.names {
			sort.Strings(all)
		}
	}
	return t.names[base]
}

func (t *gitTree) read(file string) []byte {
	t.load()
	id, ok := t.files[file]
	if !ok {
		return nil
	}
	data, err := t.objects.Blob(id, MaxSource)
	if err != nil {
		return nil
	}
	return data
}

// firstOf returns the first of the files that the tree has.
func firstOf(t tree, files ...string) string {
	for _, f := range files {
		if f = path.Clean(f); !strings.HasPrefix(f, "..") && t.has(f) {
			return f
		}
	}
	return ""
}
