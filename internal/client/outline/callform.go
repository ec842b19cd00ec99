package outline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// callOf returns how the name at node i, or what is taken from it, is called
// there; nil if it is not.
func (w *walker) callOf(i int, u Name) *coord.Call {
	if w.Lang == "cpp" { // acme::parse(x)
		for p := w.parent(i); p >= 0 && w.t.Kind(p) == "qualified_identifier"; p = w.parent(i) {
			i = p
		}
	}
	for at := i; at > 0 && at > i-6; at-- {
		p := at - 1 // a first child stands right after its parent
		if int(w.t.Nodes[p].Next) <= i {
			return nil
		}
		if w.s.class[w.t.Nodes[p].Kind] == kindCall {
			return w.calledAs(p, u)
		}
	}
	return nil
}

// calledAs returns the form of the call at node p, if it calls that name.
func (w *walker) calledAs(p int, u Name) *coord.Call {
	f := w.s.forms[w.t.Nodes[p].Kind]
	called := ""
	if n := w.s.part(w.t, p, f.parts.Get("name")); n >= 0 {
		called = w.t.Text(n)
		if object := w.s.part(w.t, p, f.parts.Get("object")); object >= 0 {
			called = w.t.Text(object) + "." + called
		}
	} else if n := w.s.part(w.t, p, f.parts.Get("callee")); n >= 0 {
		called = w.t.Text(n)
	}
	want := u.Local
	if u.Member != "" {
		want += "." + u.Member
	}
	if len(called) > 200 {
		return nil
	}
	switch called = dotted(called); {
	case called == want, w.Lang == "cpp" && strings.HasSuffix(called, "."+want), w.Lang == "ruby" && called == want+".new":
	default:
		return nil
	}
	c := &coord.Call{}
	w.countArguments(c, p, f)
	if p > 0 && w.s.class[w.t.Nodes[p-1].Kind] == kindCall && int(w.t.Nodes[p-1].Next) > p {
		if block := w.blockOf(p - 1); block >= 0 { // foo(1) { ... }
			c.Args++
		}
	}
	return c
}

// blockOf returns the lambda that a call of a call passes, as Kotlin writes a
// last argument behind the brackets.
func (w *walker) blockOf(p int) int {
	f := w.s.forms[w.t.Nodes[p].Kind]
	for sel := range strings.SplitSeq(f.parts.Get("args"), ",") {
		if a := w.s.part(w.t, p, sel); a >= 0 && w.s.class[w.t.Nodes[a].Kind] == kindLambda && w.Lang != "ruby" {
			return a
		}
	}
	return -1
}

func (w *walker) countArguments(c *coord.Call, p int, f *form) {
	for sel := range strings.SplitSeq(f.parts.Get("args"), ",") {
		a := w.s.part(w.t, p, sel)
		if a < 0 {
			continue
		}
		switch w.s.class[w.t.Nodes[a].Kind] {
		case kindLambda:
			if w.Lang != "ruby" { // a block of Ruby is no argument
				c.Args++
			}
		case kindText: // a tagged template
			c.Spread = true
		default:
			w.countList(c, a)
		}
	}
}

func (w *walker) countList(c *coord.Call, list int) {
	for a := range w.t.Children(list) {
		n := w.t.Nodes[a]
		k := w.s.class[n.Kind]
		switch {
		case n.Flags != 0:
			c.Spread = true
		case k == kindComment:
		case k == kindSpread, k == kindWrap && w.hasSpread(a):
			c.Spread = true
		default:
			if name := w.argumentName(a); name != "" {
				c.Named = append(c.Named, name)
			} else {
				c.Args++
			}
		}
	}
	slices.Sort(c.Named)
	if len(c.Named) > 100 {
		c.Named, c.Spread = nil, true
	}
}

func (w *walker) hasSpread(i int) bool {
	for c := range w.t.Children(i) {
		if w.s.class[w.t.Nodes[c].Kind] == kindSpread {
			return true
		}
	}
	return false
}

// argumentName is the name that an argument goes by, or "".
func (w *walker) argumentName(a int) string {
	f := w.s.forms[w.t.Nodes[a].Kind]
	key := -1
	switch w.s.class[w.t.Nodes[a].Kind] {
	case kindKeyword, kindPair:
		key, _ = w.pairOf(a, f)
	case kindWrap:
		if f != nil && f.parts.Get("key") != "" {
			if key = w.s.part(w.t, a, f.parts.Get("key")); key == w.unwrap(a) { // the value itself is a name
				key = -1
			}
		}
	}
	if key < 0 || w.t.Nodes[key].End-w.t.Nodes[key].Start > MaxParamName {
		return ""
	}
	return strings.Trim(w.t.Text(key), "\"':=")
}

// CallKey tells forms apart.
func CallKey(c *coord.Call) string {
	if c == nil {
		return ""
	}
	return strconv.Itoa(c.Args) + strconv.FormatBool(c.Spread) + strings.Join(c.Named, ",")
}

const (
	MaxOverloads = 50
	MaxParamName = 200
)
