package receivers

import (
	"bytes"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
)

func (s *spot) inPython() (value, bool) {
	line := bytes.LastIndexByte(s.b[:s.k], '\n') + 1
	starts := len(bytes.TrimSpace(s.b[line:s.k])) == 0
	switch {
	case s.before == "lambda", s.before == "def", s.before == "class":
		return value{}, true
	case s.before == "for" && s.has("in "):
		return s.each(s.at + 3), true
	case s.before == "as":
		return s.managed(line), true
	case starts && s.open < 0 && s.next == ':' && !s.has(":="):
		return s.annotated(s.at), true
	case starts && s.assigned():
		return s.given(s.at + 1), true
	case s.has(":="):
		return s.given(s.at + 2), true
	case starts && s.next == ',' && s.open < 0:
		return value{}, bytes.Contains(restOfLine(s.b, s.at), []byte("="))
	}
	if s.inBrackets('(') && s.pythonHeader() && (s.prev == '(' || s.prev == ',' || s.prev == '*') {
		if s.next == ':' {
			return s.annotated(s.at), true
		}
		return value{}, s.next == ',' || s.next == ')' || s.assigned()
	}
	return value{}, false
}

func restOfLine(b []byte, at int) []byte {
	if n := bytes.IndexByte(b[at:], '\n'); n >= 0 {
		return b[at : at+n]
	}
	return b[at:]
}

// pythonHeader tells whether the brackets around a name are those of def.
func (s *spot) pythonHeader() bool {
	p := back(s.b, s.open)
	w := wordTo(s.b, p)
	return w != "" && wordTo(s.b, back(s.b, p-len(w))) == "def"
}

// managed is what a with statement or an except clause gives a name.
func (s *spot) managed(line int) value {
	head := bytes.TrimLeft(s.b[line:s.k], " \t")
	at := line + bytes.Index(s.b[line:], head)
	if bytes.HasPrefix(head, []byte("except ")) {
		text := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(string(head[7:])), "as"))
		return one(s.o, text)
	}
	for _, w := range []string{"with ", "async with "} {
		if bytes.HasPrefix(head, []byte(w)) {
			v, _ := s.r.chain(s.o, at+len(w), back(s.b, s.k)-2)
			enter, ok := s.r.Member(v, "__enter__")
			if !ok {
				if enter, ok = s.r.Member(v, "__aenter__"); !ok {
					return value{}
				}
			}
			d := enter.def()
			if strings.Contains(d.Own, "return self\n") || strings.HasSuffix(d.Own, "return self") {
				return v
			}
			return s.r.called(value{kind: function, p: enter, o: enter.File})
		}
	}
	return value{}
}

// comprehended is what a name is in a comprehension around a place: it is
// declared behind its uses.
func (r *Reader) comprehended(o *outline.File, b []byte, word string, at int) (value, bool) {
	for open := around(b, at, max(0, at-maxText)); open >= 0; open = around(b, open, max(0, at-maxText)) {
		end := closes(b, open)
		if end < at {
			return value{}, false
		}
		for k := at; k < end; k++ {
			if !bytes.HasPrefix(b[k:], []byte("for ")) || k > 0 && isName(b[k-1]) {
				continue
			}
			in := bytes.Index(b[k:end], []byte(" in "))
			if in < 0 {
				continue
			}
			names := string(b[k+4 : k+in])
			if strings.TrimSpace(names) == word {
				v := r.expression(o, k+in+4, 0)
				if v.kind != instance {
					return value{}, true
				}
				return one(v.t.o, element(v.t.o.Lang, v.t.text, false)), true
			}
			if outline.Mentions([]byte(names), word) {
				return value{}, true
			}
		}
	}
	return value{}, false
}

// visiblePython: a name is known in the whole function, and in those within.
func visiblePython(b []byte, k, at, scope int) bool {
	if open := around(b, k, scope); open >= 0 {
		if end := closes(b, open); end < 0 || end > at {
			return true
		}
	}
	if home := functionOf(b, k, scope); home > scope {
		// Every line from the head of that function on stands deeper.
		deep := indent(b, home)
		for line := lineStart(b, at); line > home; line = lineStart(b, line-1) {
			if l := bytes.TrimSpace(restOfLine(b, line)); len(l) > 0 && indent(b, line) <= deep && l[0] != ')' {
				return false
			}
		}
	}
	return true
}

func lineStart(b []byte, at int) int { return bytes.LastIndexByte(b[:max(at, 0)], '\n') + 1 }

func indent(b []byte, line int) int {
	n := 0
	for line+n < len(b) && (b[line+n] == ' ' || b[line+n] == '\t') {
		n++
	}
	return n
}

// functionOf is the line of the innermost def around a place.
func functionOf(b []byte, at, scope int) int {
	line := lineStart(b, at)
	depth := indent(b, line)
	if isDef(restOfLine(b, line)) {
		return line
	}
	for line > scope {
		line = lineStart(b, line-1)
		l := restOfLine(b, line)
		if len(bytes.TrimSpace(l)) == 0 || indent(b, line) >= depth {
			continue
		}
		if isDef(l) {
			return line
		}
		depth = indent(b, line)
	}
	return scope
}

func isDef(line []byte) bool {
	l := bytes.TrimSpace(line)
	return bytes.HasPrefix(l, []byte("def ")) || bytes.HasPrefix(l, []byte("async def "))
}
