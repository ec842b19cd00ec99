package outline

import (
	"slices"
	"strings"
)

// A Value is what an argument or a constant holds, as far as the source says.
type Value struct {
	Kind   valueKind
	Text   string  // of a text, with {} where something is filled in; else the source, shortened
	Items  []Value // of a list
	Fields []field // of an object
	Call   *Call   // of a call
	Parts  []Value // of a text that is put together: what it is made of, in order
	Open   bool    // of an object: it takes over the fields of another
	spread []spread
	Gives  func() []Value // of a function: what it may give back; nil when it is not known
	Name   string         // the argument's name, when it goes by name
	Span   Span
}

// A field is a named value in an object.
type field struct {
	Name  string
	Value Value
}

// A spread is an object whose fields another takes over, behind some of its own.
type spread struct {
	of    Value
	after int
}

// Over are the objects that may give a field of this one: what stands behind
// the field itself wins.
func (v Value) Over(name string) (out []Value) {
	at := slices.IndexFunc(v.Fields, func(f field) bool { return f.Name == name })
	for _, s := range v.spread {
		if s.after > at {
			out = append(out, s.of)
		}
	}
	return out
}

type valueKind uint8

const (
	ValOther valueKind = iota
	ValText
	ValList
	ValObject
	ValCall
	ValLambda
	ValName
	ValChoice // one of its items, by a condition
	ValSymbol // a Ruby symbol or a bare word, as good as a text
)

// Literal returns a value's text when it is one.
func (v Value) Literal() (string, bool) {
	if v.Kind == ValText || v.Kind == ValSymbol {
		return v.Text, true
	}
	return "", false
}

// byDefault is what a setting is when nobody sets it: X in ENV || "X".
func (v Value) byDefault() Value {
	if v.Kind == ValChoice && v.Text == orElse && v.Items[0].Kind != ValText {
		return v.Items[1]
	}
	return v
}

// Get returns a field of an object.
func (v Value) Get(name string) (Value, bool) {
	for _, f := range v.Fields {
		if f.Name == name {
			return f.Value, true
		}
	}
	return Value{}, false
}

// At returns a field of an object, of objects in it by a path with dots.
func (v Value) At(path string) (Value, bool) {
	ok := true
	for ok && path != "" {
		var name string
		name, path, _ = strings.Cut(path, ".")
		if v.Kind == ValCall && v.Call != nil && v.Call.Name == "Object.freeze" && len(v.Call.Args) == 1 {
			v = v.Call.Args[0]
		}
		v, ok = v.Result().Get(name)
	}
	return v, ok
}

// value reads node i.
func (w *walker) value(i int) Value {
	return w.valueAt(i, 0)
}

func (w *walker) valueAt(i, depth int) Value {
	n := w.t.Nodes[i]
	v := Value{Span: w.span(i)}
	if depth > 8 {
		return v
	}
	switch w.s.class[n.Kind] {
	case kindText:
		v.Kind, v.Text = ValText, w.literal(i)
		if strings.Contains(v.Text, "{}") {
			v.Parts = w.textParts(i, depth)
		}
	case kindChoice:
		return w.choice(i, depth)
	case kindSymbol:
		v.Kind, v.Text = ValSymbol, strings.Trim(w.t.Text(i), ":'\"")
	case kindJoin:
		return w.join(i, depth)
	case kindList:
		v.Kind = ValList
		hasPairs := false
		for c := range w.items(i) {
			k := w.s.class[w.t.Nodes[c].Kind]
			if k == kindPair && w.isPair(c) {
				hasPairs = true
				w.addField(&v, c, depth)
				continue
			}
			v.Items = append(v.Items, w.valueAt(w.unwrap(c), depth+1))
		}
		if hasPairs {
			v.Kind = ValObject
		}
	case kindObject:
		v.Kind = ValObject
		for c := range w.items(i) {
			w.addField(&v, c, depth)
		}
	case kindWrap:
		if c := w.unwrap(i); c != i {
			return w.valueAt(c, depth+1)
		}
		v.Text = short(w.t.Text(i))
	case kindLambda:
		v.Kind, v.Gives = ValLambda, func() []Value { return w.given(i) }
	case kindCall:
		v.Kind = ValCall
		if t, ok := w.methodOfText(i, depth); ok {
			return t
		}
		v.Call = w.readCall(i)
		v.Text = short(w.t.Text(i))
	default:
		w.named(&v, i)
	}
	return v
}

// named reads a name, or keeps the text of what is none.
func (w *walker) named(v *Value, i int) {
	v.Text = short(w.t.Text(i))
	if w.Lang == "elixir" { // @base is what a module calls base
		v.Text = strings.TrimPrefix(v.Text, "@")
	}
	if IsWord(v.Text) {
		v.Kind = ValName
	} else if w.Lang == "typescript" || w.Lang == "javascript" {
		w.lookedUp(v, i)
	}
}

// AnyMember stands behind the name of an object for the member that something
// else says.
const AnyMember = ".[]"

// lookedUp reads x[y] as a member of x.
func (w *walker) lookedUp(v *Value, i int) {
	if w.s.acts[w.t.Nodes[i].Kind] != actIndex {
		return
	}
	f := w.s.forms[w.t.Nodes[i].Kind]
	object, index := w.s.part(w.t, i, f.parts.Get("object")), w.s.part(w.t, i, f.parts.Get("index"))
	if object >= 0 && index >= 0 && IsWord(w.t.Text(object)) && IsWord(w.t.Text(index)) {
		v.Kind, v.Text = ValName, w.t.Text(object)+AnyMember
	}
}

// items yields the children of a node and those of its bags.
func (w *walker) items(i int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for c := range w.t.Children(i) {
			if w.s.class[w.t.Nodes[c].Kind] != kindBag {
				if !yield(c) {
					return
				}
				continue
			}
			for in := range w.items(c) {
				if !yield(in) {
					return
				}
			}
		}
	}
}

// isPair tells whether a list element has a key: PHP writes both alike.
func (w *walker) isPair(i int) bool {
	f := w.s.forms[w.t.Nodes[i].Kind]
	if f.parts.Get("key") != "" {
		return w.s.part(w.t, i, f.parts.Get("key")) >= 0
	}
	count := 0
	for range w.t.Children(i) {
		count++
	}
	return count == 2
}

// addField adds a pair or a shorthand of an object.
func (w *walker) addField(v *Value, c, depth int) {
	f := w.s.forms[w.t.Nodes[c].Kind]
	switch w.s.class[w.t.Nodes[c].Kind] {
	case kindShort:
		name := w.t.Text(c)
		v.Fields = append(v.Fields, field{name, Value{Kind: ValName, Text: name, Span: w.span(c)}})
	case kindPair, kindKeyword:
		key, val := w.pairOf(c, f)
		if key < 0 {
			return
		}
		name := strings.Trim(w.t.Text(key), "\"'`: ")
		fv := Value{}
		if val >= 0 {
			fv = w.valueAt(val, depth+1)
		}
		v.Fields = append(v.Fields, field{name, fv})
	case kindJoin: // "key" => value of Elixir
		key, val := w.s.part(w.t, c, "left"), w.s.part(w.t, c, "right")
		if key >= 0 && val >= 0 && strings.TrimSpace(string(w.Source[w.t.Nodes[key].End:w.t.Nodes[val].Start])) == "=>" {
			v.Fields = append(v.Fields, field{strings.Trim(w.t.Text(key), "\"':"), w.valueAt(val, depth+1)})
		}
	case kindSpread:
		v.Open = true
		for k := range w.t.Children(c) {
			v.spread = append(v.spread, spread{w.valueAt(w.unwrap(k), depth+1), len(v.Fields)})
		}
	default:
		if f != nil && w.s.acts[w.t.Nodes[c].Kind] == actDef {
			if at := w.s.part(w.t, c, f.parts.Get("name")); at >= 0 { // a method in an object
				gives := func() []Value { return w.given(c) }
				v.Fields = append(v.Fields, field{w.t.Text(at), Value{Kind: ValLambda, Span: w.span(c), Gives: gives}})
			}
		}
	}
}

// pairOf returns the nodes of a pair's key and value.
func (w *walker) pairOf(c int, f *form) (key, val int) {
	key, val = w.s.part(w.t, c, f.parts.Get("key")), w.s.part(w.t, c, f.parts.Get("value"))
	if key >= 0 {
		if val < 0 || val == key {
			val = -1
			for k := range w.t.Children(c) {
				if k != key {
					val = k
				}
			}
		}
		return key, val
	}
	key, val = -1, -1
	for k := range w.t.Children(c) {
		if key < 0 {
			key = k
		} else {
			val = k
		}
	}
	return key, val
}

// unwrap follows nodes that only hold another, such as PHP's argument.
func (w *walker) unwrap(i int) int {
	for range 4 {
		if w.s.class[w.t.Nodes[i].Kind] != kindWrap && w.s.class[w.t.Nodes[i].Kind] != kindPair {
			return i
		}
		if f := w.s.forms[w.t.Nodes[i].Kind]; f != nil && w.s.class[w.t.Nodes[i].Kind] == kindWrap && f.parts.Get("value") != "" {
			held := w.s.part(w.t, i, f.parts.Get("value")) // a type stands behind it
			if held < 0 {
				return i
			}
			i = held
			continue
		}
		next, count := -1, 0
		for c := range w.t.Children(i) {
			if w.s.class[w.t.Nodes[c].Kind] == kindComment {
				continue
			}
			next = c
			count++
		}
		if next < 0 || count > 1 && w.s.class[w.t.Nodes[i].Kind] == kindPair {
			return i
		}
		i = next
	}
	return i
}

// literal is the value of a text node: its parts, with {} for each hole.
func (w *walker) literal(i int) string {
	var b strings.Builder
	parts := false
	for c := range w.t.Children(i) {
		n := w.t.Nodes[c]
		switch w.s.class[n.Kind] {
		case kindPart:
			b.Write(w.Source[n.Start:n.End])
			parts = true
		case kindHole:
			b.WriteString("{}")
			parts = true
		case kindText, kindWrap: // adjacent texts
			b.WriteString(w.literal(c))
			parts = true
		}
	}
	if parts && b.Len() > 2 || b.Len() > 0 && !strings.HasPrefix(b.String(), "{}") {
		return b.String()
	}
	return unquote(w.withHoles(i))
}

// withHoles is the source of a text whose grammar has no nodes for its parts,
// with {} for each hole.
func (w *walker) withHoles(i int) string {
	var b strings.Builder
	at := w.t.Nodes[i].Start
	for j := i + 1; j < int(w.t.Nodes[i].Next); j++ {
		if n := w.t.Nodes[j]; w.s.class[n.Kind] == kindHole && n.Start >= at {
			b.Write(w.Source[at:n.Start])
			b.WriteString("{}")
			at = n.End
		}
	}
	b.Write(w.Source[at:w.t.Nodes[i].End])
	return b.String()
}

// unquote strips the quotes and prefixes that languages put around texts.
func unquote(s string) string {
	s = strings.TrimLeft(s, "rRbBuUfFsLc@$#")
	for _, q := range []string{`"""`, "'''", `"`, "'", "`"} {
		if strings.HasPrefix(s, q) {
			return strings.TrimSuffix(strings.TrimPrefix(s, q), q)
		}
	}
	return strings.TrimSuffix(strings.TrimPrefix(s, `"`), `"`)
}

// orElse is the text of a choice between a value and what it is by default.
const orElse = "||"

// join reads a + b, where either side may be a text.
func (w *walker) join(i, depth int) Value {
	v := Value{Span: w.span(i)}
	left, right := -1, -1
	for c := range w.t.Children(i) {
		if w.s.class[w.t.Nodes[c].Kind] == kindComment {
			continue
		}
		if left < 0 {
			left = c
		} else {
			right = c
		}
	}
	if left < 0 || right < 0 {
		return v
	}
	op := strings.TrimSpace(string(w.Source[w.t.Nodes[left].End:w.t.Nodes[right].Start]))
	if op == "||" || op == "??" || op == "?:" {
		v.Kind, v.Text = ValChoice, orElse
		v.Items = []Value{w.valueAt(left, depth+1), w.valueAt(right, depth+1)}
		return v
	}
	if op == "/" && w.Lang == "scala" { // a path: "users" / Segment
		v.Kind = ValText
		v.Text = strings.TrimRight(w.pathText(left, depth), "/") + "/" + w.pathText(right, depth)
		return v
	}
	if op != "+" && op != "." && op != "%" && op != "++" && op != "<>" {
		v.Text = short(w.t.Text(i))
		return v
	}
	a, b := w.valueAt(left, depth+1), w.valueAt(right, depth+1)
	if a.Kind != ValText && b.Kind != ValText && (a.asText(w.consts) == "{}" || b.asText(w.consts) == "{}") {
		v.Text = short(w.t.Text(i))
		if op != "%" {
			v.Parts = []Value{a, b}
		}
		return v
	}
	v.Kind = ValText
	if op == "%" {
		v.Text = filled(a.Text)
		v.Parts = fillIn(v.Text, append(b.Items, b))
		return v
	}
	v.Text = a.asText(w.consts) + b.asText(w.consts)
	v.Parts = []Value{a, b}
	return v
}

// pathText is a part of a path in Scala: a text, or a parameter.
func (w *walker) pathText(i, depth int) string {
	v := w.valueAt(i, depth+1)
	if v.Kind == ValText {
		return v.Text
	}
	if c, ok := w.consts[v.Text]; ok && v.Kind == ValName && c.Kind == ValText {
		return c.Text
	}
	return "{}"
}

// asText is a value inside a longer text: a known constant's or {}.
func (v Value) asText(consts map[string]Value) string {
	if v.Kind == ValText {
		return v.Text
	}
	if c, ok := consts[v.Text]; ok && c.Kind == ValText && v.Kind == ValName {
		return c.Text
	}
	return "{}"
}

// filled replaces the verbs of a format by {}.
func filled(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		j := i + 1
		if s[j] == '(' { // python: %(name)s
			if end := strings.IndexByte(s[j:], ')'); end > 0 {
				j += end + 1
			}
		}
		for j < len(s) && strings.IndexByte("+-# 0123456789.", s[j]) >= 0 {
			j++
		}
		if j < len(s) && strings.IndexByte("vsdqxTtfgeiuc@", s[j]) >= 0 {
			b.WriteString("{}")
			i = j
			continue
		}
		b.WriteByte('%')
	}
	return b.String()
}

// short is the source of a value that is no literal, for names and types.
func short(s string) string {
	if len(s) > 120 {
		return ""
	}
	return strings.Join(strings.Fields(s), " ")
}

func IsWord(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c == '_' || c == '.' || c == '$' || c == ':' || c == '@' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
			return false
		}
	}
	return s != ""
}
