package scope

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A pattern is a glob without braces: the form in which an index holds it. A
// backslash takes the special meaning from the character after it. The
// functions here work on the text itself, because an index holds many
// patterns and can spare no memory for a compiled form.

// HasWildcard reports whether pattern can match more than one path.
func HasWildcard(pattern string) bool {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}

// SplitPattern cuts pattern after its leading elements without wildcards:
// dir is literal text and rest begins with a wildcard. A pattern without
// wildcards is all dir.
func SplitPattern(pattern string) (dir, rest string) {
	at := 0
	for at < len(pattern) {
		elem, _, more := strings.Cut(pattern[at:], "/")
		if HasWildcard(elem) {
			break
		}
		at += len(elem)
		if more {
			at++
		}
	}
	return unescape(strings.TrimSuffix(pattern[:at], "/")), pattern[at:]
}

// MatchPattern reports whether pattern matches path. Its cost is at most the
// product of their lengths.
func MatchPattern(pattern, path string) bool {
	// On a mismatch only the last ** needs to take one element more.
	var star, back string
	starred := false
	for {
		elem, restPattern, morePattern := strings.Cut(pattern, "/")
		if elem == "**" {
			if !morePattern {
				return true
			}
			star, back, starred = restPattern, path, true
			pattern = restPattern
			continue
		}
		if pattern == "" && path == "" {
			return true
		}
		name, restPath, _ := strings.Cut(path, "/")
		if pattern != "" && path != "" && MatchElem(elem, name) {
			pattern, path = restPattern, restPath
			continue
		}
		if !starred || back == "" {
			return false
		}
		_, back, _ = strings.Cut(back, "/")
		pattern, path = star, back
	}
}

// MatchElem reports whether one element of a pattern matches one name.
func MatchElem(elem, name string) bool {
	if name == "." || name == ".." {
		return false
	}
	// On a mismatch only the last star needs to take one character more.
	var star, back string
	starred := false
	for {
		ok := false
		switch {
		case elem == "":
			if name == "" {
				return true
			}
		case elem[0] == '*':
			if elem = elem[1:]; elem == "" {
				return true
			}
			star, back, starred = elem, name, true
			continue
		case elem[0] == '?' || elem[0] == '[' || elem[0] == '\\':
			elem, name, ok = matchToken(elem, name)
		case name != "" && name[0] == elem[0]:
			// Bytes will do: where a character begins alike it goes on alike.
			elem, name, ok = elem[1:], name[1:], true
		}
		if ok {
			continue
		}
		if !starred || back == "" {
			return false
		}
		_, size := utf8.DecodeRuneInString(back)
		back = back[size:]
		elem, name = star, back
	}
}

// matchToken matches one character by a token that is not a plain byte.
func matchToken(elem, name string) (restElem, restName string, ok bool) {
	tok, n := nextToken(elem)
	r, size := utf8.DecodeRuneInString(name)
	if n == 0 || size == 0 || !tok.has(r) {
		return elem, name, false
	}
	return elem[n:], name[size:], true
}

// PatternsOverlap reports whether some path matches both patterns.
func PatternsOverlap(p, q string) bool {
	var pBuf, qBuf [24]string
	a, b := elements(pBuf[:0], p), elements(qBuf[:0], q)
	if !allSatisfiable(a) || !allSatisfiable(b) {
		return false
	}
	return overlap(a, b, isDoubleStar, ElemsOverlap)
}

// ElemsOverlap reports whether some name matches both elements, neither of
// which is **.
func ElemsOverlap(p, q string) bool {
	switch {
	case !HasWildcard(p):
		return MatchElem(q, unescape(p))
	case !HasWildcard(q):
		return MatchElem(p, unescape(q))
	case p == "*":
		return satisfiable(q)
	case q == "*":
		return satisfiable(p)
	}
	var pBuf, qBuf [32]token
	a, b := tokens(pBuf[:0], p), tokens(qBuf[:0], q)
	if slices.ContainsFunc(a, token.empty) || slices.ContainsFunc(b, token.empty) {
		return false
	}
	if short(b) {
		a, b = b, a
	}
	if !short(a) {
		return overlap(a, b, token.isStar, token.overlaps)
	}
	// Neither "." nor ".." is a name: some character must not be a dot.
	for i := range a {
		a[i].noDot = true
		if overlap(a, b, token.isStar, token.overlaps) {
			return true
		}
		a[i].noDot = false
	}
	return false
}

// overlap reports whether two sequences can stand for one text, where a star
// of either takes any number of the other's items. reach[j] tells whether the
// items read so far of a and the first j of b can.
func overlap[T any](a, b []T, star func(T) bool, meet func(T, T) bool) bool {
	var buf [64]bool
	reach := buf[:]
	if len(b)+1 > len(buf) {
		reach = make([]bool, len(b)+1)
	}
	reach[0] = true
	for j := 0; j < len(b) && star(b[j]); j++ {
		reach[j+1] = true
	}
	for _, x := range a {
		diagonal, xStar := reach[0], star(x)
		reach[0] = reach[0] && xStar
		for j, y := range b {
			above := reach[j+1]
			if xStar || star(y) {
				reach[j+1] = above || reach[j]
			} else {
				reach[j+1] = diagonal && meet(x, y)
			}
			diagonal = above
		}
	}
	return reach[len(b)]
}

func isDoubleStar(elem string) bool { return elem == "**" }

func elements(buf []string, pattern string) []string {
	for more := true; more; {
		var elem string
		elem, pattern, more = strings.Cut(pattern, "/")
		buf = append(buf, elem)
	}
	return buf
}

func allSatisfiable(elems []string) bool {
	return !slices.ContainsFunc(elems, func(e string) bool { return !satisfiable(e) })
}

// satisfiable reports whether an element matches any name at all: a set can
// be empty, and a dot alone is no name.
func satisfiable(elem string) bool {
	return !strings.Contains(elem, "[") || ElemsOverlap(elem, "?*")
}

// short reports whether only texts of one or two characters match, which
// might be nothing but dots.
func short(toks []token) bool {
	return len(toks) <= 2 && !slices.ContainsFunc(toks, token.isStar)
}
