package corpus

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/svc-hq/svc/internal/core/excerpt"
)

var (
	blockMark  = regexp.MustCompile(`⟦peer:([a-z2-7]{16})⟧\n((?:│ [^\n]*\n)*)⟦/peer:([a-z2-7]{16})⟧`)
	inlineMark = regexp.MustCompile(`⟦peer:([a-z2-7]{16})⟧ ([^\n]*?) ⟦/peer:([a-z2-7]{16})⟧`)
)

// Hidden returns an error if s has a character that no reader sees or that
// moves a cursor.
func Hidden(s string) error {
	for _, r := range s {
		if r != '\n' && r != '\t' && unicode.IsControl(r) ||
			unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Variation_Selector) {
			return fmt.Errorf("%U is in %+q", r, start(s))
		}
	}
	return nil
}

// Marked returns an error unless all marks in a text for an agent are whole
// and nothing else in it could be taken for one, or is hidden.
func Marked(s string) error {
	if err := Hidden(s); err != nil {
		return err
	}
	rest := s
	for _, form := range []*regexp.Regexp{blockMark, inlineMark} {
		for _, m := range form.FindAllStringSubmatch(rest, -1) {
			if m[1] != m[3] || strings.Contains(m[2], m[1]) {
				return fmt.Errorf("a mark is closed by another: %+q", m[0])
			}
		}
		rest = form.ReplaceAllString(rest, "")
	}
	if strings.ContainsAny(rest, "⟦⟧") {
		return fmt.Errorf("a mark stands open: %+q", start(s))
	}
	return nil
}

func start(s string) string {
	if cut := excerpt.Chars(s, 200); cut != s {
		return cut
	}
	return s
}
