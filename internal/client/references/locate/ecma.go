package locate

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// ecmaStems are the paths that an import may mean, without their ending. A
// package as a whole is none: what it exports goes by its name.
func (fs *Files) ecmaStems(o *outline.File, module string) (out []string) {
	if strings.HasPrefix(module, ".") {
		return []string{path.Join(path.Dir(o.Path), module)}
	}
	for _, a := range fs.aliasesAt(path.Dir(o.Path)) {
		if rest, ok := strings.CutPrefix(module, a.prefix); ok && (!a.exact || rest == "") {
			out = append(out, a.to+rest)
		}
	}
	if strings.HasPrefix(module, "@/") || strings.HasPrefix(module, "~/") {
		return append(out, path.Join(SrcRoot(o.Path), module[2:]), path.Join(fs.npmRoot(path.Dir(o.Path)), module[2:]))
	}
	if rest, ok := strings.CutPrefix(module, "$lib/"); ok { // SvelteKit's
		return append(out, path.Join(SrcRoot(o.Path), "lib", rest))
	}
	if strings.HasPrefix(module, "src/") { // from the folder of the package
		return append(out, path.Join(path.Dir(SrcRoot(o.Path)), module))
	}
	pkg, _ := ImportedName(o.Lang, Use{Module: module})
	within, ok := strings.CutPrefix(module, pkg+"/")
	if !ok || !fs.IsOurs(o, fs.OwnPackage(o.Path, o.Lang), module) {
		return out
	}
	if dir, ok := fs.npmFolder(pkg); ok {
		out = append(out, path.Join(dir, within), path.Join(dir, "src", within))
	}
	return out
}

// npmRoot is the folder of the package that a folder belongs to.
func (fs *Files) npmRoot(dir string) string {
	for ; dir != "." && dir != "/"; dir = path.Dir(dir) {
		if len(fs.Text(path.Join(dir, "package.json"))) > 0 {
			break
		}
	}
	return dir
}

// SrcRoot is the folder named src, or app, that a file lies in.
func SrcRoot(file string) string {
	for _, dir := range []string{"src/", "app/"} {
		if i := strings.Index("/"+file, "/"+dir); i >= 0 {
			return file[:i+len(dir)-1]
		}
	}
	return "src"
}

// maxManifests bounds how many are read to find a package.
const maxManifests = 500

// npmFolder finds a package of the repository.
func (fs *Files) npmFolder(pkg string) (dir string, ok bool) {
	if fs.npm == nil {
		fs.npm = map[string]string{}
		all := fs.Named("package.json")
		for _, f := range all[:min(len(all), maxManifests)] {
			if name := npmName(fs.Read(f)); name != "" && !strings.Contains("/"+f, "/node_modules/") {
				fs.npm[name] = path.Dir(f)
			}
		}
	}
	dir, ok = fs.npm[pkg]
	return dir, ok
}

// An alias tells where imports that begin alike lie, as tsconfig.json does.
type alias struct {
	prefix, to string
	exact      bool // nothing follows the prefix
}

// aliasesAt are those of the nearest tsconfig.json that has some.
func (fs *Files) aliasesAt(dir string) []alias {
	out, known := fs.aliases[dir]
	if known {
		return out
	}
	for _, name := range []string{"tsconfig.json", "tsconfig.base.json", "jsconfig.json"} {
		if out = aliasesOf(fs.Read(path.Join(dir, name)), dir); out != nil {
			break
		}
	}
	if out == nil && dir != "." && dir != "/" {
		out = fs.aliasesAt(path.Dir(dir))
	}
	if fs.aliases == nil {
		fs.aliases = map[string][]alias{}
	}
	fs.aliases[dir] = out
	return out
}

// notJSON is what tsconfig.json may have beyond JSON: comments, and a comma
// after the last. A text is kept as it is.
var notJSON = lazy.Regexp(`("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*(?s:.*?)\*/|,(?:\s*[}\]])`)

// aliasesOf reads the aliases that go to one place.
func aliasesOf(config []byte, dir string) (out []alias) {
	if config == nil {
		return nil
	}
	for range 2 { // a comma may be the last only without the comment after it
		config = notJSON.Get().ReplaceAllFunc(config, func(m []byte) []byte {
			switch m[0] {
			case '"':
				return m
			case ',':
				return m[1:]
			}
			return nil
		})
	}
	var c struct {
		CompilerOptions struct {
			BaseURL string
			Paths   map[string][]string
		}
	}
	_ = json.Unmarshal(config, &c) // what cannot be read has none
	for from, to := range c.CompilerOptions.Paths {
		prefix, starred := strings.CutSuffix(from, "*")
		if prefix == "" || len(to) != 1 || starred != strings.HasSuffix(to[0], "*") {
			continue
		}
		if !starred {
			out = append(out, alias{prefix, path.Join(dir, c.CompilerOptions.BaseURL, to[0]), true})
			continue
		}
		target := path.Join(dir, c.CompilerOptions.BaseURL, strings.TrimSuffix(to[0], "*")+"x")
		out = append(out, alias{prefix, strings.TrimSuffix(target, "x"), false})
	}
	// the nearest first
	slices.SortFunc(out, func(a, b alias) int { return cmp.Or(len(b.prefix)-len(a.prefix), strings.Compare(a.prefix, b.prefix)) })
	return out
}
