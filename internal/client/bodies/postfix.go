package bodies

import (
	"strings"
)

// postfix reads what is taken from an expression: members, calls, indexes.
func (r *reader) postfix(n *node) *node {
	for n != nil && r.pos < r.end {
		keep := r.pos
		r.space()
		next := r.step(n)
		if next == nil {
			r.pos = keep
			break
		}
		next.at, next.end = n.at, r.pos
		n = next
	}
	return n
}

var dotted = []string{"?.", "&.", "?->", "::", "->", "."}

// step reads one such step, or nil.
func (r *reader) step(n *node) *node {
	for _, d := range dotted {
		if !r.at(d) || d == "." && r.lang == "php" || r.at("..") {
			continue
		}
		if d == "->" && r.lang != "php" && r.lang != "c" && r.lang != "cpp" {
			continue
		}
		r.pos += len(d)
		r.space()
		switch {
		case r.peek() == '<' && d == "::": // get::<T>()
			if end := closeAngle(r.src, r.pos); end > 0 {
				n.types = r.src[r.pos+1 : end-1]
				r.pos = end
				return &node{kind: n.kind, name: n.name, x: n.x, args: n.args, types: n.types}
			}
			return nil
		case r.peek() == '(': // a cast of Go, json.(obj, :a)
			return r.afterDot(n)
		case r.at("await"):
			r.pos += 5
			c := *n
			return &c
		}
		w := r.word()
		if w == "" {
			return nil
		}
		return &node{kind: member, name: w, x: n}
	}
	switch c := r.peek(); {
	case c == '(' && !r.newLine(n.end):
		return &node{kind: call, x: n, args: r.args(')')}
	case c == '[' && !r.newLine(n.end):
		args := r.args(']')
		i := &node{kind: index, x: n, args: args}
		return i
	case c == '<' && (n.kind == name || n.kind == member):
		return r.typed(n)
	case c == '!' && r.lang == "rust" && !r.at("!="):
		r.pos++
		if p := r.peek(); p != '(' && p != '[' && p != '{' {
			return nil
		}
		end := map[byte]byte{'(': ')', '[': ']', '{': '}'}[r.peek()]
		return &node{kind: call, x: n, args: r.args(end)}
	case r.at("!!"):
		r.pos += 2
		c := *n
		return &c
	case c == '!' && (r.lang == "typescript" || r.lang == "swift" || r.lang == "csharp") && !r.at("!="),
		c == '?' && r.lang == "rust", c == '?' && r.lang == "swift" && !r.at("? ") && !r.at("??"):
		r.pos++
		c := *n
		return &c
	case c == '{' && !r.newLine(n.end) && !r.bare:
		return r.braced(n)
	case r.lang == "ruby" && r.at("do ") || r.lang == "ruby" && r.at("do\n"):
		r.pos = rubyEnd(r.src, r.pos, r.end)
		c := *n
		return &c
	}
	return nil
}

// newLine tells whether a line ended since: what follows then is no part.
func (r *reader) newLine(from int) bool {
	return r.lineEnds() && from > 0 && from < r.pos && strings.Contains(r.src[from:r.pos], "\n")
}

// afterDot reads x.(T).
func (r *reader) afterDot(n *node) *node {
	if r.lang == "go" {
		end := min(closing(r.src, r.pos, r.lang), r.end)
		typ := strings.Trim(r.src[r.pos:end], "()")
		r.pos = end
		return &node{kind: cast, x: n, name: typ}
	}
	return &node{kind: call, x: n, args: r.args(')')}
}

// typed reads the type arguments of what is called or made.
func (r *reader) typed(n *node) *node {
	end := closeAngle(r.src, r.pos)
	if end == 0 || end >= r.end {
		return nil
	}
	if c := r.src[end]; c != '(' && c != '{' && c != ':' && c != '.' && c != '`' {
		return nil
	}
	types := r.src[r.pos+1 : end-1]
	r.pos = end
	return &node{kind: n.kind, name: n.name, x: n.x, args: n.args, types: types}
}

// braced reads what stands in braces behind a name or call: the fields of what
// is made, or a function that is handed to the call.
func (r *reader) braced(n *node) *node {
	switch r.lang {
	case "go", "rust", "cpp":
		if n.kind != name && n.kind != member || !isUpper(lastOf(n.name)) && r.lang != "go" {
			return nil
		}
		if r.lang == "go" && n.kind == name && !r.composite() {
			return nil
		}
		return &node{kind: call, made: true, x: n, types: n.types, init: r.args('}')}
	case "kotlin", "swift", "scala", "ruby":
		if n.kind != call && n.kind != name && n.kind != member {
			return nil
		}
		var block *node
		if r.lang == "ruby" {
			block = r.rubyBlock()
		} else {
			block = r.block()
		}
		if n.kind == call {
			return &node{kind: call, x: n.x, types: n.types, args: append(append([]arg{}, n.args...), arg{val: block})}
		}
		return &node{kind: call, x: n, types: n.types, args: []arg{{val: block}}}
	}
	return nil
}

// composite tells the braces of a Go value from those of a statement.
func (r *reader) composite() bool {
	return r.pos > 0 && isName(r.src[r.pos-1])
}

func (r *reader) rubyBlock() *node {
	at := r.pos
	end := min(closing(r.src, r.pos, r.lang), r.end)
	f := &function{from: at + 1, to: end - 1, block: true}
	inside := r.src[f.from:max(f.from, f.to)]
	if trimmed := strings.TrimLeft(inside, " \n\t"); strings.HasPrefix(trimmed, "|") {
		if stop := strings.IndexByte(trimmed[1:], '|'); stop >= 0 {
			f.params = paramNames(trimmed[1 : 1+stop])
			f.from = f.to - len(trimmed) + stop + 2
		}
	}
	r.pos = end
	return &node{kind: lambda, at: at, end: end, fn: f}
}

// rubyEnd finds the end of a block that begins with do.
func rubyEnd(s string, from, to int) int {
	depth := 0
	for i := from; i < to; {
		if next := skipComment(s, i, "ruby"); next > i {
			i = next
			continue
		}
		if next := skipText(s, i, "ruby"); next > i {
			i = next
			continue
		}
		if !isName(s[i]) || i > 0 && isName(s[i-1]) {
			i++
			continue
		}
		j := i
		for j < to && isName(s[j]) {
			j++
		}
		switch s[i:j] {
		case "do", "def", "class", "module", "case", "begin":
			depth++
		case "if", "unless", "while":
			if strings.TrimSpace(s[strings.LastIndexByte(s[:i], '\n')+1:i]) == "" {
				depth++
			}
		case "end":
			if depth--; depth <= 0 {
				return j
			}
		}
		i = j
	}
	return to
}

func isUpper(s string) bool { return s != "" && s[0] >= 'A' && s[0] <= 'Z' }

func lastOf(s string) string { return s[strings.LastIndexAny(s, ".:\\")+1:] }

// args reads the list from the bracket at hand to the one that closes it.
func (r *reader) args(end byte) (out []arg) {
	stop := min(closing(r.src, r.pos, r.lang), r.end)
	inner := &reader{src: r.src, lang: r.lang, pos: r.pos + 1, end: max(stop-1, r.pos+1), in: 1, depth: r.depth + 1}
	r.pos = stop
	if inner.depth > maxNesting {
		return nil
	}
	for inner.pos < inner.end {
		inner.space()
		from := inner.pos
		if a, ok := inner.arg(end); ok {
			out = append(out, a)
		}
		inner.toComma()
		if inner.pos == from {
			inner.pos++
		}
	}
	return out
}

// toComma goes to the next element.
func (r *reader) toComma() {
	for r.pos < r.end {
		if next := skipComment(r.src, r.pos, r.lang); next > r.pos {
			r.pos = next
			continue
		}
		if next := skipText(r.src, r.pos, r.lang); next > r.pos {
			r.pos = next
			continue
		}
		switch r.peek() {
		case '(', '[', '{':
			r.pos = closing(r.src, r.pos, r.lang)
			continue
		case ',', ';':
			r.pos++
			return
		}
		r.pos++
	}
}

var spreads = []string{"...", "**", "..", "*"}

// arg reads one element of a list.
func (r *reader) arg(end byte) (arg, bool) {
	for _, s := range spreads {
		if r.at(s) && (s != "*" || r.lang == "python") {
			r.pos += len(s)
			return arg{val: r.expr(), spread: true}, true
		}
	}
	for _, word := range []string{"get ", "async ", "static ", "out "} {
		if end == '}' && r.at(word) {
			r.pos += len(word)
		}
	}
	from := r.pos
	if r.at("[") && end == '}' && r.lang == "typescript" || r.at("[") && end == '}' && r.lang == "javascript" { // a key that is worked out
		r.pos = closing(r.src, r.pos, r.lang)
		return arg{}, false
	}
	n := r.expr()
	if n == nil {
		return arg{}, false
	}
	r.space()
	switch {
	case n.kind == call && r.peek() == '{' && end == '}': // a method of an object
		return arg{}, false
	case r.at(":") && !r.at("::"), r.at("=") && !r.at("==") && !r.at("=>"), r.at("=>"), r.at("->") && r.lang != "php", r.at("to "):
		switch {
		case r.at("=>"), r.at("->"):
			r.pos += 2
		case r.at("to "):
			if r.lang != "kotlin" {
				return arg{val: n}, true
			}
			r.pos += 3
		default:
			r.pos++
		}
		r.space()
		v := r.expr()
		if n.kind == name || n.kind == member {
			if n.kind == name && !(r.lang == "php" && strings.HasPrefix(n.name, "$")) && !(r.lang == "python" && end == '}') {
				return arg{name: n.name, val: v}, true
			}
		}
		return arg{key: n, val: v}, true
	}
	_ = from
	return arg{val: n}, true
}
