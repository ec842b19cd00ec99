package receivers

import (
	"bytes"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A spot is a place where a name stands, with what is around it.
type spot struct {
	r      *Reader
	o      *outline.File
	b      []byte
	k, end int    // of the name
	before string // the word before it
	prev   byte   // what stands before it
	at     int    // what stands behind it
	next   byte
	open   int // the bracket around it, or -1
}

// bound tells whether a name is declared where it stands, and as what.
func (r *Reader) bound(o *outline.File, b []byte, k int, word string, scope int) (value, bool) {
	s := spot{r: r, o: o, b: b, k: k, end: k + len(word), open: around(b, k, scope)}
	p := back(b, k)
	if s.before = wordTo(b, p); p > 0 {
		s.prev = b[p-1]
	}
	if s.at = blank(b, s.end); s.at < len(b) {
		s.next = b[s.at]
	}
	switch o.Lang {
	case "go":
		return s.inGo()
	case "typescript":
		return s.inTypeScript()
	case "python":
		return s.inPython()
	case "java", "csharp":
		return s.typeFirst()
	case "kotlin":
		return s.inKotlin()
	case "rust":
		return s.inRust()
	}
	return value{}, false
}

func (s *spot) has(text string) bool { return bytes.HasPrefix(s.b[s.at:], []byte(text)) }

// assigned tells whether a value follows, rather than a comparison.
func (s *spot) assigned() bool {
	return s.next == '=' && !s.has("==") && !s.has("=>")
}

// annotated is the type that follows a colon.
func (s *spot) annotated(colon int) value {
	return one(s.o, strings.TrimSpace(string(s.o.Source[colon+1:endOfType(s.b, colon+1)])))
}

// given is what the value is that follows an equals sign.
func (s *spot) given(at int) value { return s.r.expression(s.o, at, 0) }

// each is what a list holds that is gone through.
func (s *spot) each(at int) value {
	v := s.r.expression(s.o, at, 0)
	if v.kind != instance {
		return value{}
	}
	return one(v.t.o, element(v.t.o.Lang, v.t.text, false))
}

func (s *spot) inBrackets(kind byte) bool { return s.open >= 0 && s.b[s.open] == kind }

func (s *spot) inGo() (value, bool) {
	index, at := 0, s.k
	for { // a, b := f()
		p := back(s.b, at)
		if p == 0 || s.b[p-1] != ',' {
			break
		}
		p = back(s.b, p-1)
		w := wordTo(s.b, p)
		if w == "" {
			break
		}
		index, at = index+1, p-len(w)
	}
	count, to := index+1, s.end
	for {
		p := blank(s.b, to)
		if p >= len(s.b) || s.b[p] != ',' {
			break
		}
		p = blank(s.b, p+1)
		w := wordFrom(s.b, p)
		if w == "" {
			break
		}
		count, to = count+1, p+len(w)
	}
	rest := blank(s.b, to)
	if bytes.HasPrefix(s.b[rest:], []byte(":=")) {
		return s.goAssigned(blank(s.b, rest+2), index, count), true
	}
	first := wordTo(s.b, back(s.b, at))
	if first == "var" {
		if s.b[rest] == '=' {
			return s.goAssigned(blank(s.b, rest+1), index, count), true
		}
		return one(s.o, string(s.b[rest:endOfType(s.b, rest)])), true
	}
	// A parameter, or several of one type.
	if s.inBrackets('(') && (s.prev == '(' || s.prev == ',') && rest < len(s.b) && rest > to &&
		(isName(s.b[rest]) || bytes.IndexByte([]byte("*[.<"), s.b[rest]) >= 0) && s.goParameters() {
		return one(s.o, strings.TrimSpace(string(s.b[rest:endOfType(s.b, rest)]))), true
	}
	return value{}, false
}

// goParameters tells whether the brackets around a name are those of a function.
func (s *spot) goParameters() bool {
	p := back(s.b, s.open)
	w := wordTo(s.b, p)
	if w == "func" {
		return true
	}
	if w == "" {
		return p > 0 && (s.b[p-1] == ')' || s.b[p-1] == ']') // results
	}
	p = back(s.b, p-len(w))
	return wordTo(s.b, p) == "func" || p > 0 && s.b[p-1] == ')'
}

func (s *spot) goAssigned(at, index, count int) value {
	if bytes.HasPrefix(s.b[at:], []byte("range ")) {
		if index == 1 {
			return s.each(at + 6)
		}
		return value{}
	}
	if count > 1 {
		line := s.b[at:]
		if n := bytes.IndexAny(line, "\n"); n >= 0 {
			line = line[:n]
		}
		if parts := split(string(line), ','); len(parts) == count {
			for _, p := range parts[:index] {
				at += len(p) + 1
			}
			return s.given(blank(s.b, at))
		}
		v := s.r.tuple(s.o, at)
		if index < len(v) {
			return v[index]
		}
		return value{}
	}
	return s.given(at)
}

// tuple are the values that a call of Go gives.
func (r *Reader) tuple(o *outline.File, at int) (out []value) {
	v, _ := r.chain(o, at, 0)
	if v.kind != instance {
		return nil
	}
	text := strings.TrimSpace(v.t.text)
	if !strings.HasPrefix(text, "(") {
		return []value{v}
	}
	for _, t := range split(strings.TrimSuffix(text[1:], ")"), ',') {
		out = append(out, one(v.t.o, t))
	}
	return out
}

func (s *spot) inTypeScript() (value, bool) {
	declared := s.before == "const" || s.before == "let" || s.before == "var" || s.before == "using"
	switch {
	case s.before == "function" || s.before == "class":
		return value{}, true
	case declared && s.next == ':':
		return s.annotated(s.at), true
	case declared && s.assigned():
		return s.given(s.at + 1), true
	case declared && s.has("of "):
		return s.each(s.at + 3), true
	case declared:
		return value{}, true
	case s.has("=>"):
		return value{}, true
	}
	if s.inBrackets('(') && (s.prev == '(' || s.prev == ',' || s.prev == '.' ||
		slices.Contains([]string{"private", "public", "protected", "readonly"}, s.before)) {
		colon := s.at
		if s.next == '?' {
			colon = blank(s.b, s.at+1)
		}
		if colon < len(s.b) && s.b[colon] == ':' {
			return s.annotated(colon), true
		}
		if s.next == ',' || s.next == ')' || s.assigned() {
			return value{}, s.ofFunction()
		}
		return value{}, false
	}
	return s.patternTypeScript()
}

// ofFunction tells whether the brackets around a name are followed by what a
// function does.
func (s *spot) ofFunction() bool {
	end := closes(s.b, s.open)
	if end < 0 {
		return false
	}
	rest := bytes.TrimLeft(s.b[end:], " \t\r\n")
	return bytes.HasPrefix(rest, []byte("=>")) || bytes.HasPrefix(rest, []byte("{")) || bytes.HasPrefix(rest, []byte("->")) ||
		bytes.HasPrefix(rest, []byte(":")) && s.o.Lang == "typescript"
}

// patternTypeScript reads const { a, b: c } = x, and ({ a }: T) of a function.
func (s *spot) patternTypeScript() (value, bool) {
	if !s.inBrackets('{') && !s.inBrackets('[') || s.prev != '{' && s.prev != ',' && s.prev != ':' && s.prev != '[' ||
		s.next != ',' && s.next != '}' && s.next != ']' && !s.assigned() {
		return value{}, false
	}
	of, ok := s.r.takenApart(s.o, s.b, s.open)
	if !ok {
		return value{}, false
	}
	key := string(s.b[s.k:s.end])
	if s.prev == ':' {
		key = wordTo(s.b, back(s.b, back(s.b, s.k)-1))
	}
	return s.r.member(of, key), true
}

// takenApart is what a pattern of TypeScript takes apart that opens at a place;
// ok is false if none does.
func (r *Reader) takenApart(o *outline.File, b []byte, open int) (of value, ok bool) {
	end := closes(b, open)
	if end < 0 {
		return value{}, false
	}
	after := blank(b, end)
	if after >= len(b) {
		return value{}, false
	}
	s := spot{r: r, o: o, b: b, open: around(b, open, 0)}
	first := wordTo(b, back(b, open))
	declared := first == "const" || first == "let" || first == "var"
	param := s.inBrackets('(') && (b[after] == ':' || b[after] == ')' || b[after] == ',')
	switch {
	case !declared && !param:
		return value{}, false
	case b[open] == '[':
		return value{}, true
	case b[after] == ':':
		return s.annotated(after), true
	case b[after] == '=' && declared:
		return s.given(after + 1), true
	case declared && hasAny(b[after:], "of "):
		return s.each(after + 3), true
	}
	return value{}, declared || s.ofFunction()
}

// notTypes are words that a name may follow without being declared.
var notTypes = lazy.Words(`return new throw else case in out ref await yield instanceof is as do import package using assert
	and or not when goto static final const default break continue params where namespace class`)

// typeFirst reads Java and C#: the type stands before the name.
func (s *spot) typeFirst() (value, bool) {
	if s.has("->") || s.has("=>") {
		return value{}, true
	}
	typed := isName(s.prev) && !notTypes.Has(s.before) || s.prev == '>' || s.prev == ']' || s.prev == '?'
	if !typed {
		if s.inBrackets('(') && (s.prev == '(' || s.prev == ',') && (s.next == ',' || s.next == ')') {
			end := closes(s.b, s.open)
			rest := bytes.TrimLeft(s.b[max(end, 0):], " ")
			return value{}, end > 0 && (bytes.HasPrefix(rest, []byte("->")) || bytes.HasPrefix(rest, []byte("=>")))
		}
		return value{}, false
	}
	if bytes.IndexByte([]byte("=;,):"), s.next) < 0 && !s.has("in ") && !s.has("&&") || s.next == '=' && s.has("==") {
		return value{}, false
	}
	from := typeBefore(s.b, back(s.b, s.k))
	t := string(s.b[from:back(s.b, s.k)])
	if s.prev == '>' && !strings.Contains(t, "<") {
		return value{}, false // a comparison
	}
	if t != "var" && t != "val" {
		return one(s.o, t), true
	}
	switch {
	case s.assigned():
		return s.given(s.at + 1), true
	case s.next == ':':
		return s.each(s.at + 1), true
	case s.has("in "):
		return s.each(s.at + 3), true
	}
	return value{}, true
}

// typeBefore is where the type begins that ends at a place.
func typeBefore(b []byte, i int) int {
	for i > 0 {
		switch c := b[i-1]; {
		case c == '>':
			depth, k := 0, i-1
			for ; k >= 0 && k > i-200; k-- {
				if b[k] == '>' {
					depth++
				} else if b[k] == '<' {
					if depth--; depth == 0 {
						break
					}
				}
			}
			if depth != 0 {
				return i
			}
			i = k
		case c == ']':
			k := opens(b, i)
			if k < 0 {
				return i
			}
			i = k
		case c == '?' || isName(c) || c == '.':
			i--
		default:
			return i
		}
	}
	return i
}

func (s *spot) inKotlin() (value, bool) {
	switch declared := s.before == "val" || s.before == "var"; {
	case declared && s.next == ':':
		return s.annotated(s.at), true
	case declared && s.assigned():
		return s.given(s.at + 1), true
	case declared:
		return value{}, true
	}
	if s.inBrackets('(') && (s.prev == '(' || s.prev == ',' || s.before == "vararg") {
		switch {
		case s.next == ':' && !s.has("::"):
			return s.annotated(s.at), true
		case s.has("in ") && s.prev == '(':
			return s.each(s.at + 3), true
		}
		return value{}, false
	}
	if s.inBrackets('{') && (s.prev == '{' || s.prev == ',') {
		line := s.b[s.at:min(len(s.b), s.at+120)]
		arrow := bytes.Index(line, []byte("->"))
		if arrow < 0 || bytes.ContainsAny(line[:arrow], "{}(\n=") {
			return value{}, false
		}
		if s.next == ':' {
			return s.annotated(s.at), true
		}
		return value{}, true
	}
	return value{}, false
}

func (s *spot) inRust() (value, bool) {
	switch declared := s.before == "let" || s.before == "mut" && s.prev == 't' || s.before == "ref"; {
	case s.has("=>"):
		return value{}, true
	case declared && s.next == ':' && !s.has("::"):
		return s.annotated(s.at), true
	case declared && s.assigned():
		return s.given(s.at + 1), true
	case s.before == "for" && s.has("in "):
		return s.each(s.at + 3), true
	case s.before == "mut" && s.next == ':' && s.inBrackets('('):
		return s.annotated(s.at), true
	case s.prev == '|' || s.prev == ',' && s.next == '|':
		if s.next == ':' && !s.has("::") {
			end := bytes.IndexAny(s.b[s.at:], "|,")
			if end > 0 {
				return one(s.o, string(s.b[s.at+1:s.at+end])), true
			}
		}
		if s.next == '|' || s.next == ',' {
			return value{}, true
		}
		return value{}, false
	}
	if !s.inBrackets('(') {
		return value{}, false
	}
	if (s.prev == '(' || s.prev == ',') && s.next == ':' && !s.has("::") {
		return s.annotated(s.at), true
	}
	// if let Some(x) = y
	w := wordTo(s.b, s.open)
	end := closes(s.b, s.open)
	if end < 0 || s.prev != '(' && s.before != "mut" && s.before != "ref" {
		return value{}, false
	}
	rest := bytes.TrimLeft(s.b[end:], " ")
	switch {
	case bytes.HasPrefix(rest, []byte("=>")):
		return value{}, true
	case bytes.HasPrefix(rest, []byte("= ")):
		if w == "Some" || w == "Ok" {
			return s.given(blank(s.b, end+bytes.IndexByte(s.b[end:], '=')+1)), true
		}
		return value{}, true
	}
	return value{}, false
}
