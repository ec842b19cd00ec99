package analysis

import (
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
	"github.com/svc-hq/svc/internal/core/scope"
)

// route adds the routes of a place, one per method and path.
func (e *extractor) route(p *place, prefix string) {
	role := coord.ContractRole(p.rule.role)
	if p.rule.options["rest"] != "" {
		e.resource(p, prefix)
		return
	}
	paths := p.texts(p.rule.options["path"])
	if len(paths) == 0 && p.rule.options["path-optional"] != "" {
		paths = []string{""}
	}
	methods := p.texts(p.rule.options["method"])
	for _, route := range paths {
		if p.rule.options["slash"] != "" && !strings.HasPrefix(route, "/") {
			continue
		}
		ms := methods
		if m, rest, ok := strings.Cut(route, " "); ok && slices.Contains(scope.Methods(), m) { // Go's "GET /x"
			ms, route = []string{m}, rest
		}
		if len(ms) == 0 {
			ms = []string{scope.AnyMethod}
		}
		route, ok := cleanRoute(route, prefix, role)
		if !ok {
			continue
		}
		route = p.controllerNames(route)
		s := shape{}
		if role == coord.Provides {
			s = e.handlerShape(p)
		}
		for _, m := range ms {
			if m = strings.ToUpper(m); m == "ALL" || m == "ROUTE" || m == "REQUEST" || m == "USE" || m == "API_ROUTE" {
				m = scope.AnyMethod
			} else if m == "DEL" {
				m = "DELETE"
			}
			e.add("http:"+m+" "+route, role, p.line, s)
		}
	}
}

// actions are the routes that a resource has.
var actions = []struct{ name, method, suffix string }{
	{"index", "GET", ""}, {"create", "POST", ""}, {"show", "GET", "/{}"}, {"update", "PATCH", "/{}"}, {"update", "PUT", "/{}"}, {"destroy", "DELETE", "/{}"},
}

// resource adds the routes of a resource, all or those that it names.
func (e *extractor) resource(p *place, prefix string) {
	list := func(sel string) []string {
		v, _ := p.value(sel)
		return e.o.textsOf(v)
	}
	only, except := list(":only"), list(":except")
	for _, name := range p.texts(p.rule.options["path"]) {
		for _, a := range actions {
			named := a.name
			if e.o.lang == "php" && named == "create" {
				named = "store"
			}
			if len(only) > 0 && !slices.Contains(only, named) || slices.Contains(except, named) {
				continue
			}
			route, ok := cleanRoute(name+a.suffix, prefix, coord.Provides)
			if ok {
				e.add("http:"+a.method+" "+route, coord.Provides, p.line, shape{})
			}
		}
	}
}

var relative = lazy.Regexp(`^[\w.~\-{}:<>*$()\[\]/?=&%,|\\+^]*$`)

// cleanRoute makes a route of what a framework or client was given. A client's
// must be absolute or begin with a base address; a server's never is.
func cleanRoute(route, prefix string, role coord.ContractRole) (string, bool) {
	route = strings.TrimSpace(route)
	if role == coord.Uses {
		if rest, ok := strings.CutPrefix(route, "{}"); ok && strings.HasPrefix(rest, "/") {
			route = rest
		}
		if prefix != "" && !strings.Contains(route, "://") {
			route = joinRoute(strings.TrimPrefix(prefix, "{}"), route)
		}
		if !strings.HasPrefix(route, "/") && !strings.Contains(route, "://") || strings.HasPrefix(route, "//") || isExternal(route) {
			return "", false
		}
		return route, strings.Trim(scope.Route(route), "/{}*") != ""
	}
	if strings.Contains(route, "://") || !relative().MatchString(route) {
		return "", false
	}
	route = strings.TrimPrefix(strings.TrimPrefix(route, "^"), "~")
	return joinRoute("/"+strings.Trim(prefix, "/"), route), true
}

// controllerNames fills in what ASP.NET takes from the class and method.
func (p *place) controllerNames(route string) string {
	if !strings.Contains(route, "[") || p.mark == nil || p.o.lang != "csharp" {
		return route
	}
	d := p.o.defs[p.def]
	if d.parent >= 0 {
		c := p.o.defs[d.parent].name
		c = strings.TrimSuffix(c[strings.LastIndexByte(c, '.')+1:], "Controller")
		route = strings.ReplaceAll(route, "[controller]", strings.ToLower(c))
	}
	return strings.ReplaceAll(route, "[action]", strings.ToLower(d.name[strings.LastIndexByte(d.name, '.')+1:]))
}

// handlerShape is what a route takes and gives, as far as its handler says:
// the fields of the objects it replies with, and its typed parameters.
func (e *extractor) handlerShape(p *place) shape {
	var s shape
	body := e.handlerSpan(p)
	if p.mark != nil && p.rule.options["handler"] == "typed" {
		s = typedShape(&e.o.defs[p.def], e.o.traits)
	}
	if body.end == 0 {
		return s
	}
	for i := range e.o.calls {
		c := &e.o.calls[i]
		if !body.holds(c.span.start) {
			continue
		}
		for _, r := range e.matching(c, "shape") {
			if r.contract != "http" {
				continue
			}
			q := place{o: e.o, rule: r, call: c}
			if v, ok := q.value(r.options["out"]); ok && v.kind == valObject {
				s.out = append(s.out, fieldsOf(v)...)
			} else if r.options["out"] == "named" {
				for _, a := range c.args {
					if a.name != "" {
						s.out = append(s.out, prop{name: a.name, required: true})
					}
				}
			}
		}
	}
	for _, v := range e.o.returns {
		if body.holds(v.span.start) {
			s.out = append(s.out, fieldsOf(v)...)
		}
	}
	s.out = unique(s.out)
	return s
}

func fieldsOf(v value) []prop {
	var out []prop
	for _, f := range v.fields {
		out = append(out, prop{name: f.name, required: true})
	}
	return out
}

// handlerSpan is where a route's handler stands: a function among the
// arguments, a definition of that name in the file, or the one the annotation
// is at.
func (e *extractor) handlerSpan(p *place) span {
	if p.mark != nil {
		return e.o.defs[p.def].span
	}
	for i := len(p.call.args) - 1; i >= 0; i-- {
		a := p.call.args[i]
		switch a.kind {
		case valLambda:
			return a.span
		case valName:
			short := a.text[strings.LastIndexByte(a.text, '.')+1:]
			for j := range e.o.defs {
				if d := &e.o.defs[j]; d.hasCall && d.name[strings.LastIndexByte(d.name, '.')+1:] == short {
					return d.span
				}
			}
		}
	}
	return span{}
}

// plumbing are parameters that frameworks fill in.
var plumbing = lazy.Regexp(`(?i)^(self|cls|this|req|request|res|response|reply|next|ctx|context|db|session|principal|model|bindingresult|background_tasks|cancellationtoken|ct)$`)

var plumbingType = lazy.Regexp(`Request\b|Response\b|Session|Context|Principal|CancellationToken|Depends|BackgroundTasks|Model$|Pageable|Authentication`)

// resultOf is a definition's result or type, wherever the language writes it.
func resultOf(d *def, tr *traits) string {
	d.full()
	if r := resultText(d); r != "" && (tr.nameFirst || !tr.typed || tr == &goTraits) {
		return r
	}
	var out []string
	for _, w := range strings.Fields(d.before) {
		if !slices.Contains(passive, w) {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}

// typedShape takes a handler's parameters and result as the contract.
func typedShape(d *def, tr *traits) shape {
	d.full()
	var s shape
	for _, p := range d.params {
		if plumbing().MatchString(strings.TrimLeft(p.name, "$&@")) || plumbingType().MatchString(p.typ) || p.rest {
			continue
		}
		s.in = append(s.in, prop{name: p.name, typ: p.typ, required: !p.optional})
	}
	if r := resultOf(d, tr); r != "" && r != "void" {
		s.note = "-> " + r
	}
	return s
}

// atExports finds routes that a framework makes of files and their exports.
func (e *extractor) atExports() {
	for _, r := range e.m.rules {
		if len(r.exports) == 0 || !e.active[r] || r.file == nil {
			continue
		}
		found := r.file.FindStringSubmatch(e.o.path)
		if len(found) < 2 {
			continue
		}
		for i := range e.o.defs {
			d := &e.o.defs[i]
			if d.parent >= 0 || !d.exported || !slices.Contains(r.exports, d.name) && !(slices.Contains(r.exports, "default") && isDefault(e.o, d)) {
				continue
			}
			p := &place{o: e.o, rule: r, def: i, span: d.span, line: int(d.span.row) + 1}
			method := scope.AnyMethod
			if slices.Contains(scope.Methods(), d.name) {
				method = d.name
			}
			s := e.exportShape(p)
			e.add("http:"+method+" "+fileRoute(found[1]), coord.Provides, p.line, s)
		}
	}
}

func (e *extractor) exportShape(p *place) shape {
	q := *p
	q.mark = &mark{target: p.def}
	return e.handlerShape(&q)
}

// fileRoute makes a route of a path: groups in brackets are not part of it.
func fileRoute(p string) string {
	var out []string
	for elem := range strings.SplitSeq(path.Clean("/"+p), "/") {
		if strings.HasPrefix(elem, "(") || strings.HasPrefix(elem, "@") || elem == "index" {
			continue
		}
		out = append(out, elem)
	}
	return "/" + strings.Trim(strings.Join(out, "/"), "/")
}

func isDefault(o *outline, d *def) bool {
	at := int(d.span.start)
	return strings.Contains(string(o.source[max(0, at-16):at]), "default") || strings.Contains(string(o.source), "export default "+d.name)
}
