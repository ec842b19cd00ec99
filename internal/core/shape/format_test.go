package shape_test

import (
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/shape"
)

func TestAddressesThatLookLikeOthersAreNone(t *testing.T) {
	for text, want := range map[string]bool{
		"ana@example.com":           true,
		"ana.b+c@example.com":       true,
		"jürgen@example.com":        true,
		"an\u200ba@example.com":     false, // zero width
		"\ufeffana@example.com":     false,
		"\uff41na@example.com":      false, // full width
		"\U0001d41ana@example.com":  false, // mathematical
		"a\u212a@example.com":       false, // the sign of Kelvin
		"ba\u017f@example.com":      false, // long s
		"a\u202ena@example.com":     false, // right to left
		"ana@ex\u0430mple.com":      false,
		"ana\u00a0b@example.com":    false,
		"ana\u200d\u200c@exampl.eu": false,
	} {
		if got := shape.IsEmail(text); got != want {
			t.Errorf("IsEmail(%q) = %v", text, got)
		}
	}
}

func TestNamesCanBeSeen(t *testing.T) {
	for text, want := range map[string]bool{
		"Ana Müller": true, "李雷": true, "می\u200cخواهم": true, "O'Brien-Smith, Jr.": true,
		"Ana\x1b[31m": false, "Ana\u202eanA": false, "A\u200bna": false, "Ana\nBob": false, "\u2066Ana": false, "Ana\u2028": false,
	} {
		if got := coord.IsName(text); got != want {
			t.Errorf("IsName(%q) = %v", text, got)
		}
	}
}
