package extinct

import (
	"bytes"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A use is a place in code where a name stands.
type use struct {
	name    string
	line    int
	text    string // the line, without what surrounds it
	member  bool   // taken from something: x.name, x->name, X::name
	of      string // the word that it is taken from
	called  bool
	call    *coord.Call
	defines bool // the name is given here, to a definition or a local one
	keyed   bool // name: value, between braces
	typed   bool // what stands beside it stands beside types
}

// declaring are the words behind which a name is given.
var declaring = lazy.Words(`func def class fn struct enum interface trait type mod macro_rules object record namespace module union
	let var const val mut static fun function package typedef protocol extension define undef given for catch alias concept actor
	template typename delegate event`)

// saying are the words behind which no name is given: what looks like a type
// before a call is one of them.
var saying = lazy.Words(`return else new throw await yield in not and or case go defer do when is typeof delete raise assert del unless
	then try if elif while until of instanceof void_ echo print puts move ref out where default extends implements with throws co_await
	co_return co_yield unsafe async_ from import export select match lambda`)

// find returns where names stand in a source.
func find(lang string, src []byte, names map[string]bool) []use {
	some := false
	for n := range names {
		some = some || bytes.Contains(src, []byte(n))
	}
	if !some {
		return nil
	}
	var out []use
	words(lang, src, func(start, end, line int) {
		if names[string(src[start:end])] {
			out = append(out, look(lang, src, start, end, line))
		}
	})
	return out
}

// look tells how a name is used at a place.
func look(lang string, src []byte, start, end, line int) use {
	u := use{name: string(src[start:end]), line: line}
	lineStart := bytes.LastIndexByte(src[:start], '\n') + 1
	lineEnd := len(src)
	if i := bytes.IndexByte(src[end:], '\n'); i >= 0 {
		lineEnd = end + i
	}
	u.text = strings.TrimSpace(string(src[lineStart:lineEnd]))
	prefix := strings.TrimLeft(string(src[lineStart:start]), " \t")
	u.member, u.of = memberOf(src[:start])
	rest := src[end:]
	after, open := callAt(lang, rest)
	if u.called = open >= 0; u.called {
		u.call, after = arguments(lang, rest[open:])
	}
	u.defines = defines(lang, u, prefix, after)
	before := bytes.TrimRight(src[:start], " \t\r\n")
	u.keyed = len(before) > 0 && (before[len(before)-1] == '{' || before[len(before)-1] == ',') &&
		bytes.HasPrefix(rest, []byte(":")) && !bytes.HasPrefix(rest, []byte("::"))
	prev := lastWord(before)
	u.typed = len(before) > 0 && bytes.IndexByte([]byte("*&]"), before[len(before)-1]) >= 0 || prev == "struct" || prev == "enum" ||
		prev == "new" || prev == "extends" || len(rest) > 0 && rest[0] == '{'
	return u
}

// memberOf tells what a name is taken from, by what stands before it.
func memberOf(before []byte) (bool, string) {
	b := bytes.TrimRight(before, " \t\r\n")
	switch {
	case bytes.HasSuffix(b, []byte("..")):
		return false, ""
	case bytes.HasSuffix(b, []byte(".")):
		b = bytes.TrimRight(b[:len(b)-1], "?!& \t\r\n")
	case bytes.HasSuffix(b, []byte("->")), bytes.HasSuffix(b, []byte("::")):
		b = b[:len(b)-2]
	default:
		return false, ""
	}
	return true, lastWord(b)
}

func lastWord(b []byte) string {
	from := len(b)
	for from > 0 && isWord(b[from-1]) {
		from--
	}
	return string(b[from:])
}

// callAt returns where the arguments of a call open behind a name, -1 if it is
// not called, and what stands behind the name.
func callAt(lang string, rest []byte) (after []byte, open int) {
	i := 0
	for i < len(rest) && (rest[i] == ' ' || rest[i] == '\t') {
		i++
	}
	if lang == "rust" && i < len(rest) && rest[i] == '!' && i+1 < len(rest) && rest[i+1] != '=' {
		return nil, i + 1 + max(0, bytes.IndexAny(rest[i+1:], "([{"))
	}
	if bytes.HasPrefix(rest[i:], []byte("::<")) {
		i += 2
	}
	if i < len(rest) && rest[i] == '<' { // arguments for types
		if n := closing(rest[i:], 200); n > 0 {
			i += n
		}
	}
	if i < len(rest) && rest[i] == '(' {
		return nil, i
	}
	return rest, -1
}

// closing returns how long a list in angle brackets is, 0 if it is none.
func closing(b []byte, most int) int {
	depth := 0
	for i := 0; i < len(b) && i < most; i++ {
		switch b[i] {
		case '<':
			depth++
		case '>':
			if depth--; depth == 0 {
				return i + 1
			}
		case ';', '{', '"', '\n', '&', '|':
			return 0
		}
	}
	return 0
}

// arguments counts what a call passes, and returns what stands behind it. What
// cannot be counted by its commas is unknown.
func arguments(lang string, b []byte) (*coord.Call, []byte) {
	c := &coord.Call{}
	depth, commas, some, since, begin := 0, 0, false, false, 1
	var quote byte
	for i := 0; i < len(b) && i < 8000; i++ {
		x := b[i]
		if quote != 0 {
			if x == '\\' {
				i++
			} else if x == quote {
				quote = 0
			}
			continue
		}
		switch x {
		case '"', '`':
			quote, some, since = x, true, true
		case '\'':
			// A character, a text or a lifetime: they can hold anything.
			c.Spread, some, since = true, true, true
		case '(', '[', '{':
			if depth++; depth > 1 {
				some, since = true, true
			}
		case ')', ']', '}':
			if depth--; depth == 0 {
				if c.Args = commas - len(c.Named); some && since {
					c.Args++
				}
				if lang == "swift" && bytes.HasPrefix(bytes.TrimLeft(b[i+1:], " "), []byte("{")) {
					c.Spread = true // perhaps a function that is an argument
				}
				return c, b[i+1:]
			}
		case ',':
			if depth == 1 {
				commas++
				since, begin = false, i+1
			}
		case ' ', '\t', '\n', '\r':
		default:
			if label := string(bytes.TrimSpace(b[min(begin, i):i])); x == ':' && depth == 1 && lang == "swift" && isName(label) {
				c.Named = append(c.Named, label)
				continue
			}
			if depth == 1 && (x == '<' || x == '*' && !since || x == '=' || x == ':' || x == '.' && bytes.HasPrefix(b[i:], []byte("..."))) {
				c.Spread = true // types, lists that are spread, arguments by name
			}
			if x == '/' || x == '#' || x == '|' {
				c.Spread = true // remarks, closures
			}
			some, since = true, true
		}
	}
	c.Spread = true
	return c, nil
}

func isName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < 128 && !isWord(byte(r)) })
}

// defines tells whether a name is given where it stands, rather than used. It
// is generous: what may be a definition is none of a use.
func defines(lang string, u use, prefix string, after []byte) bool {
	first, _, _ := strings.Cut(prefix, " ")
	if u.member {
		// Extensions, methods with what they belong to, members of classes outside of them.
		return slices.Contains([]string{"fun", "def", "func", "function"}, first) && !strings.ContainsAny(prefix, "=(") ||
			lang == "cpp" && plainBefore(prefix) && bodyFollows(after)
	}
	prev := lastWord([]byte(strings.TrimRight(prefix, " \t")))
	if declares(lang, u, prev, first, after) {
		return true
	}
	if lang == "go" && strings.HasPrefix(prefix, "func (") && strings.HasSuffix(strings.TrimRight(prefix, " "), ")") {
		return true
	}
	rest := bytes.TrimLeft(after, " \t")
	switch {
	case bytes.HasPrefix(rest, []byte(":=")):
		return true
	case !u.called && bytes.HasPrefix(rest, []byte("=")) && !bytes.HasPrefix(rest, []byte("==")):
		return true
	case lang == "go" && !u.called && strings.Contains(u.text, ":=") && strings.Index(u.text, u.name) < strings.Index(u.text, ":="):
		return true
	}
	if !u.called {
		return false
	}
	if prefix == "" {
		return bodyFollows(after) || coord.NameFamily(lang) == "ecma" && bytes.HasPrefix(rest, []byte(":"))
	}
	return prev != "" && !saying.Has(prev) && endsWithSpace(prefix) && lang != "go" && lang != "python" && lang != "rust" ||
		coord.NameFamily(lang) == "c" && plainBefore(prefix) && !saying.Has(first) && strings.ContainsAny(prefix, "*& ")
}

// declares tells whether the word before a name gives it.
func declares(lang string, u use, prev, first string, after []byte) bool {
	rest := bytes.TrimLeft(after, " \t")
	switch {
	case prev == "as":
		return slices.Contains([]string{"import", "from", "use", "pub", "with", "except", "export"}, first)
	case !declaring.Has(prev), prev == "for" && first == "impl", prev == "mut" && u.name[0] >= 'A' && u.name[0] <= 'Z':
		return false
	}
	switch coord.NameFamily(lang) {
	case "c", "jvm", "csharp":
		// static Name x, struct name *p: the name is that of a type.
		if word := firstWord(rest); word != "" && word != "extends" && word != "implements" && word != "in" && word != "final" {
			return false
		}
		if lang == "c" || lang == "cpp" {
			return prev == "define" || !slices.Contains([]string{"struct", "class", "enum", "union", "const", "static", "typename"}, prev) ||
				len(rest) > 0 && bytes.IndexByte([]byte("{:;=[("), rest[0]) >= 0
		}
	}
	return true
}

func firstWord(b []byte) string {
	n := 0
	for n < len(b) && isWord(b[n]) {
		n++
	}
	return string(b[:n])
}

func endsWithSpace(s string) bool { return s != "" && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t') }

// plainBefore tells whether nothing but a type stands before a name.
func plainBefore(prefix string) bool {
	return !strings.ContainsFunc(prefix, func(r rune) bool {
		return !(r < 128 && isWord(byte(r))) && !strings.ContainsRune(" \t*&:<>,[]?~", r)
	})
}

func bodyFollows(after []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte("{"))
}

// imported tells whether a word is bound by an import of a file, as far as its
// lines show.
func imported(src []byte, word string) bool {
	if word == "" {
		return false
	}
	for line := range bytes.Lines(src) {
		l := bytes.TrimSpace(line)
		if !bytes.Contains(l, []byte(word)) {
			continue
		}
		if bytes.HasSuffix(bytes.TrimRight(l, ";) "), []byte("/"+word+`"`)) || bytes.HasSuffix(l, []byte(`"`+word+`"`)) ||
			bytes.HasPrefix(l, []byte(word+` "`)) {
			return true // Go
		}
		for _, begin := range []string{"import", "from", "use ", "pub use", "using", "mod ", "pub mod", "require", "const"} {
			if bytes.HasPrefix(l, []byte(begin)) && slices.Contains(strings.FieldsFunc(string(l), func(r rune) bool {
				return r < 128 && !isWord(byte(r))
			}), word) {
				return begin != "const" || bytes.Contains(l, []byte("require("))
			}
		}
	}
	return false
}
