package locate

import "testing"

// A type that takes any number of arguments is cut at its dots, and nothing is
// left of it: that is no name, and no file declares it.
func TestNoFileDeclaresNothing(t *testing.T) {
	const text = "package a\n\nvar (\n\t// Option is one.\n\tOption int\n)\n"
	for name, want := range map[string]bool{"": false, "Option": true, "Other": false} {
		if got := declaresGo([]byte(text), name); got != want {
			t.Errorf("declares %q: %v", name, got)
		}
	}
}
