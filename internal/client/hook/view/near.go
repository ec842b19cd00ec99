package view

import (
	"bytes"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// definition is a line that begins one, in most languages; and what git takes
// for one, a name in the first column.
var definition = lazy.Regexp(`^\s*(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|static|async|abstract|final)\s+)*` +
	`(?:func|fun|fn|def|function|class|interface|type|struct|impl|trait|enum|module|object)\b|^[A-Za-z_$][^;]*[({:]\s*$`)

// near returns the unseen changes that stand in a definition that the edits
// change too.
func near(unseen, edits []change, text []byte) (out []Span) {
	lines := bytes.SplitAfter(text, []byte("\n"))
	touched := map[int]bool{}
	for _, e := range edits {
		for i := e.old; i < max(e.old+e.oldCount, e.old+1); i++ {
			if at, ok := enclosing(lines, i); ok {
				touched[at] = true
			}
		}
	}
	for _, c := range unseen {
		for i := c.new; i < max(c.new+c.newCount, c.new+1); i++ {
			if at, ok := enclosing(lines, i); ok && touched[at] {
				out = append(out, Span{c.new + 1, c.newCount, c.oldCount})
				break
			}
		}
	}
	return out
}

// enclosing returns the line that begins the definition in which a line stands.
func enclosing(lines [][]byte, i int) (int, bool) {
	if i >= len(lines) {
		return 0, false
	}
	depth := indentation(lines[i])
	if depth < 0 {
		depth = 1 << 20
	}
	if definition.Get().Match(lines[i]) {
		return i, true
	}
	for n := i - 1; n >= 0; n-- {
		in := indentation(lines[n])
		if in < 0 || in >= depth {
			continue
		}
		if definition.Get().Match(lines[n]) {
			return n, true
		}
		depth = in
		if depth == 0 {
			return 0, false
		}
	}
	return 0, false
}

// indentation is how far a line is moved in, or -1 if it has no text.
func indentation(line []byte) int {
	n := 0
	for _, b := range line {
		switch b {
		case ' ':
			n++
		case '\t':
			n += 8
		case '\r', '\n':
			return -1
		default:
			return n
		}
	}
	return -1
}
