package policy

import (
	"slices"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/core/lazy"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A pathSet answers whether a path matches any of many globs. It is asked on
// every edit, so the usual forms are looked up instead of matched.
type pathSet struct {
	names    map[string]bool // **/name
	folders  map[string]bool // **/name/**
	suffixes []string        // **/*.ext
	elems    []string        // **/ and one name with other wildcards
	patterns []string        // all others
}

var ignoredByDefault = lazy.Table[*pathSet]{Make: func() *pathSet { return newPathSet(defaults.Get().IgnorePaths) }}

func lazyPathSet(globs []string) func() *pathSet {
	return sync.OnceValue(func() *pathSet { return newPathSet(globs) })
}

func newPathSet(globs []string) *pathSet {
	s := &pathSet{names: map[string]bool{}, folders: map[string]bool{}}
	for _, text := range globs {
		g, err := scope.ParseGlob(text)
		if err != nil {
			continue // Parse has refused it before it was stored
		}
		for _, p := range g.Patterns() {
			s.add(p)
		}
	}
	return s
}

func (s *pathSet) add(pattern string) {
	name, anywhere := strings.CutPrefix(pattern, "**/")
	folder, below := strings.CutSuffix(name, "/**")
	suffix, starred := strings.CutPrefix(name, "*")
	switch {
	case anywhere && below && plain(folder):
		s.folders[folder] = true
	case anywhere && plain(name):
		s.names[name] = true
	case anywhere && starred && plain(suffix):
		s.suffixes = append(s.suffixes, suffix)
	case anywhere && !strings.Contains(name, "/") && name != "**":
		s.elems = append(s.elems, name)
	default:
		s.patterns = append(s.patterns, pattern)
	}
}

// plain reports whether s is one name without wildcards.
func plain(s string) bool { return s != "" && !strings.ContainsAny(s, `/*?[\`) }

func (s *pathSet) has(path string) bool {
	rest := path
	for {
		elem, after, more := strings.Cut(rest, "/")
		if s.folders[elem] {
			return true
		}
		if !more {
			break
		}
		rest = after
	}
	return s.hasName(rest) || slices.ContainsFunc(s.patterns, func(p string) bool { return scope.MatchPattern(p, path) })
}

func (s *pathSet) hasName(name string) bool {
	if s.names[name] {
		return true
	}
	for _, suffix := range s.suffixes {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return slices.ContainsFunc(s.elems, func(elem string) bool { return scope.MatchElem(elem, name) })
}
