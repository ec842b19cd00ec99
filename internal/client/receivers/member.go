package receivers

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
)

// place returns the definition of a value's type.
func (r *Reader) place(v value) (Place, bool) {
	if v.kind == class {
		return v.p, true
	}
	if v.kind != instance {
		return Place{}, false
	}
	name := named(v.t.o.Lang, v.t.text)
	if name == "" {
		return Place{}, false
	}
	p, ok := r.w.Find(v.t.o, name)
	if !ok || !containers.Has(p.def().Kind) && !p.def().Contain {
		return Place{}, false
	}
	return r.alias(p, 0), true
}

// alias follows a type that is only another name.
func (r *Reader) alias(p Place, depth int) Place {
	d := p.def()
	if d.Kind != "type" || depth > 4 {
		return p
	}
	text, ok := strings.CutPrefix(strings.TrimSpace(outline.ResultText(d)), "=")
	if !ok {
		return p
	}
	if name := named(p.File.Lang, text); name != "" && name != d.Name {
		if to, ok := r.w.Find(p.File, name); ok {
			return r.alias(to, depth+1)
		}
	}
	return p
}

// Member finds the definition that a member of a value means.
func (r *Reader) Member(v value, name string) (Place, bool) {
	p, ok := r.place(v)
	if !ok {
		return Place{}, false
	}
	return r.memberOf(p, name, map[Place]bool{})
}

// memberOf looks for a member in a type, in what it embeds and inherits.
func (r *Reader) memberOf(p Place, name string, seen map[Place]bool) (Place, bool) {
	if seen[p] || len(seen) > 20 {
		return Place{}, false
	}
	seen[p] = true
	own := p.def().Name + "." + name
	for _, o := range append([]*outline.File{p.File}, r.w.Beside(p)...) {
		for i := range o.Defs {
			if o.Defs[i].Name == own {
				return Place{o, i}, true
			}
		}
	}
	if m, ok := r.madeMember(p, name); ok {
		return m, true
	}
	for _, base := range r.bases(p) {
		if m, ok := r.memberOf(base, name, seen); ok {
			return m, true
		}
	}
	return Place{}, false
}

// madeMember finds a field that a constructor declares: Python's self.x, and
// TypeScript's parameters with a modifier, have no definition of their own. What
// it is stands in a made definition that nobody outside of this package sees.
func (r *Reader) madeMember(p Place, name string) (Place, bool) {
	o, d := p.File, p.def()
	for i := range o.Defs {
		c := &o.Defs[i]
		switch {
		case o.Lang == "typescript" && c.Name == d.Name+".constructor":
			for _, param := range c.Full().Params {
				if param.Name == name && hasModifier(c.Head, name) {
					return r.made(p, name, param.Typ), true
				}
			}
		case o.Lang == "python" && c.Name == d.Name+".__init__":
			if t := r.selfField(o, i, name); t != "" {
				return r.made(p, name, t), true
			}
		case (o.Lang == "java" || o.Lang == "csharp") && c.Name == d.Name && c.Kind == "record":
			for _, param := range c.Full().Params {
				if param.Name == name {
					return r.made(p, name, param.Typ), true
				}
			}
		}
	}
	return Place{}, false
}

// made is a definition that stands for a field without one. Its file has the
// imports of the true one.
func (r *Reader) made(p Place, name, t string) Place {
	o := *p.File
	o.Defs = append(slices.Clone(p.File.Defs), outline.Field(p.def().Name+"."+name, t))
	r.texts[&o], r.fake[&o] = r.code(p.File), true
	return Place{&o, len(o.Defs) - 1}
}

func hasModifier(head, name string) bool {
	for _, part := range split(head[strings.IndexByte(head, '(')+1:], ',') {
		words := strings.Fields(strings.NewReplacer(":", " : ", "?", " ").Replace(part))
		if at := slices.Index(words, name); at > 0 && slices.ContainsFunc(words[:at], func(w string) bool {
			return w == "private" || w == "public" || w == "protected" || w == "readonly"
		}) {
			return true
		}
	}
	return false
}

// selfField is the type of what a constructor of Python sets: declared, of a
// parameter, or of a class that is called. Where the last of these is not known,
// the text is the expression, which is no name of a type.
func (r *Reader) selfField(o *outline.File, ctor int, name string) string {
	b, d := r.code(o), o.Defs[ctor].Full()
	from, to := int(d.Span.Start), int(d.Span.End)
	needle := "self." + name
	for i := from; i < to; {
		at := strings.Index(string(b[i:to]), needle)
		if at < 0 {
			return ""
		}
		i += at + len(needle)
		if i < to && isName(b[i]) {
			continue
		}
		k := blank(b, i)
		if k < to && b[k] == ':' {
			return strings.TrimSpace(string(o.Source[k+1 : endOfType(b, k+1)]))
		}
		if k+1 < to && b[k] == '=' && b[k+1] != '=' {
			k = blank(b, k+1)
			w := wordFrom(b, k)
			for _, p := range d.Params {
				if p.Name == w && p.Typ != "" && k+len(w) < len(b) && (b[k+len(w)] == '\n' || b[k+len(w)] == ' ') {
					return p.Typ
				}
			}
			v := r.expression(o, k, 0)
			if p, ok := r.place(v); ok && p.File == o {
				return p.def().Name
			}
			if v.kind == instance && v.t.o == o {
				return v.t.text
			}
			if end := k + len(w); end < len(b) && (b[end] == '(' || b[end] == '.') { // as far as it can be written as a type
				for end < len(b) && (isName(b[end]) || b[end] == '.') {
					end++
				}
				return string(b[k:end])
			}
		}
	}
	return ""
}

// bases are the types that a type has its other members from.
func (r *Reader) bases(p Place) (out []Place) {
	d := p.def()
	for _, name := range baseNames(p.File.Lang, d) {
		if b, ok := r.w.Find(p.File, name); ok && b != p {
			out = append(out, r.alias(b, 0))
		}
	}
	if p.File.Lang == "rust" { // traits whose methods the type has
		for i := range p.File.Defs {
			if c := &p.File.Defs[i]; c.Kind == "implementation" && c.Name == d.Name {
				if trait, ok := implemented(c); ok {
					if b, ok := r.w.Find(p.File, trait); ok {
						out = append(out, b)
					}
				}
			}
		}
	}
	return out
}

// implemented is the trait that an implementation of Rust is of.
func implemented(d *outline.Def) (string, bool) {
	words := strings.TrimSuffix(d.Before, " for")
	if words == d.Before {
		return "", false
	}
	words = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(words, "unsafe "), "impl"))
	if strings.HasPrefix(words, "<") {
		words = strings.TrimSpace(words[angles([]byte(words), 0):])
	}
	name := named("rust", words)
	return name, name != ""
}

// baseNames are the types that a header names after the definition's own name.
func baseNames(lang string, d *outline.Def) (out []string) {
	switch lang {
	case "go":
		for _, b := range d.Bases {
			out = append(out, named(lang, b))
		}
	case "python":
		inside := strings.TrimSuffix(strings.TrimPrefix(outline.ResultText(d), "("), ")")
		for _, b := range split(inside, ',') {
			if !strings.Contains(b, "=") {
				out = append(out, named(lang, strings.TrimSuffix(b, "]")))
				if head, _ := arguments(lang, b); head != b {
					out = append(out, head)
				}
			}
		}
	case "rust":
		if d.Kind == "trait" {
			_, supers, _ := strings.Cut(d.Head, ":")
			for _, b := range split(supers, '+') {
				out = append(out, named(lang, b))
			}
		}
	default:
		text := outline.ResultText(d)
		if own := d.Name[strings.LastIndexByte(d.Name, '.')+1:]; lang == "kotlin" && strings.HasPrefix(text, own) {
			_, text, _ = strings.Cut(text, ":")
		}
		for _, word := range []string{"extends ", "implements ", " permits ", " where "} {
			text = strings.ReplaceAll(text, word, ",")
		}
		for _, b := range split(text, ',') {
			if i := strings.IndexByte(b, '('); i > 0 {
				b = b[:i] // Kotlin calls the constructor
			}
			head, _ := arguments(lang, strings.TrimSpace(strings.TrimPrefix(b, ":")))
			out = append(out, named(lang, head))
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}
