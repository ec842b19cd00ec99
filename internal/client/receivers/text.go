package receivers

import (
	"bytes"
	"strings"

	"github.com/svc-hq/svc/internal/client/extinct"
	"github.com/svc-hq/svc/internal/client/outline"
)

// code is a file's source in which remarks and texts are blank.
func (r *Reader) code(o *outline.File) []byte {
	c, ok := r.texts[o]
	if !ok {
		c = extinct.Code(o.Lang, o.Source)
		r.texts[o] = c
	}
	return c
}

func isName(c byte) bool { return outline.IsNameByte(c) || c == '$' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// blank goes on over white space.
func blank(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}

// back goes back over white space.
func back(b []byte, i int) int {
	for i > 0 && isSpace(b[i-1]) {
		i--
	}
	return i
}

// wordFrom is the word that begins at a place.
func wordFrom(b []byte, i int) string {
	from := i
	for i < len(b) && isName(b[i]) {
		i++
	}
	return string(b[from:i])
}

// wordTo is the word that ends at a place.
func wordTo(b []byte, i int) string {
	to := i
	for i > 0 && isName(b[i-1]) {
		i--
	}
	return string(b[i:to])
}

const maxText = 6000 // bytes that brackets are looked for in

// closes returns the place behind the bracket that closes the one at i, or -1.
func closes(b []byte, i int) int {
	depth := 0
	for k := i; k < len(b) && k < i+maxText; k++ {
		switch b[k] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth == 0 {
				return k + 1
			}
		}
	}
	return -1
}

// opens returns the place of the bracket that the one before i closes, or -1.
func opens(b []byte, i int) int {
	depth := 0
	for k := i - 1; k >= 0 && k > i-maxText; k-- {
		switch b[k] {
		case ')', ']', '}':
			depth++
		case '(', '[', '{':
			if depth--; depth == 0 {
				return k
			}
		}
	}
	return -1
}

// around returns the place of the innermost bracket that is open at i and not
// before from, or -1.
func around(b []byte, i, from int) int {
	depth := 0
	for k := i - 1; k >= from; k-- {
		switch b[k] {
		case ')', ']', '}':
			depth++
		case '(', '[', '{':
			if depth == 0 {
				return k
			}
			depth--
		}
	}
	return -1
}

// angles returns the place behind a list in angle brackets that opens at i, or
// i if it is none.
func angles(b []byte, i int) int {
	depth := 0
	for k := i; k < len(b) && k < i+300; k++ {
		switch b[k] {
		case '<':
			depth++
		case '>':
			if k > 0 && (b[k-1] == '-' || b[k-1] == '=') {
				continue
			}
			if depth--; depth == 0 {
				return k + 1
			}
		case ';', '{', '"', '+':
			return i
		}
	}
	return i
}

// lineAt is the number of the line of a place, from 0.
func lineAt(b []byte, i int) uint32 { return uint32(bytes.Count(b[:i], []byte{'\n'})) }

// endOfType returns where a type that is written from i on ends.
func endOfType(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch c := b[i]; c {
		case '(', '[', '{', '<':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				return i
			}
		case '>':
			if i > 0 && (b[i-1] == '=' || b[i-1] == '-') {
				continue
			}
			if depth--; depth < 0 {
				return i
			}
		case ',', ';', '=', '\n':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// split cuts a text at a byte that stands in no brackets.
func split(s string, at byte) (out []string) {
	for _, p := range outline.SplitTop(s, at) {
		out = append(out, strings.TrimSpace(p))
	}
	return out
}
