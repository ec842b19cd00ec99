// Package excerpt cuts text to a length, always between characters. It does
// not mark what it cuts: text of peers goes through peertext, too.
package excerpt

import (
	"strings"
	"unicode/utf8"
)

// Chars returns the first n characters of s.
func Chars(s string, n int) string {
	if len(s) <= n {
		return s
	}
	count := 0
	for i := range s {
		if count == n {
			return s[:i]
		}
		count++
	}
	return s
}

// Text returns the first n characters of s, with the replacement character for
// bytes that are none.
func Text(s string, n int) string {
	return Chars(strings.ToValidUTF8(s, "\uFFFD"), n)
}

// End returns the last n characters of s, from the beginning of a word where
// there is one, with a "…" that tells of what is before.
func End(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	for cut := utf8.RuneCountInString(s) - max(n-1, 0); cut > 0; cut-- {
		_, size := utf8.DecodeRuneInString(s)
		s = s[size:]
	}
	if i := strings.IndexAny(s, " \n\t"); i >= 0 && i < len(s)/4 {
		s = s[i+1:]
	}
	return "…" + s
}

// Bytes returns as many whole characters of s as n bytes hold.
func Bytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Dots returns s if it has at most n characters, and otherwise as many words
// or parts of them as leave room for the "…" that tells of the rest.
func Dots(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	return strings.TrimRight(Chars(s, n-1), " \n\t") + "…"
}
