package analysis

import (
	"maps"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/grammar"
)

// An outline is what the rules see of a file, whatever its language: its
// definitions, and those calls, annotations, texts and imports that a rule or
// a reference could be about.
type outline struct {
	lang    string // as in symbol keys
	path    string
	source  []byte
	traits  *traits
	broken  bool
	defs    []def
	calls   []call
	marks   []mark
	texts   []text
	reads   []read
	imports []imported
	consts  map[string]value
	assigns []assign
	returns []value // objects and lists of return statements
	names   []name  // uses of imported names
}

// A def is a definition.
type def struct {
	name     string // nested names joined by dots
	kind     string
	parent   int // index of the definition it stands in, -1 at the top
	span     span
	exported bool
	head     string // the header as one line, without comments and annotations
	before   string // of it what stands before the name
	params   []param
	hasCall  bool   // it takes parameters
	after    string // of it what stands after the parameters
	bases    []string
	own      string // its text without that of nested definitions
	body     span
	nameAt   uint32
	node     int
	contain  bool
	tag      string // of a Go field
	hides    bool   // its members from here on are not visible
}

// A span is a range of the source.
type span struct {
	start, end uint32
	row, last  uint32 // lines, from 0
}

func (s span) holds(at uint32) bool { return s.start <= at && at < s.end }

// A param is a parameter of a definition.
type param struct {
	name, typ string
	optional  bool
	rest      bool
	keyword   bool
}

// A call is a call with its arguments.
type call struct {
	name  string // dotted; calls in it are written (), as in router.route().get
	args  []value
	span  span
	inner *call // the call it is chained to
	def   int
}

// A mark is an annotation, attribute or decorator of a definition.
type mark struct {
	name   string
	args   []value
	target int // the definition it stands at, -1 for none
	line   uint32
}

// A text is a literal text.
type text struct {
	value string
	line  uint32
	tag   string // of a tagged template
	at    uint32
}

// A read is an access by name or index to something rules care about.
type read struct {
	object string
	key    string
	line   uint32
}

// An assign is an assignment in a class body or at the top.
type assign struct {
	name  string
	value value
	def   int
	line  uint32
}

// An imported name is bound by an import.
type imported struct {
	module string
	name   string // in the module; "" for the module itself, "*" for all
	local  string
	line   uint32
}

// A name is a use of an imported one.
type name struct {
	local  string
	member string // what was taken from it, for a module
	line   uint32
}

// A walker makes an outline from a tree.
type walker struct {
	*outline
	s     *syntax
	t     *grammar.Tree
	want  *matcher
	open  []int // definitions around the current node
	after []int // calls by node, to find the one a call is chained to
}

// outlineOf walks the tree once. want tells which calls, marks and reads are
// worth keeping; it may be nil.
func outlineOf(t *grammar.Tree, s *syntax, lang, path string, want *matcher) *outline {
	w := &walker{s: s, t: t, want: want, outline: &outline{lang: lang, path: path, source: t.Source, traits: &s.traits, consts: map[string]value{}}}
	importEnd := 0
	locals := map[string]bool{}
	lastName := -1
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
			if i >= importEnd && len(locals) > 0 && locals[string(t.Source[n.Start:n.End])] && lastName != int(n.Start) {
				lastName = int(n.Start)
				w.use(i)
			}
		}
		if s.acts[n.Kind] == actDef && s.forms[n.Kind].parts["also"] == "const" {
			w.assignment(i)
		}
	}
	w.finish()
	return w.outline
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

// define adds a definition, unless it is local to a function.
func (w *walker) define(i int) {
	f := w.s.forms[w.t.Nodes[i].Kind]
	parent := w.current()
	if parent >= 0 && !w.defs[parent].contain {
		return
	}
	if need := f.parts["value"]; need != "" { // a variable that holds a function or a class
		if !w.isOneOf(i, need) {
			if f.parts["else"] == "" || parent >= 0 && !w.defs[parent].contain {
				return
			}
			f = &form{kind: f.parts["else"], parts: map[string]string{"name": f.parts["name"], "cut": f.parts["cut"], "under": f.parts["under"]}}
		} else {
			f = &form{kind: f.kind, parts: maps.Clone(f.parts)}
			delete(f.parts, "cut")
		}
	}
	if under := f.parts["under"]; under != "" && !w.stands(i, under) {
		return
	}
	at := w.s.part(w.t, i, f.parts["name"])
	if at < 0 {
		if f.parts["fixed"] == "" {
			return
		}
		at = i
	}
	d := def{kind: f.kind, parent: parent, span: w.span(i), node: i, contain: f.container, nameAt: w.t.Nodes[at].Start}
	d.name = cleanName(w.t.Text(at))
	if f.parts["fixed"] != "" {
		d.name = f.parts["fixed"]
	}
	if d.name == "" || len(d.name) > 200 {
		return
	}
	if recv := w.s.part(w.t, i, f.parts["of"]); recv >= 0 {
		d.name = cleanName(w.t.Text(recv)) + "." + d.name
	}
	if parent >= 0 {
		d.name = w.defs[parent].name + "." + d.name
	}
	w.header(&d, f)
	w.defs = append(w.defs, d)
	w.open = append(w.open, len(w.defs)-1)
	if f.parts["default"] != "" {
		w.section(f.parts["default"])
	}
	if f.parts["many"] != "" {
		w.siblings(i, at, d)
	}
}

// siblings adds the further names of a definition that makes several.
func (w *walker) siblings(i, first int, d def) {
	short := d.name[strings.LastIndexByte(d.name, '.')+1:]
	w.defs[len(w.defs)-1].head = strings.SplitN(d.before, ",", 2)[0] + " " + short
	w.defs[len(w.defs)-1].after = ""
	for c := range w.t.Children(i) {
		if c <= first || w.t.Field(c) != "name" {
			continue
		}
		e := d
		e.name = strings.TrimSuffix(d.name, short) + w.t.Text(c)
		e.head, e.after = d.before+" "+w.t.Text(c), ""
		w.defs = append(w.defs, e)
	}
}

// result keeps an object that a function returns: a handler's reply.
func (w *walker) result(i int) {
	for c := range w.t.Children(i) {
		if k := w.s.class[w.t.Nodes[c].Kind]; k == kindObject || k == kindList {
			if v := w.value(c); v.kind == valObject {
				w.returns = append(w.returns, v)
			}
		}
	}
}

// section hides or shows the members that follow in the current container.
func (w *walker) section(word string) {
	d := w.current()
	if d < 0 || !w.defs[d].contain {
		return
	}
	switch strings.TrimSpace(strings.TrimSuffix(word, ":")) {
	case "private", "protected":
		w.defs[d].hides = true
	case "public":
		w.defs[d].hides = false
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
	parent := parentOf(w.t, i)
	return parent >= 0 && slices.Contains(strings.Split(kinds, ","), w.t.Kind(parent))
}

// parentOf finds a node's parent by walking back: it is the nearest one before
// that is less deep.
func parentOf(t *grammar.Tree, i int) int {
	depth := t.Nodes[i].Depth
	for j := i - 1; j >= 0; j-- {
		if t.Nodes[j].Depth < depth {
			return j
		}
	}
	return -1
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
func (w *walker) header(d *def, f *form) {
	i := d.node
	end := d.span.end
	for _, key := range []string{"body", "cut"} {
		if b := w.s.part(w.t, i, f.parts[key]); b >= 0 && w.t.Nodes[b].Start < end {
			end = w.t.Nodes[b].Start
			if key == "body" {
				d.body = w.span(b)
			}
		}
	}
	start := d.span.start
	if p := w.s.part(w.t, i, f.parts["params"]); p >= 0 {
		d.hasCall = true
		n := w.t.Nodes[p]
		d.before = w.clean(i, start, min(d.nameAt, n.Start))
		d.params = parseParams(w.clean(p, n.Start, n.End), &w.s.traits)
		d.after = w.clean(i, n.End, end)
		d.head = w.clean(i, start, end)
	} else {
		d.head = w.clean(i, start, end)
		d.before = w.clean(i, start, d.nameAt)
		if f.parts["params"] != "" && f.parts["else"] == "" {
			d.hasCall = true // it takes none
		}
		if f.parts["params"] == "(text)" { // the grammar has no node for the list
			d.splitText(w.clean(i, d.nameAt, end), &w.s.traits)
		} else {
			d.after = w.clean(i, d.nameAt, end)
		}
	}
	if !d.hasCall && f.parts["else"] != "" && f.parts["value"] == "" {
		d.kind = f.parts["else"]
	}
	if w.lang == "ruby" && d.body.end == 0 {
		d.head, d.after = strings.TrimSuffix(d.head, "end"), strings.TrimSuffix(d.after, "end")
	}
	d.after, d.head = trimHead(d.after), trimHead(d.head)
	for sel := range strings.SplitSeq(f.parts["bases"], ",") {
		if b := w.s.part(w.t, i, sel); b >= 0 {
			d.bases = append(d.bases, typeNames(w.t.Text(b))...)
		}
	}
	d.exported = w.isExported(d)
}

// trimHead drops what only leads over to a body.
func trimHead(s string) string {
	s = strings.TrimRight(s, " {:;")
	s = strings.TrimSuffix(strings.TrimSuffix(s, "=>"), "=")
	return strings.TrimRight(s, " {:;")
}

// splitText finds the parameter list in "name(params) rest".
func (d *def) splitText(s string, tr *traits) {
	open := strings.IndexByte(s, '(')
	if open < 0 {
		d.after = s
		return
	}
	end := closing(s, open)
	d.hasCall = true
	d.params = parseParams(s[open:end], tr)
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
			b.Write(w.source[at:n.Start])
			b.WriteByte(' ')
			at = n.End
		}
	}
	b.Write(w.source[at:end])
	return oneLine(b.String())
}

// oneLine joins the words of s by single spaces, without space inside
// brackets, so that formatting does not count.
func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	for _, r := range [][2]string{{"( ", "("}, {" )", ")"}, {"[ ", "["}, {" ]", "]"}, {" ,", ","}, {",)", ")"}, {"{ }", "{}"}} {
		s = strings.ReplaceAll(s, r[0], r[1])
	}
	return s
}

func typeNames(s string) []string {
	s = strings.NewReplacer("::", ".", "\\", ".").Replace(s)
	return strings.FieldsFunc(s, func(r rune) bool {
		return !(r == '_' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	})
}

// isExported applies the language's rule of visibility.
func (w *walker) isExported(d *def) bool {
	tr := &w.s.traits
	if d.kind == "implementation" {
		return true
	}
	if d.parent >= 0 {
		p := w.defs[d.parent]
		if !p.exported || p.hides {
			return false
		}
		if p.kind == "implementation" && strings.Contains(p.head, " for ") {
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
		if i = parentOf(w.t, i); i < 0 {
			return false
		}
		if w.t.Kind(i) == kind {
			return true
		}
	}
	return false
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
	for i := range w.defs {
		d := &w.defs[i]
		if len(children[i]) == 0 {
			d.own = string(w.source[d.span.start:d.span.end])
			continue
		}
		var b strings.Builder
		at := d.span.start
		for _, c := range children[i] {
			k := w.defs[c].span
			if k.start < at {
				continue
			}
			b.WriteString(strings.Trim(string(w.source[at:k.start]), " \t\r\n,;"))
			at = k.end
		}
		b.WriteString(strings.Trim(string(w.source[at:d.span.end]), " \t\r\n,;"))
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
