package references

import (
	"path"
	"regexp"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Files that stand for their folder mostly hand on what others define.

// hands holds, by language, how such a file is called and how it names what it
// hands on.
var hands = map[string]handing{
	"python":     {"__init__.py", lazy.Regexp(`(?m)^\s*from\s+(\.\S*)\s+import\s+(\([^)]*\)|[^\n(#]+)`), 1, 2},
	"typescript": ecmaHands,
	"javascript": ecmaHands,
	"rust":       {"mod", lazy.Regexp(`pub\s+use\s+([\w:]+?)::(\{[^}]*\}|\w+|\*)\s*;`), 1, 2},
}

type handing struct {
	base         string
	lists        func() *regexp.Regexp
	module, list int // groups of it
}

var ecmaHands = handing{"index", lazy.Regexp(`export\s+(?:type\s+)?\{([^}]*)\}\s*from\s*["']([^"']+)["']`), 2, 1}

// maxHands bounds how many files hand one name on.
const maxHands = 4

// origin follows a name through the files that hand it on, to where it comes
// from.
func (r *Repo) origin(lang, file, name string) (string, string) {
	how, ok := hands[lang]
	for range maxHands {
		if base := path.Base(file); !ok || base != how.base && strings.TrimSuffix(base, path.Ext(base)) != how.base {
			break
		}
		next, as := r.handedBy(lang, file, name)
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
func (r *Repo) handedBy(lang, file, name string) (string, string) {
	key := handedName{file, name}
	known, ok := r.modules.handed[key]
	if !ok {
		if r.modules.handed == nil {
			r.modules.handed = map[handedName]handedName{}
		}
		r.modules.handed[key] = handedName{} // also ends a circle
		known.file, known.name = r.findHanded(lang, file, name)
		r.modules.handed[key] = known
	}
	return known.file, known.name
}

func (r *Repo) findHanded(lang, file, name string) (string, string) {
	how := hands[lang]
	for _, m := range how.lists().FindAllSubmatch(r.text(file), -1) {
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
			at, _ := r.locate(&outline.File{Lang: lang, Path: file}, use{module: string(m[how.module]), name: words[0]})
			if lang == "rust" && !outline.Mentions(r.text(at), name) {
				continue // of another module that is handed on as a whole
			}
			return at, words[0]
		}
	}
	if lang != "typescript" && lang != "javascript" {
		return "", ""
	}
	for _, m := range ecmaHandsAll().FindAllSubmatch(r.text(file), maxStars) {
		at, _ := r.locate(&outline.File{Lang: lang, Path: file}, use{module: string(m[1]), name: name})
		if at == "" {
			continue
		}
		if further, as := r.origin(lang, at, name); further != at {
			return further, as
		}
		if r.exports(at, name) {
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

// handsOn are a file and those that it hands on as a whole.
func (r *Repo) handsOn(lang, file string) []string {
	out := []string{file}
	if lang != "typescript" && lang != "javascript" || file == "" {
		return out
	}
	for _, m := range ecmaHandsAll().FindAllSubmatch(r.text(file), maxStars) {
		if at, _ := r.locate(&outline.File{Lang: lang, Path: file}, use{module: string(m[1]), name: "x"}); at != "" {
			out = append(out, at)
		}
	}
	return out
}

// exports tells whether a file exports a name where it defines it.
func (r *Repo) exports(file, name string) bool {
	names, ok := r.modules.exported[file]
	if !ok {
		names = map[string]bool{}
		for _, m := range exported().FindAllSubmatch(r.text(file), -1) {
			names[string(m[1])] = true
		}
		if r.modules.exported == nil {
			r.modules.exported = map[string]map[string]bool{}
		}
		r.modules.exported[file] = names
	}
	return names[name]
}
