package analysis

import (
	"bytes"
	"strings"

	"github.com/svc-hq/svc/internal/client/grammar"
)

// A walker makes an outline from a tree.
type walker struct {
	*outline
	s    *syntax
	t    *grammar.Tree
	want *matcher
	open []int // definitions around the current node

	parents []int32 // of the nodes, as far as they were asked for
}

// outlineOf walks the tree once. want tells which calls, marks and reads are
// worth keeping; it may be nil.
func outlineOf(t *grammar.Tree, s *syntax, lang, path string, want *matcher) *outline {
	w := &walker{s: s, t: t, want: want, outline: &outline{lang: lang, path: path, source: t.Source, traits: &s.traits, consts: map[string]value{}}}
	importEnd := 0
	locals := map[string]bool{}
	lastName := -1
	around := ambient[lang]
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Flags != 0 {
			w.broken = true
		}
		for len(w.open) > 0 && n.Start >= w.defs[w.open[len(w.open)-1]].span.end {
			w.open = w.open[:len(w.open)-1]
		}
		switch s.acts[n.Kind] {
		case actNone:
		case actDef:
			w.define(i)
			if s.forms[n.Kind].parts["also"] == "const" {
				w.assignment(i)
			}
		case actCall:
			w.call(i)
		case actMark:
			w.mark(i)
		case actText:
			w.text(i)
		case actIndex:
			w.index(i)
		case actMember:
			w.member(i)
		case actImport:
			w.readImport(i)
			for _, im := range w.imports[len(w.imports)-min(len(w.imports), 50):] {
				locals[im.local] = true
			}
			importEnd = int(n.Next)
		case actConst:
			w.assignment(i)
		case actReturn:
			w.result(i)
		case actSection:
			if n.End-n.Start < 12 {
				w.section(string(t.Source[n.Start:n.End]))
			}
		case actName:
			if i < importEnd || lastName == int(n.Start) {
				continue
			}
			imported := len(locals) > 0 && locals[string(t.Source[n.Start:n.End])]
			if !imported && (around == nil || !around.mayBe(t.Source[n.Start:n.End])) || w.isMember(n.Start) {
				continue
			}
			lastName = int(n.Start)
			if imported {
				w.names = append(w.names, w.use(i))
			} else {
				w.ambient = append(w.ambient, w.use(i))
			}
		}
	}
	w.finish()
	return w.outline
}

// isMember tells whether a name is taken from something: after a dot it is not
// the one that was imported. Three dots before a name spread it.
func (w *walker) isMember(at uint32) bool {
	before := w.source[:at]
	switch {
	case bytes.HasSuffix(before, []byte("..")):
		return false
	case bytes.HasSuffix(before, []byte(".")), bytes.HasSuffix(before, []byte("->")):
		return true
	case bytes.HasSuffix(before, []byte("::")):
		from := len(before) - 2
		for from > 0 && isNameByte(before[from-1]) {
			from--
		}
		if w.lang == "cpp" { // of a namespace, unless it looks like a class
			return before[from] >= 'A' && before[from] <= 'Z'
		}
		return from < len(before)-2
	}
	return false
}

func (w *walker) span(i int) span {
	n := w.t.Nodes[i]
	return span{n.Start, n.End, n.Row, n.EndRow}
}

func (w *walker) current() int {
	if len(w.open) == 0 {
		return -1
	}
	return w.open[len(w.open)-1]
}

// finish fills in what needs the whole file: own texts, targets of marks, and
// names that are exported by a list.
func (w *walker) finish() {
	children := make([][]int, len(w.defs))
	for i, d := range w.defs {
		if d.parent >= 0 {
			children[d.parent] = append(children[d.parent], i)
		}
	}
	whole := w.t.Whole() // what definitions are parts of
	for i := range w.defs {
		d := &w.defs[i]
		if len(children[i]) == 0 {
			d.own = whole[d.span.start:d.span.end]
			continue
		}
		var b strings.Builder
		at := d.span.start
		for _, c := range children[i] {
			k := w.defs[c].span
			if k.start < at || k.start < d.body.start || d.body.end == 0 {
				continue // what a header defines, such as constructor parameters, is part of it
			}
			b.WriteString(strings.Trim(whole[at:k.start], " \t\r\n,;"))
			at = k.end
		}
		b.WriteString(strings.Trim(whole[at:d.span.end], " \t\r\n,;"))
		d.own = b.String()
	}
	w.exportLists()
}

// exportLists finds "export { a, b as c }", "export default a" and
// "module.exports = { a, b }", which export what is defined elsewhere.
func (w *walker) exportLists() {
	if w.s.traits.exportedUnder != "export_statement" {
		return
	}
	listed := map[string]bool{}
	for i := range w.t.Nodes {
		if !w.s.lists[w.t.Nodes[i].Kind] {
			continue
		}
		switch w.t.Kind(i) {
		case "export_specifier":
			if c := w.t.Child(i, "name"); c >= 0 {
				listed[w.t.Text(c)] = true
			}
		case "export_statement":
			if c := w.t.Child(i, "value"); c >= 0 {
				listed[w.t.Text(c)] = true
			}
		case "assignment_expression":
			left, right := w.t.Child(i, "left"), w.t.Child(i, "right")
			if left < 0 || right < 0 {
				continue
			}
			if l := w.t.Text(left); l != "module.exports" && !strings.HasPrefix(l, "exports.") && !strings.HasPrefix(l, "module.exports.") {
				continue
			}
			listed[w.t.Text(right)] = true
			for c := range w.t.Children(right) {
				if w.t.Kind(c) == "shorthand_property_identifier" {
					listed[w.t.Text(c)] = true
				} else if v := w.t.Child(c, "value"); v >= 0 {
					listed[w.t.Text(v)] = true
				}
			}
		}
	}
	if len(listed) == 0 {
		return
	}
	for i := range w.defs {
		d := &w.defs[i]
		if d.parent < 0 && listed[d.name] {
			d.exported = true
		} else if d.parent >= 0 && !d.exported && listed[w.defs[d.parent].name] {
			d.exported = w.isExported(d)
		}
	}
}
