package references

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/outline"
)

// findKeepings are the prefixes of a router that a package of Go keeps in a field
// or a variable. Who gives it is of that package, or of one that it imports: a
// server that keeps the router of all others.
func (r *Repo) findKeepings(file string, h contract.Handed) []string {
	dir := h.Of
	if module, other := extract.ImportedPackage(h.Of); other {
		var ok bool
		if dir, ok = r.files.GoFolder(file, module); !ok {
			return []string{""}
		}
	}
	name := h.Func[strings.LastIndexByte(h.Func, '.')+1:]
	out := r.handedIn(r.keepers(dir, name), h, true)
	if len(out) == 0 && strings.HasPrefix(h.Func, ".") {
		var others []string
		for _, f := range r.packageFiles(dir) {
			for _, module := range outline.GoImports(r.files.Text(f)) {
				if at, ok := r.files.GoFolder(f, module); ok && at != dir && !slices.Contains(others, at) {
					others = append(others, at)
				}
			}
		}
		var files []string
		for _, at := range others {
			files = append(files, r.keepers(at, name)...)
		}
		out = r.handedIn(files[:min(len(files), maxHandFiles)], h, true)
	}
	if len(out) > 1 { // a new router is mounted in the end
		out = slices.DeleteFunc(out, func(prefix string) bool { return prefix == "" })
	}
	if len(out) == 0 {
		return []string{""}
	}
	return out
}

// packageFiles are the files of a package of Go.
func (r *Repo) packageFiles(dir string) (out []string) {
	for _, name := range r.files.List(dir) {
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			out = append(out, path.Join(dir, name))
		}
	}
	return out
}

// keepers are those of them that seem to give something of a name a value.
func (r *Repo) keepers(dir, name string) []string {
	return slices.DeleteFunc(r.packageFiles(dir), func(f string) bool {
		text := r.files.Text(f)
		for _, end := range outline.Words(text, name) {
			rest := bytes.TrimLeft(text[end:min(len(text), end+8)], " \t")
			if len(rest) > 1 && (rest[0] == '=' || rest[0] == ':' || rest[0] == ',') && rest[1] != '=' {
				return false
			}
		}
		return true
	})
}
