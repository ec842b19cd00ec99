package outline

import (
	"testing"

	"pgregory.net/rapid"
)

func TestIsOneLineAgreesWithOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom([]rune("a ()[]{},\t\né")), 0, 12, -1).Draw(t, "text")
		if isOneLine(s) && joinLines(s) != s {
			t.Errorf("%q is said to be one line; as one it is %q", s, joinLines(s))
		}
	})
}
