package scope

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// Route returns the one form of a route that frameworks and clients spell in
// many ways, or "" if s is no route. A parameter becomes {} whatever it is
// called, one that takes several elements {*}.
func Route(s string) string {
	// What normalising leaves may itself look like a parameter, in text that
	// nobody writes: go on until the form is stable, so that it is one.
	for range 8 {
		next := normalRoute(s)
		if next == s || next == "" {
			return next
		}
		s = next
	}
	return ""
}

func normalRoute(s string) string {
	s = stripQuery(stripHost(strings.Trim(s, "\"'`")))
	s = strings.TrimRight(strings.TrimPrefix(s, "^"), "$\"'`")
	if !strings.HasPrefix(s, "/") {
		return ""
	}
	var b strings.Builder
	for _, elem := range splitRoute(s) {
		elem = routeElem(elem)
		if strings.ContainsFunc(elem, func(r rune) bool { return r <= ' ' }) {
			return ""
		}
		if elem != "" {
			b.WriteByte('/')
			b.WriteString(elem)
		}
	}
	if b.Len() == 0 {
		return "/"
	}
	return b.String()
}

var (
	scheme   = lazy.Regexp(`^[a-zA-Z][a-zA-Z0-9+.-]*://[^/]*`)
	baseVar  = lazy.Regexp(`^(\$\{[^}]*\}|\{\{?[A-Za-z_][\w.]*\}?\})/`)
	express  = lazy.Regexp(`:[A-Za-z_]\w*(\([^)]*\))?[?+*]?`)
	template = lazy.Regexp(`\$\{[^}]*\}|#\{[^}]*\}|\{\{[^}]*\}\}|\{[^}]*\}|<[^>]*>|%[sdv]`)
	named    = lazy.Regexp(`\(\?P?<\w+>(?:[^()]|\([^()]*\))*\)`)
)

// stripHost drops the part before the path of an address, and a variable that
// stands for it.
func stripHost(s string) string {
	if strings.HasPrefix(s, "/") {
		return s
	}
	if at := scheme.Get().FindStringIndex(s); at != nil {
		s = s[at[1]:]
		if s == "" {
			return "/"
		}
		return s
	}
	if at := baseVar.Get().FindStringIndex(s); at != nil {
		return s[at[1]-1:]
	}
	return s
}

// stripQuery drops the query and the fragment, but not the ? of an optional
// parameter, which is followed by a slash, or of a group.
func stripQuery(s string) string {
	depth := 0
	for i, r := range s {
		switch r {
		case '{', '<', '(':
			depth++
		case '}', '>', ')':
			depth--
		case '?':
			if depth <= 0 && (i+1 == len(s) || s[i+1] != '/') {
				return s[:i]
			}
		case '#':
			if depth <= 0 && (i+1 == len(s) || s[i+1] != '{') {
				return s[:i]
			}
		}
	}
	return s
}

// splitRoute splits at slashes that are not inside a parameter.
func splitRoute(s string) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '{', '<', '(', '[':
			depth++
		case '}', '>', ')', ']':
			depth--
		case '/':
			if depth <= 0 {
				out = append(out, s[start:i])
				start, depth = i+1, 0
			}
		}
	}
	return append(out, s[start:])
}

// isPlain tells an element without any parameter, as most are.
func isPlain(elem string) bool {
	for i := 0; i < len(elem); i++ {
		c := elem[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.') {
			return false
		}
	}
	return true
}

func routeElem(elem string) string {
	if isPlain(elem) {
		return elem
	}
	if strings.HasPrefix(elem, "[") && strings.HasSuffix(elem, "]") {
		if strings.Contains(elem, "...") {
			return "{*}"
		}
		return "{}"
	}
	if strings.HasPrefix(elem, "*") {
		return "{*}"
	}
	if strings.HasPrefix(elem, "$") && !strings.HasPrefix(elem, "${") && len(elem) > 1 {
		return "{}"
	}
	elem = named.Get().ReplaceAllString(elem, "{}")
	elem = template.Get().ReplaceAllStringFunc(elem, func(p string) string {
		if isCatchAll(p) {
			return "{*}"
		}
		return "{}"
	})
	elem = express.Get().ReplaceAllStringFunc(elem, func(p string) string {
		if strings.HasSuffix(p, "*") || strings.HasSuffix(p, "+") {
			return "{*}"
		}
		return "{}"
	})
	return strings.TrimSuffix(elem, "?")
}

// isCatchAll reports whether a parameter takes several elements.
func isCatchAll(p string) bool {
	if strings.HasPrefix(p, "$") {
		return false
	}
	inner := strings.Trim(p, "{}<>")
	return p == "{*}" || strings.HasPrefix(inner, "*") || strings.HasSuffix(inner, "...") ||
		strings.HasSuffix(inner, ":path") || strings.HasPrefix(inner, "path:")
}
