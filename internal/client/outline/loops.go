package outline

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// A Loop goes through a list: its names stand for one item after the other.
type Loop struct {
	Span  Span
	Over  Value
	names []string // of an item, or of its parts
	keyed bool     // the names are those of an item's fields
	index bool     // the first name is the place of an item, or the key of a pair
}

// Loops are the loops of a file. They are looked for when somebody asks: few
// files make anything in them that is worth knowing.
func (o *File) Loops() []Loop {
	if o.loops != nil {
		find := o.loops
		o.loops = nil
		o.looped = find()
	}
	return o.looped
}

// loopCalls are methods of a list that call a function with each item.
var loopCalls = []string{"each", "each_with_index", "each_pair", "forEach", "map", "flatMap", "flat_map", "for_each"}

// findLoops finds the loops of a tree.
func (w *walker) findLoops() (out []Loop) {
	for i := range w.t.Nodes {
		kind := w.t.Nodes[i].Kind
		f, l := w.s.forms[kind], Loop{Span: w.span(i)}
		over := -1
		switch w.s.class[kind] {
		case kindLoop:
			over = w.s.part(w.t, i, f.parts.Get("over"))
			if each := w.s.part(w.t, i, f.parts.Get("each")); each >= 0 {
				l.named(w.t.Text(each))
			}
		case kindCall:
			if !slices.Contains(loopCalls, w.lastName(i, f)) {
				continue
			}
			if over = w.s.part(w.t, i, f.parts.Get("object")); over < 0 {
				if callee := w.s.part(w.t, i, f.parts.Get("callee")); callee >= 0 {
					over = firstChild(w.t, callee)
				}
			}
			for j := i + 1; j < int(w.t.Nodes[i].Next); j++ {
				if w.s.class[w.t.Nodes[j].Kind] == kindLambda {
					if p := w.s.part(w.t, j, someParams); p >= 0 {
						l.handed(w.t.Text(p), w.Lang)
					}
					l.Span = w.span(j)
					break
				}
			}
		}
		if over >= 0 && len(l.names) > 0 {
			l.Over = w.value(w.unwrap(w.wholeList(over)))
			out = append(out, l)
		}
	}
	return out
}

// wholeList is the list that a call only goes through in its own way:
// routes.items(), ROUTES.freeze, routes.iter().
func (w *walker) wholeList(i int) int {
	for range 4 {
		kind := w.t.Nodes[i].Kind
		f := w.s.forms[kind]
		if w.s.class[kind] != kindCall || !slices.Contains(wholeLists, w.lastName(i, f)) {
			break
		}
		of := w.s.part(w.t, i, f.parts.Get("object"))
		if callee := w.s.part(w.t, i, f.parts.Get("callee")); of < 0 && callee >= 0 {
			of = firstChild(w.t, callee)
		}
		if of < 0 {
			break
		}
		i = of
	}
	return i
}

var wholeLists = []string{"items", "iter", "into_iter", "freeze", "to_a", "each", "toList", "entrySet"}

var loopName = lazy.Regexp(`[A-Za-z_][\w]*`)

// named reads what a loop calls an item: x, (x, y), { x, y }, const x.
func (l *Loop) named(text string) {
	text = strings.TrimSpace(text)
	l.keyed = strings.HasPrefix(text, "{")
	for _, n := range loopName.Get().FindAllString(text, -1) {
		if n != "const" && n != "let" && n != "var" && n != "mut" {
			l.names = append(l.names, n)
		}
	}
}

// handed reads the parameters of a function that is called with each item: of
// JavaScript the first is the item.
func (l *Loop) handed(text, lang string) {
	text = strings.Trim(strings.TrimSpace(text), "|")
	if inner, ok := strings.CutPrefix(text, "("); ok && lang != "ruby" {
		text = strings.TrimSuffix(inner, ")")
	}
	if parts := SplitTop(text, ','); lang != "ruby" && len(parts) > 0 {
		text = parts[0]
	}
	l.named(text)
}

// Calls tells whether the loop has a name for its items or their parts.
func (l *Loop) Calls(name string) bool {
	base, _, _ := strings.Cut(strings.TrimLeft(name, "$&*"), ".")
	return slices.Contains(l.names, base)
}

// Each are the values that a name has in a loop, one for each item; nil if the
// loop does not say it, or nobody can tell what it goes through.
func (o *File) Each(l *Loop, name string) (out []Value) {
	base, member, _ := strings.Cut(strings.TrimLeft(name, "$&*"), ".")
	at := slices.Index(l.names, base)
	if at < 0 {
		return nil
	}
	for _, item := range o.Items(l.Over) {
		v, at := item, at
		if l.index && item.Text != pair {
			at--
		}
		switch {
		case at < 0:
			v = Value{}
		case l.index && item.Text != pair:
		case l.keyed:
			v, _ = item.Get(base)
		case len(l.names) > 1 && item.Kind == ValList && at < len(item.Items):
			v = item.Items[at]
		case len(l.names) > 1 && (at > 0 || item.Kind == ValList):
			v = Value{}
		}
		if member != "" {
			v = v.field(member)
		}
		out = append(out, v)
	}
	return out
}

// field is a field of an item; of one that does not name its fields, the text
// that looks like it.
func (v Value) field(name string) Value {
	if v.Kind == ValCall && v.Call != nil { // Route{...}, Route(...)
		v = Value{Kind: ValList, Items: v.Call.Args}
		for _, a := range v.Items {
			if a.Name != "" {
				v.Kind, v.Fields = ValObject, append(v.Fields, field{a.Name, a})
			}
		}
	}
	if found, ok := v.At(name); ok {
		return found
	}
	name = strings.ToLower(name)
	for _, item := range v.Items {
		s, ok := item.Literal()
		switch {
		case strings.Contains(name, "method") || strings.Contains(name, "verb"):
			if item.Kind == ValName || ok && s != "" && strings.ToUpper(s) == s && !strings.Contains(s, "/") {
				return item
			}
		case strings.Contains(name, "pat") || strings.Contains(name, "ur") || strings.Contains(name, "route"):
			if ok && strings.HasPrefix(s, "/") {
				return item
			}
		}
	}
	return Value{}
}

// pair marks a key of an object with its value.
const pair = "=>"

// maxItems bounds a list that is gone through.
const maxItems = 400

// Items are those of a list, wherever the file puts it together: what it is
// assigned, what is added to it, what other lists it takes in. Of an object
// they are pairs.
func (o *File) Items(v Value) []Value {
	var trail Trail[string]
	var items func(v Value) []Value
	items = func(v Value) (out []Value) {
		switch {
		case len(v.Parts) > 0: // a + b
			for _, p := range v.Parts {
				out = append(out, items(p)...)
			}
		case v.Kind == ValList && len(v.Items) == 1 && v.Items[0].Kind == ValList && o.Lang == "csharp": // new[] { ... }
			return items(v.Items[0])
		case v.Kind == ValList:
			for _, i := range v.Items {
				if list, ok := i.Spread(); ok {
					out = append(out, items(list)...)
				} else {
					out = append(out, i)
				}
			}
		case v.Kind == ValObject:
			for _, f := range v.Fields {
				out = append(out, Value{Kind: ValList, Text: pair, Items: []Value{{Kind: ValText, Text: f.Name}, f.Value}})
			}
		case v.Kind == ValName:
			trail.Follow(v.Text, func() {
				for _, a := range o.assignedTo(v.Text) {
					out = append(out, items(a)...)
				}
			})
		case v.Kind == ValCall && v.Call != nil:
			out = itemsOf(v.Call, items)
		}
		return out[:min(len(out), maxItems)]
	}
	return items(v)
}

// Spread is the list whose items a list takes in: *urls, ...routes.
func (v Value) Spread() (Value, bool) {
	name := strings.TrimLeft(v.Text, "*.")
	if v.Kind == ValText || name == v.Text || !IsWord(name) {
		return Value{}, false
	}
	return Value{Kind: ValName, Text: name}, true
}

// itemsOf are the items of what makes a list of others.
func itemsOf(c *Call, items func(Value) []Value) []Value {
	switch c.Name[strings.LastIndexByte(c.Name, '.')+1:] {
	case "listOf", "setOf", "asList", "of", "arrayOf", "List", "Seq":
		return c.Args
	case "entries", "list", "tuple", "sorted", "enumerate", "values":
		if len(c.Args) > 0 {
			return items(c.Args[0])
		}
	}
	return nil
}

// assignedTo are the lists that a name is given, and those that are added to it.
func (o *File) assignedTo(name string) (out []Value) {
	if o.Lang == "go" {
		for _, k := range o.Kept(name[strings.LastIndexByte(name, '.')+1:]) {
			out = append(out, k.Value)
		}
		return out
	}
	for _, a := range o.Assigns {
		if a.Name == name {
			out = append(out, a.Value)
		}
	}
	return out
}
