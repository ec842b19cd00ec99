// Package extinct tells of names: which definitions nothing else in a whole
// tree goes by, so that a mention of their name can only mean them, and which
// files newly mention such a name. Both are decided where the tree is: that a
// name is gone on the machine of who took it away, that it is mentioned on the
// machine of who wrote that.
//
// It reads words, not syntax: comments and texts are left out, everything else
// is code. So it works alike in every language and needs no grammar, and what
// it is not sure of it leaves out: a warning nobody needed costs more than one
// that was missed.
package extinct

import (
	"bytes"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A lexis is how a language writes what is not code.
type lexis struct {
	line   string // begins a comment that ends with its line
	hash   bool   // so does #
	quotes string // begin a text that may hold escapes
	wide   bool   // texts may go over several lines
	triple bool   // three quotes begin a text over several lines
	char   bool   // ' is about one character, or begins no text at all
	tick   byte   // 'r': ` begins a raw text; 't': a template with code in it
	nested bool   // comments hold comments
	bare   bool   // a method of one's own is called without saying of what
}

var lexes = lazy.Table[map[string]lexis]{Make: func() map[string]lexis {
	return map[string]lexis{
		"go":         {line: "//", quotes: `"`, char: true, tick: 'r'},
		"typescript": {line: "//", quotes: `"'`, tick: 't'},
		"javascript": {line: "//", quotes: `"'`, tick: 't'},
		"python":     {hash: true, quotes: `"'`, triple: true},
		"java":       {line: "//", quotes: `"`, char: true, triple: true, bare: true},
		"kotlin":     {line: "//", quotes: `"`, char: true, triple: true, nested: true, bare: true},
		"scala":      {line: "//", quotes: `"`, char: true, triple: true, nested: true, bare: true},
		"csharp":     {line: "//", quotes: `"`, char: true, triple: true, bare: true},
		"rust":       {line: "//", quotes: `"`, char: true, wide: true, nested: true},
		"ruby":       {hash: true, quotes: `"'`, wide: true, bare: true},
		"php":        {line: "//", hash: true, quotes: `"'`, wide: true},
		"c":          {line: "//", quotes: `"`, char: true, bare: true},
		"cpp":        {line: "//", quotes: `"`, char: true, bare: true},
		"elixir":     {hash: true, quotes: `"'`, wide: true, triple: true, bare: true},
		"swift":      {line: "//", quotes: `"`, triple: true, nested: true, bare: true},
		"dart":       {line: "//", quotes: `"'`, triple: true, bare: true},
		"lua":        {line: "--", quotes: `"'`},
		"shell":      {hash: true, quotes: `"'`, wide: true},
	}
}}

// endings are the files in which a family's definitions may be used.
var endings = lazy.Table[map[string][]string]{Make: func() map[string][]string {
	return map[string][]string{
		"go":     {".go"},
		"ecma":   {".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte"},
		"python": {".py", ".pyi", ".pyx"},
		"jvm":    {".java", ".kt", ".kts", ".scala", ".sc", ".groovy"},
		"csharp": {".cs", ".cshtml", ".razor", ".vb", ".xaml"},
		"rust":   {".rs"},
		"ruby":   {".rb", ".rake", ".ru", ".erb"},
		"php":    {".php", ".twig"},
		"c":      {".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".ipp", ".m", ".mm", ".inl"},
		"swift":  {".swift", ".m", ".mm", ".h"},
		"dart":   {".dart"},
		"lua":    {".lua"},
	}
}}

// A reader goes through a source, word by word.
type reader struct {
	lexis
	family string
	src    []byte
	at     int
	line   int
	visit  func(start, end, line int)
	braces []int  // open braces within the code of templates
	blank  []byte // a copy of the source without what is no code, if somebody wants one
}

// Code returns a source of the same length in which remarks, and what stands
// between quotes, are blanks.
func Code(lang string, src []byte) []byte {
	r := &reader{lexis: lexes.Get()[lang], family: coord.NameFamily(lang), src: src, line: 1, blank: bytes.Clone(src)}
	r.visit = func(int, int, int) {}
	for r.at < len(src) {
		r.step()
	}
	return r.blank
}

// hide blanks what was read since a place, but for the lines and for what opens
// and closes a text.
func (r *reader) hide(from int, remark bool) {
	if r.blank == nil {
		return
	}
	for i := from; i < r.at; i++ {
		c := r.src[i]
		if c != '\n' && (remark || i > from && i < r.at-1 || c != '"' && c != '\'' && c != '`') {
			r.blank[i] = ' '
		}
	}
}

// words visits the words of a source that are code.
func words(lang string, src []byte, visit func(start, end, line int)) {
	r := &reader{lexis: lexes.Get()[lang], family: coord.NameFamily(lang), src: src, line: 1, visit: visit}
	for r.at < len(src) {
		r.step()
	}
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

func (r *reader) next(n int) byte {
	if r.at+n < len(r.src) {
		return r.src[r.at+n]
	}
	return 0
}

func (r *reader) has(s string) bool { return bytes.HasPrefix(r.src[r.at:], []byte(s)) }

// skip goes on, counting lines.
func (r *reader) skip(n int) {
	end := min(r.at+n, len(r.src))
	r.line += bytes.Count(r.src[r.at:end], []byte{'\n'})
	r.at = end
}

// past goes on behind the next occurrence of a text, or to the end.
func (r *reader) past(s string) {
	if i := bytes.Index(r.src[r.at:], []byte(s)); i >= 0 {
		r.skip(i + len(s))
		return
	}
	r.skip(len(r.src))
}

func (r *reader) step() {
	c, from := r.src[r.at], r.at
	switch {
	case isWord(c):
		r.word()
		return
	case r.remark(c):
		if i := bytes.IndexByte(r.src[r.at:], '\n'); i >= 0 {
			r.at += i
		} else {
			r.at = len(r.src)
		}
		r.hide(from, true)
		return
	case c == '/' && r.next(1) == '*' && r.lexis.line == "//":
		r.comment()
		r.hide(from, true)
		return
	case c == '`' && r.tick == 'r':
		r.skip(1)
		r.past("`")
	case c == '`' && r.tick == 't':
		r.skip(1)
		r.template()
	case c == '\'' && r.char:
		r.character()
	case bytes.IndexByte([]byte(r.quotes), c) >= 0:
		r.text(c, false)
	case c == '/' && r.family == "ecma" && r.regexpHere():
		r.pattern()
	case len(r.braces) > 0 && (c == '{' || c == '}'):
		open := len(r.braces)
		if r.brace(c); len(r.braces) == open {
			return
		}
		r.hide(from, true)
		return
	default:
		r.skip(1)
		return
	}
	r.hide(from, false)
}

func (r *reader) remark(c byte) bool {
	return len(r.lexis.line) == 2 && c == r.lexis.line[0] && r.next(1) == c ||
		c == '#' && r.hash && r.next(1) != '['
}

func (r *reader) word() {
	start := r.at
	for r.at < len(r.src) && isWord(r.src[r.at]) {
		r.at++
	}
	w := string(r.src[start:min(r.at, start+3)])
	if q := r.next(0); q == '"' || q == '#' && r.family == "rust" {
		switch {
		case r.family == "rust" && (w == "r" || w == "br"):
			r.rawRust()
			return
		case r.family == "c" && (w == "R" || w == "LR" || w == "u8R"):
			if i := bytes.IndexByte(r.src[r.at:], '('); i > 0 && i < 20 {
				r.past(")" + string(r.src[r.at+1:r.at+i]) + `"`)
			}
			return
		}
	}
	if r.src[start] < '0' || r.src[start] > '9' {
		r.visit(start, r.at, r.line)
	}
}

func (r *reader) rawRust() {
	marks := 0
	for r.next(marks) == '#' {
		marks++
	}
	if r.next(marks) != '"' {
		return // a raw name
	}
	r.skip(marks + 1)
	r.past(`"` + string(bytes.Repeat([]byte{'#'}, marks)))
}

func (r *reader) comment() {
	r.skip(2)
	for depth := 1; depth > 0 && r.at < len(r.src); {
		switch {
		case r.has("*/"):
			depth--
			r.skip(2)
		case r.nested && r.has("/*"):
			depth++
			r.skip(2)
		default:
			r.skip(1)
		}
	}
}

// character reads 'x', or a ' that is none, as of a lifetime.
func (r *reader) character() {
	if r.next(1) == '\\' {
		r.skip(3)
		if i := bytes.IndexByte(r.src[r.at:min(r.at+12, len(r.src))], '\''); i >= 0 {
			r.skip(i + 1)
		}
		return
	}
	for n := 2; n <= 5; n++ {
		if r.next(n) == '\'' && r.next(1) != '\'' {
			if n == 2 || r.next(1) >= 0x80 {
				r.skip(n + 1)
				return
			}
			break
		}
	}
	r.skip(1)
}

func (r *reader) text(quote byte, verbatim bool) {
	three := string([]byte{quote, quote, quote})
	if r.triple && r.has(three) {
		r.skip(3)
		r.past(three)
		return
	}
	if r.family == "csharp" && r.at > 0 && (r.src[r.at-1] == '@' || r.at > 1 && r.src[r.at-1] == '$' && r.src[r.at-2] == '@') {
		verbatim = true
	}
	for r.skip(1); r.at < len(r.src); {
		switch c := r.src[r.at]; {
		case c == quote:
			r.skip(1)
			return
		case c == '\\' && !verbatim:
			r.skip(2)
		case c == '\n' && !r.wide && !verbatim:
			return // it was none, or is not finished
		default:
			r.skip(1)
		}
	}
}

// template reads the text of a template up to its end or to code in it.
func (r *reader) template() {
	for r.at < len(r.src) {
		switch {
		case r.src[r.at] == '\\':
			r.skip(2)
		case r.src[r.at] == '`':
			r.skip(1)
			return
		case r.has("${"):
			r.skip(2)
			r.braces = append(r.braces, 1)
			return
		default:
			r.skip(1)
		}
	}
}

// brace follows the braces of code in a template; behind the last one its text
// goes on.
func (r *reader) brace(c byte) {
	r.skip(1)
	last := len(r.braces) - 1
	if c == '{' {
		r.braces[last]++
		return
	}
	if r.braces[last]--; r.braces[last] == 0 {
		r.braces = r.braces[:last]
		r.template()
	}
}

// regexpHere tells a regular expression from a division by what stands before.
func (r *reader) regexpHere() bool {
	before := bytes.TrimRight(r.src[:r.at], " \t")
	if len(before) == 0 {
		return true
	}
	return bytes.IndexByte([]byte("(,=:[!&|?{};+\n"), before[len(before)-1]) >= 0 || bytes.HasSuffix(before, []byte("return"))
}

func (r *reader) pattern() {
	set := false
	for n := 1; ; n++ {
		switch c := r.next(n); {
		case c == 0 || c == '\n':
			r.skip(1) // a division after all
			return
		case c == '\\':
			n++
		case c == '[':
			set = true
		case c == ']':
			set = false
		case c == '/' && !set:
			r.skip(n + 1)
			return
		}
	}
}
