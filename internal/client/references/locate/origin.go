package locate

import (
	"path"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Files that stand for their folder mostly hand on what others define.

// hands holds, by language, how such a file is called and how it names what it
// hands on.
var hands = lazy.Table[map[string]handing]{Make: func() map[string]handing {
	return map[string]handing{
		"python":     {"__init__.py", lazy.Regexp(`(?m)^\s*from\s+(\.\S*)\s+import\s+(\([^)]*\)|[^\n(#]+)`), 1, 2},
		"typescript": ecmaHands,
		"javascript": ecmaHands,
		"rust":       {"mod", lazy.Regexp(`pub\s+use\s+([\w:]+?)::(\{[^}]*\}|\w+|\*)\s*;`), 1, 2},
	}
}}

type handing struct {
	base         string
	lists        *lazy.Expr
	module, list int // groups of it
}

var ecmaHands = handing{"index", lazy.Regexp(`export\s+(?:type\s+)?\{([^}]*)\}\s*from\s*["']([^"']+)["']`), 2, 1}

// maxHands bounds how many files hand one name on.
const maxHands = 4

// Origin follows a name through the files that hand it on, to where it comes
// from.
func (fs *Files) Origin(lang, file, name string) (string, string) {
	how, ok := hands.Get()[lang]
	for range maxHands {
		if base := path.Base(file); !ok || base != how.base && strings.TrimSuffix(base, path.Ext(base)) != how.base {
			break
		}
		next, as := fs.handedBy(lang, file, name)
		if next == "" || next == file {
			break
		}
		file, name = next, as
	}
	return file, name
}

// A handed name is one that a file has from another.
type handedName struct{ file, name string }

// handedBy finds where a file has a name from, and how it is called there.
func (fs *Files) handedBy(lang, file, name string) (string, string) {
	key := handedName{file, name}
	known, ok := fs.handed[key]
	if !ok {
		if fs.handed == nil {
			fs.handed = map[handedName]handedName{}
		}
		fs.handed[key] = handedName{} // also ends a circle
		known.file, known.name = fs.findHanded(lang, file, name)
		fs.handed[key] = known
	}
	return known.file, known.name
}

func (fs *Files) findHanded(lang, file, name string) (string, string) {
	how := hands.Get()[lang]
	for _, m := range how.lists.Get().FindAllSubmatch(fs.Text(file), -1) {
		if lang == "rust" {
			m[how.module] = fromHere(m[how.module])
			if list := string(m[how.list]); list == "*" {
				m[how.list] = []byte(name)
			}
		}
		if !outline.Mentions(m[how.list], name) {
			continue
		}
		for part := range strings.SplitSeq(strings.Trim(string(m[how.list]), "(){} \t\r\n"), ",") {
			words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(part), "type "))
			if len(words) == 0 || words[len(words)-1] != name || words[0] == "default" {
				continue
			}
			at, _ := fs.File(&outline.File{Lang: lang, Path: file}, Use{Module: string(m[how.module]), Name: words[0]})
			if lang == "rust" && !outline.Mentions(fs.Text(at), name) {
				continue // of another module that is handed on as a whole
			}
			return at, words[0]
		}
	}
	if lang != "typescript" && lang != "javascript" {
		return "", ""
	}
	for _, m := range ecmaHandsAll.Get().FindAllSubmatch(fs.Text(file), maxStars) {
		at, _ := fs.File(&outline.File{Lang: lang, Path: file}, Use{Module: string(m[1]), Name: name})
		if at == "" {
			continue
		}
		if further, as := fs.Origin(lang, at, name); further != at {
			return further, as
		}
		if fs.Exports(at)[name] {
			return at, name
		}
	}
	return "", ""
}

// fromHere is a path of Rust that begins in the module at hand.
func fromHere(module []byte) []byte {
	first, _, _ := strings.Cut(string(module), "::")
	if first == "crate" || first == "self" || first == "super" {
		return module
	}
	return append([]byte("self::"), module...)
}

// maxStars bounds the modules that a file hands on as a whole.
const maxStars = 40

var ecmaHandsAll = lazy.Regexp(`export\s*\*\s*from\s*["']([^"']+)["']`)

var exported = lazy.Regexp(`export\s+(?:default\s+|declare\s+|abstract\s+|async\s+)*(?:class|function\*?|const|let|var|interface` +
	`|type|enum)\s+([\w$]+)`)

// HandsOn are a file and those that it hands on as a whole.
func (fs *Files) HandsOn(lang, file string) []string {
	out := []string{file}
	if lang != "typescript" && lang != "javascript" || file == "" {
		return out
	}
	for _, m := range ecmaHandsAll.Get().FindAllSubmatch(fs.Text(file), maxStars) {
		if at, _ := fs.File(&outline.File{Lang: lang, Path: file}, Use{Module: string(m[1]), Name: "x"}); at != "" {
			out = append(out, at)
		}
	}
	return out
}

// Exports are the names that a file exports where it defines them.
func (fs *Files) Exports(file string) map[string]bool {
	names, ok := fs.exported[file]
	if !ok {
		names = map[string]bool{}
		for _, m := range exported.Get().FindAllSubmatch(fs.Text(file), -1) {
			names[string(m[1])] = true
		}
		if fs.exported == nil {
			fs.exported = map[string]map[string]bool{}
		}
		fs.exported[file] = names
	}
	return names
}
