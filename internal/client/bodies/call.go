package bodies

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// call works out what a call gives.
func (e *Eval) call(n *node, sc *scope) *Shape {
	if n.x == nil {
		return nil
	}
	if n.made {
		return e.making(n, sc)
	}
	switch n.x.kind {
	case name:
		return e.calledName(n, sc)
	case member:
		return e.calledMember(n, sc)
	case lambda:
		return e.apply(n.x, nil, sc)
	}
	return e.passed(n, sc)
}

// making works out new X(...) and X{...}.
func (e *Eval) making(n *node, sc *scope) *Shape {
	if s := e.instance(pathOf(n.x), n, sc); s != nil && (s.holds() || !keyed(n.init)) {
		return s
	}
	out := &Shape{Open: true}
	for _, a := range n.init {
		if a.val != nil && a.val.kind == lambda { // new HashMap() {{ put("a", x); }}
			e.puts(a.val.fn, out, sc)
		}
	}
	if len(out.Fields) == 0 && len(n.init) > 0 {
		return e.object(n.init, sc)
	}
	if out.holds() {
		out.Open = false
		return out
	}
	return e.passed(n, sc)
}

// keyed tells a map by its keys: envelope{"part": p}.
func keyed(init []arg) bool {
	for _, a := range init {
		if a.key == nil || a.key.kind != text {
			return false
		}
	}
	return len(init) > 0
}

func (e *Eval) puts(f *function, out *Shape, sc *scope) {
	src := e.src(sc.o)
	for at := f.from; at < f.to; {
		i := strings.Index(src[at:f.to], "put(")
		if i < 0 {
			return
		}
		at += i + 4
		r := e.reader(sc, at-1, f.to)
		if args := r.args(')'); len(args) == 2 && args[0].val != nil && args[0].val.kind == text {
			out.set(Field{Name: args[0].val.name, Shape: e.part(args[1].val, sc)})
		}
	}
}

// instance is a value of the class of that name, with what is given to make it.
func (e *Eval) instance(path string, n *node, sc *scope) *Shape {
	if path == "" {
		return nil
	}
	p, ok := e.findClass(sc, path)
	if !ok {
		return nil
	}
	var given []*Shape
	for _, t := range splitTop(n.types, ',') {
		if strings.TrimSpace(t) != "" {
			given = append(given, e.typ(t, sc))
		}
	}
	s := e.class(p, given)
	if s == nil {
		return nil
	}
	for _, a := range n.args {
		if a.name == "many" && a.val != nil && a.val.kind == scalar {
			return &Shape{Elem: s}
		}
	}
	if p.File.Lang == "python" && e.isSerializer(s) { // what it is given is what it writes
		return s
	}
	return e.filled(s, n, sc)
}

// filled adds what is known of the values that a class is made with, where
// their types say nothing.
func (e *Eval) filled(s *Shape, n *node, sc *scope) *Shape {
	given := map[string]*node{}
	for i, a := range append(append([]arg{}, n.args...), n.init...) {
		switch {
		case a.name != "":
			given[plain(a.name)] = a.val
		case a.key != nil:
			given[plain(a.key.name)] = a.val
		case a.val != nil && a.val.kind == name && len(n.init) > 0:
			given[plain(a.val.name)] = a.val
			fallthrough
		case i < len(s.Fields) && a.val != nil:
			if i < len(s.Fields) && given[plain(s.Fields[i].Name)] == nil {
				given[plain(s.Fields[i].Name)] = a.val
			}
		}
	}
	var out *Shape
	for i, f := range s.Fields {
		if f.Shape.holds() || f.Shape != nil && (f.Shape.Type != "" || f.Shape.Elem != nil && f.Shape.Elem.Type != "") {
			continue
		}
		v := e.part(given[plain(f.Name)], sc)
		if v == nil {
			continue
		}
		if out == nil {
			c := *s
			c.Fields = append([]Field{}, s.Fields...)
			out = &c
		}
		out.Fields[i].Shape = v
	}
	if out != nil {
		return out
	}
	return s
}

// pathOf is a dotted name, or "".
func pathOf(n *node) string {
	switch {
	case n == nil:
	case n.kind == name:
		return dots(n.name)
	case n.kind == member:
		if x := pathOf(n.x); x != "" {
			return x + "." + n.name
		}
	}
	return ""
}

// calledName works out f(...).
func (e *Eval) calledName(n *node, sc *scope) *Shape {
	f := n.x.name
	switch f {
	case "new", "make": // of Go
		if sc.o.Lang == "go" && len(n.args) > 0 && n.args[0].val != nil {
			return e.typ(e.src(sc.o)[n.args[0].val.at:n.args[0].val.end], sc)
		}
	case "append":
		if len(n.args) == 2 {
			return &Shape{Elem: e.part(n.args[1].val, sc)}
		}
	case "len", "count", "sum":
		return &Shape{Type: "integer"}
	case "str":
		return &Shape{Type: "string"}
	}
	if isUpper(f) {
		if s := e.instance(f, n, sc); s != nil {
			return s
		}
	}
	for s := sc; s != nil; s = s.up {
		if _, ok := s.params[f]; ok {
			return e.passed(n, sc)
		}
	}
	for _, p := range e.find(sc, f) {
		if r := e.function(p, thunks(n.args, sc), sc.self); r != nil {
			return r
		}
	}
	if sc.self != nil {
		if p, ok := e.method(sc.self, f); ok {
			return e.function(p, thunks(n.args, sc), sc.self)
		}
	}
	return e.passed(n, sc)
}

// A thunk is an argument that is worked out when somebody asks for it.
type thunk struct {
	n    *node
	sc   *scope
	s    *Shape
	done bool
}

func thunks(args []arg, sc *scope) []*thunk {
	out := make([]*thunk, len(args))
	for i, a := range args {
		if a.val != nil && a.val.kind != lambda && a.name == "" {
			out[i] = &thunk{n: a.val, sc: sc}
		}
	}
	return out
}

func known(given ...*Shape) []*thunk {
	out := make([]*thunk, len(given))
	for i, s := range given {
		if s != nil {
			out[i] = &thunk{s: s, done: true}
		}
	}
	return out
}

func (e *Eval) force(t *thunk) *Shape {
	if !t.done {
		t.done = true
		t.s = e.expr(t.n, t.sc)
	}
	return t.s
}

// predicates ask of a list or narrow it: what they are handed does not count.
var predicates = lazy.Words("filter where find some every any all none sort sorted sortBy orderBy order_by OrderBy Where " +
	"First FirstOrDefault " +
	"Any findFirst forEach each recover catch tap also apply orElseThrow includes select limit offset skip take reload save update " +
	"first last get unwrap expect fetch_one fetch_all fetch_optional sort_by filter_by peek distinct")

// calledMember works out x.m(...).
func (e *Eval) calledMember(n *node, sc *scope) *Shape {
	m := n.x
	path := pathOf(m)
	if s := e.ownSerializer(path, n, sc); s != nil {
		return s
	}
	if path != "" && !isSelf(strings.SplitN(path, ".", 2)[0]) {
		if isUpper(m.name) {
			if s := e.instance(path, n, sc); s != nil {
				return s
			}
		}
		if e.imported(sc, path) {
			for _, p := range e.world.Find(sc.o, path) {
				if r := e.function(p, thunks(n.args, sc), nil); r != nil {
					return r
				}
			}
		}
	}
	recv := e.expr(m.x, sc)
	if p, ok := e.method(recv, m.name); ok {
		if r := e.function(p, thunks(n.args, sc), recv); r != nil {
			return r
		}
	}
	if recv == nil && m.x != nil && m.x.kind != call {
		if p, ok := e.conventional(m.x, m.name, sc); ok {
			if r := e.function(p, thunks(n.args, sc), nil); r != nil {
				return r
			}
		}
	}
	if s := e.accessor(recv, m.name, n); s != nil {
		return s
	}
	if s, done := e.mapped(recv, n, sc); done {
		return s
	}
	if recv == nil || recv.class == nil {
		if ps := e.world.Method(sc.o, m.name); len(ps) == 1 {
			if r := e.function(ps[0], thunks(n.args, sc), nil); r.holds() {
				return r
			}
		}
	}
	if s := e.passed(n, sc); s.holds() && !predicates.Has(m.name) {
		return s
	}
	return recv
}

// imported tells whether a path begins with what an import or a file binds.
func (e *Eval) imported(sc *scope, path string) bool {
	root, _, _ := strings.Cut(path, ".")
	for _, im := range sc.o.Imports {
		if im.Local == root {
			return true
		}
	}
	return isUpper(root)
}

// conventional finds the method of a variable that is called like its class.
func (e *Eval) conventional(x *node, method string, sc *scope) (Place, bool) {
	v := strings.TrimLeft(x.name, "$@_")
	if v == "" || len(v) < 3 {
		return Place{}, false
	}
	p, ok := e.findClass(sc, strings.ToUpper(v[:1])+v[1:])
	if !ok {
		return Place{}, false
	}
	return e.method(&Shape{class: &p}, method)
}

// accessor is a field that a method only reads.
func (e *Eval) accessor(recv *Shape, m string, n *node) *Shape {
	if recv == nil || len(n.args) > 0 {
		return nil
	}
	for _, verb := range []string{"get", "is", "Get", ""} {
		if rest, ok := strings.CutPrefix(m, verb); ok && rest != "" {
			if s := recv.field(rest); s != nil {
				return s
			}
		}
	}
	return nil
}

var listing = lazy.Words("map Select collect flatMap map_with_index each_with_object forEach mapTo mapIndexed")

// mapped works out x.map(f) and its like: a function that is handed what x
// holds, or what its elements hold.
func (e *Eval) mapped(recv *Shape, n *node, sc *scope) (*Shape, bool) {
	m := n.x.name
	if predicates.Has(m) || len(n.args) == 0 {
		return nil, false
	}
	f := n.args[len(n.args)-1].val
	if f == nil || !e.callable(f) && !(sc.o.Lang == "scala" && hasBlank(f)) {
		return nil, false
	}
	one := recv
	if recv != nil && recv.Elem != nil {
		one = recv.Elem
	}
	r := e.apply(f, one, sc)
	if r == nil {
		return nil, false
	}
	isList := recv != nil && recv.Elem != nil || recv == nil && listing.Has(m) && sc.o.Lang != "scala" && sc.o.Lang != "java"
	if isList && listing.Has(m) {
		return &Shape{Elem: e.written(r, 0)}, true
	}
	if !r.holds() {
		return nil, false
	}
	return r, true
}

// callable tells whether an argument is a function.
func (e *Eval) callable(n *node) bool {
	switch n.kind {
	case lambda:
		return true
	case name, member:
		return true
	case list: // [$this, 'transform']
		return len(n.args) == 2 && n.args[1].val != nil && n.args[1].val.kind == text
	}
	return false
}

// hasBlank tells a function of Scala that is written with _.
func hasBlank(n *node) bool {
	if n == nil {
		return false
	}
	if n.kind == name && n.name == "_" || hasBlank(n.x) {
		return true
	}
	for _, a := range n.args {
		if hasBlank(a.val) {
			return true
		}
	}
	return false
}

// apply works out what a function gives when it is handed a value.
func (e *Eval) apply(f *node, given *Shape, sc *scope) *Shape {
	if e.steps++; e.steps > maxSteps {
		return nil
	}
	switch f.kind {
	case lambda:
		in := sc.inner(f.fn.from, f.fn.to)
		if len(f.fn.params) > 0 {
			in.params[f.fn.params[0]] = &thunk{s: given, done: true}
		}
		if f.fn.block {
			return e.results(in)
		}
		return e.at(in, f.fn.from, f.fn.to)
	case name, member:
		if hasBlank(f) {
			break
		}
		if f.kind == member && f.name == "new" {
			return e.global(sc, pathOf(f.x))
		}
		return e.calledRef(f, given, sc)
	case list:
		if recv := e.expr(f.args[0].val, sc); recv != nil {
			if p, ok := e.method(recv, f.args[1].val.name); ok {
				return e.function(p, known(given), recv)
			}
		}
		return nil
	}
	in := sc.inner(sc.from, sc.to)
	in.params["_"] = &thunk{s: given, done: true}
	return e.expr(f, in)
}

// inner is the scope of a function inside another.
func (sc *scope) inner(from, to int) *scope {
	return &scope{o: sc.o, from: from, to: to, self: sc.self, types: sc.types, up: sc, depth: sc.depth, params: map[string]*thunk{}}
}

// calledRef calls a function that is only named.
func (e *Eval) calledRef(f *node, given *Shape, sc *scope) *Shape {
	if f.kind == name {
		for _, p := range e.find(sc, f.name) {
			if r := e.function(p, known(given), sc.self); r != nil {
				return r
			}
		}
		return nil
	}
	if given != nil {
		if s := e.accessor(given, f.name, &node{}); s != nil {
			return s
		}
	}
	recv := e.expr(f.x, sc)
	if p, ok := e.method(recv, f.name); ok {
		return e.function(p, known(given), recv)
	}
	for _, p := range e.world.Find(sc.o, pathOf(f)) {
		if r := e.function(p, known(given), nil); r != nil {
			return r
		}
	}
	return nil
}
