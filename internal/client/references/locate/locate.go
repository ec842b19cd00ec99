// Package locate tells which file of a repository a name comes from: by its
// imports, by the names around it, by packages and aliases. It reads files as
// text and parses none; what a file says of another is left to references.
package locate

import (
	"path"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A Use is what is used of an import.
type Use struct {
	Module string
	Name   string // of the import; "" for the module itself
	Member string
}

// Full is the name of what is used in its file.
func (u Use) Full() string {
	if u.Member != "" && u.Member != "class" {
		return u.Name + "." + u.Member
	}
	return u.Name
}

// Files are the files of one version of a repository, and what was found of
// them during one analysis.
type Files struct {
	Tree
	after *Files // of one as it was before some files changed: with them changed

	modules map[string]string // files, by folder and module
	goMod   map[string]GoModule
	texts   map[string][]byte // of files that names were looked for in
	goNames map[string]string // folder and name to the file that declares it
	headers map[string]header // of C, by file

	handed   map[handedName]handedName  // names that files have from others
	exported map[string]map[string]bool // names that files define for others

	packages map[string]string // that folders belong to, by registry
	npm      map[string]string // folders of the repository's npm packages
	aliases  map[string][]alias
}

// In are the files of a tree; nil for a file without any around it.
func In(t Tree) *Files { return &Files{Tree: t} }

// Before are the files as they were before some changed. old holds what they
// held, nil for one that was not there.
func (fs *Files) Before(old map[string][]byte) *Files {
	return &Files{Tree: &earlier{fs.Tree, old}, after: fs}
}

// Same tells whether a file was the same before others changed.
func (fs *Files) Same(file string) bool {
	if fs.after == nil {
		return false
	}
	_, changed := fs.Tree.(*earlier).old[file]
	return !changed
}

// Text reads a file once.
func (fs *Files) Text(file string) []byte {
	if fs.Same(file) {
		return fs.after.Text(file)
	}
	if text, ok := fs.texts[file]; ok {
		return text
	}
	if fs.texts == nil {
		fs.texts = map[string][]byte{}
	}
	text := fs.Read(file)
	fs.texts[file] = text
	return text
}

// Known is the text of a file that was read before, nil for another.
func (fs *Files) Known(file string) []byte { return fs.texts[file] }

// First returns the first of some files that is there.
func (fs *Files) First(files ...string) string {
	for _, f := range files {
		if f = path.Clean(f); !strings.HasPrefix(f, "..") && fs.Has(f) {
			return f
		}
	}
	return ""
}

// File finds the file that defines what is used, and its name there.
func (fs *Files) File(o *outline.File, u Use) (file, name string) {
	if fs.Tree == nil {
		return "", ""
	}
	switch o.Lang {
	case "typescript", "javascript":
		file, name = fs.resolveECMA(o, u)
	case "python":
		file, name = fs.resolvePython(o, u)
	case "java", "kotlin", "scala":
		file, name = fs.resolveJVM(o, u)
	case "go":
		file, name = fs.resolveGo(o, u)
	case "rust":
		file, name = fs.resolveRust(o, u)
	case "php":
		file, name = fs.resolvePHP(u)
	}
	return file, name
}

// cached runs find once per module and folder.
func (fs *Files) cached(o *outline.File, module string, find func() string) string {
	key := path.Dir(o.Path) + " " + module
	file, ok := fs.modules[key]
	if !ok {
		file = find()
		if fs.modules == nil {
			fs.modules = map[string]string{}
		}
		fs.modules[key] = file
	}
	return file
}

var ecmaEndings = []string{"", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", "/index.ts", "/index.tsx", "/index.js", "/index.jsx"}

var exportDefault = lazy.Regexp(`export\s+default\s+(?:async\s+)?(function\s*\*?|class|abstract\s+class)?\s*` +
	`([A-Za-z_$][\w$]*)\s*([.(]|=>)?`)

func (fs *Files) resolveECMA(o *outline.File, u Use) (file, name string) {
	file = fs.cached(o, u.Module, func() string {
		var tries []string
		for _, stem := range fs.ecmaStems(o, u.Module) {
			for _, e := range ecmaEndings {
				tries = append(tries, stem+e)
			}
			if bare, ok := strings.CutSuffix(stem, ".js"); ok { // TypeScript writes the ending of the result
				tries = append(tries, bare+".ts", bare+".tsx")
			}
		}
		return fs.First(tries...)
	})
	if file == "" {
		return "", ""
	}
	switch u.Name {
	case "":
		return file, u.Member
	case "default":
		if m := exportDefault.Get().FindSubmatch(fs.Read(file)); m != nil && (len(m[1]) > 0 || len(m[3]) == 0) {
			return file, string(m[2])
		}
		return file, "default"
	}
	return file, u.Name
}

func (fs *Files) resolvePython(o *outline.File, u Use) (file, name string) {
	find := func(module string) string {
		return fs.cached(o, module, func() string { return fs.PythonModule(o, module) })
	}
	if u.Name != "" { // from a import b, where b may be a module
		if file := find(strings.TrimSuffix(u.Module, ".") + dotIf(u.Module) + u.Name); file != "" && u.Member != "" {
			return file, u.Member
		}
		return find(u.Module), u.Name
	}
	return find(u.Module), u.Member
}

func dotIf(module string) string {
	if strings.Trim(module, ".") == "" {
		return module
	}
	return "."
}

// PythonModule finds the file of a module as a file imports it.
func (fs *Files) PythonModule(o *outline.File, module string) string {
	dirs := []string{"."}
	rest := strings.TrimLeft(module, ".")
	if dots := len(module) - len(rest); dots > 0 {
		dir := path.Dir(o.Path)
		for range dots - 1 {
			dir = path.Dir(dir)
		}
		dirs = []string{dir}
	} else {
		for dir := path.Dir(o.Path); dir != "."; dir = path.Dir(dir) {
			dirs = append(dirs, dir)
		}
		dirs = append(dirs, "src")
	}
	p := strings.ReplaceAll(rest, ".", "/")
	var tries []string
	for _, d := range dirs {
		tries = append(tries, path.Join(d, p)+".py", path.Join(d, p, "__init__.py"))
	}
	return fs.First(tries...)
}

var packageLine = lazy.Regexp(`(?m)^\s*package\s+([\w.]+)`)

func (fs *Files) resolveJVM(o *outline.File, u Use) (file, name string) {
	file = fs.cached(o, u.Module+"."+u.Name, func() string {
		m := packageLine.Get().FindSubmatch(o.Source)
		if m == nil {
			return ""
		}
		root, ok := strings.CutSuffix(path.Dir(o.Path), strings.ReplaceAll(string(m[1]), ".", "/"))
		if !ok {
			return ""
		}
		stem := strings.ReplaceAll(u.Module+"."+u.Name, ".", "/")
		roots := []string{root}
		for _, to := range []string{"java", "kotlin", "scala"} {
			roots = append(roots, sourceSet.Get().ReplaceAllString(root, "/"+to+"/"), testSet.Get().ReplaceAllString(root, "/main/"+to+"/"))
		}
		var tries []string
		for _, base := range roots {
			for _, e := range []string{".java", ".kt", ".scala"} {
				tries = append(tries, base+stem+e)
			}
		}
		return fs.First(tries...)
	})
	if u.Member != "" {
		return file, u.Name + "." + u.Member
	}
	return file, u.Name
}

var (
	sourceSet = lazy.Regexp(`/(java|kotlin|scala)/$`)
	testSet   = lazy.Regexp(`/test/(java|kotlin|scala)/.*$`) // tests may be sorted into folders of no package
)

// A GoModule is a go.mod: where it lies and what it calls itself.
type GoModule struct{ Dir, Name string }

var moduleLine = lazy.Regexp(`(?m)^module\s+(\S+)`)

// GoModule is the module that a folder belongs to.
func (fs *Files) GoModule(dir string) GoModule {
	if m, ok := fs.goMod[dir]; ok {
		return m
	}
	var m GoModule
	if found := moduleLine.Get().FindSubmatch(fs.Read(path.Join(dir, "go.mod"))); found != nil {
		m = GoModule{dir, string(found[1])}
	} else if dir != "." {
		m = fs.GoModule(path.Dir(dir))
	}
	if fs.goMod == nil {
		fs.goMod = map[string]GoModule{}
	}
	fs.goMod[dir] = m
	return m
}

func (fs *Files) resolveGo(o *outline.File, u Use) (file, name string) {
	dir, ok := fs.GoFolder(o.Path, u.Module)
	if !ok || u.Member == "" {
		return "", ""
	}
	return fs.goFile(dir, u.Member, ""), u.Member
}

// GoFolder is the folder of a package that a file imports: of its own module, or
// of another one of the repository.
func (fs *Files) GoFolder(file, module string) (string, bool) {
	m := fs.GoModule(path.Dir(file))
	if dir, ok := m.folder(module); ok {
		return dir, true
	}
	if m.Name == "" || firstParts(module, 2) != firstParts(m.Name, 2) {
		return "", false
	}
	for _, f := range fs.Named("go.mod") {
		if dir, ok := fs.GoModule(path.Dir(f)).folder(module); ok {
			return dir, true
		}
	}
	return "", false
}

func (m GoModule) folder(module string) (string, bool) {
	rest, ok := strings.CutPrefix(module, m.Name)
	return path.Join(m.Dir, rest), ok && m.Name != "" && (rest == "" || rest[0] == '/')
}

func (fs *Files) resolveRust(o *outline.File, u Use) (file, name string) {
	root := path.Dir(o.Path)
	for root != "." && !fs.Has(path.Join(path.Dir(root), "Cargo.toml")) {
		root = path.Dir(root)
	}
	parts := strings.Split(u.Module, "::")
	switch parts[0] {
	case "crate":
		parts = parts[1:]
	case "super":
		root, parts = path.Dir(strings.TrimSuffix(o.Path, "/mod.rs")), parts[1:]
	case "self":
		root, parts = strings.TrimSuffix(o.Path, ".rs"), parts[1:]
		if base := path.Base(o.Path); base == "mod.rs" || base == "lib.rs" || base == "main.rs" {
			root = path.Dir(o.Path)
		}
	default:
		return "", ""
	}
	find := func(parts []string) string {
		return fs.cached(o, root+" "+strings.Join(parts, "::"), func() string {
			p := path.Join(append([]string{root}, parts...)...)
			if len(parts) == 0 {
				return fs.First(path.Join(root, "lib.rs"), path.Join(root, "main.rs"), path.Join(root, "mod.rs"))
			}
			return fs.First(p+".rs", path.Join(p, "mod.rs"))
		})
	}
	if u.Member != "" {
		if file := find(append(parts[:len(parts):len(parts)], u.Name)); file != "" {
			return file, u.Member
		}
		return find(parts), u.Name + "." + u.Member
	}
	return find(parts), u.Name
}

func (fs *Files) resolvePHP(u Use) (file, name string) {
	if u.Module == "" {
		return "", ""
	}
	p := strings.ReplaceAll(u.Module, ".", "/") + "/" + u.Name + ".php"
	first, rest, _ := strings.Cut(p, "/")
	file = fs.First(strings.ToLower(first)+"/"+rest, "src/"+rest, p, "src/"+p)
	if u.Member != "" && u.Member != "class" {
		return file, u.Name + "." + u.Member
	}
	return file, u.Name
}
