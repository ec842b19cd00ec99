package outline

import (
	"bytes"
	"strings"

	"github.com/svc-hq/svc/internal/client/grammar"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A walker makes an outline from a tree.
type walker struct {
	*File
	s    *syntax
	t    *grammar.Tree
	want *rules.Matcher
	open []int // definitions around the current node

	rest []unread // calls that no rule wants

	parents []int32 // of the nodes, as far as they were asked for
}

// An unread call is kept by its place, until somebody asks for it.
type unread struct{ node, def int32 }

// Of walks the tree once. want tells which calls, marks and reads are
// worth keeping; it may be nil.
func Of(t *grammar.Tree, s *syntax, lang, path string, want *rules.Matcher) *File {
	w := &walker{s: s, t: t, want: want, File: &File{Lang: lang, Path: path, Source: t.Source, Traits: &s.traits, consts: map[string]Value{}}}
	importEnd := 0
	locals := map[string]bool{}
	lastName := -1
	around, hasAmbient := smallAmbient.Get()[lang]
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Flags != 0 {
			w.Broken = true
		}
		for len(w.open) > 0 && n.Start >= w.Defs[w.open[len(w.open)-1]].Span.End {
			w.open = w.open[:len(w.open)-1]
		}
		switch s.acts[n.Kind] {
		case actNone:
		case actDef:
			w.define(i)
			if s.forms[n.Kind].parts.Get("also") == "const" {
				w.assignment(i)
			}
		case actCall:
			if f := w.wordedForm(i); f != nil {
				w.defineAs(i, f)
			} else {
				w.call(i)
			}
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
			for _, im := range w.Imports[len(w.Imports)-min(len(w.Imports), 50):] {
				locals[im.Local] = true
			}
			importEnd = int(n.Next)
		case actConst:
			w.assignment(i)
		case actAdd:
			w.addition(i)
		case actLambda:
			w.function(i)
		case actReturn:
			w.result(i)
		case actObject:
			w.object(i)
		case actSection:
			if n.End-n.Start < 12 {
				w.section(string(t.Source[n.Start:n.End]))
			}
		case actName:
			if i < importEnd || lastName == int(n.Start) {
				continue
			}
			imported := len(locals) > 0 && locals[string(t.Source[n.Start:n.End])]
			if !imported && (!hasAmbient || !mayBeAmbient(t.Source[n.Start:n.End], around)) || w.isMember(n.Start) {
				continue
			}
			lastName = int(n.Start)
			if imported {
				w.Names = append(w.Names, w.use(i))
			} else {
				w.Ambient = append(w.Ambient, w.use(i))
			}
		}
	}
	w.finish()
	return w.File
}

// smallAmbient lists the languages whose files use names that no import binds,
// and whether those may begin with a small letter. Go's own reader finds its
// names.
var smallAmbient = lazy.Table[map[string]bool]{Make: func() map[string]bool {
	return map[string]bool{
		"java": false, "kotlin": false, "scala": false, "php": false, "csharp": false, "swift": false, "ruby": false, "c": true, "cpp": true,
	}
}}

// mayBeAmbient tells whether a name can be one that no import binds.
func mayBeAmbient(name []byte, small bool) bool {
	return len(name) > 2 && (small || name[0] >= 'A' && name[0] <= 'Z')
}

// isMember tells whether a name is taken from something: after a dot it is not
// the one that was imported. Three dots before a name spread it.
func (w *walker) isMember(at uint32) bool {
	before := w.Source[:at]
	switch {
	case bytes.HasSuffix(before, []byte("..")):
		return false
	case bytes.HasSuffix(before, []byte(".")), bytes.HasSuffix(before, []byte("->")):
		return true
	case bytes.HasSuffix(before, []byte("::")):
		from := len(before) - 2
		for from > 0 && IsNameByte(before[from-1]) {
			from--
		}
		if w.Lang == "cpp" { // of a namespace, unless it looks like a class
			return before[from] >= 'A' && before[from] <= 'Z'
		}
		return from < len(before)-2
	}
	return false
}

func (w *walker) span(i int) Span {
	n := w.t.Nodes[i]
	return Span{n.Start, n.End, n.Row, n.EndRow}
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
	children := make([][]int, len(w.Defs))
	for i, d := range w.Defs {
		if d.Parent >= 0 {
			children[d.Parent] = append(children[d.Parent], i)
		}
	}
	whole := w.t.Whole() // what definitions are parts of
	for i := range w.Defs {
		d := &w.Defs[i]
		if len(children[i]) == 0 {
			d.Own = whole[d.Span.Start:d.Span.End]
			continue
		}
		var b strings.Builder
		at := d.Span.Start
		for _, c := range children[i] {
			k := w.Defs[c].Span
			if k.Start < at || k.Start < d.body.Start || d.body.End == 0 {
				continue // what a header defines, such as constructor parameters, is part of it
			}
			b.WriteString(strings.Trim(whole[at:k.Start], " \t\r\n,;"))
			at = k.End
		}
		b.WriteString(strings.Trim(whole[at:d.Span.End], " \t\r\n,;"))
		d.Own = b.String()
	}
	w.exportLists()
	w.own, w.gives, w.loops = w.ownUses, w.given, w.findLoops
	w.others = func(wanted func(string) bool) (out []Call) {
		for _, u := range w.rest {
			i := int(u.node)
			if !wanted(w.lastName(i, w.s.forms[w.t.Nodes[i].Kind])) {
				continue
			}
			if c := w.readCall(i); c != nil {
				c.Def = int(u.def)
				out = append(out, *c)
			}
		}
		return out
	}
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
	for i := range w.Defs {
		d := &w.Defs[i]
		if d.Parent < 0 && listed[d.Name] {
			d.Exported = true
		} else if d.Parent >= 0 && !d.Exported && listed[w.Defs[d.Parent].Name] {
			d.Exported = w.isExported(d)
		}
	}
}
