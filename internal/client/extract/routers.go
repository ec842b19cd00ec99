package extract

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A router may be handed to a function that adds routes to it. What its prefix
// is, only the callers of the function know.

// served adds the routes of a call to a router.
func (e *extractor) served(p *place, router string) {
	before := len(e.out)
	handed, prefix := e.routerOf(p.call, router)
	prefix = contract.JoinRoute(e.chainPrefix(p.call), contract.JoinRoute(e.functionPrefix(p.call), prefix))
	prefix = contract.JoinRoute(prefix, p.first(p.rule.Options.Get("prefix")))
	if p.rule.Options.Get("paired") != "" {
		prefix, handed = e.paired(p.call.Span.Start)
	}
	if handed.Func == "" {
		handed = e.engine(p.call.Span.Start)
	}
	e.route(p, contract.JoinRoute(e.scopePrefix(p.call.Span.Start), prefix))
	for i := before; i < len(e.out); i++ {
		e.out[i].Router, e.out[i].Of = handed, e.imported(router)
	}
}

// routerOf finds where a route lies by the router that it is added to: the
// prefix that the function around it tells, and the parameter that it starts
// from, if it is one.
func (e *extractor) routerOf(c *outline.Call, router string) (contract.Handed, string) {
	prefix, at := "", c.Span.Start
	scopes := e.o.Around(at)
	if len(scopes) == 0 {
		return contract.Handed{}, e.prefixes[router[strings.LastIndexByte(router, '.')+1:]]
	}
	if h, ok := e.extends(scopes); ok {
		return h, ""
	}
	h, ok := e.configured(scopes)
	if !ok {
		h, ok = e.collected(scopes)
	}
	if ok {
		_, below, _ := e.groupOf(router, scopes)
		return h, below
	}
	for range 8 {
		if strings.Contains(router, ".") {
			if h, ok := e.keptIn(router); ok {
				return h, prefix
			}
			router = router[strings.LastIndexByte(router, '.')+1:]
		}
		for _, s := range scopes {
			for i, p := range s.Params {
				if paramName(p) == router && s.Name != "" {
					h := contract.Handed{Func: s.Name[strings.LastIndexByte(s.Name, '.')+1:], Param: i}
					if e.o.Lang == "csharp" && strings.HasPrefix(s.Params[0].Typ, "this ") {
						h.Of = extensionMethod
					}
					if e.o.Lang == "go" {
						h.Of = path.Base(path.Dir(e.o.Path))
					}
					return h, prefix
				}
			}
		}
		parent, path, ok := e.groupOf(router, scopes)
		if !ok {
			parent, ok = e.aliasOf(router, scopes)
		}
		if !ok {
			parent, at, ok = e.lambdaOf(router, scopes, at)
		}
		if !ok {
			local := false
			if parent, local = e.localRouter(router, scopes); !local {
				if h, ok := e.keptIn(router); ok {
					return h, prefix
				}
			}
			ok = parent != ""
		}
		if !ok {
			break
		}
		prefix, router = contract.JoinRoute(path, prefix), parent
		if parent == "" {
			return contract.Handed{}, prefix
		}
	}
	return e.givenBy(scopes), contract.JoinRoute(e.prefixes[router], prefix)
}

// extension is the head of a Kotlin function that extends what it adds routes to.
var extension = lazy.Regexp(`^[^({]*\bfun\s+(?:<[^>]*>\s*)?(?:\w+\.)*\w*(?:Rout|Application)\w*\.(\w+)\s*\(`)

// extends finds the function around a place that extends a router.
func (e *extractor) extends(scopes []outline.Scope) (contract.Handed, bool) {
	if e.o.Lang != "kotlin" {
		return contract.Handed{}, false
	}
	for _, s := range scopes {
		if m := extension.Get().FindSubmatch(e.o.Source[s.Span.Start:s.Span.End]); m != nil {
			return contract.Handed{Func: string(m[1]), Param: contract.Receiver}, true
		}
	}
	return contract.Handed{}, false
}

// givesRouter is the head of a function whose result is a router.
var givesRouter = lazy.Regexp(`^[^{]*\)\s*(?:->)?\s*[^{]*(?:(?:Router|Mux|http\.Handler|Route)\b|Filter<|Vec<[^{]*Route>)`)

// routerFirst is such a head where the type stands before the name.
var routerFirst = lazy.Regexp(`^[^({]*\bRouter\s+\w+\s*\(`)

// givenBy is the router that the function around a route gives back, for others
// to mount.
func (e *extractor) givenBy(scopes []outline.Scope) contract.Handed {
	gives := givesRouter.Get()
	switch e.o.Lang {
	case "java":
		gives = routerFirst.Get()
	case "go", "rust", "kotlin":
	default:
		return contract.Handed{}
	}
	for _, s := range scopes {
		if s.Name != "" && gives.Match(e.o.Source[s.Span.Start:s.Span.End]) {
			at := strings.LastIndexByte(s.Name, '.')
			stem := strings.TrimSuffix(path.Base(e.o.Path), path.Ext(e.o.Path))
			of := path.Base(path.Dir(e.o.Path)) + " " + stem + " " + s.Name[:max(at, 0)]
			return contract.Handed{Func: s.Name[at+1:], Param: contract.Given, Of: strings.ToLower(of)}
		}
	}
	return contract.Handed{}
}

// chainPrefix is what stands before the routes of a chain that a variable
// holds, by whoever mounts the variable. In JavaScript it begins with new.
func (e *extractor) chainPrefix(c *outline.Call) string {
	if e.o.Lang != "rust" && (!e.ecma() || rootReceiver(c) != "") || !strings.Contains(c.Name, "()") {
		return ""
	}
	return e.prefixes[mountOwner(e.o, c)]
}

func (e *extractor) ecma() bool { return e.o.Lang == "typescript" || e.o.Lang == "javascript" }

// functionPrefix is what stands before the routes that a function adds which
// the file mounts as a whole: app.register(f, { prefix: "/x" }).
func (e *extractor) functionPrefix(c *outline.Call) string {
	if !e.ecma() {
		return ""
	}
	for _, s := range e.o.Around(c.Span.Start) {
		if prefix := e.prefixes[s.Name]; s.Name != "" && prefix != "" {
			return prefix
		}
	}
	return ""
}

// configured finds the function around a place that actix hands its
// configuration to, or that answers a route by itself.
func (e *extractor) configured(scopes []outline.Scope) (contract.Handed, bool) {
	for _, s := range scopes {
		for _, p := range s.Params {
			if strings.Contains(p.Typ, "ServiceConfig") && s.Name != "" {
				return e.service(s.Name), true
			}
		}
	}
	return contract.Handed{}, false
}

// collected finds the class of Swift around a place that is registered as a
// collection of routes.
func (e *extractor) collected(scopes []outline.Scope) (contract.Handed, bool) {
	for _, s := range scopes {
		class, boots := strings.CutSuffix(s.Name, ".boot")
		if e.o.Lang == "swift" && boots {
			return contract.Handed{Func: class[strings.LastIndexByte(class, '.')+1:], Param: contract.Given}, true
		}
	}
	return contract.Handed{}, false
}

// groupOf finds the assignment in a function that makes a group of routes of
// another one.
func (e *extractor) groupOf(name string, scopes []outline.Scope) (parent, path string, ok bool) {
	for _, a := range e.o.Assigns {
		inside := false
		for _, s := range scopes {
			inside = inside || a.Line >= s.Span.Row && a.Line <= s.Span.Last
		}
		if a.Name[strings.LastIndexByte(a.Name, '.')+1:] != name || !inside || a.Value.Kind != outline.ValCall || a.Value.Call == nil {
			continue
		}
		if r, c := e.group(a.Value.Call); r != nil && r.Options.Get("path") != "=" { // else it is a new one
			p := place{o: e.o, rule: r, call: c, def: a.Def, find: e.known(c)}
			return e.parentOf(p), p.prefix(), true
		}
	}
	return "", "", false
}

// handsLambda is a call of Go that hands a part of a router to a function
// without a name: r.Route("/x", func(r chi.Router) {...}).
var handsLambda = lazy.Regexp(`(\w+)\.\w+\(\s*(?:[^\s(),]+\s*,\s*)?func\(\s*(\w+)\s`)

// lambdaOf is the router that a name is a part of, by the nearest such function
// before a place that calls it so, and where that is.
func (e *extractor) lambdaOf(name string, scopes []outline.Scope, at uint32) (of string, from uint32, ok bool) {
	start := scopes[len(scopes)-1].Span.Start
	if e.o.Lang != "go" || start >= at {
		return "", 0, false
	}
	for _, m := range handsLambda.Get().FindAllSubmatchIndex(e.o.Source[start:at], -1) {
		part := func(i int) string { return string(e.o.Source[int(start)+m[i] : int(start)+m[i+1]]) }
		if part(4) == name {
			of, from, ok = part(2), start+uint32(m[0]), true
		}
	}
	return of, from, ok
}

// aliasOf is the router that a variable is another name of: of two that it may
// be, the one that is not always there says more.
func (e *extractor) aliasOf(name string, scopes []outline.Scope) (of string, ok bool) {
	for _, a := range e.o.Assigns {
		if a.Name != name || a.Value.Kind != outline.ValChoice {
			continue
		}
		at := -1
		for _, s := range scopes {
			for i, p := range s.Params {
				named := slices.ContainsFunc(a.Value.Items, func(v outline.Value) bool { return v.Kind == outline.ValName && v.Text == paramName(p) })
				if named && i > at && a.Line >= s.Span.Row && a.Line <= s.Span.Last {
					at, of, ok = i, paramName(p), true
				}
			}
		}
	}
	return of, ok
}

// A Handing is a call that hands a router to a function.
type Handing struct {
	Prefix string
	Router contract.Handed // that it was handed itself, if it was
}

// Handings finds where a file calls a function with a router, near: not by the
// name of the folder that it lies in.
func (v *Version) Handings(h contract.Handed, near bool) (out []Handing) {
	e := v.extractor
	if e == nil {
		return nil
	}
	e.anyGroup, e.near = true, near && v.Outline.Lang == "rust" // who hands a router on need not import the framework
	defer func() { e.anyGroup, e.near = false, false }()
	switch h.Param {
	case contract.Given:
		return e.mountings(h)
	case contract.Inherited:
		return e.heirs(h)
	case contract.Paired:
		return e.pairings(h)
	case contract.Kept:
		return e.keepings(h)
	case contract.Mounted:
		return e.engineMounts(h)
	}
	for _, c := range v.Outline.CallsTo(func(last string) bool { return last == h.Func }) {
		if h.Param == contract.Receiver {
			from, _ := e.routerOf(&c, "")
			out = append(out, Handing{e.scopePrefix(c.Span.Start), from})
			continue
		}
		arg, ok := e.handed(&c, h)
		if !ok || e.isMacro(&c) || e.o.Lang == "go" && !e.ofPackage(&c, h.Of) {
			continue
		}
		below := ""
		if arg.Kind == outline.ValCall && arg.Call != nil {
			r, call := e.group(arg.Call)
			switch {
			case r != nil:
				p := place{o: e.o, rule: r, call: call, def: c.Def, find: e.known(call)}
				below = p.prefix()
				arg = outline.Value{Kind: outline.ValName, Text: e.rootRouter(call)}
			case e.o.Lang == "csharp": // api.MapOrders().MapCarts(): each gives the router back
				arg = outline.Value{Kind: outline.ValName, Text: rootReceiver(arg.Call)}
			default:
				continue
			}
		}
		if arg.Kind != outline.ValName {
			continue
		}
		router := arg.Text
		if e.o.Lang != "go" {
			router = router[strings.LastIndexByte(router, '.')+1:]
		}
		from, prefix := e.routerOf(&c, router)
		prefix = contract.JoinRoute(e.scopePrefix(c.Span.Start), prefix)
		out = append(out, Handing{contract.JoinRoute(prefix, below), from})
	}
	return out
}

// ofPackage tells whether a call of Go may be of a function of a package, by the
// folder that it lies in.
func (e *extractor) ofPackage(c *outline.Call, folder string) bool {
	recv := receiver(c.Name)
	if recv == "" {
		return path.Base(path.Dir(e.o.Path)) == folder
	}
	for _, im := range e.o.Imports {
		if im.Local == recv {
			return strings.HasSuffix("/"+im.Module, "/"+folder) || strings.Contains(im.Module, "/"+folder+"/v")
		}
	}
	return true
}

// extensionMethod is what a function of C# is of that is called on its first
// parameter.
const extensionMethod = "this"

// handed is the argument of a call; what an extension method of C# is called on
// is its first.
func (e *extractor) handed(c *outline.Call, h contract.Handed) (outline.Value, bool) {
	param := h.Param
	if recv := receiver(c.Name); h.Of == extensionMethod && param > 0 && recv != "" && (recv[0] < 'A' || recv[0] > 'Z') {
		param--
		return pickArg(c.Args, strconv.Itoa(param))
	}
	if e.o.Lang == "csharp" && param == 0 && (len(c.Args) == 0 || c.Inner != nil) {
		if c.Inner != nil {
			return outline.Value{Kind: outline.ValCall, Call: c.Inner}, true
		}
		return outline.Value{Kind: outline.ValName, Text: receiver(c.Name)}, receiver(c.Name) != ""
	}
	if param >= len(c.Args) {
		return outline.Value{}, false
	}
	return c.Args[param], true
}

// AppPrefix is what a file puts before all routes of a framework's program.
func (v *Version) AppPrefix(framework string) string {
	e := v.extractor
	if e == nil {
		return ""
	}
	for _, r := range e.m.Rules {
		if r.Role == "prefix" && r.Match != nil && r.Is(framework) && e.active[r] {
			if m := r.Match.Get().FindSubmatch(e.o.Source); m != nil {
				return string(m[1])
			}
		}
	}
	for i := range v.Outline.Calls {
		c := &v.Outline.Calls[i]
		for _, r := range e.matching(c, "prefix") {
			p := &place{o: e.o, rule: r, call: c, def: c.Def}
			if r.Is(framework) {
				for _, s := range e.spellings(p, r.Options.Get("path")) {
					return strings.Trim(s, "{}")
				}
			}
		}
	}
	return ""
}

// PrefixAt is what the calls around a place put before routes.
func (v *Version) PrefixAt(at uint32) string {
	if v.extractor == nil {
		return ""
	}
	return v.extractor.scopePrefix(at)
}
