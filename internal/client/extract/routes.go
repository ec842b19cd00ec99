package extract

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
	"github.com/svc-hq/svc/internal/core/scope"
)

// route adds the routes of a place, one per method and path.
func (e *extractor) route(p *place, prefix string) {
	role := coord.ContractRole(p.rule.Role)
	if p.rule.Options.Get("rest") != "" {
		e.resource(p, prefix)
		return
	}
	paths := e.routePaths(p)
	methods := p.texts(p.rule.Options.Get("method"))
	if len(methods) == 0 && p.rule.Options.Get("view") != "" {
		if methods = e.viewMethods(p); len(methods) == 0 && p.rule.Options.Get("view") != "any" {
			methods = []string{"GET"}
		}
	}
	if len(methods) == 0 && p.rule.Options.Get("method") == "verb" { // others are made of it
		return
	}
	if role == coord.Provides {
		paths = withoutOptional(paths)
		if e.o.Lang == "ruby" {
			paths = withoutBrackets(paths)
		}
	}
	for _, route := range paths {
		if role == coord.Provides {
			route = withoutSetting(route)
		}
		if p.rule.Options.Get("slash") != "" && !strings.HasPrefix(route, "/") && (route != "" || role == coord.Uses) {
			continue
		}
		ms := methods
		if m, rest, ok := strings.Cut(route, " "); ok && slices.Contains(scope.Methods(), m) { // Go's "GET /x"
			ms, route = []string{m}, rest
		}
		if len(ms) == 0 {
			ms = []string{scope.AnyMethod}
		}
		if role == coord.Uses && p.rule.Options.Get("relative") != "" && !strings.HasPrefix(route, "/") && !strings.Contains(route, "://") {
			route = "/" + route
		}
		if v, has := p.value(":on"); has && role == coord.Provides && slices.Equal(e.o.TextsOf(v), []string{"collection"}) {
			prefix = strings.TrimSuffix(strings.TrimRight(prefix, "/"), "/{}") // of the resource as a whole
		}
		route, ok := cleanRoute(route, p.above(route, prefix), role)
		if !ok {
			continue
		}
		route = p.controllerNames(route)
		s := contract.Shape{}
		if role == coord.Provides {
			s = e.handlerShape(p)
		}
		for _, m := range ms {
			m = methodWord(m)
			before := len(e.out)
			e.add("http:"+m+" "+route, role, p.line, s)
			for i := before; i < len(e.out); i++ {
				e.out[i].Answer = e.answer(p, m)
			}
		}
	}
}

var optional = lazy.Regexp(`^(.*)/(?::\w+\?|\{\w+(?::[^{}]*)?\?\}|\[:\w+\])/?$`)

// withoutOptional adds the routes without the parameters at their end that may
// be left out: /users/:id?, /users/{id?}.
func withoutOptional(paths []string) []string {
	out := paths
	for _, p := range paths {
		for m := optional.Get().FindStringSubmatch(p); m != nil; m = optional.Get().FindStringSubmatch(m[1]) {
			out = append(slices.Clip(out), m[1])
		}
	}
	return out
}

var bracketed = lazy.Regexp(`\([^()]*\)`)

// withoutBrackets are the routes with and without what Rails may leave out:
// /pages(/:page)(.:format).
func withoutBrackets(paths []string) (out []string) {
	for _, p := range paths {
		p = strings.ReplaceAll(p, "(.:format)", "")
		out = append(out, strings.NewReplacer("(", "", ")", "").Replace(p))
		if without := bracketed.Get().ReplaceAllString(p, ""); without != p {
			out = append(out, without)
		}
	}
	return out
}

// above is the prefix that a route has: one of ASP.NET that begins with a slash
// is told whole.
func (p *place) above(route, prefix string) string {
	if p.o.Lang == "csharp" && p.mark != nil && strings.HasPrefix(strings.TrimPrefix(route, "~"), "/") {
		return ""
	}
	return prefix
}

// methodWord is the method that a framework calls by a word of its own.
func methodWord(m string) string {
	switch m = strings.ToUpper(m); m {
	case "ALL", "ROUTE", "REQUEST", "USE", "API_ROUTE":
		return scope.AnyMethod
	case "DEL":
		return "DELETE"
	}
	return m
}

// routePaths are the paths of a place.
func (e *extractor) routePaths(p *place) []string {
	paths := p.paths(p.rule.Options.Get("path"))
	if len(paths) == 0 && p.rule.Options.Get("path-optional") != "" && (p.call == nil || p.call.Types == "") {
		paths = []string{""}
	}
	if len(paths) == 0 && p.rule.Role == string(coord.Provides) {
		e.miss(p, "its path is not known")
	}
	return paths
}

// actions are the routes that a resource has.
var actions = []struct{ name, method, suffix string }{
	{"index", "GET", ""}, {"create", "POST", ""}, {"show", "GET", "/{}"}, {"update", "PATCH", "/{}"},
	{"update", "PUT", "/{}"}, {"destroy", "DELETE", "/{}"},
}

// resource adds the routes of a resource, all or those that it names. One that
// there is only one of has no index and no id.
func (e *extractor) resource(p *place, prefix string) {
	list := func(name string) []string {
		for _, sel := range []string{":" + name, "2." + name, "1." + name} {
			if v, ok := p.value(sel); ok && v.Kind == outline.ValList && len(v.Items) == 0 {
				return []string{"none"}
			} else if ok {
				return strings.Fields(strings.Join(e.o.TextsOf(v), " ")) // ~w(index show)a of Elixir
			}
		}
		return nil
	}
	own := p.rule.Options.Get("rest")
	switch own {
	case "devise":
		e.devise(p, prefix)
		return
	case "feathers":
		e.feathers(p, prefix)
		return
	}
	single, items := p.isSingle(), prefix
	if e.shallow(p) {
		items = e.besideResources(p.call.Span.Start)
	}
	only, except := list("only"), list("except")
	for _, m := range afterwards.Get().FindAllSubmatch(e.o.Source[p.span.End:min(len(e.o.Source), int(p.span.End)+300)], 1) {
		names := strings.FieldsFunc(string(m[2]), func(c rune) bool { return strings.ContainsRune("'\", \n\t", c) })
		if string(m[1]) == "only" {
			only = names
		} else {
			except = names
		}
	}
	for _, name := range p.texts(p.rule.Options.Get("path")) {
		if own == "cake" { // it goes by the name of the controller
			name = strings.ReplaceAll(outline.Snake(name), "_", "-")
		}
		if e.o.Lang == "php" || e.ecma() { // photos.comments
			name = strings.ReplaceAll(name, ".", "/{}/")
		}
		for _, a := range actions {
			named := a.name
			switch {
			case (e.o.Lang == "php" || e.ecma()) && own == "yes" && named == "create":
				named = "store"
			case (e.o.Lang == "elixir" || own == "codeigniter") && named == "destroy":
				named = "delete"
			}
			if len(only) > 0 && !slices.Contains(only, named) || slices.Contains(except, named) || single && a.name == "index" {
				continue
			}
			suffix, above := a.suffix, prefix
			if suffix != "" {
				above = items
			}
			if single {
				suffix = ""
			}
			route, ok := cleanRoute(name+suffix, above, coord.Provides)
			before := len(e.out)
			if !ok {
				continue
			}
			if e.add("http:"+a.method+" "+route, coord.Provides, p.line, contract.Shape{}); len(e.out) > before {
				e.out[before].Answer = e.action(p, name, named)
				if e.o.Lang == "python" {
					e.out[before].Answer = viewAction(p, a.name, a.method)
				}
			}
		}
	}
}

// viewAction is the method of a view set that answers a route.
func viewAction(p *place, name, method string) contract.Answer {
	v, ok := p.value("1")
	if !ok || v.Kind != outline.ValName {
		return contract.Answer{}
	}
	as := map[string]string{"index": "list", "show": "retrieve"}[name]
	if as == "" {
		as = name
	}
	if method == "PATCH" {
		as = "partial_update"
	}
	return contract.Answer{Names: []string{v.Text + "." + as}}
}

// afterwards is how Laravel and Adonis narrow a resource after it was made.
var afterwards = lazy.Regexp(`^(?:\s*\.apiOnly\(\))?\s*(?:->|\.)\s*(only|except)\(\s*\[([^\]]*)\]`)

// services are what a service of Feathers may answer.
var services = []struct{ name, method, suffix string }{
	{"find", "GET", ""}, {"get", "GET", "/{}"}, {"create", "POST", ""}, {"update", "PUT", "/{}"},
	{"patch", "PATCH", "/{}"}, {"remove", "DELETE", "/{}"},
}

// feathers adds the routes of a service of Feathers, all or those that it names.
func (e *extractor) feathers(p *place, prefix string) {
	of, _ := p.value("1")
	if of.Kind != outline.ValCall || strings.Contains(of.Text, "express") {
		return
	}
	var only []string
	if v, ok := p.value("2.methods"); ok {
		only = e.o.TextsOf(v)
	}
	for _, name := range p.texts(p.rule.Options.Get("path")) {
		for _, a := range services {
			if len(only) > 0 && !slices.Contains(only, a.name) || strings.Trim(name, "/") == "" {
				continue
			}
			if route, ok := cleanRoute(name+a.suffix, prefix, coord.Provides); ok {
				e.add("http:"+a.method+" "+route, coord.Provides, p.line, contract.Shape{})
			}
		}
	}
}

// devise adds the routes of accounts that Rails' usual library makes.
func (e *extractor) devise(p *place, prefix string) {
	signIn := "sign_in"
	if names, ok := p.value(":path_names"); ok {
		if v, ok := names.Get("sign_in"); ok && len(e.o.TextsOf(v)) > 0 {
			signIn = e.o.TextsOf(v)[0]
		}
	}
	for _, name := range p.texts(p.rule.Options.Get("path")) {
		for _, r := range [][2]string{{"POST", name}, {"POST", name + "/" + signIn}, {"DELETE", name + "/sign_out"}} {
			if route, ok := cleanRoute(r[1], prefix, coord.Provides); ok {
				e.add("http:"+r[0]+" "+route, coord.Provides, p.line, contract.Shape{})
			}
		}
	}
}

// isSingle tells a resource that there is only one of.
func (p *place) isSingle() bool {
	if v, ok := p.value(":singleton"); ok && v.Text == "true" {
		return true
	}
	return p.o.Lang == "ruby" && p.callee() == "RESOURCE" || p.callee() == "SINGLETON"
}

// codeIgniterParam is a parameter of CodeIgniter.
var codeIgniterParam = lazy.Regexp(`\(:(?:num|any|segment|alpha|alphanum|hash)\)`)

var relative = lazy.Regexp(`^[\w.~\-{}:<>*$()\[\]/?=&%,|\\+^]*$`)

// template is the query of an address as a template writes it: {?page,size}.
var template = lazy.Regexp(`\{[?&#][^}]*\}`)

// cleanRoute makes a route of what a framework or client was given. A client's
// must be absolute or begin with a base address; a server's never is.
func cleanRoute(route, prefix string, role coord.ContractRole) (string, bool) {
	route = template.Get().ReplaceAllString(strings.TrimSpace(route), "")
	if role == coord.Uses {
		if rest, ok := strings.CutPrefix(route, "{}"); ok && strings.HasPrefix(rest, "/") {
			route = rest
		}
		if prefix != "" && !strings.Contains(route, "://") {
			route = contract.JoinRoute(strings.TrimPrefix(prefix, "{}"), route)
		}
		if !strings.HasPrefix(route, "/") && !strings.Contains(route, "://") || strings.HasPrefix(route, "//") || rules.IsExternal(route) {
			return "", false
		}
		return route, strings.Trim(scope.Route(route), "/{}*") != ""
	}
	if strings.Contains(route, "://") || !relative.Get().MatchString(route) {
		return "", false
	}
	route = codeIgniterParam.Get().ReplaceAllString(strings.TrimPrefix(strings.TrimPrefix(route, "^"), "~"), "{}")
	return contract.JoinRoute("/"+strings.Trim(prefix, "/"), route), true
}

// controllerNames fills in what ASP.NET takes from the class and method.
func (p *place) controllerNames(route string) string {
	if !strings.Contains(route, "[") || p.mark == nil || p.o.Lang != "csharp" {
		return route
	}
	d := p.o.Defs[p.def]
	if d.Parent >= 0 {
		c := p.o.Defs[d.Parent].Name
		c = strings.TrimSuffix(c[strings.LastIndexByte(c, '.')+1:], "Controller")
		route = strings.ReplaceAll(route, "[controller]", strings.ToLower(c))
	}
	return strings.ReplaceAll(route, "[action]", strings.ToLower(d.Name[strings.LastIndexByte(d.Name, '.')+1:]))
}

// handlerShape is what a route takes and gives, as far as its handler says:
// the fields of the objects it replies with, and its typed parameters.
func (e *extractor) handlerShape(p *place) contract.Shape {
	var s contract.Shape
	body := e.handlerSpan(p)
	if p.mark != nil && p.rule.Options.Get("handler") == "typed" {
		s = typedShape(&e.o.Defs[p.def], e.o.Traits)
	}
	if body.End == 0 {
		return s
	}
	for i := range e.o.Calls {
		c := &e.o.Calls[i]
		if !body.Holds(c.Span.Start) {
			continue
		}
		for _, r := range e.matching(c, "shape") {
			if r.Contract != "http" {
				continue
			}
			q := place{o: e.o, rule: r, call: c}
			if v, ok := q.value(r.Options.Get("out")); ok && v.Kind == outline.ValObject {
				s.Out = append(s.Out, fieldsOf(v)...)
			} else if r.Options.Get("out") == "named" {
				for _, a := range c.Args {
					if a.Name != "" {
						s.Out = append(s.Out, contract.Prop{Name: a.Name, Required: true})
					}
				}
			}
		}
	}
	for _, v := range e.o.Returns {
		if body.Holds(v.Span.Start) {
			s.Out = append(s.Out, fieldsOf(v)...)
		}
	}
	s.Out = contract.Unique(s.Out)
	return s
}

func fieldsOf(v outline.Value) []contract.Prop {
	var out []contract.Prop
	for _, f := range v.Fields {
		out = append(out, contract.Prop{Name: f.Name, Required: true})
	}
	return out
}

// handlerSpan is where a route's handler stands: a function among the
// arguments, a definition of that name in the file, or the one the annotation
// is at.
func (e *extractor) handlerSpan(p *place) outline.Span {
	if p.mark != nil {
		return e.o.Defs[p.def].Span
	}
	for i := len(p.call.Args) - 1; i >= 0; i-- {
		a := p.call.Args[i]
		switch a.Kind {
		case outline.ValLambda:
			return a.Span
		case outline.ValName:
			short := a.Text[strings.LastIndexByte(a.Text, '.')+1:]
			for j := range e.o.Defs {
				if d := &e.o.Defs[j]; d.HasCall && d.Name[strings.LastIndexByte(d.Name, '.')+1:] == short {
					return d.Span
				}
			}
		}
	}
	return outline.Span{}
}

// plumbing are parameters that frameworks fill in.
var plumbing = lazy.Regexp(`(?i)^(self|cls|this|req|request|res|response|reply|next|ctx|context|db|session|principal|model|` +
	`bindingresult|background_tasks|cancellationtoken|ct)$`)

var plumbingType = lazy.Regexp(`Request\b|Response\b|Session|Context|Principal|CancellationToken|Depends|BackgroundTasks|` +
	`Model$|Pageable|Authentication`)

// typedShape takes a handler's parameters and result as the contract.
func typedShape(d *outline.Def, tr *outline.Traits) contract.Shape {
	d.Full()
	var s contract.Shape
	for _, p := range d.Params {
		if plumbing.Get().MatchString(strings.TrimLeft(p.Name, "$&@")) || plumbingType.Get().MatchString(p.Typ) || p.Rest {
			continue
		}
		s.In = append(s.In, contract.Prop{Name: p.Name, Typ: p.Typ, Required: !p.Optional})
	}
	if r := outline.ResultOf(d, tr); r != "" && r != "void" {
		s.Note = "-> " + r
	}
	return s
}
