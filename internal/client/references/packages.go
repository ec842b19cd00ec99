package references

import (
	"encoding/json"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// What one repository exports and another imports goes by the name of a
// package: pkg:<registry>:<package>#<name>. The provider knows its packages by
// their manifests; the user takes those imports for the team's own that look
// like it: the rest of the world's would only fill the index.

// registries are what languages' packages are published to.
var registries = map[string]string{
	"typescript": "npm",
	"javascript": "npm",
	"go":         "go",
	"python":     "pypi",
	"java":       "maven",
	"kotlin":     "maven",
	"scala":      "maven",
	"rust":       "cargo",
	"php":        "composer",
}

func packageKey(lang, pkg, name string) string {
	return "pkg:" + registries[lang] + ":" + pkg + "#" + name
}

// packageUses adds what a file uses of the team's packages in other places.
func (r *Repo) packageUses(v *extract.Version) {
	o := v.Outline
	if r.tree == nil || v.Generated || registries[o.Lang] == "" || len(o.Imports) == 0 {
		return
	}
	own := r.ownPackage(o.Path, o.Lang)
	ours := map[string]bool{}
	for _, u := range uses(o) {
		is, known := ours[u.module]
		if !known {
			is = own != "" && !o.Generated[u.module] && r.isOurs(o, own, u.module)
			ours[u.module] = is
		}
		if !is {
			continue
		}
		pkg, name := importedName(o.Lang, u.use)
		if name == "" || pkg == own && registries[o.Lang] != "npm" { // files of an npm package may import it by its name
			continue
		}
		if file, _ := r.locate(o, u.use); file != "" {
			continue // of this repository: a reference tells
		}
		if c, ok := contract.New(packageKey(o.Lang, pkg, name), coord.Uses, int(u.line)+1); ok {
			c.Call = u.call
			v.Contracts = append(v.Contracts, c)
		}
	}
}

// importedName splits a use into the package, as its provider knows it, and
// the name in it.
func importedName(lang string, u use) (pkg, name string) {
	name = u.name
	if name == "" {
		name = u.member
	}
	switch lang {
	case "typescript", "javascript":
		parts := strings.SplitN(u.module, "/", 3)
		if pkg = parts[0]; strings.HasPrefix(pkg, "@") && len(parts) > 1 {
			pkg += "/" + parts[1]
		}
	case "go":
		return u.module, u.member
	case "python", "rust":
		pkg, _, _ = strings.Cut(strings.ReplaceAll(u.module, "::", "."), ".")
		if u.name != "" && u.module == "" {
			return u.name, u.member
		}
	default: // a class, and what is taken from it
		pkg = u.module
		if u.member != "" && u.member != "class" {
			name += "." + u.member
		}
	}
	return pkg, name
}

// isOurs tells whether an import looks like one of the team's own packages:
// it is named as the importing package is.
func (r *Repo) isOurs(o *outline.File, own, module string) bool {
	switch o.Lang {
	case "typescript", "javascript":
		scope, _, scoped := strings.Cut(module, "/")
		if strings.HasPrefix(module, "@") && scoped {
			return strings.HasPrefix(own, scope+"/") || !strings.HasPrefix(own, "@") && strings.HasPrefix(own, strings.TrimPrefix(scope, "@"))
		}
		return !strings.HasPrefix(module, ".") && sameFamily(own, scope)
	case "go":
		return firstParts(module, 2) == firstParts(own, 2) && strings.Contains(firstParts(module, 1), ".")
	case "python", "rust":
		top, _, _ := strings.Cut(strings.ReplaceAll(module, "::", "."), ".")
		return top != "" && top != "crate" && top != "self" && top != "super" && sameFamily(own, top)
	default:
		return strings.Count(module, ".") > 0 && firstDotted(module) == firstDotted(own)
	}
}

// sameFamily tells whether two names begin with the same word: acme-web and
// acme_auth.
func sameFamily(a, b string) bool {
	first := func(s string) string {
		return strings.FieldsFunc(strings.TrimLeft(s, "@")+" ", func(r rune) bool { return strings.ContainsRune("-_./ ", r) })[0]
	}
	if a == "" || b == "" || strings.Trim(a, "-_./@ ") == "" || strings.Trim(b, "-_./@ ") == "" {
		return false
	}
	return strings.EqualFold(first(a), first(b)) && len(first(a)) > 2
}

func firstParts(s string, n int) string {
	parts := strings.Split(s, "/")
	return strings.Join(parts[:min(n, len(parts))], "/")
}

// firstDotted is com.acme of com.acme.auth, and Acme of Acme.Auth.
func firstDotted(s string) string {
	parts := strings.Split(s, ".")
	n := 1
	if len(parts[0]) <= 3 && len(parts) > 1 && strings.ToLower(parts[0]) == parts[0] {
		n = 2
	}
	return strings.Join(parts[:n], ".")
}

// ownPackage is the package that a file belongs to, as its users import it; ""
// if they cannot.
func (r *Repo) ownPackage(file, lang string) string {
	dir := path.Dir(file)
	key := registries[lang] + " " + dir
	if lang == "php" {
		key = "composer " + file
	}
	if pkg, ok := r.modules.packages[key]; ok {
		return pkg
	}
	pkg := r.findPackage(file, dir, lang)
	if r.modules.packages == nil {
		r.modules.packages = map[string]string{}
	}
	r.modules.packages[key] = pkg
	return pkg
}

var (
	cargoName   = lazy.Regexp(`(?ms)^\[package\][^\[]*?^name\s*=\s*"([^"]+)"`)
	projectName = lazy.Regexp(`(?m)^name\s*=\s*["']([^"']+)`)
	phpSpace    = lazy.Regexp(`(?m)^\s*namespace\s+([\w\\]+)`)
	jvmFolder   = lazy.Regexp(`(?:^|/)(?:java|kotlin|scala|src)/`)
)

func (r *Repo) findPackage(file, dir, lang string) string {
	switch registries[lang] {
	case "npm":
		return r.manifestName(dir, "package.json", npmName)
	case "go":
		m := r.goModuleOf(dir)
		if m.name == "" {
			return ""
		}
		return path.Join(m.name, strings.TrimPrefix(strings.TrimPrefix(dir, m.dir), "/"))
	case "cargo":
		return r.manifestName(dir, "Cargo.toml", func(b []byte) string {
			return strings.ReplaceAll(submatch(cargoName().FindSubmatch(b)), "-", "_")
		})
	case "pypi":
		return r.pythonPackage(file, dir)
	case "maven":
		if at := jvmFolder().FindAllStringIndex(dir+"/", -1); at != nil {
			return strings.ReplaceAll(strings.Trim((dir + "/")[at[len(at)-1][1]:], "/"), "/", ".")
		}
	case "composer":
		return strings.ReplaceAll(submatch(phpSpace().FindSubmatch(r.tree.read(file))), "\\", ".")
	}
	return ""
}

func npmName(manifest []byte) string {
	var p struct{ Name string }
	_ = json.Unmarshal(manifest, &p) // one that cannot be read has no name
	return p.Name
}

func submatch(m [][]byte) string {
	if m == nil {
		return ""
	}
	return string(m[1])
}

// manifestName is the name in the nearest manifest that has one.
func (r *Repo) manifestName(dir, file string, name func([]byte) string) string {
	for {
		if n := name(r.tree.read(path.Join(dir, file))); n != "" {
			return n
		}
		if dir == "." || dir == "/" {
			return ""
		}
		dir = path.Dir(dir)
	}
}

// pythonPackage is the outermost folder with an __init__.py, or else the name
// of the project.
func (r *Repo) pythonPackage(_, dir string) string {
	top := ""
	for d := dir; d != "." && r.tree.has(path.Join(d, "__init__.py")); d = path.Dir(d) {
		top = path.Base(d)
	}
	if top != "" {
		return top
	}
	return r.manifestName(dir, "pyproject.toml", func(b []byte) string {
		return strings.ReplaceAll(submatch(projectName().FindSubmatch(b)), "-", "_")
	})
}

// PackageChanges tells of changed exports what that means to the users of
// their packages: those in other repositories know nothing of files.
func (r *Repo) PackageChanges(files []coord.FileFacts) {
	if r.tree == nil {
		return
	}
	arrived := map[string]bool{}
	for i := range files {
		r.eachExport(&files[i], func(key string, s *coord.SymbolFacts) {
			if s.Change == coord.Added {
				arrived[key] = true
			}
		})
	}
	for i := range files {
		f := &files[i]
		r.eachExport(f, func(key string, s *coord.SymbolFacts) {
			if s.Change == coord.Added || s.Change == coord.Modified || s.Compatibility == coord.Compatible || arrived[key] ||
				len(f.Contracts) >= contract.MaxPerFile {
				return
			}
			c, ok := contract.New(key, coord.Provides, 1)
			if !ok {
				return
			}
			if s.Lines != nil {
				c.Line = s.Lines.Start
			}
			f.Contracts = append(f.Contracts, coord.ContractFacts{
				Key:                   c.Key,
				Role:                  coord.Provides,
				Change:                s.Change,
				Compatibility:         s.Compatibility,
				Detail:                s.Detail,
				Line:                  c.Line,
				Takes:                 s.Takes,
				Signature:             s.Signature,
				SignatureHash:         s.SignatureHash,
				PreviousSignature:     s.PreviousSignature,
				PreviousSignatureHash: s.PreviousSignatureHash,
			})
		})
	}
}

// eachExport visits what the users of a file's package can import of it.
func (r *Repo) eachExport(f *coord.FileFacts, visit func(key string, s *coord.SymbolFacts)) {
	if registries[f.Language] == "" || len(f.Symbols) == 0 || rules.TestPath(f.Path) {
		return
	}
	file := f.Path
	if f.OldPath != nil {
		file = *f.OldPath
	}
	pkg := r.ownPackage(file, f.Language)
	if pkg == "" || f.Language == "go" && slices.Contains(strings.Split(pkg, "/"), "internal") {
		return
	}
	members := registries[f.Language] == "maven" || registries[f.Language] == "composer"
	for k := range f.Symbols {
		s := &f.Symbols[k]
		if _, name, _ := strings.Cut(s.Key, "#"); s.Exported && (members || !strings.Contains(name, ".")) {
			visit(packageKey(f.Language, pkg, name), s)
		}
	}
}

// packageReferences are the uses of packages that the base did not have, in
// each form.
func (r *Repo) packageReferences(old, new *extract.Version) (out []coord.Reference) {
	had := map[string]int{}
	id := func(c *contract.Contract) string { return c.Key + " " + outline.CallKey(c.Call) }
	for c := range ofPackages(old) {
		had[id(c)]++
	}
	more := growth(old.Outline, new.Outline, packageLines(old), packageLines(new))
	told := map[string]bool{}
	for c := range ofPackages(new) {
		if had[id(c)]--; had[id(c)] >= 0 || told[id(c)] {
			continue
		}
		told[id(c)] = true
		call := c.Call
		if r.metadataOnly {
			call = call.Hidden()
		}
		out = append(out, coord.Reference{Key: c.Key, Line: c.Line, Call: call, In: more[c.Key]})
	}
	return out
}

// ofPackages are the contracts of a version that go by a package's name.
func ofPackages(v *extract.Version) iter.Seq[*contract.Contract] {
	return func(yield func(*contract.Contract) bool) {
		for i := range v.Contracts {
			if strings.HasPrefix(v.Contracts[i].Key, "pkg:") && !yield(&v.Contracts[i]) {
				return
			}
		}
	}
}

func packageLines(v *extract.Version) iter.Seq2[string, uint32] {
	return func(yield func(string, uint32) bool) {
		for c := range ofPackages(v) {
			if !yield(c.Key, uint32(c.Line-1)) {
				return
			}
		}
	}
}
