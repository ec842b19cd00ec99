// Package peertext cleans and marks text that goes from one agent, or its
// developer, to another. Every sink that shows such text to a model or a
// terminal calls it on output, each time: what is stored stays as it was
// written, so a better rule tomorrow also covers yesterday's text.
//
// Marks are hygiene, not safety: a model may still obey what it reads. The
// safety lies in what peer text can change on the server, which is nothing.
package peertext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/excerpt"
)

// Limits of the one-line forms, in bytes.
const (
	MaxName   = 40
	MaxPerson = 80
	MaxBranch = 255
	MaxPath   = 512
	MaxTitle  = 300
)

// Clean returns s without anything that a reader cannot see, that moves a
// cursor, or that looks like our marks; secrets are masked. Lines and tabs
// stay. It is idempotent.
//
// Emoji joined by U+200D fall apart and Persian loses its non-joiners: the
// same code points carry hidden text, so that price is paid.
func Clean(s string) string {
	return defang(maskSecrets(scrub(s)))
}

// Line is Clean for text that stands inside a line of ours: a name, a path, a
// title. It has no line breaks and at most max bytes; a cut ends in "…".
func Line(s string, max int) string {
	s = strings.Join(strings.Fields(Clean(s)), " ")
	if len(s) <= max {
		return s
	}
	const dots = "…"
	if max < len(dots) {
		return excerpt.Bytes(s, max)
	}
	return excerpt.Bytes(s, max-len(dots)) + dots
}

// Name makes s an agent's or tool's name: letters, digits, dot, underscore
// and hyphen only, at most MaxName of them.
func Name(s string) string {
	var b strings.Builder
	for _, r := range Clean(s) {
		switch {
		case r == '.' || r == '_' || r == '-' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
	}
	if name := strings.Trim(excerpt.Bytes(b.String(), MaxName), "-"); name != "" {
		return name
	}
	return "unnamed"
}

// Person, Branch, Path and Title are Line with the limit of their kind.
func Person(s string) string { return Line(s, MaxPerson) }
func Branch(s string) string { return Line(s, MaxBranch) }
func Path(s string) string   { return Line(s, MaxPath) }
func Title(s string) string  { return Line(s, MaxTitle) }

// Datamark is Clean with "│ " before every line, so that each line shows by
// itself where it comes from. It is the form for terminals, where a person
// reads, or an agent that ran the command.
func Datamark(s string) string {
	return mark + strings.ReplaceAll(Clean(s), "\n", "\n"+mark)
}

const mark = "│ "

// maxMarks is how many combining marks may sit on one character.
const maxMarks = 3

// scrub maps s rune by rune: what cannot be seen goes, every kind of line
// break becomes \n, every kind of space a space, our brackets become [ ].
func scrub(s string) string {
	if plain(s) {
		return s
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	var b strings.Builder
	b.Grow(len(s))
	marks := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if n := controlSequence(s[i:]); n > 0 {
			i += n
			continue
		}
		i += size
		if r = replace(r); r < 0 {
			continue
		}
		if unicode.In(r, unicode.Mn, unicode.Me) {
			if marks++; marks > maxMarks {
				continue
			}
		} else {
			marks = 0
		}
		b.WriteRune(r)
	}
	return b.String()
}

// plain reports whether s is printable ASCII with lines and tabs, which is
// what most text is and what scrub leaves alone.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' && c != '\n' && c != '\t') || c >= 0x7f {
			return false
		}
	}
	return true
}

// EscapeHidden writes the characters that Clean would drop as \uXXXX. On JSON
// that changes nothing for who parses it and everything for who looks at it:
// outside of strings JSON has none of them.
func EscapeHidden(json []byte) []byte {
	out := make([]byte, 0, len(json))
	for _, r := range string(json) {
		switch {
		case r < 0x7f || replace(r) >= 0 && !unicode.In(r, unicode.Zl, unicode.Zp) && r != 0x85:
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}

// replace returns what stands for r in clean text, -1 for nothing.
func replace(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r == '\v' || r == '\f' || r == 0x85 || r == 0x2028 || r == 0x2029:
		return '\n'
	case r < ' ' || r == 0x7f:
		return -1
	case r < 0x7f:
		return r
	}
	if to := bracket(r); to != 0 {
		return to
	}
	switch {
	case unicode.Is(unicode.Zs, r):
		return ' '
	case unicode.In(r, hidden...) || blank(r):
		return -1
	}
	return r
}

// hidden are the classes of characters that do not show or have no agreed
// look: a reader cannot vouch for what it cannot see.
var hidden = []*unicode.RangeTable{
	unicode.Cc, // C0 and C1 controls
	unicode.Cf, // bidi, zero-width, tags, soft hyphen
	unicode.Co, // private use
	unicode.Cs,
	unicode.Variation_Selector,
	unicode.Other_Default_Ignorable_Code_Point, // fillers, unassigned tags
	unicode.Noncharacter_Code_Point,
}

// blank reports whether a character of a visible class shows nothing: a braille
// blank, the Khitan filler, a musical null note head.
func blank(r rune) bool { return r == 0x2800 || r == 0x16FE4 || r == 0x1D159 }

// bracket returns what stands for a character of our marks, or for one that
// passes for it; 0 for others.
func bracket(r rune) rune {
	switch r {
	case '⟦', '〚', '⟬', '⦋', '⦍', '⦏', '⁅', '⸢', '⸤', '〖', '〘', '⦗', '［', '⎡', '⎢', '⎣', '⌈', '⌊', '⟮', '｢':
		return '['
	case '⟧', '〛', '⟭', '⦌', '⦎', '⦐', '⁆', '⸣', '⸥', '〗', '〙', '⦘', '］', '⎤', '⎥', '⎦', '⌉', '⌋', '⟯', '｣':
		return ']'
	}
	return 0
}

// controlSequence returns the length of the terminal control sequence (CSI)
// at the start of s, or 0. Only its own bytes are in it, so that dropping it
// never drops text.
func controlSequence(s string) int {
	var i int
	switch {
	case strings.HasPrefix(s, "\x1b["):
		i = 2
	case strings.HasPrefix(s, "\u009b"):
		i = 2
	default:
		return 0
	}
	for i < len(s) && s[i] >= 0x30 && s[i] <= 0x3f {
		i++
	}
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
		i++
	}
	if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
		return i + 1
	}
	return 0
}

// defang turns Markdown images into links: hosts that render Markdown fetch
// an image without asking, and its address may carry what an agent knows. The
// three endings are those an image can have, also lines later; a Rust vec![1]
// has none of them.
func defang(s string) string {
	at := strings.Index(s, "![")
	if at < 0 {
		return s
	}
	for _, end := range []string{"](", "][", "]:"} {
		if strings.Contains(s[at:], end) {
			return strings.ReplaceAll(s, "![", "! [")
		}
	}
	return s
}
