// Package bodies tells what a request or a reply holds: it reads expressions and
// types as text, in the same way for every language, and follows them through
// the functions, classes and variables that they name. What a name means is told
// by a World, so it reads no file itself.
package bodies

import (
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
)

type kind uint8

const (
	unknown kind = iota
	text
	scalar // name is its type
	object
	list
	name
	member
	call
	index
	lambda
	cast
	choice
)

// A node is an expression, as far as it matters what it holds.
type node struct {
	kind  kind
	name  string
	x     *node // what it is taken from, called on, or cast
	args  []arg // of a call, an object, a list, a choice
	init  []arg // of a construction: what stands in braces behind it
	types string
	made  bool // new X(...)
	fn    *function
	at    int
	end   int
}

// An arg is one of a list: with a key in an object, with a name when it is
// passed by name.
type arg struct {
	name   string
	key    *node
	val    *node
	spread bool
}

// A function is one without a name, or the text of one that has.
type function struct {
	params   []string
	from, to int
	block    bool
}

// maxNesting ends what is nested too deep.
const maxNesting = 40

// A reader reads expressions of one source.
type reader struct {
	src   string
	lang  string
	pos   int
	end   int
	in    int // open brackets: lines do not end in them
	depth int
	bare  bool // braces do not belong to what stands before them, as in "if x {"
}

// lineEnds tells whether a line may end an expression.
func (r *reader) lineEnds() bool {
	switch r.lang {
	case "java", "csharp", "php", "rust", "c", "cpp":
		return false
	}
	return r.in == 0
}

func (r *reader) at(s string) bool { return r.pos < r.end && strings.HasPrefix(r.src[r.pos:r.end], s) }

func (r *reader) peek() byte {
	if r.pos < r.end {
		return r.src[r.pos]
	}
	return 0
}

// space skips space and comments; lines only where they end nothing, or
// where the next begins with what goes on.
func (r *reader) space() {
	for r.pos < r.end {
		switch c := r.src[r.pos]; {
		case c == ' ' || c == '\t' || c == '\r':
			r.pos++
		case c == '\n':
			if r.lineEnds() && !r.goesOn() {
				return
			}
			r.pos++
		case skipComment(r.src, r.pos, r.lang) > r.pos:
			r.pos = min(skipComment(r.src, r.pos, r.lang), r.end)
		default:
			return
		}
	}
}

// anySpace skips lines, too.
func (r *reader) anySpace() {
	r.in++
	r.space()
	r.in--
}

// goesOn tells whether the next line continues this one.
func (r *reader) goesOn() bool {
	at := r.pos
	for at < r.end && strings.IndexByte(" \t\r\n", r.src[at]) >= 0 {
		at++
		for next := skipComment(r.src, at, r.lang); next > at && next < r.end; next = skipComment(r.src, at, r.lang) {
			at = next
		}
	}
	rest := r.src[at:r.end]
	for _, lead := range []string{"?.", "&.", "->", "|>", "?:", "??", "||", "&&", "? ", ": "} {
		if strings.HasPrefix(rest, lead) && !(lead == ": " && r.lang == "python") {
			return true
		}
	}
	return len(rest) > 1 && rest[0] == '.' && rest[1] != '.'
}

// skipComment returns the index after the comment at i, or i.
func skipComment(s string, i int, lang string) int {
	rest := s[i:]
	switch {
	case strings.HasPrefix(rest, "//") && lang != "python" && lang != "ruby":
	case strings.HasPrefix(rest, "/*") && lang != "python" && lang != "ruby":
		if end := strings.Index(rest[2:], "*/"); end >= 0 {
			return i + end + 4
		}
		return len(s)
	case rest != "" && rest[0] == '#' && (lang == "python" || lang == "ruby" || lang == "php" && !strings.HasPrefix(rest, "#[")):
	default:
		return i
	}
	if end := strings.IndexByte(rest, '\n'); end >= 0 {
		return i + end
	}
	return len(s)
}

// skipText returns the index after the text that begins at i, or i.
func skipText(s string, i int, lang string) int {
	if i >= len(s) {
		return i
	}
	c := s[i]
	switch {
	case c == '"' && strings.HasPrefix(s[i:], `"""`), c == '\'' && strings.HasPrefix(s[i:], `'''`):
		if end := strings.Index(s[i+3:], s[i:i+3]); end >= 0 {
			return i + end + 6
		}
		return len(s)
	case c == '\'' && lang == "rust" && !(i+2 < len(s) && (s[i+2] == '\'' || s[i+1] == '\\')):
		return i
	case c == '"' || c == '\'' || c == '`':
		return min(outline.Quoted(s, i)+1, len(s))
	}
	return i
}

// closing returns the index after the bracket that closes the one at i.
func closing(s string, i int, lang string) int {
	depth := 0
	for i < len(s) {
		if next := skipComment(s, i, lang); next > i {
			i = next
			continue
		}
		if next := skipText(s, i, lang); next > i {
			i = next
			continue
		}
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth <= 0 {
				return i + 1
			}
		}
		i++
	}
	return len(s)
}

func isName(c byte) bool { return outline.IsNameByte(c) }

// word reads a name.
func (r *reader) word() string {
	from := r.pos
	for r.pos < r.end && (isName(r.src[r.pos]) || r.src[r.pos] == '@' && r.pos == from) {
		r.pos++
	}
	if r.lang == "ruby" && r.pos > from && (r.at("!") || r.at("?") && !r.at("? ")) {
		r.pos++
	}
	return r.src[from:r.pos]
}

// expr reads an expression with its operators.
func (r *reader) expr() *node {
	if r.depth++; r.depth > maxNesting {
		r.pos = r.end
	}
	defer func() { r.depth-- }()
	n := r.postfix(r.primary())
	for n != nil {
		r.space()
		from := r.pos
		next := r.operator(n)
		if next == nil {
			break
		}
		if n = next; r.pos == from {
			break
		}
		n.end = r.pos
	}
	return n
}

var comparisons = []string{"===", "!==", "==", "!=", "<=", ">=", "&&"}

// operator reads what goes on after an expression, if anything does.
func (r *reader) operator(n *node) *node {
	either := func(skip int) *node {
		r.pos += skip
		r.anySpace()
		return &node{kind: choice, at: n.at, args: []arg{{val: n}, {val: r.expr()}}}
	}
	for _, op := range comparisons {
		if r.at(op) {
			r.pos += len(op)
			r.anySpace()
			right := r.expr()
			if op == "&&" && right != nil {
				return right
			}
			return &node{kind: scalar, name: "boolean", at: n.at}
		}
	}
	switch {
	case r.at("=>") || r.at("->") && r.lang != "php":
		return nil
	case r.at("??"), r.at("||"), r.at("?:"):
		return either(2)
	case r.at("or "):
		return either(3)
	case r.at("? ") || r.at("?\n") || r.at("?") && r.lang == "php":
		r.pos++
		r.in++
		r.space()
		yes := r.expr()
		r.space()
		r.in--
		if r.peek() != ':' {
			return &node{kind: choice, at: n.at, args: []arg{{val: yes}}}
		}
		r.pos++
		r.anySpace()
		return &node{kind: choice, at: n.at, args: []arg{{val: yes}, {val: r.expr()}}}
	case r.lang == "python" && r.at("if "):
		r.pos += 3
		r.expr()
		r.space()
		if r.at("else ") {
			r.pos += 5
			r.space()
			return &node{kind: choice, at: n.at, args: []arg{{val: n}, {val: r.expr()}}}
		}
		return n
	case r.at("as ") || r.at("as? ") || r.at("as! ") || r.at("satisfies "):
		r.word()
		r.pos += len(strings.TrimRight(r.src[r.pos:min(r.pos+1, r.end)], " \n"))
		r.space()
		return &node{kind: cast, x: n, name: r.typeText(), at: n.at}
	case r.at("..."), r.at(".."):
		return nil
	}
	if c := r.peek(); strings.IndexByte("+-*/%<>&|^", c) >= 0 && c != 0 && !r.at("=>") || c == '.' && r.lang == "php" {
		r.pos++
		r.anySpace()
		right := r.expr()
		if c == '|' && right != nil { // a pipe of templates, a union
			return n
		}
		typ := ""
		if n.kind == text || right != nil && right.kind == text {
			typ = "string"
		}
		return &node{kind: scalar, name: typ, at: n.at, args: []arg{{val: n}, {val: right}}}
	}
	return nil
}

// typeText reads a type where one is expected.
func (r *reader) typeText() string {
	from := r.pos
	for r.pos < r.end {
		c := r.src[r.pos]
		switch {
		case c == '<' || c == '[' || c == '{' || c == '(':
			if c == '<' {
				if end := closeAngle(r.src, r.pos); end > 0 {
					r.pos = end
					continue
				}
			}
			if c == '{' && r.pos > from && strings.TrimSpace(r.src[from:r.pos]) != "" &&
				!strings.HasSuffix(strings.TrimSpace(r.src[from:r.pos]), "|") && !strings.HasSuffix(strings.TrimSpace(r.src[from:r.pos]), "&") {
				return strings.TrimSpace(r.src[from:r.pos])
			}
			r.pos = min(closing(r.src, r.pos, r.lang), r.end)
		case isName(c) || strings.IndexByte(".:?*&|\\", c) >= 0:
			r.pos++
		case c == ' ':
			rest := strings.TrimLeft(r.src[r.pos:r.end], " ")
			if !strings.HasPrefix(rest, "|") && !strings.HasPrefix(rest, "&") && !strings.HasSuffix(strings.TrimSpace(r.src[from:r.pos]), "|") &&
				!strings.HasSuffix(strings.TrimSpace(r.src[from:r.pos]), "&") {
				return r.src[from:r.pos]
			}
			r.pos++
		default:
			return r.src[from:r.pos]
		}
	}
	return r.src[from:r.pos]
}

// closeAngle returns the index after the > that closes the < at i, or 0 when
// that is no list of types.
func closeAngle(s string, i int) int {
	depth := 0
	for j := i; j < len(s) && j < i+400; j++ {
		switch c := s[j]; {
		case c == '<':
			depth++
		case c == '>':
			if s[j-1] == '-' || s[j-1] == '=' {
				continue
			}
			if depth--; depth == 0 {
				return j + 1
			}
		case isName(c) || strings.IndexByte(" ,.:?*&|[]()'{}\n\t\"", c) >= 0:
		default:
			return 0
		}
	}
	return 0
}
