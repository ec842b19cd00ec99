package outline

import (
	"strings"
)

// parseParams reads a parameter list, with or without its brackets.
func parseParams(s string, tr *Traits) []Param {
	s = strings.TrimSpace(s)
	if len(s) > 1 && strings.IndexByte("(|[", s[0]) >= 0 && closing(s, 0) == len(s) {
		s = s[1 : len(s)-1]
	}
	var out []Param
	byName := false // Python: what follows * or *args goes by name
	for _, text := range SplitTop(s, ',') {
		if text = strings.TrimSpace(text); text == "" || text == "void" || text == "/" {
			continue
		}
		if text == "*" && tr.Starred {
			byName = true
			continue
		}
		p := parseParam(text, tr)
		p.Keyword = p.Keyword || byName || strings.HasPrefix(text, "**") && !tr.Typed
		byName = byName || p.Rest && tr.Starred
		out = append(out, p)
	}
	return out
}

// patternParam reads a pattern that an argument is matched with: what it is
// called, if it is, and what it is by default.
func patternParam(s string) Param {
	pattern, _, hasDefault := strings.Cut(s, `\\`)
	p := Param{Name: strings.TrimSpace(pattern), Optional: hasDefault}
	if left, right, ok := cutTop(p.Name, '='); ok {
		if p.Name = strings.TrimSpace(right); !IsWord(p.Name) {
			p.Name = strings.TrimSpace(left)
		}
	}
	return p
}

func parseParam(s string, tr *Traits) Param {
	if tr.patterns {
		return patternParam(s)
	}
	var p Param
	head, _, hasDefault := cutTop(s, '=')
	head = strings.TrimSpace(head)
	p.Optional = hasDefault
	if strings.HasPrefix(head, "...") || strings.HasPrefix(head, "*") && !strings.Contains(head, " ") ||
		strings.HasPrefix(head, "&") && tr.NameFirst && !strings.Contains(head, "self") {
		p.Rest = true
	}
	if strings.Contains(head, "...") && !tr.Starred { // Python writes it in types
		p.Rest = true
	}
	if tr.NameFirst {
		name, typ, colon := cutTop(head, ':')
		p.Name = strings.TrimSpace(name)
		p.Typ = strings.TrimSpace(typ)
		if colon && tr.keywords { // Ruby's "key:" is required, "key: 2" has a default
			p.Keyword, p.Optional, p.Typ = true, p.Typ != "", ""
		}
		for _, word := range []string{
			"public ", "private ", "protected ", "readonly ", "override ", "val ", "var ", "mut ", "ref ", "vararg ", "using ",
			"implicit ",
		} {
			p.Name = strings.TrimPrefix(p.Name, word)
		}
		if label, _, two := strings.Cut(p.Name, " "); two && tr.labels { // Swift's callers see the first
			p.Name = label
		}
		if strings.HasSuffix(p.Name, "?") {
			p.Name, p.Optional = strings.TrimSuffix(p.Name, "?"), true
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
		p.Typ, p.Name = head, ""
		if strings.HasPrefix(head, "$") || strings.HasPrefix(head, "&$") {
			p.Typ, p.Name = "", head
		}
		return p
	}
	p.Typ, p.Name = strings.TrimSpace(head[:at+1]), head[at+1:]
	if strings.HasPrefix(p.Name, "...$") {
		p.Rest = true
	}
	return p
}

const (
	opening  = "([{<"
	closings = ")]}>"
)

// SplitTop splits s at sep where no bracket or quote is open.
func SplitTop(s string, sep byte) []string {
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
			i = Quoted(s, i)
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

// Quoted returns the index of the quote that ends the one at i.
func Quoted(s string, i int) int {
	for j := i + 1; j < len(s); j++ {
		if s[j] == '\\' {
			j++
		} else if s[j] == s[i] {
			return j
		}
	}
	return len(s)
}

// Bracketed is how long the text is that begins with a bracket, up to the one
// that closes it.
func Bracketed(s string) int { return closing(s, 0) }

// closing returns the index after the bracket that closes the one at i.
func closing(s string, i int) int {
	depth := 0
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '`':
			i = Quoted(s, i)
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
