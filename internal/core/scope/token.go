package scope

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A token is one step of a pattern's element: a star, or one character out
// of a set.
type token struct {
	star  bool
	any   bool
	noDot bool   // the set without '.'
	lit   rune   // the one character of the set, if class is empty and any is false
	class string // what stands between the brackets
}

func (t token) isStar() bool { return t.star }

// nextToken returns the first token of elem and its length in bytes, which is
// 0 at the end and for a bracket that is not closed.
func nextToken(elem string) (token, int) {
	if elem == "" {
		return token{}, 0
	}
	switch elem[0] {
	case '*':
		return token{star: true}, 1
	case '?':
		return token{any: true}, 1
	case '[':
		n := classEnd(elem)
		if n == 0 {
			return token{}, 0
		}
		return token{class: elem[1 : n-1]}, n
	case '\\':
		r, n := utf8.DecodeRuneInString(elem[1:])
		return token{lit: r}, 1 + n
	}
	r, n := utf8.DecodeRuneInString(elem)
	return token{lit: r}, n
}

func tokens(buf []token, elem string) []token {
	for elem != "" {
		t, n := nextToken(elem)
		buf, elem = append(buf, t), elem[n:]
	}
	return buf
}

// classEnd returns the length of the set at the start of elem. A bracket that
// comes first belongs to the set.
func classEnd(elem string) int {
	i := 1
	if i < len(elem) && (elem[i] == '!' || elem[i] == '^') {
		i++
	}
	if i < len(elem) && elem[i] == ']' {
		i++
	}
	end := strings.IndexByte(elem[i:], ']')
	if end < 0 {
		return 0
	}
	return i + end + 1
}

// has reports whether r is in the token's set.
func (t token) has(r rune) bool {
	switch {
	case t.any:
		return true
	case t.class == "":
		return r == t.lit
	}
	class, negated := t.parts()
	for class != "" {
		var lo, hi rune
		if lo, hi, class = nextRange(class); lo <= r && r <= hi {
			return !negated
		}
	}
	return negated
}

// overlaps reports whether two sets have a character in common.
func (t token) overlaps(u token) bool {
	if t.class == "" && u.class == "" && !t.noDot && !u.noDot {
		return t.any || u.any || t.lit == u.lit
	}
	for _, a := range t.ranges() {
		for _, b := range u.ranges() {
			if a.lo <= b.hi && b.lo <= a.hi {
				return true
			}
		}
	}
	return false
}

// empty reports whether no character is in the token's set.
func (t token) empty() bool { return t.class != "" && len(t.ranges()) == 0 }

func (t token) parts() (class string, negated bool) {
	if t.class[0] == '!' || t.class[0] == '^' {
		return t.class[1:], true
	}
	return t.class, false
}

type runeRange struct{ lo, hi rune }

// ranges returns the token's set as sorted ranges.
func (t token) ranges() []runeRange {
	var rs []runeRange
	negated := false
	switch {
	case t.any:
		negated = true
	case t.class == "":
		rs = []runeRange{{t.lit, t.lit}}
	default:
		var class string
		class, negated = t.parts()
		for class != "" {
			var r runeRange
			if r.lo, r.hi, class = nextRange(class); r.lo <= r.hi {
				rs = append(rs, r)
			}
		}
	}
	if !negated {
		rs = complement(rs)
	}
	// What is left out now: control characters, the separator, perhaps the dot.
	rs = append(rs, runeRange{0, ' ' - 1}, runeRange{'/', '/'}, runeRange{0x7f, 0x7f}, runeRange{0xd800, 0xdfff})
	if t.noDot {
		rs = append(rs, runeRange{'.', '.'})
	}
	return complement(rs)
}

// complement returns the characters in none of the ranges.
func complement(rs []runeRange) []runeRange {
	slices.SortFunc(rs, func(a, b runeRange) int { return cmp.Compare(a.lo, b.lo) })
	var out []runeRange
	next := rune(0)
	for _, r := range rs {
		if r.lo > next {
			out = append(out, runeRange{next, r.lo - 1})
		}
		next = max(next, r.hi+1)
	}
	if next <= utf8.MaxRune {
		out = append(out, runeRange{next, utf8.MaxRune})
	}
	return out
}

// nextRange cuts one character or a-z off the front of a set. A range the
// wrong way round holds nothing.
func nextRange(class string) (lo, hi rune, rest string) {
	lo, n := utf8.DecodeRuneInString(class)
	rest = class[n:]
	if len(rest) < 2 || rest[0] != '-' {
		return lo, lo, rest
	}
	hi, n = utf8.DecodeRuneInString(rest[1:])
	return lo, hi, rest[1+n:]
}

// unescape returns the text that a pattern without wildcards matches.
func unescape(pattern string) string {
	if !strings.Contains(pattern, `\`) {
		return pattern
	}
	return strings.ReplaceAll(pattern, `\`, "")
}
