package outline

import (
	"slices"
	"strings"
)

// isExported applies the language's rule of visibility.
func (w *walker) isExported(d *Def) bool {
	tr := &w.s.traits
	if d.Kind == "implementation" {
		return true
	}
	if d.Parent >= 0 {
		p := &w.Defs[d.Parent]
		if !p.Exported || p.hides {
			return false
		}
		if p.Kind == "implementation" && strings.Contains(p.Full().Head, " for ") {
			return true // of a trait
		}
		if slices.Contains(tr.openIn, p.Kind) {
			return true
		}
	}
	words := strings.FieldsFunc(d.Before, func(r rune) bool { return r == ' ' || r == '(' || r == ')' || r == ',' })
	short := d.Name[strings.LastIndexByte(d.Name, '.')+1:]
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
	if tr.exportedUnder != "" && d.Parent < 0 {
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
