package analysis

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// In many languages a file uses names that no import binds: those of its
// package, of what it includes, or of the whole program. Which of its names
// are such is only known when a file that defines them is found.

// An ambience tells where the names of a language that are bound by no import
// come from.
type ambience struct {
	any   bool // names may begin with a small letter
	where func(r *run, o *outline, u use) (file, name string)
}

// ambient has them by language. Go's own reader finds its names.
var ambient = map[string]*ambience{
	"java": {where: besideJVM}, "kotlin": {where: besideJVM}, "scala": {where: besideJVM},
	"php":    {where: func(r *run, o *outline, u use) (string, string) { return r.byStem(o, u, u.name+".php", false) }},
	"csharp": {where: func(r *run, o *outline, u use) (string, string) { return r.byStem(o, u, u.name+".cs", true) }},
	"swift":  {where: func(r *run, o *outline, u use) (string, string) { return r.byStem(o, u, u.name+".swift", true) }},
	"ruby":   {where: autoloaded},
	"c":      {any: true, where: included}, "cpp": {any: true, where: included},
	"go": {any: true, where: besideGo},
}

// mayBe tells whether a name can be ambient at all.
func (a *ambience) mayBe(name []byte) bool {
	return len(name) > 2 && (a.any || name[0] >= 'A' && name[0] <= 'Z')
}

// ambientModule stands for no import in a use.
const ambientModule = "\x00"

// ambientUses are the uses of names that neither the file nor an import binds.
func (o *outline) ambientUses() []usedAt {
	if len(o.ambient) == 0 {
		return nil
	}
	own := map[string]bool{}
	for i := range o.defs {
		own[o.defs[i].name] = true
		own[o.defs[i].name[strings.LastIndexByte(o.defs[i].name, '.')+1:]] = true
	}
	var out []usedAt
	for _, n := range o.ambient {
		if !own[n.local] {
			out = append(out, usedAt{use{module: ambientModule, name: n.local, member: n.member}, n.line, n.call, n.mark})
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
func besideJVM(r *run, o *outline, u use) (file, name string) {
	dir := path.Dir(o.path)
	dirs := []string{dir, strings.Replace(dir, "/test/", "/main/", 1)}
	m := packageLine().FindSubmatch(o.source)
	for _, im := range o.imports {
		if im.name != "*" && im.name != "_" || m == nil {
			continue
		}
		if root, ok := strings.CutSuffix(dir, strings.ReplaceAll(string(m[1]), ".", "/")); ok {
			dirs = append(dirs, root+strings.ReplaceAll(im.module, ".", "/"))
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
func (r *run) byStem(o *outline, u use, base string, everywhere bool) (file, name string) {
	file = r.cached(o, ambientModule+u.name, func() string {
		if f := firstOf(r.tree, path.Join(path.Dir(o.path), base)); f != "" || !everywhere {
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
func autoloaded(r *run, o *outline, u use) (file, name string) {
	find := func(constant string) string {
		return r.cached(o, ambientModule+constant, func() string {
			ending := "/" + strings.ReplaceAll(snake(strings.ReplaceAll(constant, ".", "/")), "/_", "/") + ".rb"
			for _, f := range r.tree.named(path.Base(ending)) {
				if strings.HasSuffix("/"+f, ending) && !testPath(f) {
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
func included(r *run, o *outline, u use) (file, name string) {
	for i, im := range o.imports {
		if i == maxIncludes {
			break
		}
		header := r.cached(o, im.module, func() string {
			dir := path.Dir(o.path)
			tries := []string{path.Join(dir, im.module)}
			for d := dir; ; d = path.Dir(d) {
				tries = append(tries, path.Join(d, "include", im.module), path.Join(d, "src", im.module), path.Join(d, im.module))
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
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte(name))
		if i < 0 {
			return false
		}
		i += at
		end := i + len(name)
		at = end
		if i == 0 || isNameByte(text[i-1]) || end >= len(text) || isNameByte(text[end]) {
			continue
		}
		line := text[bytes.LastIndexByte(text[:i], '\n')+1 : i]
		head := bytes.TrimSpace(line)
		switch {
		case bytes.HasPrefix(head, []byte("//")), bytes.HasPrefix(head, []byte("*")), bytes.HasPrefix(head, []byte("/*")):
		case hasWord(head, "define"), hasWord(head, "struct"), hasWord(head, "class"), hasWord(head, "enum"), hasWord(head, "union"), hasWord(head, "using"):
			return true
		case text[end] == '(' && len(head) > 0 && !bytes.ContainsAny(head, "=(.") && !hasWord(head, "return"), // int name(
			text[end] == ';' && (hasWord(head, "typedef") || bytes.HasPrefix(head, []byte("}"))):
			return true
		}
	}
}

func hasWord(s []byte, word string) bool {
	return slices.ContainsFunc(bytes.FieldsFunc(s, func(r rune) bool { return !isNameByte(byte(r)) }), func(w []byte) bool { return string(w) == word })
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
func (r *run) text(file string) []byte {
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
func besideGo(r *run, o *outline, u use) (file, name string) {
	return r.goFile(path.Dir(o.path), u.name, path.Base(o.path)), u.name
}

// goFile returns the file of a folder that declares a name at its top. What
// tests declare is seen only from a test beside them.
func (r *run) goFile(dir, name, except string) string {
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
	for _, word := range goKeywords {
		for at := 0; ; {
			i := bytes.Index(text[at:], []byte(word+name))
			if i < 0 {
				break
			}
			at += i + len(word) + len(name)
			if at >= len(text) || isNameByte(text[at]) {
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
func (r *run) resolveAmbient(o *outline, u usedAt) (string, *coord.Call) {
	a := ambient[o.lang]
	if a == nil || r.tree == nil {
		return "", nil
	}
	file, name := a.where(r, o, u.use)
	if file == "" || name == "" || file == o.path {
		return "", nil
	}
	return symbolKey(languageOf(file).name, file, name), u.call
}
