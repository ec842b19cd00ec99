package receivers

import (
	"bytes"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// narrowed is what the code around a place says that a name is there: the case
// of a switch over types, or a question for its type that was answered with yes.
// With it comes where that is said, or -1.
func (r *Reader) narrowed(o *outline.File, b []byte, word string, at, scope int) (value, int) {
	switch o.Lang {
	case "go":
		return narrowedGo(o, b, word, at, scope)
	case "python":
		return narrowedPython(o, b, word, at, scope)
	case "typescript", "kotlin":
		return narrowedBraces(o, b, word, at, scope)
	}
	return value{}, -1
}

// question reads how a language asks for the type of a name.
func question(pattern string) func(head []byte, word string) string {
	re := lazy.Regexp(pattern)
	return func(head []byte, word string) string {
		// Only where every answer but yes leads elsewhere.
		if bytes.Contains(head, []byte("||")) || bytes.Contains(head, []byte(" or ")) {
			return ""
		}
		for _, m := range re.Get().FindAllSubmatch(head, -1) {
			if string(m[1]) == word {
				return string(m[2])
			}
		}
		return ""
	}
}

var (
	askedTypeScript = question(`(?:[(&]|^)\s*(\w+) instanceof ([\w.]+)\s*(?:[)&]|$)`)
	askedKotlin     = question(`(?:[(&]|^)\s*(\w+) is ([\w.]+)\s*(?:[)&]|$)`)
	askedPython     = question(`(?:(?:if|elif|while|assert|and) )isinstance\(\s*(\w+)\s*,\s*([\w.]+)\s*\)`)
)

// narrowedGo reads switch v := x.(type): in a case of one type it is one.
func narrowedGo(o *outline.File, b []byte, word string, at, scope int) (value, int) {
	for open := around(b, at, scope); open >= 0; open = around(b, open, scope) {
		head := bytes.TrimSpace(b[lineStart(b, open):open])
		rest, ok := bytes.CutSuffix(head, []byte(".(type)"))
		if b[open] != '{' || !ok {
			continue
		}
		if i := bytes.LastIndex(rest, []byte("; ")); i >= 0 {
			rest = rest[i+2:]
		}
		name, _, ok := bytes.Cut(bytes.TrimPrefix(rest, []byte("switch ")), []byte(":="))
		if !ok || string(bytes.TrimSpace(name)) != word {
			continue
		}
		from, to := caseBefore(b, open, at)
		types := split(string(b[from:to]), ',')
		if from == to || len(types) != 1 || types[0] == "nil" {
			return value{}, open
		}
		return one(o, types[0]), from
	}
	return value{}, -1
}

// caseBefore is where the types stand of the last case of a block before a
// place; nowhere, if it is the default.
func caseBefore(b []byte, open, at int) (from, to int) {
	for k := open + 1; k < at; k++ {
		switch {
		case b[k] == '{' || b[k] == '(' || b[k] == '[':
			if end := closes(b, k); end > 0 && end <= at {
				k = end - 1
			}
		case isName(b[k]) && !isName(b[k-1]):
			w := wordFrom(b, k)
			if w == "case" || w == "default" {
				from, to = 0, 0
				if colon := bytes.IndexByte(b[k:at], ':'); w == "case" && colon > 0 {
					from, to = blank(b, k+len(w)), k+colon
				}
			}
			k += len(w) - 1
		}
	}
	return from, to
}

// narrowedBraces reads if (x instanceof T) {, and if (x is T) { of
// Kotlin.
func narrowedBraces(o *outline.File, b []byte, word string, at, scope int) (value, int) {
	asked := askedTypeScript
	if o.Lang == "kotlin" {
		asked = askedKotlin
	}
	for open := around(b, at, scope); open >= 0; open = around(b, open, scope) {
		if b[open] != '{' {
			continue
		}
		head := bytes.TrimSpace(b[lineStart(b, open):open])
		head = bytes.TrimPrefix(bytes.TrimLeft(head, "} "), []byte("else "))
		if !bytes.HasPrefix(head, []byte("if ")) && !bytes.HasPrefix(head, []byte("if(")) {
			continue
		}
		if t := asked(head[2:], word); t != "" {
			return one(o, t), open
		}
	}
	return value{}, -1
}

// narrowedPython reads if isinstance(x, T): around a place, and assert before it.
func narrowedPython(o *outline.File, b []byte, word string, at, scope int) (value, int) {
	line := lineStart(b, at)
	depth := indent(b, line)
	for line > scope {
		line = lineStart(b, line-1)
		l := restOfLine(b, line)
		text := strings.TrimSpace(string(l))
		if text == "" || indent(b, line) > depth {
			continue
		}
		outer := indent(b, line) < depth
		depth = indent(b, line)
		if strings.HasPrefix(text, "assert ") || outer && (strings.HasPrefix(text, "if ") || strings.HasPrefix(text, "elif ")) {
			if t := askedPython([]byte(text), word); t != "" {
				return one(o, t), line
			}
		}
	}
	return value{}, -1
}
