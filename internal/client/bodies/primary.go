package bodies

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// primary reads what an expression begins with.
func (r *reader) primary() *node {
	r.space()
	at := r.pos
	if r.pos >= r.end {
		return nil
	}
	c := r.peek()
	if end := skipText(r.src, r.pos, r.lang); end > r.pos {
		r.pos = min(end, r.end)
		return &node{kind: text, name: strings.Trim(r.src[at:r.pos], "\"'`"), at: at, end: r.pos}
	}
	switch {
	case c == '(':
		return r.bracket()
	case c == '[':
		return r.square()
	case c == '{':
		return r.brace()
	case c == ':' && r.lang == "ruby":
		r.pos++
		return &node{kind: text, name: r.word(), at: at, end: r.pos}
	case c == '|' && r.lang == "rust":
		return r.closure()
	case c >= '0' && c <= '9':
		for r.pos < r.end && (isName(r.src[r.pos]) || r.peek() == '.') {
			r.pos++
		}
		typ := "integer"
		if strings.ContainsRune(r.src[at:r.pos], '.') {
			typ = "number"
		}
		return &node{kind: scalar, name: typ, at: at, end: r.pos}
	case strings.IndexByte("&*!-+~^", c) >= 0 || c == '@' && r.lang == "python":
		r.pos++
		if c == '!' {
			r.expr()
			return &node{kind: scalar, name: "boolean", at: at, end: r.pos}
		}
		return r.postfix(r.primary())
	case c == '\\' && r.lang == "php":
		r.pos++
		return r.primary()
	case isName(c) || c == '@':
		return r.named(at)
	}
	return nil
}

// prefixes stand before an expression and change nothing of what it holds.
var prefixes = lazy.Words("await return yield mut ref try move async throw const go clone")

var words = lazy.Table[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"true": "boolean", "false": "boolean", "True": "boolean", "False": "boolean", "null": "null", "None": "null", "nil": "null",
		"undefined": "null", "NULL": "null",
	}
}}

// named reads what begins with a word.
func (r *reader) named(at int) *node {
	w := r.word()
	if typ, ok := words.Get()[w]; ok {
		return &node{kind: scalar, name: typ, at: at, end: r.pos}
	}
	if prefixes.Has(w) && r.peek() != '(' && r.peek() != '.' && r.peek() != ':' || w == "await" || w == "return" {
		r.space()
		if r.peek() == '{' && (w == "move" || w == "async" || w == "try") {
			return r.brace()
		}
		return r.postfix(r.primary())
	}
	switch w {
	case "new":
		return r.made(at)
	case "function", "fn", "func", "fun", "lambda":
		return r.anonymous(w)
	case "if", "when", "match", "switch", "unless":
		if r.lang == "kotlin" || r.lang == "rust" || r.lang == "scala" || r.lang == "ruby" || r.lang == "swift" {
			return r.branches(at)
		}
	case "struct":
		return nil
	}
	r.space()
	if (r.at("=>") && r.lang != "ruby" && r.lang != "php" && r.lang != "rust") || r.at("->") && r.lang == "java" {
		r.pos += 2
		return r.arrow([]string{w}, at)
	}
	return &node{kind: name, name: w, at: at, end: r.pos}
}

// made reads new X(...) {...}.
func (r *reader) made(at int) *node {
	r.space()
	if r.peek() == '{' { // new { A = x }
		return &node{kind: object, args: r.args('}'), at: at, end: r.pos}
	}
	if r.peek() == '[' || r.peek() == '(' {
		return r.postfix(r.primary())
	}
	from := r.pos
	for r.pos < r.end && (isName(r.peek()) || r.peek() == '.' || r.peek() == '\\') {
		r.pos++
	}
	n := &node{kind: call, made: true, at: at, x: &node{kind: name, name: dots(r.src[from:r.pos]), at: from, end: r.pos}}
	if r.peek() == '<' {
		if end := closeAngle(r.src, r.pos); end > 0 {
			n.types, r.pos = r.src[r.pos+1:end-1], end
		}
	}
	r.space()
	if r.peek() == '[' {
		r.pos = closing(r.src, r.pos, r.lang)
	}
	if r.peek() == '(' {
		n.args = r.args(')')
	}
	keep := r.pos
	r.anySpace()
	if r.peek() == '{' && (r.lang == "csharp" || r.lang == "java") {
		n.init = r.args('}')
	} else {
		r.pos = keep
	}
	n.end = r.pos
	return n
}

func dots(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "\\", "."), "::", ".") }

// anonymous reads a function without a name.
func (r *reader) anonymous(word string) *node {
	at := r.pos
	r.space()
	if word == "lambda" && r.lang == "python" {
		from := r.pos
		for r.pos < r.end && r.peek() != ':' {
			r.pos++
		}
		params := paramNames(r.src[from:r.pos])
		r.pos++
		return r.arrow(params, at)
	}
	if isName(r.peek()) {
		r.word()
		r.space()
	}
	var params []string
	if r.peek() == '(' {
		end := min(closing(r.src, r.pos, r.lang), r.end)
		params = paramNames(r.src[r.pos+1 : max(end-1, r.pos+1)])
		r.pos = end
	}
	for r.pos < r.end && r.peek() != '{' && !r.at("=>") && r.peek() != '\n' && r.peek() != ';' {
		r.pos++ // its result
	}
	if r.at("=>") {
		r.pos += 2
		return r.arrow(params, at)
	}
	if r.peek() != '{' {
		return nil
	}
	return r.arrow(params, at)
}

// arrow reads the body of a function whose parameters are read.
func (r *reader) arrow(params []string, at int) *node {
	r.anySpace()
	n := &node{kind: lambda, at: at, fn: &function{params: params, from: r.pos}}
	if r.peek() == '{' {
		r.pos = min(closing(r.src, r.pos, r.lang), r.end)
		n.fn.from++
		n.fn.to, n.fn.block = r.pos-1, true
	} else {
		r.in++
		r.expr()
		r.in--
		n.fn.to = r.pos
	}
	n.end = r.pos
	return n
}

// paramNames are the names of parameters, whatever their types.
func paramNames(s string) (out []string) {
	for _, p := range splitTop(s, ',') {
		p = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(p), "&*."))
		p, _, _ = strings.Cut(p, "=")
		if before, _, ok := strings.Cut(p, ":"); ok {
			p = before
		}
		f := strings.Fields(strings.TrimSuffix(strings.TrimSpace(p), "?"))
		if len(f) > 0 {
			out = append(out, f[len(f)-1])
		}
	}
	return out
}

// bracket reads (...): a function, a cast, a list, or what it holds.
func (r *reader) bracket() *node {
	at := r.pos
	end := min(closing(r.src, r.pos, r.lang), r.end)
	after := end
	for after < r.end && strings.IndexByte(" \t\r\n", r.src[after]) >= 0 {
		after++
	}
	rest := r.src[after:r.end]
	inside := r.src[at+1 : max(end-1, at+1)]
	if strings.HasPrefix(rest, "=>") || strings.HasPrefix(rest, "->") && r.lang == "java" ||
		strings.HasPrefix(rest, ":") && arrowAfterType(rest) {
		r.pos = after + strings.Index(rest, ">") + 1
		if strings.HasPrefix(rest, ":") {
			r.pos = after + strings.Index(rest, "=>") + 2
		}
		return r.arrow(paramNames(inside), at)
	}
	if (r.lang == "java" || r.lang == "csharp") && rest != "" && (isName(rest[0]) || rest[0] == '(' || rest[0] == '"') && isTypeText(inside) {
		r.pos = end
		r.space()
		return &node{kind: cast, name: strings.TrimSpace(inside), x: r.postfix(r.primary()), at: at, end: r.pos}
	}
	args := r.args(')')
	if len(args) == 1 && args[0].val != nil {
		return args[0].val
	}
	return &node{kind: list, args: args, at: at, end: r.pos}
}

// arrowAfterType tells whether ": T =>" follows.
func arrowAfterType(rest string) bool {
	line, _, _ := strings.Cut(rest, "\n")
	at := strings.Index(line, "=>")
	return at > 0 && !strings.ContainsAny(line[:at], ";=") && strings.Count(line[:at], "(") == strings.Count(line[:at], ")")
}

func isTypeText(s string) bool {
	s = strings.TrimSpace(s)
	if s == "" || s[0] < 'A' || s[0] > 'Z' {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !isName(s[i]) && strings.IndexByte(".<>,[]? ", s[i]) < 0 {
			return false
		}
	}
	return true
}

// square reads [...]: a list, an object of PHP or Swift, or a typed one of Go.
func (r *reader) square() *node {
	at := r.pos
	if r.lang == "go" {
		end := closing(r.src, r.pos, r.lang)
		r.pos = min(end, r.end)
		typ := r.typeText()
		n := &node{kind: cast, name: r.src[at:end] + typ, at: at}
		if r.peek() == '{' {
			n.x = &node{kind: list, args: r.args('}'), at: at, end: r.pos}
		}
		n.end = r.pos
		return n
	}
	args := r.args(']')
	n := &node{kind: list, args: args, at: at, end: r.pos}
	for _, a := range args {
		if a.key != nil || a.name != "" {
			n.kind = object
		}
	}
	return n
}

// brace reads {...}: an object, or a function where a language writes them so.
func (r *reader) brace() *node {
	at := r.pos
	switch r.lang {
	case "kotlin", "swift", "scala":
		return r.block()
	case "rust", "go", "java", "csharp":
		end := min(closing(r.src, r.pos, r.lang), r.end)
		n := &node{kind: lambda, at: at, end: end, fn: &function{from: at + 1, to: end - 1, block: true}}
		if r.lang == "go" || strings.HasPrefix(strings.TrimLeft(r.src[min(at+1, end):end], " \t\r\n"), `"`) { // json!({"a": 1})
			return &node{kind: object, args: r.args('}'), at: at, end: r.pos}
		}
		r.pos = end
		return n
	}
	return &node{kind: object, args: r.args('}'), at: at, end: r.pos}
}

// block reads { x -> ... }, { x in ... }, { x => ... } and { ... }.
func (r *reader) block() *node {
	at := r.pos
	end := min(closing(r.src, r.pos, r.lang), r.end)
	f := &function{from: at + 1, to: end - 1, block: true}
	inside := r.src[f.from:max(f.to, f.from)]
	head, _, _ := strings.Cut(strings.TrimLeft(inside, " \t\r\n"), "\n")
	for _, arrow := range []string{"->", "=>", " in "} {
		before, _, ok := strings.Cut(head+" ", arrow)
		if ok && (arrow != " in ") == (r.lang != "swift") && !strings.ContainsAny(before, "{}\"=;") &&
			!strings.HasPrefix(strings.TrimSpace(before), "case ") {
			f.params = paramNames(strings.Trim(strings.TrimSpace(before), "()"))
			f.from += strings.Index(inside, arrow) + len(arrow)
			break
		}
	}
	if f.params == nil {
		f.params = []string{"it"}
	}
	r.pos = end
	return &node{kind: lambda, at: at, end: end, fn: f}
}

// closure reads |x| ... of Rust.
func (r *reader) closure() *node {
	at := r.pos
	end := strings.IndexByte(r.src[r.pos+1:r.end], '|')
	if end < 0 {
		r.pos = r.end
		return nil
	}
	params := paramNames(r.src[r.pos+1 : r.pos+1+end])
	r.pos += end + 2
	return r.arrow(params, at)
}

// branches reads an if or match that is a value: one of its blocks.
func (r *reader) branches(at int) *node {
	n := &node{kind: choice, at: at}
	for r.pos < r.end && r.peek() != '{' && !(r.peek() == '\n' && r.lang == "ruby") {
		if r.peek() == '(' || r.peek() == '[' {
			r.pos = min(closing(r.src, r.pos, r.lang), r.end)
			if r.lang == "kotlin" || r.lang == "scala" {
				break
			}
			continue
		}
		r.pos++
	}
	r.anySpace()
	for range 4 {
		if r.peek() == '{' {
			end := min(closing(r.src, r.pos, r.lang), r.end)
			f := &function{from: r.pos + 1, to: end - 1, block: true}
			n.args = append(n.args, arg{val: &node{kind: lambda, at: r.pos, end: end, fn: f}})
			r.pos = end
		} else if v := r.expr(); v != nil {
			n.args = append(n.args, arg{val: v})
		}
		keep := r.pos
		r.anySpace()
		if !r.at("else") {
			r.pos = keep
			break
		}
		r.pos += 4
		r.anySpace()
		if r.at("if") {
			for r.pos < r.end && r.peek() != '{' {
				r.pos++
			}
		}
	}
	n.end = r.pos
	return n
}

// splitTop splits at sep outside of brackets and texts.
func splitTop(s string, sep byte) (out []string) {
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '`' || c == '\'':
			if end := skipText(s, i, "rust"); end > i {
				i = end - 1
			}
		case strings.IndexByte("([{<", c) >= 0:
			depth++
		case c == '>' && i > 0 && (s[i-1] == '=' || s[i-1] == '-'):
		case strings.IndexByte(")]}>", c) >= 0:
			depth--
		case c == sep && depth <= 0:
			out = append(out, s[from:i])
			from = i + 1
		}
	}
	return append(out, s[from:])
}
