package analysis

import (
	"slices"
	"strings"
)

// isExported applies the language's rule of visibility.
func (w *walker) isExported(d *def) bool {
	tr := &w.s.traits
	if d.kind == "implementation" {
		return true
	}
	if d.parent >= 0 {
		p := &w.defs[d.parent]
		if !p.exported || p.hides {
			return false
		}
		if p.kind == "implementation" && strings.Contains(p.full().head, " for ") {
			return true // of a trait
		}
		if slices.Contains(tr.openIn, p.kind) {
			return true
		}
	}
	words := strings.FieldsFunc(d.before, func(r rune) bool { return r == ' ' || r == '(' || r == ')' || r == ',' })
	short := d.name[strings.LastIndexByte(d.name, '.')+1:]
	switch {
	case tr.exportedName == "!_" && strings.HasPrefix(short, "_") && !strings.HasPrefix(short, "__init__"):
		return false
	case tr.exportedName == "upper" && (short == "" || short[0] < 'A' || short[0] > 'Z'):
		return false
	}
	for _, word := range tr.exportedUnless {
		if slices.Contains(words, word) || strings.HasPrefix(short, "#") {
			return false
		}
	}
	if len(tr.exportedWhen) > 0 && !slices.ContainsFunc(words, func(s string) bool { return slices.Contains(tr.exportedWhen, s) }) {
		return false
	}
	if tr.exportedUnder != "" && d.parent < 0 {
		return w.under(d.node, tr.exportedUnder)
	}
	return true
}

// under tells whether a node stands, at most three levels up, in one of a kind.
func (w *walker) under(i int, kind string) bool {
	for range 3 {
		if i = w.parent(i); i < 0 {
			return false
		}
		if w.t.Kind(i) == kind {
			return true
		}
	}
	return false
}
