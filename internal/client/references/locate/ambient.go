package locate

import (
	"bytes"
	"path"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// In many languages a file uses names that no import binds: those of its
// package, of what it includes, or of the whole program. Which of its names
// are such is only known when a file that defines them is found.

// An ambience tells where the names of a language that are bound by no import
// come from.
type ambience func(fs *Files, o *outline.File, u Use) (file, name string)

// ambient has them by language. Go's own reader finds its names.
var ambiences = lazy.Table[map[string]ambience]{Make: func() map[string]ambience {
	return map[string]ambience{
		"java": besideJVM, "kotlin": besideJVM, "scala": besideJVM,
		"php":    func(fs *Files, o *outline.File, u Use) (string, string) { return fs.byStem(o, u, u.Name+".php", false) },
		"csharp": func(fs *Files, o *outline.File, u Use) (string, string) { return fs.byStem(o, u, u.Name+".cs", true) },
		"swift": func(fs *Files, o *outline.File, u Use) (string, string) {
			return fs.byStem(o, u, u.Name+".swift", true)
		},
		"ruby": autoloaded,
		"c":    included, "cpp": included,
		"go": besideGo,
	}
}}

// ambientModule stands for no import.
const ambientModule = "\x00"

// HasAmbient tells whether files of a language use names that no import binds.
func HasAmbient(lang string) bool { return ambiences.Get()[lang] != nil }

// Ambient finds the file of a name that no import binds, and its name there.
func (fs *Files) Ambient(o *outline.File, u Use) (file, name string) {
	if find := ambiences.Get()[o.Lang]; find != nil && fs.Tree != nil {
		return find(fs, o, u)
	}
	return "", ""
}

// besideJVM finds a class in the file's package or one imported as a whole.
func besideJVM(fs *Files, o *outline.File, u Use) (file, name string) {
	dir := path.Dir(o.Path)
	dirs := []string{dir, strings.Replace(dir, "/test/", "/main/", 1)}
	m := packageLine.Get().FindSubmatch(o.Source)
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
			tries = append(tries, path.Join(d, u.Name+ending))
		}
	}
	return fs.cached(o, ambientModule+u.Name, func() string { return fs.First(tries...) }), u.Full()
}

// byStem finds the file called like the type: beside this one, or the only one
// in the repository.
func (fs *Files) byStem(o *outline.File, u Use, base string, everywhere bool) (file, name string) {
	file = fs.cached(o, ambientModule+u.Name, func() string {
		if f := fs.First(path.Join(path.Dir(o.Path), base)); f != "" || !everywhere {
			return f
		}
		if all := fs.Named(base); len(all) == 1 {
			return all[0]
		}
		return ""
	})
	return file, u.Full()
}

// autoloaded finds a constant of Ruby in the file that is called like it.
func autoloaded(fs *Files, o *outline.File, u Use) (file, name string) {
	find := func(constant string) string {
		return fs.cached(o, ambientModule+constant, func() string {
			ending := "/" + strings.ReplaceAll(outline.Snake(strings.ReplaceAll(constant, ".", "/")), "/_", "/") + ".rb"
			for _, f := range fs.Named(path.Base(ending)) {
				if strings.HasSuffix("/"+f, ending) && !rules.TestPath(f) {
					return f
				}
			}
			return ""
		})
	}
	if u.Member != "" && u.Member[0] >= 'A' && u.Member[0] <= 'Z' {
		if file := find(u.Name + "." + u.Member); file != "" {
			return file, u.Name + "." + u.Member
		}
	}
	if u.Member == "new" { // makes one: the class is called
		return find(u.Name), u.Name
	}
	return find(u.Name), u.Full()
}

// maxIncludes bounds the headers that are looked into.
const maxIncludes = 40

var openNamespace = lazy.Regexp(`(?m)^\s*(?:inline\s+)?namespace\s+([\w:]+)\s*\{`)

// included finds a name in the headers that a file includes by a path.
func included(fs *Files, o *outline.File, u Use) (file, name string) {
	for i, im := range o.Imports {
		if i == maxIncludes {
			break
		}
		header := fs.cached(o, im.Module, func() string {
			dir := path.Dir(o.Path)
			tries := []string{path.Join(dir, im.Module)}
			for d := dir; ; d = path.Dir(d) {
				tries = append(tries, path.Join(d, "include", im.Module), path.Join(d, "src", im.Module), path.Join(d, im.Module))
				if d == "." || d == "/" {
					return fs.First(tries...)
				}
			}
		})
		if header == "" {
			continue
		}
		declared := fs.headerAt(header)
		switch {
		case declared.names[u.Name]:
			return header, declared.namespace + u.Full()
		case u.Member != "" && declared.names[u.Member]:
			return header, u.Full()
		}
	}
	return "", ""
}

// A header is what one declares: functions, types and macros, and the namespace
// that it opens first, with a dot.
type header struct {
	names     map[string]bool
	namespace string
}

// headerAt reads a header once: every file of a program asks for each of its
// names.
func (fs *Files) headerAt(file string) header {
	if h, ok := fs.headers[file]; ok {
		return h
	}
	if fs.headers == nil {
		fs.headers = map[string]header{}
	}
	text, names := fs.Text(file), map[string]bool{}
	fs.headers[file] = header{names, namespaceOf(text)}
	for line := range bytes.Lines(text) {
		begin := bytes.TrimSpace(line)
		if bytes.HasPrefix(begin, []byte("//")) || bytes.HasPrefix(begin, []byte("*")) || bytes.HasPrefix(begin, []byte("/*")) {
			continue
		}
		for end := 0; end < len(line); end++ {
			at := end
			for end < len(line) && outline.IsNameByte(line[end]) {
				end++
			}
			if at < end && declaredAfter(line[:at], line[end:]) {
				names[string(line[at:end])] = true
			}
		}
	}
	return fs.headers[file]
}

// declaredAfter tells whether a name is declared, by what stands before it in its
// line and by what comes next.
func declaredAfter(head, rest []byte) bool {
	head, rest = bytes.TrimSpace(head), bytes.TrimSpace(rest)
	if bare, ok := bytes.CutSuffix(head, []byte("(")); ok && bytes.HasPrefix(rest, []byte(")")) { // int (name) (
		head, rest = bytes.TrimSpace(bare), bytes.TrimSpace(rest[1:])
	}
	for _, word := range []string{"define", "struct", "class", "enum", "union", "using"} {
		if outline.Mentions(head, word) {
			return true
		}
	}
	opens, ends := bytes.HasPrefix(rest, []byte("(")), bytes.HasPrefix(rest, []byte(";"))
	return opens && len(head) > 0 && !bytes.ContainsAny(head, "=(.") && !outline.Mentions(head, "return") || // int name(
		ends && (outline.Mentions(head, "typedef") || bytes.HasPrefix(head, []byte("}")))
}

// namespaceOf is the namespace that a header opens first, with a dot.
func namespaceOf(text []byte) string {
	m := openNamespace.Get().FindSubmatch(text)
	if m == nil {
		return ""
	}
	return strings.ReplaceAll(string(m[1]), "::", ".") + "."
}

// besideGo finds a name in the other files of a package.
func besideGo(fs *Files, o *outline.File, u Use) (file, name string) {
	return fs.goFile(path.Dir(o.Path), u.Name, path.Base(o.Path)), u.Name
}

// goFile returns the file of a folder that declares a name at its top. What
// tests declare is seen only from a test beside them.
func (fs *Files) goFile(dir, name, except string) string {
	key := dir + " " + name
	tests := strings.HasSuffix(except, "_test.go")
	if tests {
		key += " in tests"
	}
	if file, ok := fs.goNames[key]; ok {
		return file
	}
	found := ""
	for _, f := range fs.List(dir) {
		if !strings.HasSuffix(f, ".go") || strings.HasSuffix(f, "_test.go") && !tests || f == except {
			continue
		}
		file := path.Join(dir, f)
		if declaresGo(fs.Text(file), name) {
			found = file
			break
		}
	}
	if fs.goNames == nil {
		fs.goNames = map[string]string{}
	}
	fs.goNames[key] = found
	return found
}

var goKeywords = []string{"\nfunc ", "\ntype ", "\nvar ", "\nconst ", "\n\t"}

// declaresGo tells whether a Go file declares a name at its top. In a block
// only exported ones are believed: a line of a function may look alike.
func declaresGo(text []byte, name string) bool {
	for start, at := range outline.Words(text, name) {
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
