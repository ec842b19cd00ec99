package receivers

import (
	"bytes"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/coord"
)

// Uses are the uses of members, and of types that somebody makes, in some lines
// of a file.
func (r *Reader) Uses(o *outline.File, rows map[uint32]bool) (out []Use) {
	b := r.code(o)
	row := uint32(0)
	for i := 0; i < len(b) && len(out) < maxUses; i++ {
		if !rows[row] {
			next := bytes.IndexByte(b[i:], '\n')
			if next < 0 {
				break
			}
			i, row = i+next, row+1
			continue
		}
		switch c := b[i]; {
		case c == '\n':
			row++
		case c == '"' || c == '\'':
			var u Use
			var ok bool
			if u, i, ok = r.textUse(o, b, i); ok {
				out = append(out, u)
			}
		case c == '{':
			out = append(out, r.literalUse(o, b, i)...)
		case c == '<' && o.Lang == "typescript":
			out = append(out, r.element(o, b, i)...)
		case isName(c):
			word := wordFrom(b, i)
			if u, ok := r.memberUse(o, b, i, word); ok {
				out = append(out, u)
			} else if u, ok := r.keyUse(o, b, i, word); ok {
				out = append(out, u)
			}
			i += len(word) - 1
		}
	}
	return out
}

// memberUse reads x.word.
func (r *Reader) memberUse(o *outline.File, b []byte, at int, word string) (Use, bool) {
	j := back(b, at)
	if !memberAt(b, at) || j == 0 {
		return Use{}, false
	}
	end := j - 1
	if b[end] == ':' {
		end--
	} else if end > 0 && (b[end-1] == '?' || b[end-1] == '!') {
		end--
	}
	start := chainStart(b, end)
	if start < 0 || start >= end {
		return Use{}, false
	}
	v, _ := r.chain(o, start, end)
	if v.kind != instance && v.kind != class {
		return Use{}, false
	}
	p, ok := r.Member(v, word)
	if !ok || r.fake[p.File] {
		return Use{}, false
	}
	return Use{File: p.File, Name: p.def().Name, Line: lineAt(b, at), Call: formOf(o.Lang, b, start, at+len(word)),
		Typed: v.kind == instance}, true
}

// keyUse reads the key of a literal whose type is known, T{word: 1}, or of a
// pattern: const { word } = x.
func (r *Reader) keyUse(o *outline.File, b []byte, at int, word string) (Use, bool) {
	if o.Lang != "go" && o.Lang != "rust" && o.Lang != "typescript" || !keyAt(o.Lang, b, at, at+len(word)) {
		return Use{}, false
	}
	open := around(b, at, max(0, at-maxText))
	m, ok := r.literal(o, b, open)
	if ok {
		m, ok = r.memberOf(m, word, map[Place]bool{})
	} else if o.Lang == "typescript" && open >= 0 && b[open] == '{' {
		if of, _ := r.takenApart(o, b, open); of.kind == instance {
			m, ok = r.Member(of, word)
		}
	}
	if !ok || r.fake[m.File] {
		return Use{}, false
	}
	return Use{File: m.File, Name: m.def().Name, Line: lineAt(b, at), Typed: o.Lang == "typescript"}, true
}

// keyAt tells whether a word is a key of a literal: behind a brace or a comma,
// and before a colon or, where that is short for one, another comma. In a
// pattern a value may follow, for where there is none.
func keyAt(lang string, b []byte, at, end int) bool {
	p, n := back(b, at), blank(b, end)
	if p == 0 || b[p-1] != '{' && b[p-1] != ',' || n >= len(b) {
		return false
	}
	if b[n] == ':' {
		return n+1 >= len(b) || b[n+1] != ':' && b[n+1] != '='
	}
	return lang != "go" && (b[n] == ',' || b[n] == '}' || b[n] == '=' && lang == "typescript")
}

// literal is the type of the literal whose brace stands at a place.
func (r *Reader) literal(o *outline.File, b []byte, open int) (Place, bool) {
	if open < 0 || b[open] != '{' {
		return Place{}, false
	}
	p := back(b, open)
	if o.Lang == "typescript" {
		return r.literalTypeScript(o, b, open, p)
	}
	start := p
	for start > 0 && (isName(b[start-1]) || b[start-1] == '.' || b[start-1] == ':') {
		start--
	}
	name := strings.ReplaceAll(string(b[start:p]), "::", ".")
	if name == "" || p < open-1 {
		return Place{}, false
	}
	if w := wordTo(b, back(b, start)); w == "struct" || w == "impl" || w == "for" || w == "enum" || w == "match" || w == "if" || w == "trait" {
		return Place{}, false
	}
	if name == "Self" {
		return classAround(o, open)
	}
	d, ok := r.w.Find(o, name)
	if !ok || !d.def().Contain {
		return Place{}, false
	}
	return d, true
}

// literalTypeScript is what an object is given to: a declared variable, a
// parameter of a function, a field of another such object, or the result of the
// function around it.
func (r *Reader) literalTypeScript(o *outline.File, b []byte, open, p int) (Place, bool) {
	if p == 0 {
		return Place{}, false
	}
	switch {
	case b[p-1] == '=' && !bytes.HasSuffix(b[:p], []byte("==")): // const x: T = {
		line := lineStart(b, p)
		decl := b[line : p-1]
		colon := bytes.IndexByte(decl, ':')
		if colon < 0 || !bytes.Contains(decl[:colon], []byte("const ")) && !bytes.Contains(decl[:colon], []byte("let ")) {
			return Place{}, false
		}
		return r.place(one(o, string(decl[colon+1:])))
	case b[p-1] == '(' || b[p-1] == ',':
		call := around(b, open, max(0, open-maxText))
		if call < 0 || b[call] != '(' {
			return Place{}, false
		}
		return r.place(r.argument(o, b, call, open))
	case b[p-1] == ':':
		key := wordTo(b, back(b, p-1))
		outer, ok := r.literal(o, b, around(b, open, max(0, open-maxText)))
		if !ok || key == "" {
			return Place{}, false
		}
		m, ok := r.memberOf(outer, key, map[Place]bool{})
		if !ok {
			return Place{}, false
		}
		return r.place(r.valueOf(m))
	case wordTo(b, p) == "return":
		if d, ok := functionAround(o, open); ok {
			return r.place(one(o, outline.ResultOf(d, o.Traits)))
		}
	}
	return Place{}, false
}

// functionAround is the innermost function around a place.
func functionAround(o *outline.File, at int) (*outline.Def, bool) {
	found := -1
	for i := range o.Defs {
		if d := &o.Defs[i]; d.HasCall && !d.Contain && d.Span.Holds(uint32(at)) && (found < 0 || d.Span.Start >= o.Defs[found].Span.Start) {
			found = i
		}
	}
	if found < 0 {
		return nil, false
	}
	return o.Defs[found].Full(), true
}

// callee is the function that the bracket at a place calls.
func (r *Reader) callee(o *outline.File, b []byte, call int) (Place, bool) {
	start := chainStart(b, call)
	if start < 0 || start >= call {
		return Place{}, false
	}
	if bytes.HasPrefix(b[start:], []byte("new ")) {
		v, _ := r.primary(o, b, start)
		if p, ok := r.place(v); ok {
			return r.memberOf(p, "constructor", map[Place]bool{})
		}
		return Place{}, false
	}
	v, _ := r.chain(o, start, call)
	if v.kind != function || v.p.File == nil {
		return Place{}, false
	}
	return v.p, true
}

// argument is what the call at a bracket takes at a place.
func (r *Reader) argument(o *outline.File, b []byte, call, at int) value {
	p, ok := r.callee(o, b, call)
	if !ok {
		return value{}
	}
	n := 0
	for i := call + 1; i < at; i++ {
		switch b[i] {
		case '(', '[', '{':
			if end := closes(b, i); end > 0 && end <= at {
				i = end - 1
			}
		case ',':
			n++
		}
	}
	params := p.def().Params
	params = slices.DeleteFunc(slices.Clone(params), func(q outline.Param) bool {
		return q.Name == "self" || q.Name == "&self" || q.Name == "&mut self" || q.Name == "cls"
	})
	if n >= len(params) {
		return value{}
	}
	if params[n].Rest {
		return one(p.File, element(p.File.Lang, params[n].Typ, false))
	}
	return one(p.File, params[n].Typ)
}

// formOf is how the member that ends at a place is called, nil if it is not.
func formOf(lang string, b []byte, start, end int) *coord.Call {
	i := end
	if i < len(b) && b[i] == '<' {
		i = angles(b, i)
	}
	if bytes.HasPrefix(b[i:], []byte("::<")) {
		i = angles(b, i+2)
	}
	if i >= len(b) || b[i] != '(' {
		if lang == "kotlin" && i < len(b) && bytes.HasPrefix(bytes.TrimLeft(b[i:], " "), []byte("{")) {
			return &coord.Call{Args: 1}
		}
		return nil
	}
	close := closes(b, i)
	if close < 0 {
		return &coord.Call{Spread: true}
	}
	c := &coord.Call{}
	for _, a := range argumentsIn(lang, b[i+1:close-1]) {
		switch name, ok := argumentName(lang, a); {
		case a == "":
		case strings.HasPrefix(a, "...") || strings.HasSuffix(a, "...") || lang == "python" && a[0] == '*' || lang == "kotlin" && a[0] == '*':
			c.Spread = true
		case ok:
			c.Named = append(c.Named, name)
		default:
			c.Args++
		}
	}
	slices.Sort(c.Named)
	if lang == "kotlin" && bytes.HasPrefix(bytes.TrimLeft(b[close:], " "), []byte("{")) {
		c.Args++
	}
	c.Alone = alone(lang, b, start, close)
	return c
}

// argumentsIn splits the arguments of a call.
func argumentsIn(lang string, b []byte) (out []string) {
	depth, from := 0, 0
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == '<' && i > 0 && isName(b[i-1]) && lang != "python" && lang != "go":
			i = max(i, angles(b, i)-1)
		case c == '|' && lang == "rust" && depth == 0 && len(bytes.TrimSpace(b[from:i])) <= 4: // a closure, perhaps with move before it
			if end := bytes.IndexByte(b[i+1:], '|'); end >= 0 {
				i += end + 1
			}
		case c == ',' && depth == 0:
			out = append(out, strings.TrimSpace(string(b[from:i])))
			from = i + 1
		}
	}
	return append(out, strings.TrimSpace(string(b[from:])))
}

// argumentName is the name that an argument goes by.
func argumentName(lang, a string) (string, bool) {
	w := wordFrom([]byte(a), 0)
	rest := strings.TrimLeft(a[len(w):], " ")
	switch {
	case w == "" || rest == "":
		return "", false
	case lang == "python", lang == "kotlin":
		return w, rest[0] == '=' && !strings.HasPrefix(rest, "==")
	case lang == "csharp":
		return w, rest[0] == ':' && !strings.HasPrefix(rest, "::")
	}
	return "", false
}

// alone tells whether a call stands by itself, so that nobody wants its result.
func alone(lang string, b []byte, start, end int) bool {
	before := bytes.TrimSpace(b[lineStart(b, start):start])
	for _, w := range []string{"await", "defer", "go", "void"} {
		before = bytes.TrimSpace(bytes.TrimSuffix(before, []byte(w)))
	}
	if len(before) > 0 && !bytes.HasSuffix(before, []byte(";")) {
		return false
	}
	j := start
	if prev := back(b, start); prev > 0 && bytes.IndexByte([]byte("(,=+-*/&|?:[."), b[prev-1]) >= 0 || wordTo(b, back(b, j)) == "return" {
		return false
	}
	rest := bytes.TrimSpace(restOfLine(b, end))
	if lang == "rust" || lang == "java" || lang == "csharp" {
		return bytes.HasPrefix(rest, []byte(";"))
	}
	next := blank(b, end)
	return (len(rest) == 0 || rest[0] == ';') && (next >= len(b) || b[next] != '.')
}
