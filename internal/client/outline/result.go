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

// Field is a definition of a field that has none of its own in the code.
func Field(name, typ string) Def {
	return Def{Name: name, Kind: "field", Parent: -1, after: ": " + typ, Before: typ}
}

// Literals are the texts that a type lists as all its values, without quotes;
// nil if it is another type.
func Literals(lang string, d *Def) (out []string) {
	text := ""
	switch lang {
	case "typescript":
		if d.Kind != "type" {
			return nil
		}
		text = strings.TrimPrefix(strings.TrimSpace(ResultText(d.Full())), "=")
	case "python":
		_, inside, ok := strings.Cut(d.Own, "Literal[")
		if !ok || d.HasCall || d.Contain {
			return nil
		}
		text = strings.ReplaceAll(strings.TrimSuffix(strings.TrimSpace(inside), "]"), ",", "|")
	default:
		return nil
	}
	for _, part := range SplitTop(text, '|') {
		part = strings.TrimSpace(part)
		if len(part) < 3 || part[0] != part[len(part)-1] || part[0] != '\'' && part[0] != '"' {
			continue
		}
		out = append(out, part[1:len(part)-1])
	}
	return out
}
