package locate

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/client/kept"
)

// A Tree is the files of one version, to find what an import means.
type Tree interface {
	Has(file string) bool
	List(dir string) []string   // names of the files in a folder
	Read(file string) []byte    // nil when it is not there or too large
	Ending(end string) []string // paths of the files whose names end so
	Named(base string) []string // paths of the files called so, wherever they lie

	// Listed returns what find does, which may depend on what the other lists say
	// and on nothing else. It may have been found before.
	Listed(key string, find func() []string) []string
	// Sketch tells which words a file cannot have, and what marks said of its
	// text; nil where only its text tells.
	Sketch(file string, marks func(text []byte) byte) *kept.Sketch
	// Lately reports what find does, or that it did a while ago; Anew ends that.
	Lately(key string, find func() bool) bool
	Anew()
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
		return nil, odb.ErrTooLarge
	}
	return os.ReadFile(name)
}

// OnDisk is the tree in a folder, and what was found out about it before.
func OnDisk(ctx context.Context, root string, book *kept.Book) Tree {
	return &diskTree{ctx: ctx, root: root, book: book}
}

// InGit is the tree of a commit or tree of the repository at root.
func InGit(ctx context.Context, root, treeish string, objects *gitrepo.Objects) Tree {
	return &gitTree{ctx: ctx, root: root, treeish: treeish, objects: objects}
}

// A diskTree is what lies in a folder.
type diskTree struct {
	ctx   context.Context
	root  string
	book  *kept.Book
	files []string // that git knows; nil when nobody has asked
}

func (t *diskTree) Has(file string) bool {
	info, err := os.Stat(filepath.Join(t.root, file))
	return err == nil && info.Mode().IsRegular()
}

func (t *diskTree) List(dir string) []string {
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

func (t *diskTree) Read(file string) []byte {
	data, err := ReadFile(filepath.Join(t.root, file))
	if err != nil {
		return nil
	}
	return data
}

func (t *diskTree) Ending(end string) []string {
	return t.Listed("ending "+end, func() (out []string) {
		for _, f := range t.list() {
			if strings.HasSuffix(f, end) {
				out = append(out, f)
			}
		}
		return out
	})
}

func (t *diskTree) Named(base string) []string {
	return t.Listed("named "+base, func() (out []string) {
		for _, f := range t.list() {
			if strings.HasSuffix(f, base) && (len(f) == len(base) || f[len(f)-len(base)-1] == '/') {
				out = append(out, f)
			}
		}
		return out
	})
}

func (t *diskTree) list() []string {
	if t.files == nil {
		t.files, _ = gitrepo.Files(t.ctx, t.root) // without them names stay unresolved
	}
	return t.files
}

func (t *diskTree) Listed(key string, find func() []string) []string { return t.book.List(key, find) }

func (t *diskTree) Lately(key string, find func() bool) bool { return t.book.Lately(key, find) }

func (t *diskTree) Anew() { t.book.Anew() }

func (t *diskTree) Sketch(file string, marks func(text []byte) byte) *kept.Sketch {
	return t.book.Sketch(file, func() ([]byte, byte) {
		text := t.Read(file)
		return text, marks(text)
	})
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
	book    kept.Book           // of lists, for as long as this tree is asked
}

func (t *gitTree) Listed(key string, find func() []string) []string { return t.book.List(key, find) }

func (t *gitTree) Lately(_ string, find func() bool) bool { return find() }

func (t *gitTree) Anew() {}

func (t *gitTree) Sketch(string, func([]byte) byte) *kept.Sketch { return nil }

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
		if e.Mode == diff.ModeSubmodule || e.Mode == diff.ModeSymlink {
			continue
		}
		t.files[e.Path] = e.ID
		dir := path.Dir(e.Path)
		t.folders[dir] = append(t.folders[dir], path.Base(e.Path))
	}
}

func (t *gitTree) Has(file string) bool {
	t.load()
	_, ok := t.files[file]
	return ok
}

func (t *gitTree) List(dir string) []string {
	t.load()
	names := t.folders[path.Clean(dir)]
	sort.Strings(names)
	return names
}

func (t *gitTree) Ending(end string) (out []string) {
	t.Named("")
	for base, files := range t.names {
		if strings.HasSuffix(base, end) {
			out = append(out, files...)
		}
	}
	sort.Strings(out)
	return out
}

func (t *gitTree) Named(base string) []string {
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

func (t *gitTree) Read(file string) []byte {
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

// earlier is a tree in which some files are as they were.
type earlier struct {
	Tree
	old map[string][]byte // nil for one that was not there
}

func (t *earlier) Has(file string) bool {
	if text, ok := t.old[file]; ok {
		return text != nil
	}
	return t.Tree.Has(file)
}

func (t *earlier) Read(file string) []byte {
	if text, ok := t.old[file]; ok {
		return text
	}
	return t.Tree.Read(file)
}
