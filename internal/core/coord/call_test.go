package coord_test

import (
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
)

// takes reads "a, b?, *c, k:, l:?, **m" with ! for changed and ~ for moved.
func takes(s string) [][]coord.Param {
	var out [][]coord.Param
	for overload := range strings.SplitSeq(s, "|") {
		params := []coord.Param{}
		for w := range strings.FieldsFuncSeq(overload, func(r rune) bool { return r == ',' || r == ' ' }) {
			var p coord.Param
			w, p.Optional = strings.CutSuffix(w, "?")
			w, p.Changed = strings.CutSuffix(w, "!")
			w, p.Moved = strings.CutSuffix(w, "~")
			w, p.Keyword = strings.CutSuffix(w, ":")
			if rest, ok := strings.CutPrefix(w, "**"); ok {
				w, p.Rest, p.Keyword = rest, true, true
			}
			if rest, ok := strings.CutPrefix(w, "*"); ok {
				w, p.Rest = rest, true
			}
			if p.Name = w; w == "_" {
				p.Name = ""
			}
			params = append(params, p)
		}
		out = append(out, params)
	}
	return out
}

func TestCallFit(t *testing.T) {
	for _, c := range []struct {
		name, takes string
		call        coord.Call
		want        coord.Fit
	}{
		{"the right number", "a b", coord.Call{Args: 2}, coord.Fits},
		{"too few", "a b", coord.Call{Args: 1}, coord.Misfits},
		{"too many", "a", coord.Call{Args: 2}, coord.Misfits},
		{"an optional one is left out", "a b?", coord.Call{Args: 1}, coord.Fits},
		{"any number", "a *rest", coord.Call{Args: 5}, coord.Fits},
		{"any number before a last one", "*rest last", coord.Call{Args: 1}, coord.Fits},
		{"none for any number before a last one", "*rest last", coord.Call{Args: 0}, coord.Misfits},
		{"a name that is there", "a b", coord.Call{Args: 1, Named: []string{"b"}}, coord.Fits},
		{"a name that is gone", "a c", coord.Call{Args: 1, Named: []string{"b"}}, coord.Misfits},
		{"a name given twice", "a b?", coord.Call{Args: 1, Named: []string{"a"}}, coord.Misfits},
		{"a keyword that is needed", "a k:", coord.Call{Args: 1}, coord.Misfits},
		{"a keyword by position", "a k:?", coord.Call{Args: 2}, coord.Misfits},
		{"any name", "a **kw", coord.Call{Args: 1, Named: []string{"x", "y"}}, coord.Fits},
		{"names for a map at the end", "_ _?", coord.Call{Args: 1, Named: []string{"x"}}, coord.FitUnknown},
		{"a renamed one by position", "a2 b", coord.Call{Args: 2}, coord.Fits},
		{"one that moved, by position", "b~ a~", coord.Call{Args: 2}, coord.Misfits},
		{"one that moved, by name", "b~ a~", coord.Call{Named: []string{"a", "b"}}, coord.Fits},
		{"one of another type", "a b!?", coord.Call{Args: 2}, coord.Misfits},
		{"one of another type left out", "a b!?", coord.Call{Args: 1}, coord.Fits},
		{"an overload fits", "a b | a", coord.Call{Args: 1}, coord.Fits},
		{"no overload fits", "a b | a", coord.Call{Args: 3}, coord.Misfits},
		{"a list is spread", "a b", coord.Call{Args: 1, Spread: true}, coord.FitUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.call.Fit(takes(c.takes)); got != c.want {
				t.Errorf("(%s) with %s: %v, want %v", c.takes, c.call.String(), got, c.want)
			}
			// Hidden names, on either side or both, decide the same.
			if got := c.call.Hidden().Fit(takes(c.takes)); got != c.want {
				t.Errorf("with a hidden call: %v, want %v", got, c.want)
			}
			if got := c.call.Fit(coord.HideParams(takes(c.takes))); got != c.want {
				t.Errorf("with hidden parameters: %v, want %v", got, c.want)
			}
			if got := c.call.Hidden().Fit(coord.HideParams(takes(c.takes))); got != c.want {
				t.Errorf("with everything hidden: %v, want %v", got, c.want)
			}
		})
	}
	if got := (*coord.Call)(nil).Fit(takes("a")); got != coord.FitUnknown {
		t.Errorf("a use without a call: %v", got)
	}
}
