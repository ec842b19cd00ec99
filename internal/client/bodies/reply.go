package bodies

import (
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Replies tells where the functions of a file reply, by the rules of its
// framework: the expressions between two places.
type Replies func(o *outline.File, from, to int) []outline.Span

// failure are the signs of a reply that tells of a failure.
var failure = lazy.Regexp(`\b[45]\d\d\b|(?i:bad_?request|not_?found|unprocessable|unauthorized|forbidden|conflict\b|` +
	`internal_?server|too_?many)`)

// A Handler is the function that answers a route.
type Handler struct {
	File     *outline.File
	From, To int
	Def      int // its definition, or beyond; -1 for a function without one
}

// Reply works out what a handler replies with.
func (e *Eval) Reply(h Handler, replies Replies) *Shape {
	return e.whole(func() *Shape { return e.top(e.reply(h, replies, 0)) })
}

func (e *Eval) reply(h Handler, replies Replies, depth int) *Shape {
	sc := e.scopeAt(h.File, min(h.From+1, h.To))
	if h.Def >= 0 {
		sc = e.bodyScope(Place{h.File, h.Def}, nil, nil)
		sc.self = e.selfAt(h.File, h.From)
	} else if sc.from == sc.to {
		sc.from, sc.to = h.From, h.To
	}
	if h.Def >= 0 && h.Def < len(h.File.Defs) {
		d := &h.File.Defs[h.Def]
		if t := outline.ResultOf(d, h.File.Traits); t != "" && len(t) < 300 {
			if s := e.typ(e.resultText(t, Place{h.File, h.Def}), sc); s.holds() {
				return s
			}
		}
	}
	src := e.src(h.File)
	var out *Shape
	lost := false // a reply is not understood
	for _, span := range replies(h.File, h.From, h.To) {
		in := e.scopeAt(h.File, int(span.Start))
		in.self = sc.self
		s := e.written(e.at(in, int(span.Start), max(int(span.End), int(span.Start))), 0)
		line := src[strings.LastIndexByte(src[:span.Start], '\n')+1 : min(len(src), int(span.End)+40)]
		if end := strings.IndexByte(line, '\n'); end > 0 {
			line = line[:end]
		}
		if failure.Get().MatchString(line) || onlyErrors(s) {
			continue
		}
		lost = lost || s == nil
		out = either(out, s)
	}
	switch {
	case out.holds() && lost && !out.Open:
		c := *out
		c.Open = true
		return &c
	case out.holds():
		return out
	case lost: // what else it says may be of failures
		return nil
	}
	if h.File.Lang != "ruby" { // what an action gives is nothing there
		if s := e.results(sc); s.holds() {
			return s
		}
	}
	if depth < 3 {
		if s := e.delegated(h, sc, replies, depth); s.holds() {
			return s
		}
	}
	return out
}

// onlyErrors tells a body that holds nothing but what went wrong.
func onlyErrors(s *Shape) bool {
	if s == nil || len(s.Fields) == 0 {
		return false
	}
	for _, f := range s.Fields {
		switch plain(f.Name) {
		case "error", "errors", "message", "detail", "details", "code", "statuscode", "status", "success":
		default:
			return false
		}
	}
	return plain(s.Fields[0].Name) == "error" || plain(s.Fields[0].Name) == "errors"
}

// delegated finds the function that a handler hands its own parameters on to.
func (e *Eval) delegated(h Handler, sc *scope, replies Replies, depth int) *Shape {
	src := e.src(h.File)
	own := map[string]bool{}
	for _, p := range sc.decl {
		if strings.Contains(p.Typ, "ResponseWriter") { // who has not got it, does not reply
			own = map[string]bool{p.Name: true}
			break
		}
		own[strings.TrimLeft(p.Name, "$&*")] = true
	}
	for _, w := range []string{"res", "ctx", "reply", "response", "call", "c", "w", "context"} {
		own[w] = true
	}
	for i := h.From; i < h.To; i++ {
		if src[i] != '(' || i == 0 || !isName(src[i-1]) {
			continue
		}
		r := e.reader(sc, i, h.To)
		passes := false
		for _, a := range r.args(')') {
			passes = passes || a.val != nil && (a.val.kind == name || a.val.kind == member) && own[a.val.name]
		}
		if !passes {
			continue
		}
		from := i
		for from > h.From && (isName(src[from-1]) || src[from-1] == '.') {
			from--
		}
		for _, p := range e.Named(h.File, src[from:i], int(from)) {
			if next, ok := e.HandlerAt(p); ok && !(next.File == h.File && next.From <= h.From && next.To >= h.To) {
				if s := e.reply(next, replies, depth+1); s.holds() {
					return s
				}
			}
		}
	}
	return nil
}

// HandlerAt is the handler that a definition is.
func (e *Eval) HandlerAt(p Place) (Handler, bool) {
	if p.Def < len(p.File.Defs) {
		d := &p.File.Defs[p.Def]
		if d.Contain || !d.HasCall && d.Kind != "property" {
			return Handler{}, false
		}
		return Handler{p.File, int(d.Span.Start), int(d.Span.End), p.Def}, true
	}
	if i := p.Def - len(p.File.Defs); i < len(p.File.Funcs) {
		f := &p.File.Funcs[i]
		return Handler{p.File, int(f.Span.Start), int(f.Span.End), p.Def}, true
	}
	return Handler{}, false
}

// Named finds the functions that a dotted name means at a place.
func (e *Eval) Named(o *outline.File, path string, at int) []Place {
	path = dots(strings.Trim(path, "&*@ "))
	sc := e.scopeAt(o, at)
	obj, method := "", path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		obj, method = path[:i], path[i+1:]
	}
	if obj == "" {
		return e.find(sc, path)
	}
	r := &reader{src: obj, lang: o.Lang, end: len(obj)}
	n := r.expr()
	relocate(n, at)
	if p, ok := e.method(e.expr(n, sc), method); ok {
		return []Place{p}
	}
	if found := e.world.Find(o, path); len(found) > 0 {
		return found
	}
	last := lastOf(obj)
	if last != "" {
		if c, ok := e.findClass(sc, strings.ToUpper(last[:1])+last[1:]); ok {
			if p, ok := e.method(&Shape{class: &c}, method); ok {
				return []Place{p}
			}
		}
	}
	if found := e.world.Method(o, method); len(found) == 1 {
		return found
	}
	return nil
}

// relocate moves an expression that was read from a text of its own.
func relocate(n *node, at int) {
	for ; n != nil; n = n.x {
		n.at = at
	}
}

// top puts the envelope around a body that its class asks for.
func (e *Eval) top(s *Shape) *Shape {
	if s != nil && s.Elem != nil && s.Elem.class != nil && s.Elem.class.File.Lang == "python" {
		return e.dumped(s.Elem, true)
	}
	if s == nil || s.class == nil || s.class.Def >= len(s.class.File.Defs) {
		return s
	}
	d := &s.class.File.Defs[s.class.Def]
	src := e.src(s.class.File)
	head := src[max(0, int(d.Span.Start)-200):min(len(src), int(d.NameAt()))]
	if i := strings.LastIndex(head, "JsonRootName("); i >= 0 && !strings.ContainsAny(head[i:], "{}") {
		if parts := strings.Split(head[i:], `"`); len(parts) > 2 {
			return &Shape{Fields: []Field{{Name: parts[1], Shape: s}}}
		}
	}
	return e.dumped(s, false)
}

// Type works out what a value of a type holds that a file names.
func (e *Eval) Type(o *outline.File, t string) *Shape {
	return e.whole(func() *Shape { return e.written(e.typ(t, &scope{o: o}), 0) })
}
