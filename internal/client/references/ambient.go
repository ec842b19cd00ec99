package references

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/client/symbols"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// In many languages a file uses names that no import binds: those of its
// package, of what it includes, or of the whole program. Which of its names
// are such is only known when a file that defines them is found.

// An ambience tells where the names of a language that are bound by no import
// come from.
type ambience func(r *Repo, o *outline.File, u use) (file, name string)

// ambient has them by language. Go's own reader finds its names.
var ambiences = map[string]ambience{
	"java": besideJVM, "kotlin": besideJVM, "scala": besideJVM,
	"php":    func(r *Repo, o *outline.File, u use) (string, string) { return r.byStem(o, u, u.name+".php", false) },
	"csharp": func(r *Repo, o *outline.File, u use) (string, string) { return r.byStem(o, u, u.name+".cs", true) },
	"swift":  func(r *Repo, o *outline.File, u use) (string, string) { return r.byStem(o, u, u.name+".swift", true) },
	"ruby":   autoloaded,
	"c":      included, "cpp": included,
	"go": besideGo,
}

// ambientModule stands for no import in a use.
const ambientModule = "\x00"

// ambientUses are the uses of names that neither the file nor an import binds.
func ambientUses(o *outline.File) []usedAt {
	if len(o.Ambient) == 0 {
		return nil
	}
	own := map[string]bool{}
	for i := range o.Defs {
		own[o.Defs[i].Name] = true
		own[o.Defs[i].Name[strings.LastIndexByte(o.Defs[i].Name, '.')+1:]] = true
	}
	var out []usedAt
	for _, n := range o.Ambient {
		if !own[n.Local] {
			out = append(out, usedAt{use{module: ambientModule, name: n.Local, member: n.Member}, n.Line, n.Call, n.Mark})
		}
	}
	return out
}

func withMember(u use) string {
	if u.member != "" && u.member != "class" {
		return u.name + "." + u.member
	}
	return u.name
}

// besideJVM finds a class in the file's package or one imported as a whole.
func besideJVM(r *Repo, o *outline.File, u use) (file, name string) {
	dir := path.Dir(o.Path)
	dirs := []string{dir, strings.Replace(dir, "/test/", "/main/", 1)}
	m := packageLine().FindSubmatch(o.Source)
	for _, im := range o.Imports {
		if im.Name != "*" && im.Name != "_" || m == nil {
			continue
		}
		if root, ok := strings.CutSuffix(dir, strings.ReplaceAll(string(m[1]), ".", "/")); ok {
			dirs = append(dirs, root+strings.ReplaceAll(im.Module, ".", "/"))
		}
	}
	var tries []string
	for _, d := range dirs {
		for _, ending := range []string{".java", ".kt", ".scala"} {
			tries = append(tries, path.Join(d, u.name+ending))
		}
	}
	return r.cached(o, ambientModule+u.name, func() string { return firstOf(r.tree, tries...) }), withMember(u)
}

// byStem finds the file called like the type: beside this one, or the only one
// in the repository.
func (r *Repo) byStem(o *outline.File, u use, base string, everywhere bool) (file, name string) {
	file = r.cached(o, ambientModule+u.name, func() string {
		if f := firstOf(r.tree, path.Join(path.Dir(o.Path), base)); f != "" || !everywhere {
			return f
		}
		if all := r.tree.named(base); len(all) == 1 {
			return all[0]
		}
		return ""
	})
	return file, withMember(u)
}

// autoloaded finds a constant of Ruby in the file that is called like it.
func autoloaded(r *Repo, o *outline.File, u use) (file, name string) {
	find := func(constant string) string {
		return r.cached(o, ambientModule+constant, func() string {
			ending := "/" + strings.ReplaceAll(outline.Snake(strings.ReplaceAll(constant, ".", "/")), "/_", "/") + ".rb"
			for _, f := range r.tree.named(path.Base(ending)) {
				if strings.HasSuffix("/"+f, ending) && !rules.TestPath(f) {
					return f
				}
			}
			return ""
		})
	}
	if u.member != "" && u.member[0] >= 'A' && u.member[0] <= 'Z' {
		if file := find(u.name + "." + u.member); file != "" {
			return file, u.name + "." + u.member
		}
	}
	if u.member == "new" { // makes one: the class is called
		return find(u.name), u.name
	}
	return find(u.name), withMember(u)
}

// maxIncludes bounds the headers that are looked into.
const maxIncludes = 40

var openNamespace = lazy.Regexp(`(?m)^\s*(?:inline\s+)?namespace\s+([\w:]+)\s*\{`)

// included finds a name in the headers that a file includes by a path.
func included(r *Repo, o *outline.File, u use) (file, name string) {
	for i, im := range o.Imports {
		if i == maxIncludes {
			break
		}
		header := r.cached(o, im.Module, func() string {
			dir := path.Dir(o.Path)
			tries := []string{path.Join(dir, im.Module)}
			for d := dir; ; d = path.Dir(d) {
				tries = append(tries, path.Join(d, "include", im.Module), path.Join(d, "src", im.Module), path.Join(d, im.Module))
				if d == "." || d == "/" {
					return firstOf(r.tree, tries...)
				}
			}
		})
		if header == "" {
			continue
		}
		text := r.text(header)
		switch {
		case declaresC(text, u.name):
			return header, namespaceOf(text) + withMember(u)
		case u.member != "" && declaresC(text, u.member):
			return header, withMember(u)
		}
	}
	return "", ""
}

// declaresC tells whether a header declares a name: as a function, a type or a
// macro.
func declaresC(text []byte, name string) bool {
	for i, end := range words(text, name) {
		if i == 0 || end == len(text) {
			continue
		}
		line := text[bytes.LastIndexByte(text[:i], '\n')+1 : i]
		head := bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(head, []byte("//")), bytes.HasPrefix(head, []byte("*")), bytes.HasPrefix(head, []byte("/*")):
		case hasWord(head,
			"define"), hasWord(head, "struct"), hasWord(head, "class"), hasWord(head, "enum"), hasWord(head, "union"), hasWord(head, "using"):
			return true
		case text[end] == '(' && len(head) > 0 && !bytes.ContainsAny(head, "=(.") && !hasWord(head, "return"), // int name(
			text[end] == ';' && (hasWord(head, "typedef") || bytes.HasPrefix(head, []byte("}"))):
			return true
		}
	}
	return false
}

func hasWord(s []byte, word string) bool {
	return slices.ContainsFunc(bytes.FieldsFunc(s, func(r rune) bool { return !outline.IsNameByte(byte(r)) }), func(w []byte) bool {
		return string(w) == word
	})
}

// namespaceOf is the namespace that a header opens first, with a dot.
func namespaceOf(text []byte) string {
	m := openNamespace().FindSubmatch(text)
	if m == nil {
		return ""
	}
	return strings.ReplaceAll(string(m[1]), "::", ".") + "."
}

// text reads a file of the tree once.
func (r *Repo) text(file string) []byte {
	if r.same(file) {
		return r.after.text(file)
	}
	if text, ok := r.modules.texts[file]; ok {
		return text
	}
	if r.modules.texts == nil {
		r.modules.texts = map[string][]byte{}
	}
	text := r.tree.read(file)
	r.modules.texts[file] = text
	return text
}

// besideGo finds a name in the other files of a package.
func besideGo(r *Repo, o *outline.File, u use) (file, name string) {
	return r.goFile(path.Dir(o.Path), u.name, path.Base(o.Path)), u.name
}

// goFile returns the file of a folder that declares a name at its top. What
// tests declare is seen only from a test beside them.
func (r *Repo) goFile(dir, name, except string) string {
	key := dir + " " + name
	tests := strings.HasSuffix(except, "_test.go")
	if tests {
		key += " in tests"
	}
	if file, ok := r.modules.goNames[key]; ok {
		return file
	}
	found := ""
	for _, f := range r.tree.list(dir) {
		if !strings.HasSuffix(f, ".go") || strings.HasSuffix(f, "_test.go") && !tests || f == except {
			continue
		}
		file := path.Join(dir, f)
		if declaresGo(r.text(file), name) {
			found = file
			break
		}
	}
	if r.modules.goNames == nil {
		r.modules.goNames = map[string]string{}
	}
	r.modules.goNames[key] = found
	return found
}

var goKeywords = []string{"\nfunc ", "\ntype ", "\nvar ", "\nconst ", "\n\t"}

// declaresGo tells whether a Go file declares a name at its top. In a block
// only exported ones are believed: a line of a function may look alike.
func declaresGo(text []byte, name string) bool {
	if name == "" {
		return false
	}
	for start, at := range words(text, name) {
		before := text[:start]
		for _, word := range goKeywords {
			if at >= len(text) || !bytes.HasSuffix(before, []byte(word)) {
				continue
			}
			rest, _, _ := bytes.Cut(text[at:], []byte("\n"))
			if word != "\n\t" || name[0] >= 'A' && name[0] <= 'Z' && blockLine(bytes.TrimSpace(rest)) {
				return true
			}
		}
	}
	return false
}

// blockLine tells whether what follows a name may stand in a block of
// declarations: nothing, a type, or = and a value.
func blockLine(rest []byte) bool {
	if len(rest) == 0 || rest[0] == '=' {
		return true
	}
	typ, value, assigned := bytes.Cut(rest, []byte("="))
	return !bytes.ContainsAny(typ, "(){},:;+-/") && (assigned && len(value) > 0 || bytes.IndexByte(bytes.TrimSpace(typ), ' ') < 0)
}

// resolveAmbient finds what a use without an import is of.
func (r *Repo) resolveAmbient(o *outline.File, u usedAt) (string, *coord.Call) {
	a := ambiences[o.Lang]
	if a == nil || r.tree == nil {
		return "", nil
	}
	file, name := a(r, o, u.use)
	if file == "" || name == "" || file == o.Path {
		return "", nil
	}
	return symbols.Key(rules.LanguageOf(file).Name, file, name), u.call
}
