package references

import (
	"bytes"
	"path"
	"strings"

	"github.com/svc-hq/svc/internal/client/bodies"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/references/locate"
	"github.com/svc-hq/svc/internal/client/rules"
)

// world tells what names mean, for who follows what a body holds.
type world struct{ r *Repo }

// A meaning is that of a name in a file, or in all files of a language.
type meaning struct {
	o    *outline.File
	name string
}

const (
	maxSearched = 1500    // files of a language; in larger repositories only imports are followed
	maxHolding  = 4       // files that are read for one name
	maxText     = 200_000 // of a file that is searched
)

// Find returns the definitions that a name means in a file: by an import, by
// the names around it, or as the only one of the repository.
func (w world) Find(o *outline.File, name string) []bodies.Place {
	key := meaning{o, name}
	if found, ok := w.r.modules.meanings[key]; ok {
		return found
	}
	if w.r.modules.meanings == nil {
		w.r.modules.meanings = map[meaning][]bodies.Place{}
	}
	w.r.modules.meanings[key] = nil
	found := w.find(o, name)
	w.r.modules.meanings[key] = found
	return found
}

func (w world) find(o *outline.File, name string) []bodies.Place {
	root, rest, _ := strings.Cut(name, ".")
	for _, im := range o.Imports {
		if im.Local != root || im.Local == "" {
			continue
		}
		u := locate.Use{Module: im.Module, Name: im.Name, Member: rest}
		if im.Name == "" && rest == "" {
			u.Member = "x"
		}
		file, def := w.r.files.File(o, u)
		if file == "" {
			break
		}
		file, def = w.r.files.Origin(o.Lang, file, def)
		if rest == "" && im.Name == "" {
			def = "default"
		}
		for _, as := range spelled(def, rest) {
			if found := w.in(file, as); len(found) > 0 {
				return found
			}
		}
	}
	if file, _ := w.r.files.Ambient(o, locate.Use{Name: root}); file != "" && file != o.Path {
		if found := w.in(file, name); len(found) > 0 {
			return found
		}
	}
	if last := name[strings.LastIndexByte(name, '.')+1:]; last != "" && (last[0] >= 'A' && last[0] <= 'Z' || rest == "") {
		return w.search(o, last, true)
	}
	return nil
}

// spelled are the names that a member of what is imported may have in its file.
func spelled(def, rest string) []string {
	switch {
	case rest == "" || def == rest || strings.HasSuffix(def, "."+rest):
		return []string{def}
	case def == "":
		return []string{rest}
	}
	return []string{def + "." + rest, rest}
}

// in finds a definition of another file.
func (w world) in(file, name string) (out []bodies.Place) {
	if file == "" || !outline.CanRead(rules.LanguageOf(file)) {
		return nil
	}
	v := w.r.versionOf(file)
	if v == nil || v.Outline == nil {
		return nil
	}
	if out = defined(v.Outline, name); len(out) > 0 {
		return out
	}
	root, rest, _ := strings.Cut(name, ".")
	for _, im := range v.Outline.Imports { // it only hands on what another defines
		if im.Local == root && root != "" && len(w.r.modules.meanings) < 20_000 {
			next, as := w.r.files.File(v.Outline, locate.Use{Module: im.Module, Name: im.Name, Member: firstText(rest, "x")})
			if next != "" && next != file {
				if v := w.r.versionOf(next); v != nil && v.Outline != nil {
					return defined(v.Outline, firstText(rest, as))
				}
			}
		}
	}
	return nil
}

func firstText(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}

// defined are the definitions of a file under a name.
func defined(o *outline.File, name string) (out []bodies.Place) {
	last := name[strings.LastIndexByte(name, '.')+1:]
	match := func(n string) bool {
		return n == name || strings.HasSuffix(n, "."+name) || n[strings.LastIndexByte(n, '.')+1:] == last && !strings.Contains(name, ".")
	}
	for i := range o.Defs {
		if match(o.Defs[i].Name) {
			out = append(out, bodies.Place{File: o, Def: i})
		}
	}
	for i := range o.Funcs {
		if n := o.Funcs[i].Name; n != "" && match(n) {
			out = append(out, bodies.Place{File: o, Def: len(o.Defs) + i})
		}
	}
	if len(out) == 0 && name == "default" {
		for i := range o.Defs {
			if d := &o.Defs[i]; d.Parent < 0 && d.Exported && (d.HasCall || d.Contain) {
				out = append(out, bodies.Place{File: o, Def: i})
			}
		}
		if len(out) > 1 {
			return nil
		}
	}
	return out
}

// Method returns the functions of that last name.
func (w world) Method(o *outline.File, name string) []bodies.Place {
	if len(name) < 4 {
		return nil
	}
	return w.search(o, name, false)
}

// search looks for definitions in the whole repository.
func (w world) search(o *outline.File, name string, classes bool) (out []bodies.Place) {
	key := meaning{nil, o.Lang + " " + name}
	if classes {
		key.name = "class " + key.name
	}
	if found, ok := w.r.modules.meanings[key]; ok {
		return found
	}
	if w.r.modules.meanings == nil {
		w.r.modules.meanings = map[meaning][]bodies.Place{}
	}
	read := 0
	for _, file := range w.files(o) {
		text := w.r.files.Text(file)
		if len(text) > maxText || !declares(text, name, classes) {
			continue
		}
		if read++; read > maxHolding {
			out = nil
			break
		}
		v := w.r.versionOf(file)
		if v == nil || v.Outline == nil {
			continue
		}
		for _, p := range defined(v.Outline, name) {
			isFunc := p.Def >= len(p.File.Defs) || p.File.Defs[p.Def].HasCall && !p.File.Defs[p.Def].Contain
			if classes == !isFunc || classes && p.Def < len(p.File.Defs) && p.File.Defs[p.Def].Parent < 0 {
				out = append(out, p)
			}
		}
	}
	w.r.modules.meanings[key] = out
	return out
}

// files are those of a file's language that are neither tests nor generated;
// none where they are too many.
func (w world) files(o *outline.File) []string {
	ext := path.Ext(o.Path)
	return w.r.files.Listed("searched "+ext, func() (all []string) {
		endings := []string{ext}
		switch ext {
		case ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs":
			endings = []string{".ts", ".tsx", ".js", ".jsx", ".mjs"}
		case ".java", ".kt":
			endings = []string{".java", ".kt"}
		}
		for _, end := range endings {
			for _, f := range w.r.files.Ending(end) {
				if rules.TestPath(f) || rules.GeneratedPath(f) || strings.HasSuffix(f, ".d.ts") {
					continue
				}
				if len(all) == maxSearched {
					return nil
				}
				all = append(all, f)
			}
		}
		return all
	})
}

// definingWords stand before the name of what is defined.
var definingWords = []string{"class", "interface", "struct", "record", "type", "enum", "trait", "object",
	"def", "fun", "func", "fn", "function", "const", "let", "var", "val"}

// declares tells whether a text seems to define a name.
func declares(text []byte, name string, classes bool) bool {
	for i, end := range outline.Words(text, name) {
		line := bytes.TrimRight(text[bytes.LastIndexByte(text[:i], '\n')+1:i], " \t")
		for _, w := range definingWords {
			if bytes.HasSuffix(line, []byte(w)) && (len(line) == len(w) || !outline.IsNameByte(line[len(line)-len(w)-1])) {
				return true
			}
		}
		if classes {
			continue
		}
		if definesFunction(line, bytes.TrimLeft(text[end:min(len(text), end+40)], " ")) {
			return true
		}
	}
	return false
}

// definesFunction tells whether what stands before and after a name looks like
// the beginning of a function.
func definesFunction(line, rest []byte) bool {
	for _, lead := range []string{"= function", "= async", "= (", ": function", ": async"} {
		if bytes.HasPrefix(rest, []byte(lead)) {
			return true
		}
	}
	if !bytes.HasPrefix(rest, []byte("(")) || bytes.HasSuffix(line, []byte(".")) || bytes.HasSuffix(line, []byte("new")) {
		return false
	}
	head := bytes.TrimPrefix(bytes.TrimSpace(line), []byte("func ("))
	return !bytes.ContainsAny(head, "=(\"'") && !bytes.Contains(line, []byte("return")) && !bytes.Contains(line, []byte("await"))
}
