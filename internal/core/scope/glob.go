package scope

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxAlternatives, maxExpanded (characters) and maxNesting bound what braces may multiply to:
// comparing two globs costs the product of what they stand for.
const (
	maxAlternatives = 64
	maxExpanded     = 2048
	maxNesting      = 3
)

// maxDepth bounds the elements of a glob, so that an index can hold a set of
// them in one word.
const maxDepth = 60

// A Glob is a parsed path selector. Its elements, separated by slashes, may
// hold * (any characters), ? (one character), [a-z] and [!a-z] (one of a
// set) and {a,b} (alternatives, which may hold slashes); ** as a whole element
// stands for any number of elements, also none. No wildcard matches a slash.
//
// A path always selects itself, so that files of frameworks which put brackets
// into names (app/[id]/page.tsx) can be named: [id] means the set and the
// literal text. Braces without a comma are literal text, as in a shell.
type Glob struct {
	text string
	alts []string
}

// ParseGlob reads a path selector, or says what is wrong with it. A trailing
// slash, or one and a dot, means everything below.
func ParseGlob(s string) (Glob, error) {
	if err := checkText(s); err != nil {
		return Glob{}, err
	}
	text, err := canonicalGlob(s)
	if err != nil {
		return Glob{}, err
	}
	expanded, err := expand(text)
	if err != nil {
		return Glob{}, err
	}
	g := Glob{text: text}
	for _, alt := range expanded {
		if alt, err = cleanPattern(strings.Trim(alt, " ")); err != nil {
			return Glob{}, fmt.Errorf("%q: %w", s, err)
		}
		g.add(alt)
		if strings.Contains(alt, "[") {
			g.add(literalBrackets(alt))
		}
	}
	return g, nil
}

// String returns the canonical text.
func (g Glob) String() string { return g.text }

// Patterns returns the alternatives that g stands for, each without braces.
func (g Glob) Patterns() []string { return g.alts }

// Literal returns the one path that g selects, if it is one.
func (g Glob) Literal() (string, bool) {
	if len(g.alts) != 1 || HasWildcard(g.alts[0]) {
		return "", false
	}
	return unescape(g.alts[0]), true
}

// Unbounded reports whether g can reach to any depth.
func (g Glob) Unbounded() bool {
	return slices.ContainsFunc(g.alts, func(p string) bool {
		return p == "**" || strings.HasPrefix(p, "**/") || strings.HasSuffix(p, "/**") || strings.Contains(p, "/**/")
	})
}

// Match reports whether g selects path, which must be clean.
func (g Glob) Match(path string) bool {
	return slices.ContainsFunc(g.alts, func(p string) bool { return MatchPattern(p, path) })
}

// Overlaps reports whether some path is selected by both.
func (g Glob) Overlaps(h Glob) bool {
	for _, p := range g.alts {
		for _, q := range h.alts {
			if PatternsOverlap(p, q) {
				return true
			}
		}
	}
	return false
}

func (g *Glob) add(alt string) {
	if !slices.Contains(g.alts, alt) {
		g.alts = append(g.alts, alt)
	}
}

// canonicalGlob cleans the slashes outside braces and folds runs of stars.
func canonicalGlob(s string) (string, error) {
	s = strings.ReplaceAll(strings.Trim(s, " "), `\`, "/")
	if strings.HasPrefix(s, "/") || hasDrive(s) {
		return "", absolute(s)
	}
	var out []string
	elems := splitOutside(s, '/')
	for i, elem := range elems {
		elem = foldStars(elem)
		switch {
		case (elem == "" || elem == ".") && i == len(elems)-1 && len(out) > 0:
			elem = "**"
		case elem == "" || elem == ".":
			continue
		case elem == "..":
			return "", fmt.Errorf("%q contains .., which may lead out of the repository; write it without", s)
		}
		if elem != "**" || len(out) == 0 || out[len(out)-1] != "**" {
			out = append(out, elem)
		}
	}
	if len(out) == 0 {
		return "", fmt.Errorf("%q names no file; use ** for the whole repository", s)
	}
	if strings.HasPrefix(out[0], " ") {
		return "", beginsWithSpace(s)
	}
	return joined(out, s), nil
}

// beginsWithSpace is wrong with what would be read as another selector again.
func beginsWithSpace(s string) error {
	return fmt.Errorf("%q begins with a space after its dots; write it without", s)
}

// joined returns the elements as one path, sharing the memory of whole if
// that is what it was: an index holds many selectors.
func joined(elems []string, whole string) string {
	if text := strings.Join(elems, "/"); text != whole {
		return text
	}
	return whole
}

// foldStars makes runs of stars one, except that an element of nothing but
// stars is ** when it has several.
func foldStars(elem string) string {
	if len(elem) > 1 && strings.Trim(elem, "*") == "" {
		return "**"
	}
	for strings.Contains(elem, "**") && !strings.ContainsAny(elem, "{[") {
		elem = strings.ReplaceAll(elem, "**", "*")
	}
	return elem
}

// cleanPattern cleans one alternative: braces may have left empty elements.
func cleanPattern(alt string) (string, error) {
	var out []string
	for i, elem := range strings.Split(alt, "/") {
		if strings.Contains(elem, "**") && !strings.Contains(elem, "[") {
			elem = foldStars(elem)
		}
		switch {
		case elem == "" && i == 0 && len(alt) > 0:
			return "", fmt.Errorf("one alternative (%s) is absolute", alt)
		case elem == "" || elem == ".":
			continue
		case elem == "..":
			return "", fmt.Errorf("one alternative (%s) contains .. elements", alt)
		}
		if err := checkElem(elem); err != nil {
			return "", err
		}
		if elem != "**" || len(out) == 0 || out[len(out)-1] != "**" {
			out = append(out, elem)
		}
	}
	if len(out) == 0 {
		return "", fmt.Errorf("one alternative is empty")
	}
	if len(out) > maxDepth {
		return "", fmt.Errorf("is more than %d folders deep", maxDepth)
	}
	if strings.HasPrefix(out[0], " ") {
		return "", beginsWithSpace(alt)
	}
	if hasDrive(out[0] + "/") {
		return "", fmt.Errorf("one alternative (%s) is absolute", alt)
	}
	return joined(out, alt), nil
}

// expand replaces the first brace group by each of its alternatives, and so
// on until no group is left.
func expand(glob string) ([]string, error) {
	done, todo, size := []string{}, []string{glob}, 0
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		open, end, err := firstGroup(s)
		if err != nil {
			return nil, err
		}
		if open < 0 {
			if size += utf8.RuneCountInString(s); size > maxExpanded {
				return nil, tooMany(glob)
			}
			done = append(done, s)
			continue
		}
		group := splitOutside(s[open+1:end], ',')
		if len(done)+len(todo)+len(group) > maxAlternatives {
			return nil, tooMany(glob)
		}
		if len(group) == 1 {
			todo = append(todo, s[:open]+`\{`+group[0]+`\}`+s[end+1:])
			continue
		}
		for _, alt := range slices.Backward(group) {
			todo = append(todo, s[:open]+alt+s[end+1:])
		}
	}
	return done, nil
}

func tooMany(glob string) error {
	return fmt.Errorf("%q stands for too many alternatives (at most %d); split it into several selectors", glob, maxAlternatives)
}

// firstGroup finds the first brace group that is not escaped, and its end.
func firstGroup(s string) (open, end int, err error) {
	open = -1
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			if depth++; open < 0 {
				open = i
			}
			if depth > maxNesting {
				return 0, 0, fmt.Errorf("%q nests braces more than %d deep; split it into several selectors", s, maxNesting)
			}
		case '}':
			if depth--; depth < 0 {
				return 0, 0, fmt.Errorf("%q has a } without {", s)
			}
			if depth == 0 {
				return open, i, nil
			}
		}
	}
	if depth > 0 {
		return 0, 0, fmt.Errorf("%q has a { that is not closed", s)
	}
	return -1, -1, nil
}

// splitOutside splits s at sep where it is not inside braces.
func splitOutside(s string, sep byte) []string {
	var out []string
	depth, start := 0, 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '{':
			depth++
		case s[i] == '}':
			depth--
		case s[i] == sep && depth <= 0:
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}

func checkElem(elem string) error {
	for rest := elem; rest != ""; {
		_, n := nextToken(rest)
		if n == 0 {
			return fmt.Errorf("%s has a [ that is not closed", elem)
		}
		rest = rest[n:]
	}
	return nil
}

// literalBrackets escapes the sets of a pattern.
func literalBrackets(pattern string) string {
	return strings.ReplaceAll(pattern, "[", `\[`)
}
