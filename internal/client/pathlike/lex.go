package pathlike

import (
	"bytes"
	"strings"
)

// A token is a piece of source, as far as every language has it.
type token struct {
	kind  tokenKind
	text  string // of a name; of a text its content, with holes as the source has them
	start int
	end   int
	line  int
}

type tokenKind uint8

const (
	tokName tokenKind = iota
	tokText
	tokMark // a sign: ( ) [ ] { } , . + and the like
)

func (t token) is(sign string) bool { return t.kind == tokMark && t.text == sign }

// A dialect is what little a scanner must know of a language.
type dialect struct {
	hash    bool // # begins a remark
	slashes bool // // begins one
	single  bool // ' holds texts of any length
	regexps bool // / may begin a pattern
}

func dialectOf(lang string) dialect {
	switch lang {
	case "python", "ruby", "elixir":
		return dialect{hash: true, single: true, regexps: lang == "ruby"}
	case "php":
		return dialect{hash: true, slashes: true, single: true}
	case "dart", "lua":
		return dialect{slashes: lang == "dart", single: true}
	case "shell":
		return dialect{hash: true, single: true}
	case "typescript", "javascript":
		return dialect{slashes: true, single: true, regexps: true}
	}
	return dialect{slashes: true}
}

// maxTokens ends the reading of files that no person wrote.
const maxTokens = 200_000

// A lexer cuts source into tokens without knowing its grammar: what stands
// between quotes is the same in nearly every language.
type lexer struct {
	dialect
	src  []byte
	text string // the source again, which tokens are parts of
	at   int
	line int
	out  []token
}

func lex(lang string, src []byte) []token {
	l := &lexer{dialect: dialectOf(lang), src: src, text: string(src), line: 1, out: make([]token, 0, len(src)/3)}
	for l.at < len(src) && len(l.out) < maxTokens {
		l.next()
	}
	return l.out
}

func (l *lexer) next() {
	c := l.src[l.at]
	switch {
	case c == '\n':
		l.line++
		l.at++
	case c <= ' ':
		l.at++
	case l.slashes && l.has("//"), l.hash && c == '#':
		l.skipLine()
	case l.slashes && l.has("/*"):
		l.skipTo("*/")
	case c == '"' || c == '`' || c == '\'':
		l.quoted(c)
	case nameByte(c):
		from := l.at
		for l.at < len(l.src) && nameByte(l.src[l.at]) {
			l.at++
		}
		l.emit(tokName, l.text[from:l.at], from, l.line)
	case l.regexps && c == '/' && l.beginsPattern():
		l.pattern()
	default:
		from := l.at
		l.at++
		switch l.text[from:min(from+2, len(l.text))] {
		case ":=", "<>", "..", "->", "=>", "::", "??", "||", "&&", "==":
			l.at++
		}
		l.emit(tokMark, l.text[from:l.at], from, l.line)
	}
}

func (l *lexer) emit(k tokenKind, text string, from, line int) {
	l.out = append(l.out, token{k, text, from, l.at, line})
}

func (l *lexer) has(s string) bool { return bytes.HasPrefix(l.src[l.at:], []byte(s)) }

func (l *lexer) skipLine() {
	if n := bytes.IndexByte(l.src[l.at:], '\n'); n >= 0 {
		l.at += n
		return
	}
	l.at = len(l.src)
}

func (l *lexer) skipTo(end string) {
	n := bytes.Index(l.src[l.at+2:], []byte(end))
	if n < 0 {
		n = len(l.src) - l.at - 2 - len(end)
	}
	stop := min(len(l.src), max(l.at+2, l.at+2+n+len(end)))
	l.line += bytes.Count(l.src[l.at:stop], []byte("\n"))
	l.at = stop
}

// quoted reads a text. One that its line does not end is a sign, as the
// apostrophe of a remark in a page is, unless its quotes go over lines.
func (l *lexer) quoted(q byte) {
	from, line, quote := l.at, l.line, string(q)
	if triple := strings.Repeat(quote, 3); q != '`' && l.has(triple) {
		quote = triple
	}
	over := q == '`' || len(quote) == 3
	i := l.at + len(quote)
	for i < len(l.src) {
		switch c := l.src[i]; {
		case c == '\\' && i+1 < len(l.src) && l.src[i+1] == '(': // a hole of Swift
			i = l.hole(i+1, '(', ')')
		case c == '\\':
			i += 2
		case c == '$' && i+1 < len(l.src) && l.src[i+1] == '{', c == '#' && i+1 < len(l.src) && l.src[i+1] == '{':
			i = l.hole(i+1, '{', '}')
		case c == '\n' && !over:
			l.at++
			l.emit(tokMark, string(q), from, line)
			return
		case bytes.HasPrefix(l.src[i:], []byte(quote)):
			content := l.text[from+len(quote) : i]
			l.at = i + len(quote)
			l.line += strings.Count(content, "\n")
			if q == '\'' && !l.single && len(content) != 1 && !strings.HasPrefix(content, "\\") && len(content) > 2 {
				l.at = from + 1 // a lifetime or the like, and another behind it
				l.line = line
				l.emit(tokMark, "'", from, line)
				return
			}
			l.dropPrefix(from)
			l.emit(tokText, content, from, line)
			return
		default:
			i++
		}
	}
	l.at++
	l.emit(tokMark, string(q), from, line)
}

// dropPrefix drops the sign or letters that tell what kind of text follows: f"",
// b"", $"", @"".
func (l *lexer) dropPrefix(from int) {
	n := len(l.out) - 1
	if n < 0 || l.out[n].end != from {
		return
	}
	if t := l.out[n]; t.kind == tokName && len(t.text) <= 2 || t.is("$") || t.is("@") {
		l.out = l.out[:n]
	}
}

// maxHole is how long what is filled into a text may be.
const maxHole = 400

// hole returns where what is filled in ends.
func (l *lexer) hole(at int, open, shut byte) int {
	depth := 0
	for i := at; i < len(l.src) && i < at+maxHole; i++ {
		switch l.src[i] {
		case open:
			depth++
		case shut:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return at + 1
}

// beginsPattern tells a pattern from a division, by what stands before it.
func (l *lexer) beginsPattern() bool {
	if len(l.out) == 0 {
		return true
	}
	t := l.out[len(l.out)-1]
	return t.kind == tokMark && strings.Contains("( , = : [ ! & | ? { } ; && || => :=", t.text) || t.kind == tokName && t.text == "return"
}

func (l *lexer) pattern() {
	set := false
	for i := l.at + 1; i < len(l.src) && l.src[i] != '\n'; i++ {
		switch l.src[i] {
		case '\\':
			i++
		case '[':
			set = true
		case ']':
			set = false
		case '/':
			if !set {
				l.at = i + 1
				return
			}
		}
	}
	l.at++
}

func nameByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}
