package symbols

import (
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/verdict"
	"github.com/svc-hq/svc/internal/core/coord"
)

// SettleRenames takes the break from definitions that differ only by the name of
// a type which goes by another one now: who names the type hears of that, and
// for the others nothing changed.
func SettleRenames(files []coord.FileFacts) {
	gone, come := map[string]bool{}, map[string]bool{}
	each := func(visit func(*coord.SymbolFacts)) {
		for i := range files {
			for k := range files[i].Symbols {
				visit(&files[i].Symbols[k])
			}
		}
	}
	each(func(s *coord.SymbolFacts) {
		if _, name, _ := strings.Cut(s.Key, "#"); !strings.Contains(name, ".") && s.Kind != "function" {
			gone[name], come[name] = gone[name] || s.Change == coord.Removed, come[name] || s.Change == coord.Added
		}
	})
	each(func(s *coord.SymbolFacts) {
		if s.Change == coord.Signature && s.Compatibility == coord.Breaking && s.PreviousSignature != nil && s.Signature != nil &&
			onlyNames(*s.PreviousSignature, *s.Signature, gone, come) {
			s.Compatibility, s.Takes, s.Given, s.Detail = coord.Compatible, nil, false, verdict.Detail("a type in it goes by another name")
		}
	})
}

// onlyNames tells whether two texts differ only in words, each of a type that
// went and of one that came.
func onlyNames(was, is string, gone, come map[string]bool) bool {
	for was != "" && is != "" {
		a, b := word(was), word(is)
		switch {
		case a == b && a != "":
		case a == "" && b == "" && was[0] == is[0]:
			a, b = was[:1], is[:1]
		case a != "" && b != "" && gone[a] && come[b]:
		default:
			return false
		}
		was, is = was[len(a):], is[len(b):]
	}
	return was == is
}

// word is the name that a text begins with.
func word(s string) string {
	n := 0
	for n < len(s) && outline.IsNameByte(s[n]) {
		n++
	}
	return s[:n]
}
