package scope

import (
	"fmt"
	"strings"
)

const symbolPrefix = "sym:"

// A Symbol is a definition in a file. Names of nested definitions are joined
// by dots: User.save.
type Symbol struct {
	Lang string // empty when not said
	Path string
	Name string
}

// ParseSymbol reads sym:<lang>:<path>#<name> or <path>#<name>.
func ParseSymbol(s string) (Symbol, error) {
	if err := checkText(s); err != nil {
		return Symbol{}, err
	}
	var sym Symbol
	rest := strings.Trim(s, " ")
	if after, ok := strings.CutPrefix(rest, symbolPrefix); ok {
		lang, path, ok := strings.Cut(after, ":")
		if !ok || lang == "" || strings.ContainsAny(lang, "/# ") {
			return Symbol{}, fmt.Errorf("%q has no language; write sym:<lang>:<path>#<name>", s)
		}
		sym.Lang, rest = strings.ToLower(lang), path
	}
	at := strings.LastIndexByte(rest, '#')
	if at < 0 {
		return Symbol{}, fmt.Errorf("%q names no definition; write <path>#<name>", s)
	}
	if sym.Name = strings.Trim(rest[at+1:], " "); strings.Trim(sym.Name, ".") != sym.Name || sym.Name == "" {
		return Symbol{}, fmt.Errorf("%q needs a name after #", s)
	}
	var err error
	if sym.Path, err = CleanPath(rest[:at]); err != nil {
		return Symbol{}, err
	}
	if first, _, _ := strings.Cut(sym.Path, "/"); sym.Lang == "" && strings.Contains(first, ":") {
		return Symbol{}, fmt.Errorf("%q has a colon before its first slash; write sym:<lang>:<path>#<name>", s)
	}
	if strings.ContainsAny(sym.Path, "*?{") {
		return Symbol{}, fmt.Errorf("%q must name one file; wildcards belong into paths", s)
	}
	return sym, nil
}

// String returns the canonical text.
func (s Symbol) String() string {
	if s.Lang == "" {
		return s.Path + "#" + s.Name
	}
	return symbolPrefix + s.Lang + ":" + s.Path + "#" + s.Name
}

// Overlaps reports whether two symbols are the same definition, or one of
// them holds the other.
func (s Symbol) Overlaps(t Symbol) bool {
	if s.Path != t.Path || s.Lang != t.Lang && s.Lang != "" && t.Lang != "" {
		return false
	}
	return s.Name == t.Name || strings.HasPrefix(s.Name, t.Name+".") || strings.HasPrefix(t.Name, s.Name+".")
}
