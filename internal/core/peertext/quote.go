package peertext

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Names, branches, paths and symbols stand in our own sentences. Those of an
// ordinary form cannot be read as part of the sentence and stand as they are;
// all others are quoted: ⟦between such brackets⟧, which nothing foreign can
// hold once it is clean. Say turns the quotes of a sentence into marks.

// Quoted returns s, which somebody chose, as it may stand in a sentence of
// ours: a branch, path, selector, symbol or contract.
func Quoted(s string) string {
	if ordinaryPlace(s) {
		return s
	}
	return quote(s, maxQuoted)
}

// QuotedName is Quoted for people's names.
func QuotedName(s string) string {
	s = Line(s, MaxPerson)
	if ordinaryName(s) {
		return s
	}
	return quote(s, MaxName)
}

// QuotedText is Quoted for text that is free however it looks, such as a
// signature or a title.
func QuotedText(s string, max int) string { return quote(s, max) }

// maxQuoted is how much of a place stands in a sentence, in bytes.
const maxQuoted = 120

const quoteOpen, quoteClose = "⟦", "⟧"

func quote(s string, max int) string {
	if s = Line(s, max); s == "" {
		return ""
	}
	if strings.HasPrefix(strings.TrimPrefix(s, "/"), markStart) {
		s = " " + s // or the quote would look like a mark
	}
	return quoteOpen + s + quoteClose
}

// plainSegment is a part of a path, or a name in code, in which nothing can be
// said: no space, no colon, and brackets only where paths and globs have them.
var plainSegment = lazy.Regexp(`^(?:[A-Za-z0-9_.@+~=*?$%&-]|#|\[[A-Za-z0-9_.*!^-]*\]|\{[A-Za-z0-9_.,*-]*\})+$|^\([A-Za-z0-9_.-]+\)$`)

// placePrefix is what symbols, contracts, targets of messages and addresses
// begin with.
var placePrefix = lazy.Regexp(`^(?:sym:[a-z]*:|pkg:[a-z]*:|res:[a-z0-9_-]{1,20}:|http:(?:[A-Z]{1,10} )?|[A-Z]{3,7} |` +
	`db:|event:|config:|gql:|proto:|(?:user|intent|conflict|thread|channel):|https?://[a-z0-9.-]+(?::[0-9]+)?)`)

// maxPlain is how long a place may be to stand as it is, and one part of it.
const maxPlain, maxSegment = 200, 80

func ordinaryPlace(s string) bool {
	if len(s) > maxPlain || s == "" {
		return false
	}
	rest := s[len(placePrefix.Get().FindString(s)):]
	rest = strings.TrimPrefix(rest, "/")
	if rest == "" {
		return true
	}
	for segment := range strings.SplitSeq(strings.TrimSuffix(rest, "/"), "/") {
		if len(segment) > maxSegment || !plainSegment.Get().MatchString(segment) {
			return false
		}
	}
	return true
}

// ordinaryName reports whether s looks like a person's name or address: a few
// words of letters.
func ordinaryName(s string) bool {
	if utf8.RuneCountInString(s) > MaxName || s == "" {
		return false
	}
	if anEmail.Get().MatchString(s) {
		return true
	}
	words := strings.Fields(s)
	if len(words) > 4 {
		return false
	}
	for _, w := range words {
		initial := utf8.RuneCountInString(w) <= 3
		for i, r := range w {
			last := i+utf8.RuneLen(r) == len(w)
			switch {
			case unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r):
			case r == '-' || r == '\'' || r == '’' || r == '_':
			case r == '.' && last && initial: // J. or Dr.
			default:
				return false
			}
		}
	}
	return true
}

var anEmail = lazy.Regexp(`^[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+$`)

// said finds the quotes in a sentence of ours, and marks that are whole.
var said = lazy.Regexp(`⟦/?peer:[a-z2-7]{16}⟧|⟦([^⟦⟧]*)⟧`)

// Say returns a sentence of ours as a model may read it: what is quoted in it
// stands between marks, everything else is clean and on one line, and at most
// max bytes are shown. Every sentence that reaches a model passes here; what is
// free text altogether passes Inline or Block.
func (m Marker) Say(sentence string, max int) string {
	var b strings.Builder
	rest := sentence
	for _, at := range said.Get().FindAllStringSubmatchIndex(sentence, -1) {
		before := len(sentence) - len(rest)
		b.WriteString(ourWords(sentence[before:at[0]]))
		if b.Len() > max {
			return excerpt.Bytes(b.String(), max) + "…"
		}
		if at[2] < 0 { // a mark that is whole already
			b.WriteString(sentence[at[0]:at[1]])
		} else {
			b.WriteString(m.Inline(sentence[at[2]:at[3]], MaxPath))
		}
		rest = sentence[at[1]:]
	}
	words := ourWords(rest)
	if left := max - b.Len(); len(words) > left {
		words = excerpt.Bytes(words, left) + "…"
	}
	return strings.TrimSpace(b.String() + words)
}

// Text is the last thing that a text for a model passes, whatever it was made
// of: what is still quoted in it is marked, what stands between two marks that
// belong together stays, and everything else is clean. It changes nothing in a
// text that has passed.
func (m Marker) Text(text string) string {
	if text == "" {
		return ""
	}
	var b strings.Builder
	for {
		at := strings.Index(text, quoteOpen)
		if at < 0 {
			b.WriteString(Clean(text))
			return b.String()
		}
		b.WriteString(Clean(text[:at]))
		text = text[at:]
		n := markedLen(text)
		quoted := quotedForm.Get().FindStringSubmatchIndex(text)
		switch {
		case n > 0:
			b.WriteString(text[:n])
		case quoted != nil && !strings.HasPrefix(text[quoted[2]:], markStart) && !strings.HasPrefix(text[quoted[2]:], "/"+markStart):
			n = quoted[1]
			b.WriteString(m.Inline(text[quoted[2]:quoted[3]], MaxPath))
		default: // half a mark
			n = len(quoteOpen)
			b.WriteString(Clean(quoteOpen))
		}
		text = text[n:]
	}
}

// markedLen returns how long the marked text at the start of text is, with its
// marks, 0 if there is none.
func markedLen(text string) int {
	at := openForm.Get().FindStringSubmatchIndex(text)
	if at == nil {
		return 0
	}
	end := strings.Index(text, fmt.Sprintf(closeMark, text[at[2]:at[3]]))
	if end < 0 {
		return 0
	}
	return end + len(closeMark) - len("%s") + at[3] - at[2]
}

const markStart = "peer:"

var openForm, quotedForm = lazy.Regexp(`^⟦peer:([a-z2-7]{16})⟧`), lazy.Regexp(`^⟦([^⟦⟧]*)⟧`)

// ourWords cleans a part of a sentence and keeps the spaces at its ends.
func ourWords(s string) string {
	line := strings.Join(strings.Fields(Clean(s)), " ")
	if line == "" {
		if s != "" {
			return " "
		}
		return ""
	}
	if first, _ := utf8.DecodeRuneInString(s); unicode.IsSpace(first) {
		line = " " + line
	}
	if last, _ := utf8.DecodeLastRuneInString(s); unicode.IsSpace(last) {
		line += " "
	}
	return line
}

// Place renders a field that holds nothing but a branch, path or symbol.
func (m Marker) Place(s string, max int) string {
	if ordinaryPlace(s) {
		return s
	}
	return m.Inline(s, max)
}

// PersonName renders a field that holds nothing but a person's name.
func (m Marker) PersonName(s string) string {
	if line := Line(s, MaxPerson); ordinaryName(line) {
		return line
	}
	return m.Inline(s, MaxPerson)
}
