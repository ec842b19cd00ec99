package outline

import "strings"

// maxGiven bounds what one function is seen to give back.
const maxGiven = 4

// given is what the function at node i may give back: the expression that it
// is, or those of its return statements, without those of functions in it.
func (w *walker) given(i int) (out []Value) {
	body := w.s.part(w.t, i, w.s.forms[w.t.Nodes[i].Kind].parts.Get("body"))
	if body < 0 {
		return nil
	}
	if !strings.Contains(w.t.Kind(body), "block") {
		return []Value{w.value(w.unwrap(body))}
	}
	for j := body + 1; j < int(w.t.Nodes[body].Next) && len(out) < maxGiven; j++ {
		n := w.t.Nodes[j]
		switch a := w.s.acts[n.Kind]; {
		case a == actLambda, a == actDef && w.s.forms[n.Kind].parts.Get("params") != "" && w.t.Kind(j) != "variable_declarator":
			j = int(n.Next) - 1
		case a == actReturn:
			for c := range w.t.Children(j) {
				out = append(out, w.value(w.unwrap(c)))
			}
		}
	}
	return out
}

// Given is what a function of the file may give back; ok is false when it has
// no such function. One of this. is a method, of a name that no other has.
func (o *File) Given(name string) (out []Value, ok bool) {
	method, own := strings.CutPrefix(name, "this.")
	found := -1
	for i := range o.Defs {
		d := &o.Defs[i]
		if !d.HasCall || o.gives == nil {
			continue
		}
		switch {
		case d.Name == method:
			return o.gives(d.node), true
		case own && strings.HasSuffix(d.Name, "."+method):
			if found >= 0 {
				return nil, false
			}
			found = i
		}
	}
	if found < 0 {
		return nil, false
	}
	return o.gives(o.Defs[found].node), true
}

// Result is what a function without a name gives back, if that is one value;
// any other value is itself.
func (v Value) Result() Value {
	if v.Kind == ValLambda && v.Gives != nil {
		if given := v.Gives(); len(given) == 1 {
			return given[0]
		}
	}
	return v
}
