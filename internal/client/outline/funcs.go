package outline

import (
	"cmp"
	"slices"
	"sort"
	"strings"
)

// A Func is a function that is no definition of its own: a member of an object,
// or one that is handed to a call.
type Func struct {
	Name   string // that of the definition around it and of the members that lead to it; "" for none
	Span   Span
	params func() []Param
}

// someParams is where grammars keep the parameters of functions without a name.
const someParams = "parameters|parameter|.lambda_parameters|.block_parameters|.closure_parameters"

// function keeps a function that is no definition.
func (w *walker) function(i int) {
	if w.want == nil {
		return
	}
	if d := w.current(); d >= 0 && w.Defs[d].HasCall && w.parent(i) == w.Defs[d].node {
		return // const load = (url) => ...: the definition is the function
	}
	f := w.s.forms[w.t.Nodes[i].Kind]
	w.Funcs = append(w.Funcs, Func{Name: w.memberName(i, f), Span: w.span(i), params: func() []Param {
		for _, sel := range []string{f.parts.Get("params"), someParams} {
			if p := w.s.part(w.t, i, sel); p >= 0 {
				n := w.t.Nodes[p]
				return parseParams(w.clean(p, n.Start, n.End), &w.s.traits)
			}
		}
		return nil
	}})
}

// memberName climbs from a function to the definition that holds it.
func (w *walker) memberName(i int, f *form) string {
	if at := w.parent(i); at >= 0 && w.s.acts[w.t.Nodes[at].Kind] == actConst { // helpers.load = function (url) { ... }
		parts := w.s.forms[w.t.Nodes[at].Kind].parts
		if l := w.s.part(w.t, at, parts.Get("left")); l >= 0 {
			return strings.TrimPrefix(strings.TrimPrefix(dotted(w.t.Text(l)), "module."), "exports.")
		}
		return parts.Get("fixed")
	}
	d := w.current()
	if d >= 0 && w.Defs[d].HasCall {
		return w.localName(i, d)
	}
	var keys []string
	if at := w.s.part(w.t, i, f.parts.Get("name")); at >= 0 {
		keys = append(keys, cleanName(w.t.Text(at)))
	}
	name := ""
	if d >= 0 {
		name = w.Defs[d].Name
	}
	for at := w.parent(i); at >= 0 && (d < 0 || at != w.Defs[d].node); at = w.parent(at) {
		n := w.t.Nodes[at]
		if w.s.acts[n.Kind] == actConst && d < 0 {
			return w.exportedName(at, keys)
		}
		switch w.s.class[n.Kind] {
		case kindPair, kindKeyword:
			if key, _ := w.pairOf(at, w.s.forms[n.Kind]); key >= 0 {
				keys = append(keys, strings.Trim(w.t.Text(key), "\"'`:[]"))
			}
		case kindLambda, kindCall:
			return ""
		}
	}
	if name == "" {
		return ""
	}
	for k := len(keys) - 1; k >= 0; k-- {
		name += "." + keys[k]
	}
	return name
}

// exportedName is that of a function in an object that a file exports as a
// whole: export default { load: (url) => ... }.
func (w *walker) exportedName(at int, keys []string) string {
	parts := w.s.forms[w.t.Nodes[at].Kind].parts
	name := parts.Get("fixed")
	if l := w.s.part(w.t, at, parts.Get("left")); l >= 0 {
		if name = w.t.Text(l); name != "module.exports" && name != "exports" {
			return ""
		}
		name = ""
	}
	for _, key := range slices.Backward(keys) {
		name += "." + key
	}
	return strings.TrimPrefix(name, ".")
}

// keeps are functions that give the function that they are handed.
var keeps = []string{"useCallback", "useMemo", "useEvent", "useEffectEvent", "cache", "memo", "memoize", "debounce", "throttle"}

// Gives is the name of a function that another one gives back.
const Gives = "()"

// localName is that of a function which another one gives a name, or gives back:
// const load = useCallback((url) => ..., []), return { load: (url) => ... }.
func (w *walker) localName(i, d int) string {
	key := ""
	for at := w.parent(i); at >= 0 && at != w.Defs[d].node; at = w.parent(at) {
		n := w.t.Nodes[at]
		f := w.s.forms[n.Kind]
		own := w.s.class[n.Kind] == kindLambda && w.parent(at) == w.Defs[d].node // const make = () => (url) => ...
		switch {
		case own, w.s.acts[n.Kind] == actReturn:
			return w.Defs[d].Name + "." + cmp.Or(key, Gives)
		case w.s.class[n.Kind] == kindPair && key == "":
			k, _ := w.pairOf(at, f)
			if k < 0 || !IsWord(w.t.Text(k)) {
				return ""
			}
			key = w.t.Text(k)
		case w.s.class[n.Kind] == kindLambda, w.s.class[n.Kind] == kindCall && !slices.Contains(keeps, w.lastName(at, f)),
			w.s.class[n.Kind] == kindPair, strings.HasSuffix(w.t.Kind(at), "block"):
			return ""
		case w.s.acts[n.Kind] == actDef && f.parts.Get("also") == "const":
			if name := w.s.part(w.t, at, f.parts.Get("name")); name >= 0 && key == "" && IsWord(w.t.Text(name)) {
				return w.Defs[d].Name + "." + w.t.Text(name)
			}
			return ""
		}
	}
	return ""
}

// A Scope is a function around some place.
type Scope struct {
	ID     int // tells the functions of a file apart
	Name   string
	Span   Span
	Params []Param
}

// Around returns the functions that a place stands in, the innermost first.
func (o *File) Around(at uint32) (out []Scope) {
	for i := range o.Defs {
		if d := &o.Defs[i]; d.HasCall && d.Span.Holds(at) {
			out = append(out, Scope{i, d.Name, d.Span, d.Full().Params})
		}
	}
	for i := range o.Funcs {
		if f := &o.Funcs[i]; f.Span.Holds(at) {
			out = append(out, Scope{len(o.Defs) + i, f.Name, f.Span, f.params()})
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Span.End-out[i].Span.Start < out[j].Span.End-out[j].Span.Start })
	return out
}

// CallsTo are the calls of what ends in one of the names, whether or not a rule
// wants them.
func (o *File) CallsTo(wanted func(last string) bool) []Call {
	var out []Call
	for i := range o.Calls {
		name := o.Calls[i].Name
		if wanted(name[strings.LastIndexByte(name, '.')+1:]) {
			out = append(out, o.Calls[i])
		}
	}
	if o.others != nil {
		out = append(out, o.others(wanted)...)
	}
	return out
}

// Params are the parameters of a function.
func (f *Func) Params() []Param { return f.params() }
