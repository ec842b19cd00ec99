package policy

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/scope"
)

// A pathSet answers whether a path matches any of many globs. It is asked on
// every edit, so the usual forms are looked up instead of matched.
type pathSet struct {
	names    map[string]bool // **/name
	folders  map[string]bool // **/name/**
	patterns []string        // all others
}

func newPathSet(globs []string) pathSet {
	s := pathSet{names: map[string]bool{}, folders: map[string]bool{}}
	for _, text := range globs {
		g, err := scope.ParseGlob(text)
		if err != nil {
			continue // Parse has refused it before it was stored
		}
		for _, p := range g.Patterns() {
			name, anywhere := strings.CutPrefix(p, "**/")
			folder, below := strings.CutSuffix(name, "/**")
			switch {
			case anywhere && below && plain(folder):
				s.folders[folder] = true
			case anywhere && plain(name):
				s.names[name] = true
			default:
				s.patterns = append(s.patterns, p)
			}
		}
	}
	return s
}

// plain reports whether s is one name without wildcards.
func plain(s string) bool { return s != "" && !strings.ContainsAny(s, `/*?[\`) }

func (s pathSet) has(path string) bool {
	for rest, more := path, true; more; {
		var elem string
		elem, rest, more = strings.Cut(rest, "/")
		if s.folders[elem] || !more && s.names[elem] {
			return true
		}
	}
	for _, p := range s.patterns {
		if scope.MatchPattern(p, path) {
			return true
		}
	}
	return false
}
