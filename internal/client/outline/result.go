package outline

import (
	"slices"
	"strings"
)

// Passive words of a header change nothing for callers.
var Passive = []string{"public", "protected", "internal", "export", "default", "override", "final", "open", "virtual", "inline",
	"pub", "function", "func", "fun", "def", "fn", "const", "let", "var", "val",
	"readonly", "private", "declare", "extern", "unsafe", "suspend",
	"sealed", "partial", "data", "new", "async", "static", "abstract", "constexpr",
	"explicit", "mutating", "required", "convenience", "implicit", "lazy", "type", "class", "struct", "interface", "enum", "trait"}

func ResultText(d *Def) string {
	s := d.after
	if !d.HasCall {
		short := d.Name[strings.LastIndexByte(d.Name, '.')+1:]
		s = strings.TrimPrefix(strings.TrimPrefix(s, short), "?")
	}
	return strings.TrimSpace(strings.TrimLeft(s, ":-> "))
}

// ResultOf is a definition's result or type, wherever the language writes it.
func ResultOf(d *Def, tr *Traits) string {
	d.Full()
	if r := ResultText(d); r != "" && (tr.NameFirst || !tr.Typed || tr == &GoTraits) {
		return r
	}
	var out []string
	for _, w := range strings.Fields(d.Before) {
		if !slices.Contains(Passive, w) {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}
