package outline

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// wordedForm is the form of a definition that is written as a call of a word;
// nil for other calls.
func (w *walker) wordedForm(i int) *form {
	for _, f := range w.s.worded[w.t.Nodes[i].Kind] {
		if at := w.s.part(w.t, i, f.parts.Get("word")); at >= 0 && slices.Contains(strings.Split(f.parts.Get("words"), ","), w.t.Text(at)) {
			return f
		}
	}
	return nil
}

// define adds a definition, unless it is local to a function.
func (w *walker) define(i int) { w.defineAs(i, w.s.forms[w.t.Nodes[i].Kind]) }

func (w *walker) defineAs(i int, f *form) {
	parent := w.current()
	if parent >= 0 && !w.Defs[parent].Contain {
		if f.parts.Get("params") != "" && f.parts.Get("value") == "" {
			w.function(i)
		}
		return
	}
	if need := f.parts.Get("value"); need != "" { // a variable that holds a function or a class
		if !w.isOneOf(i, need) {
			if f.parts.Get("else") == "" || parent >= 0 && !w.Defs[parent].Contain {
				return
			}
			f = &form{kind: f.parts.Get("else"), parts: f.parts.Only("name", "cut", "under")}
		} else {
			f = &form{kind: f.kind, parts: f.parts.Without("cut")}
		}
	}
	if under := f.parts.Get("under"); under != "" && !w.stands(i, under) {
		return
	}
	at := w.s.part(w.t, i, f.parts.Get("name"))
	if at < 0 {
		if f.parts.Get("fixed") == "" {
			return
		}
		at = i
	}
	d := Def{Kind: f.kind, Parent: parent, Span: w.span(i), node: i, Contain: f.container, nameAt: w.t.Nodes[at].Start}
	d.Name = cleanName(w.t.Text(at))
	if f.parts.Get("fixed") != "" {
		d.Name = f.parts.Get("fixed")
	}
	if d.Name == "" || len(d.Name) > 200 {
		return
	}
	if recv := w.s.part(w.t, i, f.parts.Get("of")); recv >= 0 {
		d.Name = cleanName(w.t.Text(recv)) + "." + d.Name
	}
	if parent >= 0 {
		d.Name = strings.TrimSuffix(w.Defs[parent].Name, ".Companion") + "." + d.Name // Kotlin's callers leave that out
	}
	w.header(&d, f)
	w.Defs = append(w.Defs, d)
	w.open = append(w.open, len(w.Defs)-1)
	if f.parts.Get("default") != "" {
		w.section(f.parts.Get("default"))
	}
	if f.parts.Get("many") != "" {
		w.siblings(i, at, d)
	}
}

// siblings adds the further names of a definition that makes several.
func (w *walker) siblings(i, first int, d Def) {
	short := d.Name[strings.LastIndexByte(d.Name, '.')+1:]
	w.Defs[len(w.Defs)-1].fill = nil
	w.Defs[len(w.Defs)-1].Head = strings.SplitN(d.Before, ",", 2)[0] + " " + short
	w.Defs[len(w.Defs)-1].after = ""
	for c := range w.t.Children(i) {
		if c <= first || w.t.Field(c) != "name" {
			continue
		}
		e := d
		e.fill = nil
		e.Name = strings.TrimSuffix(d.Name, short) + w.t.Text(c)
		e.Head, e.after = d.Before+" "+w.t.Text(c), ""
		w.Defs = append(w.Defs, e)
	}
}

// result keeps an object that a function returns: a handler's reply.
func (w *walker) result(i int) {
	for c := range w.t.Children(i) {
		if k := w.s.class[w.t.Nodes[c].Kind]; k == kindObject || k == kindList {
			if v := w.value(c); v.Kind == ValObject {
				w.Returns = append(w.Returns, v)
			}
		}
	}
}

// section hides or shows the members that follow in the current container.
func (w *walker) section(word string) {
	d := w.current()
	if d < 0 || !w.Defs[d].Contain {
		return
	}
	switch strings.TrimSpace(strings.TrimSuffix(word, ":")) {
	case "private", "protected":
		w.Defs[d].hides = true
	case "public":
		w.Defs[d].hides = false
	}
}

// isOneOf tells whether the part of a variable that holds its value is of a
// kind listed after the selector: value=value:arrow_function,class.
func (w *walker) isOneOf(i int, need string) bool {
	selector, kinds, _ := strings.Cut(need, ":")
	v := w.s.part(w.t, i, selector)
	return v >= 0 && slices.Contains(strings.Split(kinds, ","), w.t.Kind(v))
}

// stands tells whether the nearest enclosing node that is not skipped is of
// one of the kinds.
func (w *walker) stands(i int, kinds string) bool {
	parent := w.parent(i)
	return parent >= 0 && slices.Contains(strings.Split(kinds, ","), w.t.Kind(parent))
}

// parent returns a node's parent, the nearest one before that is less deep.
// They are found as far as anybody asks, each from the one before.
func (w *walker) parent(i int) int {
	for j := len(w.parents); j <= i; j++ {
		p := j - 1
		for p >= 0 && w.t.Nodes[p].Depth >= w.t.Nodes[j].Depth {
			p = int(w.parents[p])
		}
		w.parents = append(w.parents, int32(p))
	}
	return int(w.parents[i])
}

// cleanName makes a name of a node's text: without type arguments, pointers
// and quotes, its parts joined by dots.
func cleanName(s string) string {
	if i := strings.IndexAny(s, "<[("); i > 0 {
		s = s[:i]
	}
	s = strings.Trim(strings.TrimSpace(s), "\"'`*&$@:")
	s = strings.ReplaceAll(s, "::", ".")
	if strings.ContainsAny(s, " \t\n{}#") {
		s = strings.Trim(s, "#")
		if strings.ContainsAny(s, " \t\n{}#") {
			return ""
		}
	}
	return s
}

// header takes apart what stands before a definition's body.
func (w *walker) header(d *Def, f *form) {
	i := d.node
	end := d.Span.End
	for _, key := range []string{"body", "cut"} {
		if b := w.s.part(w.t, i, f.parts.Get(key)); b >= 0 && w.t.Nodes[b].Start < end {
			end = w.t.Nodes[b].Start
			if key == "body" {
				d.body = w.span(b)
			}
		}
	}
	p := w.s.part(w.t, i, f.parts.Get("params"))
	d.HasCall = p >= 0 || f.parts.Get("params") != "" && f.parts.Get("else") == "" // else it takes none
	if f.parts.Get("else") != "" && f.parts.Get("value") == "" && !d.HasCall {
		d.Kind = f.parts.Get("else")
	}
	before := d.nameAt
	if p >= 0 {
		before = min(before, w.t.Nodes[p].Start)
	}
	d.Before = w.clean(i, d.Span.Start, before)
	d.fill = func(d *Def) { w.fillHeader(d, f, p, end) }
	for sel := range strings.SplitSeq(f.parts.Get("bases"), ",") {
		if b := w.s.part(w.t, i, sel); b >= 0 {
			d.Bases = append(d.Bases, typeNames(w.t.Text(b))...)
		}
	}
	d.Exported = w.isExported(d)
}

// fillHeader takes the header of a definition apart. p is the node of its
// parameters, or -1.
func (w *walker) fillHeader(d *Def, f *form, p int, end uint32) {
	i := d.node
	d.Head = w.clean(i, d.Span.Start, end)
	switch {
	case p >= 0:
		n := w.t.Nodes[p]
		d.Params = parseParams(w.clean(p, n.Start, n.End), &w.s.traits)
		d.after = w.clean(i, n.End, end)
	case f.parts.Get("params") == "(text)": // the grammar has no node for the list
		d.splitText(w.clean(i, d.nameAt, end), &w.s.traits)
	default:
		d.after = w.clean(i, d.nameAt, end)
	}
	if w.Lang == "kotlin" { // null is no node, so nothing could be cut off there
		d.Head, d.after = strings.TrimSuffix(d.Head, "= null"), strings.TrimSuffix(d.after, "= null")
	}
	if w.Lang == "ruby" && d.body.End == 0 {
		d.Head, d.after = strings.TrimSuffix(d.Head, "end"), strings.TrimSuffix(d.after, "end")
	}
	d.after, d.Head = trimHead(d.after), trimHead(d.Head)
}

// trimHead drops what only leads over to a body.
func trimHead(s string) string {
	s = strings.TrimRight(s, " {:;,")
	s = strings.TrimSuffix(strings.TrimSuffix(s, "=>"), "=")
	return strings.TrimRight(s, " {:;,")
}

// splitText finds the parameter list in "name(params) rest".
func (d *Def) splitText(s string, tr *Traits) {
	open := strings.IndexByte(s, '(')
	if open < 0 {
		d.after = s
		return
	}
	end := closing(s, open)
	d.HasCall = true
	d.Params = parseParams(s[open:end], tr)
	d.after = s[end:]
}

// clean is the source from start to end, inside node i, on one line and
// without comments and annotations.
func (w *walker) clean(i int, start, end uint32) string {
	if start >= end {
		return ""
	}
	var b strings.Builder
	at := start
	for j := i + 1; j < int(w.t.Nodes[i].Next) && w.t.Nodes[j].Start < end; j++ {
		n := w.t.Nodes[j]
		if n.Start < at || n.End > end {
			continue
		}
		if a := w.s.acts[n.Kind]; a == actMark || a == actComment {
			b.Write(w.Source[at:n.Start])
			b.WriteByte(' ')
			at = n.End
		}
	}
	b.Write(w.Source[at:end])
	return oneLine(b.String())
}

// oneLine joins the words of s by single spaces, without space inside
// brackets, so that formatting does not count.
func oneLine(s string) string {
	if isOneLine(s) {
		return s
	}
	return joinLines(s)
}

func joinLines(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	for _, r := range [][2]string{{"( ", "("}, {" )", ")"}, {"[ ", "["}, {" ]", "]"}, {" ,", ","}, {",)", ")"}, {"{ }", "{}"}} {
		s = strings.ReplaceAll(s, r[0], r[1])
	}
	return s
}

// isOneLine tells, without making anything, that oneLine would change nothing.
func isOneLine(s string) bool {
	before := byte(' ')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf, c < ' ':
			return false
		case before == ' ' && (strings.IndexByte(" )],", c) >= 0 || c == '}' && i > 1 && s[i-2] == '{'):
			return false
		case c == ' ' && (before == '(' || before == '['), c == ')' && before == ',':
			return false
		}
		before = c
	}
	return before != ' ' || s == ""
}

var dots = lazy.Table[*strings.Replacer]{Make: func() *strings.Replacer { return strings.NewReplacer("::", ".", "\\", ".") }}

func typeNames(s string) []string {
	s = dots.Get().Replace(s)
	return strings.FieldsFunc(s, func(r rune) bool {
		return !(r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	})
}
