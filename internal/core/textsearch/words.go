// Package textsearch finds short texts by their words, ranked by match and
// recency. An Index lives in memory and all arithmetic is on whole numbers, so
// the same texts give the same order wherever they came from. It does not
// know who may read a text: whoever asks filters what is found.
package textsearch

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxWords is how many words of a text are looked at.
const maxWords = 4000

// Words returns the words of a text in the form in which they are compared:
// lower case, without accents and plural s. The parts of camelCase and
// snake_case names follow the whole. Scripts without spaces give one word per
// character.
func Words(text string) []string {
	var out []string
	words(text, func(w string, _, _ int) bool {
		out = append(out, w)
		return len(out) < maxWords
	})
	return out
}

// words calls yield with each word and where in the text it stands.
func words(text string, yield func(word string, start, end int) bool) {
	start := -1
	flush := func(end int) bool {
		if start < 0 {
			return true
		}
		from := start
		start = -1
		return split(text[from:end], from, yield)
	}
	for i, r := range text {
		switch {
		case alone(r):
			if !flush(i) || !yield(string(r), i, i+len(string(r))) {
				return
			}
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) || r == '_':
			if start < 0 {
				start = i
			}
		default:
			if !flush(i) {
				return
			}
		}
	}
	flush(len(text))
}

// alone reports whether r belongs to a script that puts no spaces between
// words.
func alone(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// split yields a name and, if it has several, its parts.
func split(name string, at int, yield func(string, int, int) bool) bool {
	if whole := fold(strings.Trim(name, "_")); whole != "" && !yield(whole, at, at+len(name)) {
		return false
	}
	type part struct {
		word       string
		start, end int
	}
	var parts []part
	from := 0
	add := func(end int) {
		if w := fold(strings.Trim(name[from:end], "_")); w != "" {
			parts = append(parts, part{w, at + from, at + end})
		}
		from = end
	}
	var prev rune
	for i, r := range name {
		if i > 0 && (r == '_' || unicode.IsUpper(r) && unicode.IsLower(prev)) {
			add(i)
		}
		prev = r
	}
	add(len(name))
	if len(parts) < 2 {
		return true
	}
	for _, p := range parts {
		if !yield(p.word, p.start, p.end) {
			return false
		}
	}
	return true
}

// fold brings a word into the form in which words are compared.
func fold(w string) string {
	w = strings.ToLower(w)
	for i := range len(w) {
		if w[i] >= 0x80 {
			w = strings.ToLower(strings.Map(plain, norm.NFKD.String(w)))
			break
		}
	}
	if n := len(w); n > 3 && w[n-1] == 's' && w[n-2] != 's' && w[n-2] != 'u' && w[n-2] != 'i' {
		w = w[:n-1]
	}
	return w
}

// plain drops what is left of an accent or a ligature.
func plain(r rune) rune {
	if r == '_' || unicode.IsDigit(r) || unicode.IsLetter(r) {
		return r
	}
	return -1
}

// common are words that tell texts apart as good as never.
var common = set(`a an and are as at be by can do does for from has have how i if in is it its me my no not of on or our
	so that the their them then there they this to up was we were what when where which who why will with you your`)

// Common reports whether a word, as Words has it, tells texts apart as good as
// never.
func Common(word string) bool { return common[word] }

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[fold(w)] = true
	}
	return out
}

// terms returns the distinct words of a query; common ones only if there is
// nothing else.
func terms(query string) []string {
	var all, telling []string
	seen := map[string]bool{}
	for _, w := range Words(query) {
		if seen[w] {
			continue
		}
		seen[w] = true
		all = append(all, w)
		if !common[w] {
			telling = append(telling, w)
		}
	}
	if len(telling) == 0 {
		telling = all
	}
	const most = 16
	return telling[:min(len(telling), most)]
}
