// Package references adds what the other files of a repository say: where what
// a file uses is defined, which prefix its routes are mounted under, which base
// address its clients have, which package it belongs to. It is the only one that
// reads files other than the one at hand.
package references

import (
	"path"
	"sort"
	"strings"

	"github.com/svc-hq/svc/internal/client/bodies"
	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/client/symbols"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// References are the uses of symbols and contracts that the base did not have.
func (r *Repo) References(f *coord.FileFacts, old, new *extract.Version) []coord.Reference {
	out := []coord.Reference{}
	for _, c := range f.Contracts {
		if c.Role == coord.Uses && c.Change == coord.Added && !strings.HasPrefix(c.Key, "pkg:") {
			out = append(out, coord.Reference{Key: c.Key, Line: c.Line})
		}
	}
	out = append(out, r.packageReferences(old, new)...)
	// A use is new if there are more of its form than before: where it stands
	// does not count.
	type form struct {
		use
		call string
	}
	had := map[form]int{}
	was, now := append(uses(old.Outline), ambientUses(old.Outline)...), append(uses(new.Outline), ambientUses(new.Outline)...)
	if own := ownNames(old.Outline, new.Outline); len(own) > 0 {
		was, now = append(was, ownUses(old.Outline, own)...), append(now, ownUses(new.Outline, own)...)
	}
	for _, u := range was {
		had[form{u.use, outline.CallKey(u.call)}]++
	}
	more := growth(old.Outline, new.Outline, eachUse(old.Outline, was), eachUse(new.Outline, now))
	told := map[string]bool{}
	for _, u := range now {
		f := form{u.use, outline.CallKey(u.call)}
		if had[f]--; had[f] >= 0 || len(out) >= contract.MaxPerFile {
			continue
		}
		var key, via string
		var call *coord.Call
		switch u.module {
		case ownModule:
			key, call = symbols.Key(new.Outline.Lang, new.Outline.Path, withMember(u.use)), u.call
		case ambientModule:
			key, call = r.resolveAmbient(new.Outline, u)
		default:
			key, via, call = r.resolve(new.Outline, u)
		}
		if id := key + " " + outline.CallKey(call); key != "" && !told[id] {
			told[id] = true
			if r.metadataOnly {
				call = call.Hidden()
			}
			out = append(out, coord.Reference{Key: key, Line: int(u.line) + 1, Call: call, In: more[u.use], Via: via})
		}
	}
	for _, u := range onlyImported(old.Outline, new.Outline) {
		if key, via, _ := r.resolve(new.Outline, u); key != "" && !told[key+" "] && len(out) < contract.MaxPerFile {
			told[key+" "] = true
			out = append(out, coord.Reference{Key: key, Line: int(u.line) + 1, In: []string{""}, Via: via})
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Line < out[j].Line })
	return out
}

// onlyImported are names that are newly imported and seen nowhere in the code:
// types in quotes, names that are handed on. The import fails once one is gone.
func onlyImported(old, new *outline.File) (out []usedAt) {
	seen, had := map[string]bool{}, map[use]bool{}
	for _, n := range new.Names {
		seen[n.Local] = true
	}
	for _, im := range old.Imports {
		had[use{module: im.Module, name: im.Name}] = true
	}
	for _, im := range new.Imports {
		u := use{module: im.Module, name: im.Name}
		if im.Name != "" && im.Name != "*" && !seen[im.Local] && !had[u] {
			out = append(out, usedAt{use: u, line: im.Line})
		}
	}
	return out
}

// A use is what is used of an import.
type use struct {
	module string
	name   string // of the import; "" for the module itself
	member string
}

type usedAt struct {
	use
	line uint32
	call *coord.Call
	mark bool
}

// uses joins uses of imported names with their imports.
func uses(o *outline.File) []usedAt {
	by := map[string]outline.Imported{}
	for _, im := range o.Imports {
		by[im.Local] = im
	}
	var out []usedAt
	for _, n := range o.Names {
		im, ok := by[n.Local]
		if !ok {
			continue
		}
		u := use{module: im.Module, name: im.Name, member: n.Member}
		if im.Name == "" && n.Member == "" {
			continue // the module is only handed on
		}
		out = append(out, usedAt{u, n.Line, n.Call, n.Mark})
	}
	return out
}

// A Repo is the files of one version of a repository, and what was found in
// them during one analysis.
type Repo struct {
	tree         tree
	metadataOnly bool  // names of arguments stay here
	after        *Repo // of one as it was before some files changed: with them changed
	modules      moduleCache
}

func Open(t tree, metadataOnly bool) *Repo { return &Repo{tree: t, metadataOnly: metadataOnly} }

// A moduleCache remembers where modules lie during one analysis.
type moduleCache struct {
	files map[string]string
	goMod map[string]goModule

	texts   map[string][]byte // of files that names were looked for in
	goNames map[string]string // folder and name to the file that declares it

	handed   map[handedName]handedName  // names that files have from others
	exported map[string]map[string]bool // names that files define for others

	packages map[string]string // that folders belong to, by registry
	npm      map[string]string // folders of the repository's npm packages
	aliases  map[string][]alias

	nuxt         map[string]string            // names that Nuxt gives all files, and theirs
	asking       int                          // files that are asked for a name at the moment
	clients      map[string]string            // base addresses of clients, by file#name
	csharpProtos map[string]*protoNamespace   // what .proto files put into namespaces of C#
	protoOptions map[string]string            // protobuf packages, by an option and what it says
	handings     map[string][]string          // prefixes of routers that are handed to functions
	prefixes     map[string]string            // of whole programs
	read         map[string]*extract.Version  // files as they are, nothing added
	versions     map[string]*extract.Version  // of other files
	wirings      map[string]*extract.Wiring   // of files that may mount others
	requests     map[string][]extract.Request // functions of files that are HTTP calls
	mounts       map[string]*string           // prefixes under which files are mounted; nil for none

	meanings map[meaning][]bodies.Place // of names, in files and in the whole repository
	eval     *bodies.Eval
	sources  map[string][]string // files by their ending
}

// resolve returns the key of what is used, the file that hands it on, if one
// does, and how it is called; or "" when it is not of this repository or cannot
// be found.
func (r *Repo) resolve(o *outline.File, u usedAt) (key, via string, _ *coord.Call) {
	file, name := r.locate(o, u.use)
	call := u.call
	if u.member != "" && name != u.member && !strings.HasSuffix(name, "."+u.member) {
		call = nil // the call is of a member that the key does not name
	}
	if at, n := r.origin(o.Lang, file, name); at != file {
		file, name, via = at, n, file
	}
	if file == "" || name == "" || file == o.Path {
		return "", "", nil
	}
	return symbols.Key(rules.LanguageOf(file).Name, file, name), via, call
}

// locate finds the file that defines what is used, and its name there.
func (r *Repo) locate(o *outline.File, u use) (file, name string) {
	if r.tree == nil {
		return "", ""
	}
	switch o.Lang {
	case "typescript", "javascript":
		file, name = r.resolveECMA(o, u)
	case "python":
		file, name = r.resolvePython(o, u)
	case "java", "kotlin", "scala":
		file, name = r.resolveJVM(o, u)
	case "go":
		file, name = r.resolveGo(o, u)
	case "rust":
		file, name = r.resolveRust(o, u)
	case "php":
		file, name = r.resolvePHP(u)
	}
	return file, name
}

// cached runs find once per module and folder.
func (r *Repo) cached(o *outline.File, module string, find func() string) string {
	key := path.Dir(o.Path) + " " + module
	file, ok := r.modules.files[key]
	if !ok {
		file = find()
		if r.modules.files == nil {
			r.modules.files = map[string]string{}
		}
		r.modules.files[key] = file
	}
	return file
}

var ecmaEndings = []string{"", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", "/index.ts", "/index.tsx", "/index.js", "/index.jsx"}

var exportDefault = lazy.Regexp(`export\s+default\s+(?:async\s+)?(function\s*\*?|class|abstract\s+class)?\s*` +
	`([A-Za-z_$][\w$]*)\s*([.(]|=>)?`)

func (r *Repo) resolveECMA(o *outline.File, u use) (file, name string) {
	file = r.cached(o, u.module, func() string {
		var tries []string
		for _, stem := range r.ecmaStems(o, u.module) {
			for _, e := range ecmaEndings {
				tries = append(tries, stem+e)
			}
			if bare, ok := strings.CutSuffix(stem, ".js"); ok { // TypeScript writes the ending of the result
				tries = append(tries, bare+".ts", bare+".tsx")
			}
		}
		return firstOf(r.tree, tries...)
	})
	if file == "" {
		return "", ""
	}
	switch u.name {
	case "":
		return file, u.member
	case "default":
		if m := exportDefault().FindSubmatch(r.tree.read(file)); m != nil && (len(m[1]) > 0 || len(m[3]) == 0) {
			return file, string(m[2])
		}
		return file, "default"
	}
	return file, u.name
}

func (r *Repo) resolvePython(o *outline.File, u use) (file, name string) {
	find := func(module string) string {
		return r.cached(o, module, func() string { return r.pythonModule(o, module) })
	}
	if u.name != "" { // from a import b, where b may be a module
		if file := find(strings.TrimSuffix(u.module, ".") + dotIf(u.module) + u.name); file != "" && u.member != "" {
			return file, u.member
		}
		return find(u.module), u.name
	}
	return find(u.module), u.member
}

func dotIf(module string) string {
	if strings.Trim(module, ".") == "" {
		return module
	}
	return "."
}

func (r *Repo) pythonModule(o *outline.File, module string) string {
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
	return firstOf(r.tree, tries...)
}

var packageLine = lazy.Regexp(`(?m)^\s*package\s+([\w.]+)`)

func (r *Repo) resolveJVM(o *outline.File, u use) (file, name string) {
	file = r.cached(o, u.module+"."+u.name, func() string {
		m := packageLine().FindSubmatch(o.Source)
		if m == nil {
			return ""
		}
		root, ok := strings.CutSuffix(path.Dir(o.Path), strings.ReplaceAll(string(m[1]), ".", "/"))
		if !ok {
			return ""
		}
		stem := strings.ReplaceAll(u.module+"."+u.name, ".", "/")
		roots := []string{root}
		for _, to := range []string{"java", "kotlin", "scala"} {
			roots = append(roots, sourceSet().ReplaceAllString(root, "/"+to+"/"), testSet().ReplaceAllString(root, "/main/"+to+"/"))
		}
		var tries []string
		for _, base := range roots {
			for _, e := range []string{".java", ".kt", ".scala"} {
				tries = append(tries, base+stem+e)
			}
		}
		return firstOf(r.tree, tries...)
	})
	if u.member != "" {
		return file, u.name + "." + u.member
	}
	return file, u.name
}

var (
	sourceSet = lazy.Regexp(`/(java|kotlin|scala)/$`)
	testSet   = lazy.Regexp(`/test/(java|kotlin|scala)/.*$`) // tests may be sorted into folders of no package
)

// A goModule is a go.mod: where it lies and what it calls itself.
type goModule struct{ dir, name string }

var moduleLine = lazy.Regexp(`(?m)^module\s+(\S+)`)

func (r *Repo) goModuleOf(dir string) goModule {
	if m, ok := r.modules.goMod[dir]; ok {
		return m
	}
	var m goModule
	if found := moduleLine().FindSubmatch(r.tree.read(path.Join(dir, "go.mod"))); found != nil {
		m = goModule{dir, string(found[1])}
	} else if dir != "." {
		m = r.goModuleOf(path.Dir(dir))
	}
	if r.modules.goMod == nil {
		r.modules.goMod = map[string]goModule{}
	}
	r.modules.goMod[dir] = m
	return m
}

func (r *Repo) resolveGo(o *outline.File, u use) (file, name string) {
	m := r.goModuleOf(path.Dir(o.Path))
	rest, ok := strings.CutPrefix(u.module, m.name)
	if m.name == "" || !ok || rest != "" && rest[0] != '/' || u.member == "" {
		return "", ""
	}
	return r.goFile(path.Join(m.dir, rest), u.member, ""), u.member
}

func (r *Repo) resolveRust(o *outline.File, u use) (file, name string) {
	root := path.Dir(o.Path)
	for root != "." && !r.tree.has(path.Join(path.Dir(root), "Cargo.toml")) {
		root = path.Dir(root)
	}
	parts := strings.Split(u.module, "::")
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
		return r.cached(o, root+" "+strings.Join(parts, "::"), func() string {
			p := path.Join(append([]string{root}, parts...)...)
			if len(parts) == 0 {
				return firstOf(r.tree, path.Join(root, "lib.rs"), path.Join(root, "main.rs"), path.Join(root, "mod.rs"))
			}
			return firstOf(r.tree, p+".rs", path.Join(p, "mod.rs"))
		})
	}
	if u.member != "" {
		if file := find(append(parts[:len(parts):len(parts)], u.name)); file != "" {
			return file, u.member
		}
		return find(parts), u.name + "." + u.member
	}
	return find(parts), u.name
}

func (r *Repo) resolvePHP(u use) (file, name string) {
	if u.module == "" {
		return "", ""
	}
	p := strings.ReplaceAll(u.module, ".", "/") + "/" + u.name + ".php"
	first, rest, _ := strings.Cut(p, "/")
	file = firstOf(r.tree, strings.ToLower(first)+"/"+rest, "src/"+rest, p, "src/"+p)
	if u.member != "" && u.member != "class" {
		return file, u.name + "." + u.member
	}
	return file, u.name
}
