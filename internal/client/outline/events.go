package outline

import (
	"slices"
	"strings"
)

// call keeps a call that some rule may be about.
func (w *walker) call(i int) {
	f := w.s.forms[w.t.Nodes[i].Kind]
	last := w.lastName(i, f)
	if !w.want.WantsCall(last) {
		if w.want != nil && last != "" {
			w.rest = append(w.rest, unread{int32(i), int32(w.current())})
		}
		return
	}
	if c := w.readCall(i); c != nil {
		c.Def = w.current()
		w.Calls = append(w.Calls, *c)
		if last == "require" || last == "import" {
			w.requireCall(i, c)
		}
	}
}

// lastName is the last part of what is called, found without building the
// whole name: most calls end here.
func (w *walker) lastName(i int, f *form) string {
	if n := w.s.part(w.t, i, f.parts.Get("name")); n >= 0 {
		return w.t.Text(n)
	}
	c := w.s.part(w.t, i, f.parts.Get("callee"))
	if c < 0 {
		return ""
	}
	if w.s.class[w.t.Nodes[c].Kind] == kindCall { // get("/x") { ... }
		return w.lastName(c, w.s.forms[w.t.Nodes[c].Kind])
	}
	s := strings.TrimRight(w.t.Text(c), "!?") // of Ruby and Elixir, part of a name
	if w.s.acts[w.t.Nodes[c].Kind] == actIndex {
		var picked Call
		w.picked(&picked, c)
		return picked.Name[strings.LastIndexByte(picked.Name, '.')+1:]
	}
	end := len(s)
	if end > 0 && s[end-1] == '>' {
		if open := strings.LastIndexByte(s, '<'); open > 0 {
			end = open
			for end > 0 && s[end-1] == ':' { // get::<T>
				end--
			}
		}
	}
	start := end
	for start > 0 && IsNameByte(s[start-1]) {
		start--
	}
	return s[start:end]
}

func IsNameByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// readCall reads the call at node i, and the one it is chained to.
func (w *walker) readCall(i int) *Call {
	f := w.s.forms[w.t.Nodes[i].Kind]
	if f == nil {
		return nil
	}
	c := &Call{Span: w.span(i), Def: -1}
	object := -1
	if n := w.s.part(w.t, i, f.parts.Get("name")); n >= 0 {
		c.Name = w.t.Text(n)
		if object = w.s.part(w.t, i, f.parts.Get("object")); object >= 0 {
			c.Name = w.t.Text(object) + "." + c.Name
		}
	} else if n := w.s.part(w.t, i, f.parts.Get("callee")); n >= 0 {
		n = w.unwrap(n) // await load<T>(x) parses as if what is awaited were called
		if w.s.class[w.t.Nodes[n].Kind] == kindCall {
			if in := w.readCall(n); in != nil { // a block after the arguments belongs to the same call
				in.Span = c.Span
				in.Args = append(in.Args, w.allArguments(i, f)...)
				return in
			}
		}
		object = n
		c.Name = w.t.Text(n)
		if w.s.acts[w.t.Nodes[n].Kind] == actIndex {
			w.picked(c, n)
		}
	}
	c.Name = dotted(c.Name)
	if w.Lang == "php" {
		c.Name = strings.ReplaceAll(c.Name, "$", "")
	}
	if object >= 0 && strings.Contains(c.Name, "()") {
		c.Inner = w.innerCall(object)
	}
	c.Args = w.allArguments(i, f)
	if w.Lang == "kotlin" {
		c.On = w.textBefore(i)
	}
	if n := w.s.part(w.t, i, f.parts.Get("types")); n >= 0 {
		c.Types = strings.Trim(w.t.Text(n), "<>")
	}
	return c
}

// picked reads a call of x[y]: y may say which member it is.
func (w *walker) picked(c *Call, n int) {
	f := w.s.forms[w.t.Nodes[n].Kind]
	object, index := w.s.part(w.t, n, f.parts.Get("object")), w.s.part(w.t, n, f.parts.Get("index"))
	if object < 0 || index < 0 {
		return
	}
	by := w.value(w.unwrap(index))
	names := w.Spell(by, func(string) []string { return nil })
	if slices.ContainsFunc(names, func(s string) bool { return !IsWord(s) }) {
		if by.Kind == ValName {
			c.Name, c.Index = w.t.Text(object)+".request", &by
		}
		return
	}
	c.Name = w.t.Text(object) + "." + names[0]
	c.Picks = names
}

// allArguments reads the argument list of a call and a block after it.
func (w *walker) allArguments(i int, f *form) []Value {
	var out []Value
	for sel := range strings.SplitSeq(f.parts.Get("args"), ",") {
		if a := w.s.part(w.t, i, sel); a >= 0 {
			out = append(out, w.arguments(a)...)
		}
	}
	return out
}

// innerCall is the first call inside the thing a method is called on.
func (w *walker) innerCall(i int) *Call {
	for j := i; j < int(w.t.Nodes[i].Next); j++ {
		if w.s.class[w.t.Nodes[j].Kind] == kindCall {
			return w.readCall(j)
		}
	}
	return nil
}

// arguments reads the children of an argument list.
func (w *walker) arguments(a int) []Value {
	var out []Value
	if w.s.class[w.t.Nodes[a].Kind] == kindLambda {
		return []Value{{Kind: ValLambda, Span: w.span(a)}}
	}
	for c := range w.items(a) {
		n := w.t.Nodes[c]
		k := w.s.class[n.Kind]
		if k == kindComment || n.Flags != 0 {
			continue
		}
		if k == kindKeyword || k == kindPair {
			if key, val := w.pairOf(c, w.s.forms[n.Kind]); key >= 0 && val >= 0 {
				v := w.value(w.unwrap(val))
				v.Name = strings.Trim(w.t.Text(key), "\"':= ")
				out = append(out, v)
				continue
			}
		}
		if k == kindWrap {
			if f := w.s.forms[n.Kind]; f != nil && f.parts.Get("key") != "" {
				if key := w.s.part(w.t, c, f.parts.Get("key")); key >= 0 && key != w.unwrap(c) { // else it is the value
					v := w.value(w.unwrap(c))
					v.Name = strings.Trim(w.t.Text(key), ":=")
					out = append(out, v)
					continue
				}
			}
			c = w.unwrap(c)
		}
		out = append(out, w.value(c))
	}
	return out
}

// dotted writes what is called as names joined by dots; calls in it become ().
func dotted(s string) string {
	if IsWord(s) && !strings.ContainsAny(s, ":") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case IsNameByte(c):
			b.WriteByte(c)
		case c == '\\':
			b.WriteByte('.')
		case c == '.' || c == ':' && i+1 < len(s) && s[i+1] == ':' || c == '-' && i+1 < len(s) && s[i+1] == '>':
			if c != '.' {
				i++
			}
			b.WriteByte('.')
		case c == '/' && i > 0 && strings.IndexByte(" \t\n\r", s[i-1]) >= 0: // perhaps a comment between the calls of a chain
			i += commentAt(s[i:])
		case c == '(':
			b.WriteString("()")
			i = closing(s, i) - 1
		case c == '[':
			i = closing(s, i) - 1
		case c == '<':
			if end := strings.IndexByte(s[i:], '>'); end > 0 {
				i += end
			}
		}
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.ReplaceAll(b.String(), "..", "."), "."), ".")
}

// commentAt is how far a comment goes on that a text may begin with.
func commentAt(s string) int {
	end := "\n"
	switch {
	case strings.HasPrefix(s, "/*"):
		end = "*/"
	case !strings.HasPrefix(s, "//"):
		return 0
	}
	if at := strings.Index(s, end); at >= 0 {
		return at + len(end) - 1
	}
	return len(s)
}

// mark keeps an annotation. Its definition is the one whose header it stands
// in, else the next one.
func (w *walker) mark(i int) {
	f := w.s.forms[w.t.Nodes[i].Kind]
	at := i
	if inner := w.s.part(w.t, i, f.parts.Get("inner")); inner >= 0 {
		at = inner
	}
	m := Mark{Line: w.t.Nodes[i].Row, Target: -1}
	for sel := range strings.SplitSeq(f.parts.Get("name"), ",") {
		if n := w.s.part(w.t, at, sel); n >= 0 {
			m.Name = dotted(w.t.Text(n))
			break
		}
	}
	if m.Name == "" {
		m.Name = dotted(w.t.Text(at))
		if p := strings.Index(m.Name, "()"); p >= 0 {
			m.Name = m.Name[:p]
		}
	}
	if !w.want.WantsMark(m.Name) {
		return
	}
	for sel := range strings.SplitSeq(f.parts.Get("args"), ",") {
		if a := w.s.part(w.t, at, sel); a >= 0 {
			m.Args = w.arguments(a)
			break
		}
	}
	if w.Lang == "rust" {
		m.Args = w.namedTokens(m.Args)
	}
	if w.Lang == "kotlin" && m.Args == nil { // a class's annotation parses as an expression before it
		if next := int(w.t.Nodes[i].Next); next < len(w.t.Nodes) && w.t.Kind(next) == "parenthesized_expression" {
			m.Args = w.arguments(next)
		}
	}
	start := w.t.Nodes[i].Start
	if d := w.current(); d >= 0 {
		if def := w.Defs[d]; start < def.nameAt {
			m.Target = d
		} else if def.body.End > 0 && start < def.body.Start || def.body.End == 0 && !def.Contain {
			return // of a parameter
		}
	}
	if m.Target < 0 {
		m.Target = len(w.Defs) // the next definition
	}
	w.Marks = append(w.Marks, m)
}

// namedTokens gives the arguments of an attribute of Rust their names: its
// grammar keeps them as tokens, path = "/x" as two.
func (w *walker) namedTokens(args []Value) (out []Value) {
	for i := 0; i < len(args); i++ {
		if i+1 < len(args) && args[i].Kind == ValName {
			between := w.Source[args[i].Span.End:args[i+1].Span.Start]
			if strings.TrimSpace(string(between)) == "=" {
				args[i+1].Name = args[i].Text
				continue
			}
		}
		out = append(out, args[i])
	}
	return out
}

// text keeps a literal that may hold SQL or GraphQL.
func (w *walker) text(i int) {
	n := w.t.Nodes[i]
	if n.End-n.Start < 12 {
		return
	}
	head := strings.TrimLeft(unquote(string(w.Source[n.Start:min(n.End, n.Start+40)])), " \t\r\n(\\")
	tag := ""
	if j := int(n.Start) - 1; j > 2 && IsNameByte(w.Source[j]) {
		for j >= 0 && (IsNameByte(w.Source[j]) || w.Source[j] == '.') {
			j--
		}
		tag = string(w.Source[j+1 : n.Start])
	}
	if !startsQuery(head) && tag != "gql" && tag != "graphql" {
		return
	}
	w.Texts = append(w.Texts, Text{Value: w.literal(i), Line: n.Row, Tag: tag, at: n.Start})
}

// startsQuery tells whether a text may be SQL or GraphQL, by its first word.
func startsQuery(s string) bool {
	end := strings.IndexFunc(s, func(r rune) bool { return r < 'A' || r > 'Z' && r < 'a' || r > 'z' })
	if end <= 0 {
		return false
	}
	switch strings.ToUpper(s[:end]) {
	case "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "DROP", "WITH", "MERGE", "TRUNCATE", "REPLACE",
		"QUERY", "MUTATION", "SUBSCRIPTION", "FRAGMENT":
		return true
	}
	return false
}

// index keeps x["key"] of the objects that rules name.
func (w *walker) index(i int) {
	f := w.s.forms[w.t.Nodes[i].Kind]
	object := w.s.part(w.t, i, f.parts.Get("object"))
	if object < 0 {
		return
	}
	name := w.t.Text(object)
	if len(name) > 60 || !w.want.WantsRead(dotted(name)) {
		return
	}
	key := w.s.part(w.t, i, f.parts.Get("index"))
	if key < 0 || key == object {
		for c := range w.t.Children(i) {
			if c != object {
				key = c
				break
			}
		}
	}
	if key < 0 {
		return
	}
	if s, ok := w.value(key).Literal(); ok {
		w.Reads = append(w.Reads, read{dotted(name), s, w.t.Nodes[i].Row})
	}
}

// member keeps x.key of the objects that rules name.
func (w *walker) member(i int) {
	n := w.t.Nodes[i]
	if n.End-n.Start > 80 {
		return
	}
	s := string(w.Source[n.Start:n.End])
	dot := strings.LastIndexByte(s, '.')
	if dot <= 0 {
		return
	}
	object := strings.TrimRight(s[:dot], "?!")
	if w.want.WantsRead(object) && IsWord(s[dot+1:]) {
		w.Reads = append(w.Reads, read{object, s[dot+1:], n.Row})
	}
}

// assignment keeps "name = value" where it may be a constant, a router or a
// column of a model.
func (w *walker) assignment(i int) {
	f := w.s.forms[w.t.Nodes[i].Kind]
	l, r := w.s.part(w.t, i, f.parts.Get("left")), w.s.part(w.t, i, f.parts.Get("right"))
	name := f.parts.Get("fixed")
	if l < 0 && name == "" || r < 0 || l == r {
		return
	}
	if op := f.parts.Get("op"); op != "" && l >= 0 && strings.TrimSpace(string(w.Source[w.t.Nodes[l].End:w.t.Nodes[r].Start])) != op {
		return
	}
	if l >= 0 {
		name = strings.TrimLeft(w.t.Text(l), "$@:*&")
	}
	if len(name) > 100 || strings.ContainsAny(name, "\n{[") {
		return
	}
	d := w.current()
	if d >= 0 && w.Defs[d].Span.Start == w.t.Nodes[i].Start && w.Defs[d].node == i {
		d = w.Defs[d].Parent
	}
	if d >= 0 && !w.Defs[d].HasCall && !w.Defs[d].Contain && strings.HasSuffix("."+w.Defs[d].Name, "."+name) { // a field's own value
		d = w.Defs[d].Parent
	}
	n := w.t.Nodes[r]
	k := w.s.class[w.t.Nodes[w.unwrap(r)].Kind]
	constant := w.s.acts[w.t.Nodes[r].Kind] == actName && d >= 0 && w.Defs[d].Contain // of a class: another one
	exported := k == kindLambda && l < 0                                              // a function that the file is
	if !constant && !exported && !slices.Contains(assignable, k) {
		return
	}
	if k != kindText && n.End-n.Start > 20_000 {
		return
	}
	v := w.value(w.unwrap(r))
	if c := v.byDefault(); c.Kind == ValText && (d < 0 || w.Defs[d].Contain) {
		w.consts[name] = c
	}
	w.Assigns = append(w.Assigns, assign{Name: name, Value: v, Def: d, Line: w.t.Nodes[i].Row})
}

// assignable are the values that are kept of what is assigned.
var assignable = []kind{kindText, kindJoin, kindCall, kindSymbol, kindObject, kindList, kindChoice}

// addition keeps "name += value" of a text or a list.
func (w *walker) addition(i int) {
	f := w.s.forms[w.t.Nodes[i].Kind]
	l, r := w.s.part(w.t, i, f.parts.Get("left")), w.s.part(w.t, i, f.parts.Get("right"))
	if l < 0 || r < 0 || !IsWord(w.t.Text(l)) || strings.TrimSpace(string(w.Source[w.t.Nodes[l].End:w.t.Nodes[r].Start])) != "+=" {
		return
	}
	a := assign{Name: w.t.Text(l), Value: w.value(w.unwrap(r)), Def: w.current(), Line: w.t.Nodes[i].Row, Adds: true}
	if a.Value.Kind != ValText && a.Value.Kind != ValChoice && a.Value.Kind != ValList {
		return
	}
	for at := w.parent(i); at >= 0 && w.s.acts[w.t.Nodes[at].Kind] != actDef && w.s.acts[w.t.Nodes[at].Kind] != actLambda; at = w.parent(at) {
		kind := w.t.Kind(at)
		a.Maybe = a.Maybe || strings.HasPrefix(kind, "if_") || strings.HasPrefix(kind, "switch_")
	}
	w.Assigns = append(w.Assigns, a)
}

// maxObject is the longest object that is looked at as a whole.
const maxObject = 20_000

// object keeps an object whose fields some rule names.
func (w *walker) object(i int) {
	if !w.want.WantsObjects() || w.t.Nodes[i].End-w.t.Nodes[i].Start > maxObject {
		return
	}
	var names []string
	for c := range w.t.Children(i) {
		switch w.s.class[w.t.Nodes[c].Kind] {
		case kindShort:
			names = append(names, w.t.Text(c))
		case kindPair, kindKeyword:
			if key, _ := w.pairOf(c, w.s.forms[w.t.Nodes[c].Kind]); key >= 0 {
				names = append(names, strings.Trim(w.t.Text(key), "\"'`:"))
			}
		default:
			if f := w.s.forms[w.t.Nodes[c].Kind]; f != nil && w.s.acts[w.t.Nodes[c].Kind] == actDef {
				if at := w.s.part(w.t, c, f.parts.Get("name")); at >= 0 {
					names = append(names, w.t.Text(at))
				}
			}
		}
	}
	if w.want.WantsObject(names) {
		w.Objects = append(w.Objects, object{w.value(i), w.current()})
	}
}

// use reads the use of a name.
func (w *walker) use(i int) Name {
	n := w.t.Nodes[i]
	u := Name{Local: string(w.Source[n.Start:n.End]), Line: n.Row, Mark: n.Start > 0 && w.Source[n.Start-1] == '@'}
	rest := w.Source[n.End:min(len(w.Source), int(n.End)+80)]
	for _, sep := range []string{".", "::", "\\"} {
		if after, ok := strings.CutPrefix(string(rest), sep); ok {
			end := 0
			for end < len(after) && IsNameByte(after[end]) {
				end++
			}
			u.Member = after[:end]
			break
		}
	}
	u.Call = w.callOf(i, u)
	return u
}
