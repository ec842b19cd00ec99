package bodies

import (
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
)

// An Eval works out what expressions hold. It is for one version of a
// repository.
type Eval struct {
	world   World
	sources map[*outline.File]string
	classes map[Place]*Shape
	open    outline.Trail[string] // what is being worked out
	steps   int
}

// maxSteps bounds the work for one body.
const maxSteps = 3000

func New(w World) *Eval {
	return &Eval{world: w, sources: map[*outline.File]string{}, classes: map[Place]*Shape{}}
}

// A scope is the function that an expression stands in.
type scope struct {
	o        *outline.File
	from, to int
	self     *Shape            // what this and self are
	params   map[string]*thunk // what is known of its parameters
	types    map[string]*Shape // what type parameters stand for
	decl     []outline.Param
	up       *scope
	depth    int
}

func (e *Eval) src(o *outline.File) string {
	s, ok := e.sources[o]
	if !ok {
		s = string(o.Source)
		e.sources[o] = s
	}
	return s
}

func (e *Eval) reader(sc *scope, from, to int) *reader {
	src := e.src(sc.o)
	return &reader{src: src, lang: sc.o.Lang, pos: from, end: min(to, len(src))}
}

// whole works out one body. What takes more steps than there are for one is not
// known to its end: it may hold more than was reached.
func (e *Eval) whole(find func() *Shape) *Shape {
	e.steps = 0
	s := find()
	if s == nil || s.Open || e.steps <= maxSteps {
		return s
	}
	c := *s
	c.Open = true
	return &c
}

func (e *Eval) at(sc *scope, from, to int) *Shape {
	if e.steps > maxSteps {
		return nil
	}
	r := e.reader(sc, from, to)
	n := r.expr()
	e.steps += (r.pos - from) / 64 // reading is work, too
	return e.expr(n, sc)
}

// scopeAt is the scope of a place: the functions around it, the outermost last.
func (e *Eval) scopeAt(o *outline.File, at int) *scope {
	sc := &scope{o: o, from: at, to: at}
	around := o.Around(uint32(at))
	for i := len(around) - 1; i >= 0; i-- {
		a := around[i]
		inner := &scope{o: o, from: int(a.Span.Start), to: int(a.Span.End), decl: a.Params}
		if o.Lang == "go" && a.ID < len(o.Defs) {
			inner.params = map[string]*thunk{}
			e.receiver(&o.Defs[a.ID], inner)
		}
		if i < len(around)-1 {
			inner.up = sc
		}
		sc = inner
	}
	root := sc
	for root.up != nil {
		root = root.up
	}
	root.self = e.selfAt(o, at)
	for s := sc; s != nil; s = s.up {
		s.self = root.self
	}
	return sc
}

// selfAt is the class that a place stands in.
func (e *Eval) selfAt(o *outline.File, at int) *Shape {
	best := -1
	for i := range o.Defs {
		d := &o.Defs[i]
		if d.Contain && d.Span.Holds(uint32(at)) && (best < 0 || d.Span.End-d.Span.Start < o.Defs[best].Span.End-o.Defs[best].Span.Start) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	return &Shape{class: &Place{o, best}, Open: true}
}

// expr works out an expression.
func (e *Eval) expr(n *node, sc *scope) *Shape {
	if e.steps++; n == nil || e.steps > maxSteps {
		return nil
	}
	switch n.kind {
	case text:
		return &Shape{Type: "string"}
	case scalar:
		if n.name == "" {
			return nil
		}
		return &Shape{Type: n.name}
	case object:
		return e.object(n.args, sc)
	case list:
		return e.list(n, sc)
	case name:
		return e.name(n, sc)
	case member:
		return e.member(n, sc)
	case index:
		return e.index(n, sc)
	case cast:
		if s := e.typ(n.name, sc); s.holds() || s != nil && s.Elem != nil {
			return s
		}
		return e.expr(n.x, sc)
	case choice:
		var out *Shape
		for _, a := range n.args {
			out = either(out, e.expr(a.val, sc))
		}
		return out
	case call:
		return e.call(n, sc)
	case lambda:
		return e.apply(n, nil, sc)
	}
	return nil
}

// object works out { a: x, ...y }.
func (e *Eval) object(args []arg, sc *scope) *Shape {
	out := &Shape{}
	for _, a := range args {
		if a.spread {
			if s := e.expr(a.val, sc); s.holds() {
				for _, f := range s.Fields {
					out.set(f)
				}
			} else {
				out.Open = true
			}
			continue
		}
		key := a.name
		switch {
		case a.key != nil:
			key = e.keyText(a.key, sc)
		case key == "" && a.val != nil && a.val.kind == name:
			key = a.val.name
		case key == "" && a.val != nil && a.val.kind == member:
			key = a.val.name // C#: new { article.Title }
		}
		if key == "" || !isKey(key) {
			out.Open = true
			continue
		}
		v := a.val
		if v == nil {
			v = &node{kind: name, name: key, at: sc.to}
		}
		out.set(Field{Name: strings.TrimPrefix(key, "$"), Shape: e.part(v, sc)})
	}
	return out
}

// part works out what a field holds: what a class becomes when it is written.
func (e *Eval) part(n *node, sc *scope) *Shape { return e.written(e.expr(n, sc), 0) }

func isKey(s string) bool {
	for i := 0; i < len(s); i++ {
		if !isName(s[i]) && s[i] != '-' && s[i] != '.' {
			return false
		}
	}
	return s != "" && len(s) < 80
}

// list works out [a, b]. PHP writes the methods that it hands on so.
func (e *Eval) list(n *node, sc *scope) *Shape {
	var elem *Shape
	for _, a := range n.args {
		s := e.expr(a.val, sc)
		if a.spread && s != nil {
			s = s.Elem
		}
		if a.val != nil && a.val.kind == call && len(n.args) == 1 && sc.o.Lang == "python" {
			return &Shape{Elem: e.written(s, 0)} // a comprehension
		}
		elem = either(elem, s)
	}
	if elem == nil {
		elem = &Shape{}
	}
	return &Shape{Elem: e.written(elem, 0)}
}

func (e *Eval) index(n *node, sc *scope) *Shape {
	x := e.expr(n.x, sc)
	if x == nil || len(n.args) == 0 || n.args[0].val == nil {
		return nil
	}
	if n.args[0].val.kind == text {
		return x.field(n.args[0].val.name)
	}
	return x.Elem
}

// keyText is the text of a key that is worked out.
func (e *Eval) keyText(n *node, sc *scope) string {
	switch n.kind {
	case text:
		return n.name
	case name:
		given, out := false, ""
		e.open.Follow("key "+sc.o.Path+"@"+itoa(n.at), func() { // f(x=x) gives a name to itself
			if v := e.assigned(n.name, n.at, sc); v != nil {
				given, out = true, e.keyText(v, sc)
			}
		})
		if given {
			return out
		}
		if !strings.HasPrefix(n.name, "$") {
			return n.name
		}
	case member:
		if n.x != nil && n.x.kind == name && isSelf(n.x.name) && sc.self != nil {
			return e.fieldText(sc.self, n.name)
		}
	case scalar:
		if len(n.args) == 2 && n.args[0].val != nil && n.args[1].val != nil {
			if a, b := e.keyText(n.args[0].val, sc), e.keyText(n.args[1].val, sc); a != "" && b != "" {
				return a + b
			}
		}
	case call:
		if n.x != nil && len(n.args) > 0 && n.args[0].val != nil {
			key := e.keyText(n.args[0].val, sc)
			if strings.Contains(strings.ToLower(n.x.name), "plural") && key != "" {
				return outline.Plural(key)
			}
		}
	}
	return ""
}

// fieldText is the text that a class gives one of its fields.
func (e *Eval) fieldText(self *Shape, field string) string {
	found := ""
	e.eachClass(self, func(c Place) bool {
		for i := range c.File.Defs {
			d := &c.File.Defs[i]
			if d.Parent != c.Def || plain(lastOf(d.Name)) != plain(field) || d.HasCall {
				continue
			}
			if _, value, ok := strings.Cut(e.src(c.File)[d.Span.Start:d.Span.End], "="); ok {
				if n := e.reader(&scope{o: c.File}, int(d.Span.End)-len(value), int(d.Span.End)).expr(); n != nil && n.kind == text {
					found = n.name
					return true
				}
			}
		}
		return false
	})
	return found
}

func isSelf(s string) bool {
	switch s {
	case "this", "self", "$this", "@", "Self", "static", "cls":
		return true
	}
	return false
}
