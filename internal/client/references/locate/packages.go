package locate

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Registry is what the packages of a language are published to, "" for none.
func Registry(lang string) string { return registries.Get()[lang] }

var registries = lazy.Table[map[string]string]{Make: func() map[string]string {
	return map[string]string{
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
}}

// ImportedName splits a use into the package, as its provider knows it, and
// the name in it.
func ImportedName(lang string, u Use) (pkg, name string) {
	name = u.Name
	if name == "" {
		name = u.Member
	}
	switch lang {
	case "typescript", "javascript":
		parts := strings.SplitN(u.Module, "/", 3)
		if pkg = parts[0]; strings.HasPrefix(pkg, "@") && len(parts) > 1 {
			pkg += "/" + parts[1]
		}
	case "go":
		return u.Module, u.Member
	case "python", "rust":
		pkg, _, _ = strings.Cut(strings.ReplaceAll(u.Module, "::", "."), ".")
		if u.Name != "" && u.Module == "" {
			return u.Name, u.Member
		}
	default: // a class, and what is taken from it
		pkg = u.Module
		if u.Member != "" && u.Member != "class" {
			name += "." + u.Member
		}
	}
	return pkg, name
}

// IsOurs tells whether an import looks like one of the team's own packages:
// it is named as the importing package is.
func (fs *Files) IsOurs(o *outline.File, own, module string) bool {
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

// OwnPackage is the package that a file belongs to, as its users import it; ""
// if they cannot.
func (fs *Files) OwnPackage(file, lang string) string {
	dir := path.Dir(file)
	key := registries.Get()[lang] + " " + dir
	if lang == "php" {
		key = "composer " + file
	}
	if pkg, ok := fs.packages[key]; ok {
		return pkg
	}
	pkg := fs.findPackage(file, dir, lang)
	if fs.packages == nil {
		fs.packages = map[string]string{}
	}
	fs.packages[key] = pkg
	return pkg
}

var (
	cargoName   = lazy.Regexp(`(?ms)^\[package\][^\[]*?^name\s*=\s*"([^"]+)"`)
	projectName = lazy.Regexp(`(?m)^name\s*=\s*["']([^"']+)`)
	phpSpace    = lazy.Regexp(`(?m)^\s*namespace\s+([\w\\]+)`)
	jvmFolder   = lazy.Regexp(`(?:^|/)(?:java|kotlin|scala|src)/`)
)

func (fs *Files) findPackage(file, dir, lang string) string {
	switch registries.Get()[lang] {
	case "npm":
		return fs.manifestName(dir, "package.json", npmName)
	case "go":
		m := fs.GoModule(dir)
		if m.Name == "" {
			return ""
		}
		return path.Join(m.Name, strings.TrimPrefix(strings.TrimPrefix(dir, m.Dir), "/"))
	case "cargo":
		return fs.manifestName(dir, "Cargo.toml", func(b []byte) string {
			return strings.ReplaceAll(submatch(cargoName.Get().FindSubmatch(b)), "-", "_")
		})
	case "pypi":
		return fs.pythonPackage(file, dir)
	case "maven":
		if at := jvmFolder.Get().FindAllStringIndex(dir+"/", -1); at != nil {
			return strings.ReplaceAll(strings.Trim((dir + "/")[at[len(at)-1][1]:], "/"), "/", ".")
		}
	case "composer":
		space := strings.ReplaceAll(submatch(phpSpace.Get().FindSubmatch(fs.Read(file))), "\\", ".")
		if space == "App" || strings.HasPrefix(space, "App.") { // of every application, and no package of any
			return ""
		}
		return space
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
func (fs *Files) manifestName(dir, file string, name func([]byte) string) string {
	for {
		if n := name(fs.Read(path.Join(dir, file))); n != "" {
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
func (fs *Files) pythonPackage(_, dir string) string {
	top := ""
	for d := dir; d != "." && fs.Has(path.Join(d, "__init__.py")); d = path.Dir(d) {
		top = path.Base(d)
	}
	if top != "" {
		return top
	}
	return fs.manifestName(dir, "pyproject.toml", func(b []byte) string {
		return strings.ReplaceAll(submatch(projectName.Get().FindSubmatch(b)), "-", "_")
	})
}
