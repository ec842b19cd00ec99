package scope

import (
	"fmt"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
)

// Canonical returns set with every selector in its canonical form, in order
// and once, and the selectors that cannot be read. Fields are named below
// prefix, such as scope.paths[3].
func Canonical(prefix string, set coord.ScopeSet) (coord.ScopeSet, []problem.Field) {
	var bad []problem.Field
	read := func(name string, in []string, parse func(string) (string, error)) []string {
		out := make([]string, 0, len(in))
		for i, s := range in {
			canonical, err := parse(s)
			if err != nil {
				bad = append(bad, problem.Field{Path: fmt.Sprintf("%s%s[%d]", prefix, name, i), Message: err.Error()})
			} else if !slices.Contains(out, canonical) {
				out = append(out, canonical)
			}
		}
		return out
	}
	if prefix != "" {
		prefix += "."
	}
	return coord.ScopeSet{
		Paths: read("paths", set.Paths, func(s string) (string, error) {
			g, err := ParseGlob(s)
			return g.String(), err
		}),
		Symbols: read("symbols", set.Symbols, func(s string) (string, error) {
			sym, err := ParseSymbol(s)
			return sym.String(), err
		}),
		Contracts: read("contracts", set.Contracts, ParseContract),
	}, bad
}
