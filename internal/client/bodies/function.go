package bodies

import (
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
)

// member works out x.m.
func (e *Eval) member(n *node, sc *scope) *Shape {
	if path := pathOf(n); path != "" && isUpper(n.name) {
		if p, ok := e.findClass(sc, path); ok {
			return e.class(p, nil)
		}
	}
	x := e.expr(n.x, sc)
	if s := x.field(n.name); s != nil {
		return s
	}
	if n.name == "data" {
		if s := e.serialized(x); s != nil {
			return s
		}
	}
	if s := e.property(x, n.name); s != nil {
		return s
	}
	if p, ok := e.method(x, n.name); ok { // a property that is worked out
		return e.function(p, nil, x)
	}
	if path := pathOf(n); path != "" && e.imported(sc, path) {
		for _, p := range e.world.Find(sc.o, path) {
			if s := e.definition(p); s != nil {
				return s
			}
		}
	}
	return nil
}

// method finds a method of a class.
func (e *Eval) method(s *Shape, name string) (found Place, ok bool) {
	if s == nil || s.class == nil {
		return Place{}, false
	}
	e.eachClass(s, func(c Place) bool {
		if c.Def >= len(c.File.Defs) {
			return false
		}
		class := lastOf(c.File.Defs[c.Def].Name)
		for i := range c.File.Defs {
			d := &c.File.Defs[i]
			if !d.HasCall && d.Kind != "property" || d.Contain || lastOf(d.Name) != name {
				continue
			}
			if d.Parent == c.Def || strings.HasSuffix("."+strings.TrimSuffix(d.Name, "."+name), "."+class) {
				found, ok = Place{c.File, i}, true
				return d.Body().End > 0
			}
		}
		if c.File.Lang == "go" || c.File.Lang == "rust" { // in another file of the package
			for _, p := range e.world.Method(c.File, name) {
				if p.Def < len(p.File.Defs) && strings.HasPrefix(p.File.Defs[p.Def].Name, class+".") {
					found, ok = p, true
					return true
				}
			}
		}
		return false
	})
	return found, ok
}

// function works out what a function gives.
func (e *Eval) function(p Place, args []*thunk, self *Shape) (out *Shape) {
	if e.steps++; e.steps > maxSteps {
		return nil
	}
	e.open.Follow("f:"+p.File.Path+"#"+itoa(p.Def), func() { out = e.given(p, args, self) })
	return out
}

func (e *Eval) given(p Place, args []*thunk, self *Shape) *Shape {
	sc := e.bodyScope(p, args, self)
	if p.Def < len(p.File.Defs) {
		d := &p.File.Defs[p.Def]
		if d.Contain || d.Kind == "type" {
			return e.class(p, nil)
		}
		if t := outline.ResultOf(d, p.File.Traits); t != "" && len(t) < 300 {
			if s := e.typ(e.resultText(t, p), sc); s.holds() || s != nil && s.class != nil && len(args) == 0 {
				return s
			} else if s != nil && s.Type != "" {
				return s
			}
		}
	}
	if sc.to == 0 {
		return nil
	}
	return e.results(sc)
}

// resultText is the first result of a function that has several.
func (e *Eval) resultText(t string, p Place) string {
	t = strings.TrimSpace(strings.TrimPrefix(t, "->"))
	if i := strings.Index(t, " where "); i > 0 {
		t = t[:i]
	}
	if p.File.Lang == "go" && strings.HasPrefix(t, "(") {
		t = splitTop(strings.TrimSuffix(t[1:], ")"), ',')[0]
		if f := strings.Fields(t); len(f) == 2 && f[0] != "*" {
			t = f[1]
		}
	}
	if p.File.Lang == "java" && strings.HasPrefix(t, "<") { // <T> Page<T>
		if end := closeAngle(t, 0); end > 0 {
			t = t[end:]
		}
	}
	return t
}

// bodyScope is the scope of a function's body, with what its parameters are
// given.
func (e *Eval) bodyScope(p Place, args []*thunk, self *Shape) *scope {
	sc := &scope{o: p.File, self: self, params: map[string]*thunk{}}
	var span outline.Span
	if p.Def < len(p.File.Defs) {
		d := &p.File.Defs[p.Def]
		sc.decl = d.Full().Params
		span = d.Body()
		if sc.self == nil && d.Parent >= 0 {
			sc.self = &Shape{class: &Place{p.File, d.Parent}, Open: true}
		}
		if p.File.Lang == "go" {
			e.receiver(d, sc)
		}
	} else if i := p.Def - len(p.File.Defs); i < len(p.File.Funcs) {
		f := &p.File.Funcs[i]
		sc.decl = f.Params()
		span = f.Span
		src := e.src(p.File)
		from := int(f.Span.Start)
		if open := strings.IndexByte(src[from:f.Span.End], '('); open >= 0 && src[from] != '{' {
			from = closing(src, from+open, p.File.Lang)
		}
		for from < int(f.Span.End) && src[from] != '{' && !strings.HasPrefix(src[from:], "=>") {
			from++
		}
		span.Start = uint32(from)
	}
	sc.from, sc.to = int(span.Start), int(span.End)
	if self != nil {
		sc.types = self.types
	}
	for i, prm := range sc.decl {
		name := strings.TrimLeft(prm.Name, "&*")
		if i < len(args) && args[i] != nil {
			if prm.Typ != "" {
				if s := e.typ(prm.Typ, sc); s.holds() {
					continue
				}
			}
			sc.params[name] = args[i]
		}
	}
	return sc
}

// receiver binds what a method of Go is called on.
func (e *Eval) receiver(d *outline.Def, sc *scope) {
	class, _, ok := strings.Cut(d.Name, ".")
	if !ok {
		return
	}
	head := e.src(sc.o)[d.Span.Start:d.NameAt()]
	f := strings.Fields(strings.Trim(strings.TrimSpace(strings.TrimPrefix(head, "func")), "()"))
	if len(f) == 2 {
		if p, ok := e.findClass(sc, class); ok {
			sc.params[f[0]] = &thunk{s: e.class(p, nil), done: true}
		}
	}
}

// results works out what a body gives: what it returns, or its last
// expression where a language has it so.
func (e *Eval) results(sc *scope) *Shape {
	src := e.src(sc.o)
	if sc.to > len(src) || sc.from >= sc.to {
		return nil
	}
	from, to := sc.from, sc.to
	for from < to && strings.IndexByte(" \t\r\n", src[from]) >= 0 {
		from++
	}
	rest := src[from:to]
	switch {
	case strings.HasPrefix(rest, "=>"):
		return e.arrowBody(from+2, sc)
	case strings.HasPrefix(rest, "=") && (sc.o.Lang == "kotlin" || sc.o.Lang == "scala"):
		return e.arrowBody(from+1, sc)
	case strings.HasPrefix(rest, "{"):
		if sc.o.Lang != "scala" || closing(src, from, "scala") >= to {
			from, to = from+1, to-1
		}
	case sc.o.Lang == "typescript" || sc.o.Lang == "javascript":
		if sc.up == nil && !strings.Contains(rest, "return") { // a function that is an expression
			return e.at(sc, from, to)
		}
	}
	var out *Shape
	for _, at := range returned(src, from, to, sc.o.Lang) {
		s := e.at(sc, at, to)
		out = either(out, e.written(s, 0))
	}
	if out != nil {
		return out
	}
	switch sc.o.Lang {
	case "rust", "ruby", "kotlin", "scala", "swift":
		if at := lastStatement(src, from, to, sc.o.Lang); at >= 0 {
			return e.written(e.at(sc, at, to), 0)
		}
	}
	return nil
}

func (e *Eval) arrowBody(from int, sc *scope) *Shape {
	src := e.src(sc.o)
	for from < sc.to && strings.IndexByte(" \t\r\n", src[from]) >= 0 {
		from++
	}
	if from < sc.to && src[from] == '{' && (sc.o.Lang == "scala" || sc.o.Lang == "typescript" || sc.o.Lang == "javascript") {
		in := *sc
		in.from = from
		in.to = min(closing(src, from, sc.o.Lang), sc.to)
		return e.results(&in)
	}
	return e.written(e.at(sc, from, sc.to), 0)
}

// returned finds the places after return, but for those of functions inside.
func returned(src string, from, to int, lang string) (out []int) {
	for i := from; i < to; {
		if next := skipComment(src, i, lang); next > i {
			i = next
			continue
		}
		if next := skipText(src, i, lang); next > i {
			i = next
			continue
		}
		switch {
		case src[i] == '{' && isFunction(src[from:i], lang):
			i = closing(src, i, lang)
			continue
		case strings.HasPrefix(src[i:to], "return") && (i == from || !isName(src[i-1])) && i+6 < to && !isName(src[i+6]):
			i += 6
			for i < to && (src[i] == ' ' || src[i] == '\t') {
				i++
			}
			if i < to && src[i] != ';' && src[i] != '\n' && src[i] != '}' {
				out = append(out, i)
			}
			continue
		}
		i++
	}
	return out
}

// isFunction tells whether braces that follow a text are those of a function
// without a name.
func isFunction(before, lang string) bool {
	before = strings.TrimRight(before, " \t\r\n")
	switch lang {
	case "kotlin", "swift", "scala", "ruby", "python":
		return false
	case "go":
		line := before[strings.LastIndexByte(before, '\n')+1:]
		return strings.Contains(line, "func(") && !strings.HasSuffix(line, "}")
	case "rust":
		return strings.HasSuffix(before, "|")
	}
	if strings.HasSuffix(before, "=>") || strings.HasSuffix(before, "->") {
		return true
	}
	if !strings.HasSuffix(before, ")") {
		return false
	}
	line := before[max(0, len(before)-200):]
	at := strings.LastIndex(line, "function")
	return at >= 0 && !strings.ContainsAny(line[at:], "{};")
}

// lastStatement finds where the last statement of a block begins, or -1 when
// it is none that gives a value.
func lastStatement(src string, from, to int, lang string) int {
	last, start := -1, from
	r := &reader{src: src, lang: lang, end: to}
	for i := from; i <= to; {
		if i == to || src[i] == ';' || src[i] == '\n' && lang != "rust" && !continued(r, i) {
			if s := strings.TrimSpace(src[start:i]); s != "" && s != "end" && !strings.HasPrefix(s, "//") && !strings.HasPrefix(s, "#") {
				last = start
				if lang == "rust" && i < to {
					last = -1
				}
			}
			i++
			start = i
			continue
		}
		if next := skipComment(src, i, lang); next > i {
			i = min(next, to)
			if strings.TrimSpace(src[start:i]) == "" || strings.HasPrefix(strings.TrimSpace(src[start:i]), "/") {
				start = i
			}
			continue
		}
		if next := skipText(src, i, lang); next > i {
			i = min(next, to)
			continue
		}
		if src[i] == '(' || src[i] == '[' || src[i] == '{' {
			i = min(closing(src, i, lang), to)
			if lang == "rust" && src[i-1] == '}' && isStatement(src[start:i]) && strings.TrimSpace(src[i:to]) != "" {
				start = i
			}
			continue
		}
		i++
	}
	if last < 0 {
		return -1
	}
	for last < to && strings.IndexByte(" \t\r\n", src[last]) >= 0 {
		last++
	}
	return last
}

func isStatement(s string) bool {
	s = strings.TrimSpace(s)
	for _, word := range []string{"if ", "for ", "while ", "loop ", "match "} {
		if strings.HasPrefix(s, word) {
			return true
		}
	}
	return false
}

func continued(r *reader, at int) bool {
	r.pos = at
	return r.goesOn()
}
