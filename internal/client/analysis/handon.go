package analysis

import (
	"regexp"
	"strings"
)

// handsOn holds, by language, how a file offers names of another one as its
// own: a definition that moved away is still found where it was.
var handsOn = map[string]struct {
	all   func() *regexp.Regexp // every name of a module
	names func() *regexp.Regexp // a list of names, in its first group
}{
	"python":     {pattern(`(?m)^\s*from\s+\S+\s+import\s+\*`), pattern(`(?m)^\s*from\s+\S+\s+import\s+(\([^)]*\)|[^\n(]+)`)},
	"typescript": {pattern(`export\s*\*\s*from\b`), pattern(`export\s+(?:type\s+)?(\{[^}]*\})`)},
	"javascript": {pattern(`export\s*\*\s*from\b`), pattern(`export\s+(\{[^}]*\})`)},
	"rust":       {pattern(`pub(?:\([^)]*\))?\s+use\s+[^;]*\*`), pattern(`pub(?:\([^)]*\))?\s+use\s+([^;]+);`)},
}

// handedOn reports whether a name that is defined in a file no more may still
// be had from it.
func handedOn(o *outline, name string) bool {
	how, ok := handsOn[o.lang]
	if !ok || len(o.source) == 0 {
		return false
	}
	if how.all().Match(o.source) {
		return true
	}
	first, _, _ := strings.Cut(name, ".")
	for _, list := range how.names().FindAllSubmatch(o.source, -1) {
		if mentions(list[1], first) {
			return true
		}
	}
	return false
}
