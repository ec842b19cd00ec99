package receivers

import (
	"bytes"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// implicitThis are the languages in which a method names members of its class
// by their names alone.
var implicitThis = lazy.Words("java kotlin csharp")

// name is what a name means at a place of a file.
func (r *Reader) name(o *outline.File, word string, at int) value {
	switch word {
	case "this", "self", "Self", "cls", "super", "base":
		if v, ok := r.self(o, word, at); ok {
			return v
		}
	}
	scope := scopeOf(o, at)
	if v, bound := r.local(o, word, at, scope); bound {
		return v
	}
	if implicitThis.Has(o.Lang) {
		if c, ok := classAround(o, at); ok {
			if p, ok := r.memberOf(c, word, map[Place]bool{}); ok {
				return r.valueOf(p)
			}
		}
	}
	if p, ok := r.w.Find(o, word); ok {
		if v := r.valueOf(p); v.kind != class {
			return v
		}
		return value{kind: class, p: r.alias(p, 0), o: o}
	}
	if slices.ContainsFunc(o.Imports, func(im outline.Imported) bool { return im.Local == word }) {
		return value{kind: module, o: o, name: word}
	}
	if word == "new" && o.Lang == "go" {
		return value{name: word}
	}
	return value{}
}

// self is the object at work, or its class.
func (r *Reader) self(o *outline.File, word string, at int) (value, bool) {
	c, ok := classAround(o, at)
	if !ok || o.Lang == "go" {
		return value{}, false
	}
	switch word {
	case "Self", "cls":
		return value{kind: class, p: c, o: o}, true
	case "super", "base":
		if bases := r.bases(c); len(bases) > 0 {
			return one(bases[0].File, bases[0].def().Name), true
		}
		return value{}, true
	}
	if word == "self" && o.Lang == "typescript" || word == "this" && (o.Lang == "python" || o.Lang == "rust") {
		return value{}, false
	}
	return one(o, c.def().Name), true
}

// classAround is the innermost type around a place.
func classAround(o *outline.File, at int) (Place, bool) {
	found := -1
	for i := range o.Defs {
		d := &o.Defs[i]
		if d.Contain && d.Span.Holds(uint32(at)) && d.Kind != "module" && d.Kind != "namespace" && !strings.HasSuffix(d.Name, ".Companion") &&
			(found < 0 || d.Span.Start >= o.Defs[found].Span.Start) {
			found = i
		}
	}
	if found < 0 {
		return Place{}, false
	}
	if o.Defs[found].Kind == "implementation" {
		for i := range o.Defs {
			if d := &o.Defs[i]; d.Name == o.Defs[found].Name && d.Kind != "implementation" && d.Contain {
				return Place{o, i}, true
			}
		}
	}
	return Place{o, found}, true
}

// scopeOf is where the outermost function around a place begins, or the file.
func scopeOf(o *outline.File, at int) int {
	from := -1
	for i := range o.Defs {
		d := &o.Defs[i]
		if d.HasCall && !d.Contain && d.Span.Holds(uint32(at)) && (from < 0 || int(d.Span.Start) < from) {
			from = int(d.Span.Start)
		}
	}
	return max(from, 0)
}

// local finds the nearest declaration of a name before a place, in the blocks
// around it. It reports whether there is one.
func (r *Reader) local(o *outline.File, word string, at, scope int) (value, bool) {
	b := r.code(o)
	if o.Lang == "python" {
		if v, ok := r.comprehended(o, b, word, at); ok {
			return v, true
		}
	}
	narrow, said := r.narrowed(o, b, word, at, scope)
	for k := at; k > scope; {
		k = lastWordBefore(b[:k], word, scope)
		if k < said || k < 0 {
			break
		}
		if v, bound := r.bound(o, b, k, word, scope); bound && visible(o.Lang, b, k, len(word), at, scope) {
			return v, true
		}
	}
	return narrow, said >= 0
}

// lastWordBefore is where a word that is no member stands last, or -1.
func lastWordBefore(b []byte, word string, from int) int {
	for word != "" {
		k := bytes.LastIndex(b[from:], []byte(word))
		if k < 0 {
			return -1
		}
		k += from
		end := k + len(word)
		if (end == len(b) || !isName(b[end])) && (k == 0 || !isName(b[k-1])) && !memberAt(b, k) {
			return k
		}
		b = b[:k]
	}
	return -1
}

// memberAt tells whether what stands at a place is taken from something.
func memberAt(b []byte, k int) bool {
	j := back(b, k)
	return j > 0 && b[j-1] == '.' && !(j > 2 && b[j-2] == '.') || j > 1 && b[j-1] == ':' && b[j-2] == ':'
}

// visible tells whether a name that is declared at k is known at a later place.
func visible(lang string, b []byte, k, size, at, scope int) bool {
	if lang == "python" {
		return visiblePython(b, k, at, scope)
	}
	open := around(b, k, scope)
	if open < 0 {
		return true
	}
	end := closes(b, open)
	if end < 0 || end > at {
		if lang == "go" || b[open] == '(' {
			return inHeaderBlock(b, k, at)
		}
		return true
	}
	if b[open] == '{' || b[open] == '[' { // perhaps a pattern
		if outer := around(b, open, scope); isPattern(b, end) && outer >= 0 && b[outer] == '(' {
			open, end = outer, closes(b, outer)
			if end < 0 || end > at {
				return true
			}
		} else {
			return isPattern(b, end)
		}
	}
	return entered(b, end, at)
}

func isPattern(b []byte, end int) bool {
	j := blank(b, end)
	return j < len(b) && (b[j] == '=' && !bytes.HasPrefix(b[j:], []byte("==")) || b[j] == ':' || bytes.HasPrefix(b[j:], []byte(" of ")) ||
		b[j] == ')' || b[j] == ',')
}

// inHeaderBlock tells whether a place is in the block of the statement whose
// header has k, where k is in one.
func inHeaderBlock(b []byte, k, at int) bool {
	line := bytes.LastIndexByte(b[:k], '\n') + 1
	head := bytes.TrimLeft(b[line:k], " \t}")
	head = bytes.TrimPrefix(head, []byte("else "))
	for _, w := range []string{"if ", "for ", "switch ", "while ", "for(", "if(", "while("} {
		if !bytes.HasPrefix(head, []byte(w)) {
			continue
		}
		open := bytes.IndexByte(b[k:min(len(b), k+400)], '{')
		if open < 0 || k+open >= at {
			return true
		}
		end := closes(b, k+open)
		return end < 0 || end > at || bytes.HasPrefix(bytes.TrimLeft(b[end:], " "), []byte("else"))
	}
	return true
}

// entered tells whether a list of parameters that ends at end is that of a
// function around a place.
func entered(b []byte, end, at int) bool {
	depth := 0
	for i := end; i < at; i++ {
		switch b[i] {
		case '{':
			if depth == 0 {
				closed := closes(b, i)
				return closed < 0 || closed > at
			}
			depth++
		case '(', '[':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return false
			}
		case ';':
			if depth == 0 {
				return false
			}
		case '=', '-':
			if depth == 0 && i+1 < at && b[i+1] == '>' {
				if j := blank(b, i+2); b[i] == '=' || j < len(b) && b[j] != '{' && !isName(b[j]) || i+2 < len(b) {
					if j < len(b) && b[j] == '{' {
						closed := closes(b, j)
						return closed < 0 || closed > at
					}
					if b[i] == '=' {
						return stays(b, i+2, at)
					}
				}
				i++
			}
		case '\n':
			if depth == 0 && blankLine(b, end, i) {
				return false
			}
		}
	}
	return true
}

// blankLine tells whether nothing stands between a list of parameters and the
// end of its line, so that it opens nothing.
func blankLine(b []byte, end, i int) bool {
	j := blank(b, i)
	return len(bytes.TrimSpace(b[end:i])) == 0 && j < len(b) && b[j] != '{' && b[j] != '=' && b[j] != ':' && b[j] != '-'
}

// stays tells whether an expression that begins at from is not over at a place.
func stays(b []byte, from, at int) bool {
	depth := 0
	for i := from; i < at; i++ {
		switch b[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return false
			}
		case ',', ';':
			if depth == 0 {
				return false
			}
		}
	}
	return true
}
