package analysis

import "strings"

// parseParams reads a parameter list, with or without its brackets.
func parseParams(s string, tr *traits) []param {
	s = strings.TrimSpace(s)
	if len(s) > 1 && strings.IndexByte("(|[", s[0]) >= 0 && closing(s, 0) == len(s) {
		s = s[1 : len(s)-1]
	}
	var out []param
	byName := false // Python: what follows * or *args goes by name
	for _, text := range splitTop(s, ',') {
		if text = strings.TrimSpace(text); text == "" || text == "void" || text == "/" {
			continue
		}
		if text == "*" && tr.starred {
			byName = true
			continue
		}
		p := parseParam(text, tr)
		p.keyword = p.keyword || byName || strings.HasPrefix(text, "**") && !tr.typed
		byName = byName || p.rest && tr.starred
		out = append(out, p)
	}
	return out
}

func parseParam(s string, tr *traits) param {
	var p param
	head, _, hasDefault := cutTop(s, '=')
	head = strings.TrimSpace(head)
	p.optional = hasDefault
	if strings.HasPrefix(head, "...") || strings.HasPrefix(head, "*") && !strings.Contains(head, " ") || strings.HasPrefix(head, "&") && tr.nameFirst && !strings.Contains(head, "self") {
		p.rest = true
	}
	if strings.Contains(head, "...") && !tr.starred { // Python writes it in types
		p.rest = true
	}
	if tr.nameFirst {
		name, typ, colon := cutTop(head, ':')
		p.name = strings.TrimSpace(name)
		p.typ = strings.TrimSpace(typ)
		if colon && tr.keywords { // Ruby's "key:" is required, "key: 2" has a default
			p.keyword, p.optional, p.typ = true, p.typ != "", ""
		}
		for _, word := range []string{"public ", "private ", "protected ", "readonly ", "override ", "val ", "var ", "mut ", "ref ", "vararg ", "using ", "implicit "} {
			p.name = strings.TrimPrefix(p.name, word)
		}
		if label, _, two := strings.Cut(p.name, " "); two && tr.labels { // Swift's callers see the first
			p.name = label
		}
		if strings.HasSuffix(p.name, "?") {
			p.name, p.optional = strings.TrimSuffix(p.name, "?"), true
		}
		return p
	}
	for _, word := range []string{"final ", "const ", "readonly ", "public ", "private ", "protected "} {
		if word != "const " {
			head = strings.TrimPrefix(head, word)
		}
	}
	at := strings.LastIndexAny(head, " *&")
	if strings.Contains(head, "(*") { // a pointer to a function
		at = -1
	}
	if at < 0 {
		p.typ, p.name = head, ""
		if strings.HasPrefix(head, "$") || strings.HasPrefix(head, "&$") {
			p.typ, p.name = "", head
		}
		return p
	}
	p.typ, p.name = strings.TrimSpace(head[:at+1]), head[at+1:]
	if strings.HasPrefix(p.name, "...$") {
		p.rest = true
	}
	return p
}

const (
	opening  = "([{<"
	closings = ")]}>"
)

// splitTop splits s at sep where no bracket or quote is open.
func splitTop(s string, sep byte) []string {
	var out []string
	for {
		head, rest, found := cutTop(s, sep)
		out = append(out, head)
		if !found {
			return out
		}
		s = rest
	}
}

// cutTop cuts s at the first sep where no bracket or quote is open. An = that
// is part of =>, ==, <= or >= does not count.
func cutTop(s string, sep byte) (before, after string, found bool) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '`' || c == '\'' && !isLifetime(s, i):
			i = quoted(s, i)
		case c == '>' && i > 0 && (s[i-1] == '-' || s[i-1] == '='):
		case c == sep && depth == 0 && !(sep == '=' && isOperator(s, i)) && !(sep == ':' && isScope(s, i)):
			return s[:i], s[i+1:], true
		case strings.IndexByte(opening, c) >= 0:
			depth++
		case strings.IndexByte(closings, c) >= 0 && depth > 0:
			depth--
		}
	}
	return s, "", false
}

// isLifetime tells 'a of Rust, which opens no quote.
func isLifetime(s string, i int) bool {
	return i > 0 && (s[i-1] == '&' || s[i-1] == '<' || s[i-1] == '+') || i+2 < len(s) && s[i+2] != '\'' && !strings.Contains(s[i+1:], "'")
}

func isOperator(s string, i int) bool {
	return i+1 < len(s) && (s[i+1] == '>' || s[i+1] == '=') || i > 0 && strings.IndexByte("=<>!", s[i-1]) >= 0
}

func isScope(s string, i int) bool {
	return i+1 < len(s) && s[i+1] == ':' || i > 0 && s[i-1] == ':'
}

// quoted returns the index of the quote that ends the one at i.
func quoted(s string, i int) int {
	for j := i + 1; j < len(s); j++ {
		if s[j] == '\\' {
			j++
		} else if s[j] == s[i] {
			return j
		}
	}
	return len(s)
}

// closing returns the index after the bracket that closes the one at i.
func closing(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '`':
			i = quoted(s, i)
		case c == '>' && i > 0 && (s[i-1] == '-' || s[i-1] == '='):
		case c == '<' && depth > 0 || c == '>' && depth > 0:
			// a comparison in a default value would unbalance: not counted
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}
