package setup

import (
	"bytes"
	"fmt"
)

var utf8BOM = []byte("\xef\xbb\xbf")

// A lineError is what is wrong with a file, and where.
type lineError struct {
	line int
	text string
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %s", e.line, e.text) }

func atLine(line int, format string, args ...any) error {
	return &lineError{line, fmt.Sprintf(format, args...)}
}

func lineOf(text []byte, at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }

// newline is the line ending that most lines of text have.
func newline(text []byte) string {
	crlf := bytes.Count(text, []byte("\r\n"))
	if crlf > bytes.Count(text, []byte("\n"))-crlf {
		return "\r\n"
	}
	return "\n"
}

// appendBlock adds lines at the end of a text file, after a blank line. Where
// the file did not end in a newline, neither does the block, so that cutBlock
// can tell. In a file of our own there is no blank line before it.
func appendBlock(text []byte, fresh bool, block string) []byte {
	nl := newline(text)
	b := bytes.ReplaceAll([]byte(block), []byte("\n"), []byte(nl))
	switch {
	case fresh:
		return append(b, nl...)
	case len(text) == 0 || bytes.HasSuffix(text, []byte("\n")):
		return bytes.Join([][]byte{text, []byte(nl), b, []byte(nl)}, nil)
	default:
		return bytes.Join([][]byte{text, []byte(nl), []byte(nl), b}, nil)
	}
}

// cutBlock undoes appendBlock for the lines between from and to, which ends
// before the block's own newline. It reports whether the file held nothing
// else and was ours.
func cutBlock(text []byte, from, to int) (rest []byte, gone bool) {
	nl := []byte(newline(text))
	before, after := text[:from], text[to:]
	switch {
	case from == 0:
		after = bytes.TrimPrefix(after, nl)
	case len(after) == 0:
		before = bytes.TrimSuffix(before, bytes.Repeat(nl, 2))
	default:
		after = bytes.TrimPrefix(after, nl)
		if line := bytes.TrimSuffix(before, nl); len(line) == 0 || line[len(line)-1] == '\n' {
			before = line
		}
	}
	rest = append(bytes.Clone(before), after...)
	return rest, from == 0 && len(rest) == 0
}
