package receivers

import (
	"bytes"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// literalUse reads a literal of a known type: it must have whatever that needs.
func (r *Reader) literalUse(o *outline.File, b []byte, open int) []Use {
	if o.Lang != "rust" && o.Lang != "typescript" {
		return nil
	}
	p, ok := r.literal(o, b, open)
	end := closes(b, open)
	if !ok || end < 0 || r.fake[p.File] {
		return nil
	}
	has, all := keysIn(o.Lang, b[open+1:end-1])
	if !all {
		return nil
	}
	return []Use{{File: p.File, Name: p.def().Name, Line: lineAt(b, open), Whole: true, Has: has}}
}

// keysIn are the keys of a literal; all is false if it has some from elsewhere.
func keysIn(lang string, b []byte) (keys []string, all bool) {
	for _, part := range argumentsIn(lang, b) {
		if part == "" {
			continue
		}
		w := wordFrom([]byte(part), 0)
		if w == "" {
			return nil, false
		}
		keys = append(keys, w)
	}
	return keys, true
}

// element reads a component in JSX: its properties are a literal of their type.
func (r *Reader) element(o *outline.File, b []byte, at int) (out []Use) {
	name := wordFrom(b, at+1)
	if name == "" || name[0] < 'A' || name[0] > 'Z' || at > 0 && (isName(b[at-1]) || b[at-1] == '.') || !strings.HasSuffix(o.Path, "x") {
		return nil
	}
	props, ok := r.properties(o, name, at)
	if !ok || r.fake[props.File] {
		return nil
	}
	i, has, all := at+1+len(name), []string(nil), true
	for {
		i = blank(b, i)
		switch {
		case i >= len(b):
			return nil
		case b[i] == '{': // what is spread there
			if i = closes(b, i); i < 0 {
				return nil
			}
			all = false
			continue
		case b[i] == '/' || b[i] == '>':
			if b[i] == '>' {
				has = append(has, "children")
			}
			if all {
				out = append(out, Use{File: props.File, Name: props.def().Name, Line: lineAt(b, at), Whole: true, Has: has})
			}
			return out
		}
		attr := wordFrom(b, i)
		if attr == "" {
			return nil
		}
		has = append(has, attr)
		if m, ok := r.memberOf(props, attr, map[Place]bool{}); ok && !r.fake[m.File] {
			out = append(out, Use{File: m.File, Name: m.def().Name, Line: lineAt(b, i), Typed: true})
		}
		if i += len(attr); i < len(b) && b[i] == '=' {
			if i = afterValue(b, i+1); i < 0 {
				return nil
			}
		}
	}
}

// afterValue is where the value of a property ends.
func afterValue(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	if b[i] == '{' {
		return closes(b, i)
	}
	if end := bytes.IndexByte(b[i+1:], b[i]); end >= 0 {
		return i + 1 + end + 1
	}
	return -1
}

// properties is the type of what a component takes.
func (r *Reader) properties(o *outline.File, name string, at int) (Place, bool) {
	v := r.name(o, name, at)
	if v.kind == instance { // const Card: FC<Props>
		if _, args := arguments(o.Lang, v.t.text); len(args) == 1 && strings.HasPrefix(lastOf(v.t.text), "F") {
			return r.place(one(v.t.o, args[0]))
		}
		return Place{}, false
	}
	if v.kind != function || v.p.File == nil || len(v.p.def().Params) == 0 {
		return Place{}, false
	}
	return r.place(one(v.p.File, v.p.def().Params[0].Typ))
}

// textUse reads a text that is a member of a union: where it stands, a type is
// known that lists it. It returns the place of its last quote.
func (r *Reader) textUse(o *outline.File, b []byte, at int) (Use, int, bool) {
	end := at + 1 + bytes.IndexByte(b[at+1:], b[at])
	if end <= at || o.Lang != "typescript" && o.Lang != "python" {
		return Use{}, max(at, end), false
	}
	text := string(o.Source[at+1 : end])
	if !isLiteral(text) || bytes.IndexByte(b[at:end], '\n') >= 0 {
		return Use{}, end, false
	}
	if u, ok := r.namedUse(o, b, at, text); ok {
		return u, end, true
	}
	v, ok := r.expected(o, b, at, end+1)
	if !ok || v.kind != instance {
		return Use{}, end, false
	}
	p, ok := r.w.Find(v.t.o, bare(v.t.o.Lang, v.t.text))
	if !ok || r.fake[p.File] {
		return Use{}, end, false
	}
	for _, l := range outline.Literals(p.File.Lang, p.def()) {
		if l == text {
			return Use{File: p.File, Name: p.def().Name + "." + text, Line: lineAt(b, at)}, end, true
		}
	}
	return Use{}, end, false
}

// picked is how the type begins of which a text names a member.
var picked = lazy.Regexp(`\bPick<\s*([\w$.]+)(?:<[^<>]*>)?\s*,[\s|"']*$`)

// namedUse reads a member that is named by a text: Pick<T, "word">, T["word"].
func (r *Reader) namedUse(o *outline.File, b []byte, at int, text string) (Use, bool) {
	if o.Lang != "typescript" {
		return Use{}, false
	}
	var of value
	if m := picked.Get().FindSubmatch(b[max(0, at-maxPicked):at]); m != nil {
		of = one(o, string(m[1]))
	} else if p := back(b, at); p > 1 && b[p-1] == '[' && isName(b[p-2]) {
		if start := chainStart(b, p-1); start >= 0 {
			of, _ = r.chain(o, start, p-1)
		}
	}
	if of.kind != instance && of.kind != class {
		return Use{}, false
	}
	m, ok := r.Member(of, text)
	if !ok || r.fake[m.File] {
		return Use{}, false
	}
	return Use{File: m.File, Name: m.def().Name, Line: lineAt(b, at), Typed: of.kind == instance}, true
}

// maxPicked is how far before a text its type may stand.
const maxPicked = 400

// bare is the name of a type that may be missing.
func bare(lang, text string) string { return named(lang, text) }

func isLiteral(s string) bool {
	return s != "" && len(s) < 60 && !strings.ContainsFunc(s, func(c rune) bool {
		return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

// expected is the type of what is wanted where a text stands.
func (r *Reader) expected(o *outline.File, b []byte, at, end int) (value, bool) {
	p := back(b, at)
	if p == 0 {
		return value{}, false
	}
	switch {
	case bytes.HasSuffix(b[:p], []byte("===")), bytes.HasSuffix(b[:p], []byte("!==")), bytes.HasSuffix(b[:p], []byte("==")),
		bytes.HasSuffix(b[:p], []byte("!=")):
		to := p
		for to > 0 && (b[to-1] == '=' || b[to-1] == '!') {
			to--
		}
		start := chainStart(b, to)
		if start < 0 {
			return value{}, false
		}
		v, _ := r.chain(o, start, back(b, to))
		return v, true
	case b[p-1] == '=':
		return r.declaredBefore(o, b, p-1)
	case b[p-1] == '(' || b[p-1] == ',':
		open := around(b, at, max(0, at-maxText))
		if open < 0 || b[open] != '(' {
			return value{}, false
		}
		return r.argument(o, b, open, at), true
	case b[p-1] == ':':
		open := around(b, at, max(0, at-maxText))
		key := wordTo(b, back(b, p-1))
		if lit, ok := r.literal(o, b, open); ok && key != "" {
			if m, ok := r.memberOf(lit, key, map[Place]bool{}); ok {
				return r.valueOf(m), true
			}
		}
	case wordTo(b, p) == "return":
		if d, ok := functionAround(o, at); ok {
			return one(o, outline.ResultOf(d, o.Traits)), true
		}
	}
	return value{}, false
}

// declaredBefore is the type of what a text is assigned to: a declared variable
// or parameter, a property of a component, a named argument, a field.
func (r *Reader) declaredBefore(o *outline.File, b []byte, equals int) (value, bool) {
	p := back(b, equals)
	line := lineStart(b, p)
	decl := b[line:p]
	if tag := bytes.LastIndexByte(decl, '<'); o.Lang == "typescript" && strings.HasSuffix(o.Path, "x") && (tag >= 0 || p == equals) {
		open := line + tag
		if tag < 0 {
			open = bytes.LastIndexByte(b[:p], '<')
		}
		if open >= 0 {
			if props, ok := r.properties(o, wordFrom(b, open+1), open); ok {
				if m, ok := r.memberOf(props, wordTo(b, p), map[Place]bool{}); ok {
					return r.valueOf(m), true
				}
			}
		}
	}
	if open := around(b, equals, max(0, equals-maxText)); o.Lang == "python" && open >= 0 && b[open] == '(' {
		if f, ok := r.callee(o, b, open); ok {
			for _, param := range f.def().Params {
				if param.Name == wordTo(b, p) {
					return one(f.File, param.Typ), true
				}
			}
		}
		return value{}, false
	}
	if colon := bytes.LastIndexByte(decl, ':'); colon >= 0 {
		return one(o, strings.TrimSpace(string(decl[colon+1:]))), true
	}
	start := chainStart(b, p)
	if start < 0 || !memberAt(b, p-len(wordTo(b, p))) {
		return value{}, false
	}
	v, _ := r.chain(o, start, p)
	return v, true
}
