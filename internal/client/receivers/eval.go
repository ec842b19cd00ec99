package receivers

import (
	"bytes"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A value is what an expression is, as far as it is known.
type value struct {
	kind valueKind
	t    typ   // of one
	p    Place // a class or function
	o    *outline.File
	name string // a module, as the file calls it
}

type valueKind uint8

const (
	unknown  valueKind = iota
	instance           // one of a type
	class              // the type itself
	function
	module
)

func one(o *outline.File, text string) value {
	if strings.TrimSpace(text) == "" {
		return value{}
	}
	return value{kind: instance, t: typ{o, text}}
}

// chainStart returns where the expression begins that ends before the place.
func chainStart(b []byte, end int) int {
	i := back(b, end)
	for i > 0 {
		switch c := b[i-1]; {
		case c == ')' || c == ']':
			j := opens(b, i)
			if j < 0 {
				return -1
			}
			i = j
			if i == 0 || !isName(b[i-1]) && b[i-1] != ')' && b[i-1] != ']' && b[i-1] != '>' && b[i-1] != '?' && b[i-1] != '!' {
				return i
			}
			if isName(b[i-1]) && c == ')' && leading.Has(wordTo(b, i)) {
				return i
			}
			continue
		case c == '>':
			j := bytes.LastIndexByte(b[max(0, i-200):i], '<')
			if j < 0 {
				return -1
			}
			i = max(0, i-200) + j
			if i >= 2 && b[i-1] == ':' && b[i-2] == ':' {
				i -= 2
			}
			continue
		case c == '!' || c == '?':
			i--
			continue
		case isName(c):
			i -= len(wordTo(b, i))
		default:
			return -1
		}
		j := back(b, i)
		switch {
		case j > 0 && b[j-1] == '.' && !(j > 1 && b[j-2] == '.'):
			if i = j - 1; i > 0 && b[i-1] == '?' {
				i--
			}
			i = back(b, i)
		case j > 1 && b[j-1] == ':' && b[j-2] == ':':
			i = back(b, j-2)
		case wordTo(b, j) == "new":
			return j - 3
		default:
			return i
		}
	}
	return i
}

// leading are words behind which a bracket opens no call.
var leading = lazy.Words(`return await if while for in not and or yield case switch match else elif assert throw go defer
	typeof new catch when let`)

// chain evaluates the expression that begins at i. It returns where it ends.
// With to > 0 it goes no further than that.
func (r *Reader) chain(o *outline.File, i, to int) (value, int) {
	if r.depth++; r.depth > maxDepth {
		r.depth--
		return value{}, i
	}
	defer func() { r.depth-- }()
	b := r.code(o)
	if to <= 0 {
		to = len(b)
	}
	v, i := r.primary(o, b, i)
	for i < to {
		j := blank(b, i)
		if j >= to {
			break
		}
		next, at, more := r.step(o, b, v, i, j, to)
		if !more {
			return next, i
		}
		v, i = next, at
	}
	return v, i
}

// step evaluates what follows a value that ends at i: a member, a call, an index
// at j. It reports false when the chain ends, or cannot be read on.
func (r *Reader) step(o *outline.File, b []byte, v value, i, j, to int) (value, int, bool) {
	rest := b[j:]
	switch {
	case b[j] == '.' && j+1 < to && b[j+1] == '(' && o.Lang == "go": // x.(T)
		if end := closes(b, j+1); end > 0 && end <= to {
			return one(o, string(b[j+2:end-1])), end, true
		}
		return value{}, i, false
	case b[j] == '.' && j+1 < len(b) && b[j+1] != '.', hasAny(rest, "?.", "::", "!!.", "!."):
		k := blank(b, j+bytes.IndexAny(rest, ".:")+1)
		if b[j] == ':' {
			k = blank(b, j+2)
		}
		if k < to && b[k] == '<' { // turbofish
			return v, angles(b, k), angles(b, k) > k
		}
		name := wordFrom(b, k)
		return r.member(v, name), k + len(name), name != ""
	case b[j] == '(' && j-i < 2 && !newline(b[i:j]):
		end := closes(b, j)
		if o.Lang == "go" && v.kind == unknown && v.name == "new" && end > 0 {
			return one(o, string(b[j+1:end-1])), end, true
		}
		return r.called(v), end, end > 0
	case b[j] == '[' && j == i:
		end := closes(b, j)
		switch v.kind {
		case instance:
			v = one(v.t.o, element(v.t.o.Lang, v.t.text, true))
		case class, function: // arguments for types
		default:
			v = value{}
		}
		return v, end, end > 0
	case b[j] == '{' && v.kind == class && (o.Lang == "go" || o.Lang == "rust") && !newline(b[i:j]):
		end := closes(b, j)
		if end < 0 {
			end = len(b)
		}
		return r.called(v), end, true
	case b[j] == '<' && j == i && angles(b, j) > j:
		return v, angles(b, j), true
	case b[j] == '!' && j == i && !hasAny(rest, "!="), b[j] == '?' && o.Lang == "rust":
		return v, j + 1, true
	}
	return v, i, false
}

func hasAny(b []byte, beginnings ...string) bool {
	return slices.ContainsFunc(beginnings, func(s string) bool { return bytes.HasPrefix(b, []byte(s)) })
}

func newline(b []byte) bool { return bytes.IndexByte(b, '\n') >= 0 }

// primary evaluates what a chain begins with.
func (r *Reader) primary(o *outline.File, b []byte, i int) (value, int) {
	i = blank(b, i)
	if i >= len(b) {
		return value{}, i
	}
	if b[i] == '(' {
		end := closes(b, i)
		if end < 0 {
			return value{}, len(b)
		}
		if t := castType(o.Lang, string(b[i+1:end-1])); t != "" {
			return one(o, t), end
		}
		return r.expression(o, i+1, end-1), end
	}
	if o.Lang == "go" && b[i] == '[' { // a list that is written down
		end := endOfType(b, i)
		if open := bytes.IndexByte(b[i:end], '{'); open > 0 {
			return one(o, string(b[i:i+open])), end
		}
		return value{}, end
	}
	w := wordFrom(b, i)
	if w == "" {
		return value{}, i + 1
	}
	if w == "new" && o.Lang != "go" && o.Lang != "rust" && o.Lang != "python" {
		k := blank(b, i+3)
		end := k
		for end < len(b) && (isName(b[end]) || b[end] == '.') {
			end++
		}
		v := one(o, string(b[k:end]))
		end = angles(b, end)
		if end < len(b) && b[end] == '(' {
			if end = closes(b, end); end < 0 {
				end = len(b)
			}
		}
		if end < len(b) && b[end] == '[' {
			return value{}, end // an array
		}
		return v, end
	}
	if w == "map" && o.Lang == "go" || w[0] >= '0' && w[0] <= '9' {
		return value{}, i + len(w)
	}
	return r.name(o, w, i), i + len(w)
}

// castType is the type that an expression in brackets is cast to.
func castType(lang, text string) string {
	switch lang {
	case "typescript", "rust", "kotlin":
		if at := strings.LastIndex(text, " as "); at > 0 {
			return strings.TrimPrefix(text[at+4:], "? ")
		}
	case "java", "csharp":
		if strings.HasPrefix(text, "(") {
			end := closes([]byte(text), 0)
			if end > 0 && end < len(text) && (isName(strings.TrimSpace(text[end:])[0]) || text[end] == '(') {
				return text[1 : end-1]
			}
		}
		if at := strings.LastIndex(text, " as "); at > 0 && lang == "csharp" {
			return text[at+4:]
		}
	}
	return ""
}

// expression evaluates a whole expression from i on, up to its end or to a
// place.
func (r *Reader) expression(o *outline.File, i, to int) value {
	b := r.code(o)
	for {
		i = blank(b, i)
		switch w := wordFrom(b, i); {
		case w == "await" || w == "try" || w == "yield" || w == "mut":
			i += len(w)
			continue
		case i < len(b) && (b[i] == '&' || b[i] == '*' && o.Lang != "python"):
			i++
			continue
		}
		break
	}
	if i >= len(b) {
		return value{}
	}
	v, end := r.chain(o, i, to)
	if end >= len(b) || to > 0 && blank(b, end) >= to {
		return v
	}
	j := end
	for j < len(b) && (b[j] == ' ' || b[j] == '\t') {
		j++
	}
	rest := b[j:]
	if bytes.HasPrefix(rest, []byte("as ")) && (o.Lang == "typescript" || o.Lang == "kotlin") {
		return one(o, string(rest[3:endOfType(rest, 3)]))
	}
	if len(rest) == 0 || bytes.IndexByte([]byte("\n\r;,)}]{"), rest[0]) >= 0 || bytes.HasPrefix(rest, []byte("??")) ||
		bytes.HasPrefix(rest, []byte("?:")) || bytes.HasPrefix(rest, []byte("else")) || bytes.HasPrefix(rest, []byte(":")) {
		return v
	}
	return value{}
}

// member is what a member of a value is.
func (r *Reader) member(v value, name string) value {
	switch v.kind {
	case module:
		if p, ok := r.w.Find(v.o, v.name+"."+name); ok {
			return r.valueOf(p)
		}
		return value{kind: module, o: v.o, name: v.name + "." + name}
	case class, instance:
		if p, ok := r.Member(v, name); ok {
			m := r.valueOf(p)
			if m.kind == instance && selfType(m.t.text) {
				return v
			}
			return m
		}
		if v.kind == instance && slices.Contains(passed.Get()[v.t.o.Lang], name) {
			return value{kind: function, o: v.t.o, t: v.t} // gives what it is called on
		}
	}
	return value{}
}

// passed are methods of libraries that give what they are called on, as far as
// its members matter.
var passed = lazy.Table[map[string][]string]{Make: func() map[string][]string {
	return map[string][]string{
		"rust": {"unwrap", "expect", "clone", "as_ref", "as_mut", "borrow", "borrow_mut", "lock", "read", "write", "await", "to_owned",
			"as_deref", "unwrap_or_default", "ok", "into_inner", "get_mut"},
		"csharp": {"ConfigureAwait"},
	}
}}

func selfType(text string) bool { return text == "Self" || text == "this" || text == "Self?" }

// called is what a call of a value gives.
func (r *Reader) called(v value) value {
	switch v.kind {
	case class:
		return one(v.p.File, v.p.def().Name)
	case function:
		if v.p.File == nil { // of a library
			return value{kind: instance, t: v.t}
		}
		d := v.p.def()
		result := outline.ResultOf(d, v.p.File.Traits)
		if d.Kind == "constructor" || d.Name[strings.LastIndexByte(d.Name, '.')+1:] == "__init__" || selfType(result) || result == `"Self"` {
			if dot := strings.LastIndexByte(d.Name, '.'); dot > 0 {
				result = d.Name[:dot]
			}
		}
		if v.p.File.Lang == "rust" && strings.Contains(result, "Self") {
			if dot := strings.LastIndexByte(d.Name, '.'); dot > 0 {
				result = strings.ReplaceAll(result, "Self", d.Name[:dot])
			}
		}
		return one(v.p.File, result)
	}
	return value{}
}

// containers are the kinds of definitions that have members.
var containers = lazy.Words("class struct interface enum trait record object type union protocol implementation")

// valueOf is what a definition is to who names it.
func (r *Reader) valueOf(p Place) value {
	d := p.def()
	switch {
	case containers.Has(d.Kind) || d.Contain:
		return value{kind: class, p: p, o: p.File}
	case d.HasCall && isProperty(p):
		return one(p.File, outline.ResultOf(d, p.File.Traits))
	case d.HasCall:
		return value{kind: function, p: p, o: p.File}
	case d.Kind == "case":
		if dot := strings.LastIndexByte(d.Name, '.'); dot > 0 {
			return one(p.File, d.Name[:dot])
		}
		return value{}
	}
	if t := strings.TrimSpace(outline.ResultOf(d, p.File.Traits)); t != "" && !strings.HasPrefix(t, "=") {
		return one(p.File, t)
	}
	return r.initial(p)
}

// isProperty tells a function of Python that is used without a call.
func isProperty(p Place) bool {
	return slices.ContainsFunc(p.File.Marks, func(m outline.Mark) bool {
		return m.Target == p.Def && (m.Name == "property" || m.Name == "cached_property" || m.Name == "functools.cached_property")
	})
}

// initial is what a variable or field is set to where it is declared.
func (r *Reader) initial(p Place) value {
	b, d := r.code(p.File), p.def()
	end := min(int(d.Span.End)+200, len(b))
	i := int(d.NameAt()) + len(d.Name) - strings.LastIndexByte(d.Name, '.') - 1
	if i = blank(b, i); i+1 < end && b[i] == '=' && b[i+1] != '=' && b[i+1] != '>' {
		return r.expression(p.File, i+1, 0)
	}
	return value{}
}
