package excerpt_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/core/excerpt"
)

func TestCuts(t *testing.T) {
	for _, tt := range []struct {
		name, got, want string
	}{
		{"short text stays", excerpt.Chars("abc", 3), "abc"},
		{"characters are counted, not bytes", excerpt.Chars("äöü", 2), "äö"},
		{"bytes that are no text are replaced", excerpt.Text("a\xffbc", 3), "a\uFFFDb"},
		{"bytes end between characters", excerpt.Bytes("äöü", 3), "ä"},
		{"no byte, no text", excerpt.Bytes("ä", 1), ""},
		{"dots take a place", excerpt.Dots("abcdef", 4), "abc…"},
		{"dots follow a word, not a space", excerpt.Dots("ab cdef", 4), "ab…"},
		{"text that fits has no dots", excerpt.Dots("äöü", 3), "äöü"},
		{"the end from a word on", excerpt.End("ab cd efghij klmnopq", 17), "…efghij klmnopq"},
		{"the end of one word", excerpt.End("abcdef", 4), "…def"},
		{"an end that is all", excerpt.End("äöü", 3), "äöü"},
		{"no room at all", excerpt.Dots("abc", 0), ""},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, tt.got, tt.want)
		}
	}
}

func TestCutsAreWithinTheLimitAndValid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		n := rapid.IntRange(0, 12).Draw(t, "n")
		if got := excerpt.Chars(s, n); utf8.RuneCountInString(got) > n || !strings.HasPrefix(s, got) || !utf8.ValidString(got) {
			t.Fatalf("Chars(%q, %d) = %q", s, n, got)
		}
		if got := excerpt.Bytes(s, n); len(got) > n || !strings.HasPrefix(s, got) || !utf8.ValidString(got) {
			t.Fatalf("Bytes(%q, %d) = %q", s, n, got)
		}
		if got := excerpt.Dots(s, n); utf8.RuneCountInString(got) > n || !utf8.ValidString(got) || len(s) <= n && got != s {
			t.Fatalf("Dots(%q, %d) = %q", s, n, got)
		}
	})
}
