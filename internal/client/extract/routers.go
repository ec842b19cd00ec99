package extract

import (
	"path"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A router may be handed to a function that adds routes to it. What its prefix
// is, only the callers of the function know.

// wholeChain are the selectors that read a chain of calls: the calls in it say
// nothing more.
var wholeChain = lazy.Regexp(`\b(inner|chain|base)\.`)

// served adds the routes of a call to a router.
func (e *extractor) served(p *place, router string) {
	before := len(e.out)
	handed, prefix := e.routerOf(p.call, router)
	prefix = contract.JoinRoute(e.chainPrefix(p.call), prefix)
	prefix = contract.JoinRoute(prefix, p.first(p.rule.Options.Get("prefix")))
	if p.rule.Options.Get("paired") != "" {
		prefix, handed = e.paired(p.call.Span.Start)
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
	prefix := ""
	scopes := e.o.Around(c.Span.Start)
	if len(scopes) == 0 {
		return contract.Handed{}, e.prefixes[router]
	}
	if h, ok := e.extends(scopes); ok {
		return h, ""
	}
	if h, ok := e.configured(scopes); ok {
		return h, ""
	}
	for range 4 {
		for _, s := range scopes {
			for i, p := range s.Params {
				if paramName(p) == router && s.Name != "" {
					return contract.Handed{Func: s.Name[strings.LastIndexByte(s.Name, '.')+1:], Param: i}, prefix
				}
			}
		}
		parent, path, ok := e.groupOf(router, scopes)
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
		if m := extension().FindSubmatch(e.o.Source[s.Span.Start:s.Span.End]); m != nil {
			return contract.Handed{Func: string(m[1]), Param: contract.Receiver}, true
		}
	}
	return contract.Handed{}, false
}

// givesRouter is the head of a function whose result is a router.
var givesRouter = lazy.Regexp(`^[^{]*\)\s*(?:->)?\s*[^{]*(?:Router|Mux|http\.Handler)\b`)

// routerFirst is such a head where the type stands before the name.
var routerFirst = lazy.Regexp(`^[^({]*\bRouter\s+\w+\s*\(`)

// givenBy is the router that the function around a route gives back, for others
// to mount.
func (e *extractor) givenBy(scopes []outline.Scope) contract.Handed {
	gives := givesRouter()
	switch e.o.Lang {
	case "java":
		gives = routerFirst()
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

// chainPrefix is what stands before the routes of a chain of Rust that a
// variable holds, by whoever mounts the variable.
func (e *extractor) chainPrefix(c *outline.Call) string {
	if e.o.Lang != "rust" || !strings.Contains(c.Name, "()") {
		return ""
	}
	return e.prefixes[mountOwner(e.o, c)]
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

// service is a function of Rust that is mounted by its name.
func (e *extractor) service(name string) contract.Handed {
	stem := strings.TrimSuffix(path.Base(e.o.Path), path.Ext(e.o.Path))
	of := strings.ToLower(path.Base(path.Dir(e.o.Path)) + " " + stem)
	return contract.Handed{Func: name[strings.LastIndexByte(name, '.')+1:], Param: contract.Given, Of: of}
}

// mountings finds where a file mounts what a function gives.
func (e *extractor) mountings(h contract.Handed) (out []Handing) {
	for i := range e.o.Calls {
		c := &e.o.Calls[i]
		for _, r := range e.matching(c, "mount", "scope") {
			if len(c.Args) == 0 || r.Role == "scope" && len(c.Args) < 2 || !e.gives(c.Args[len(c.Args)-1], h) {
				continue
			}
			p := place{o: e.o, rule: r, call: c, def: c.Def, find: e.known(c)}
			from, prefix := e.routerOf(c, rootReceiver(c))
			prefix = contract.JoinRoute(e.chainPrefix(c), prefix)
			if from.Param == contract.Given && from.Func == h.Func && from.Of == h.Of {
				continue
			}
			above := contract.JoinRoute(e.scopePrefix(c.Span.Start), prefix)
			out = append(out, Handing{contract.JoinRoute(above, p.prefix()), from})
		}
	}
	return out
}

// gives tells whether a value is the result of a function, by the name of what
// it is called on: its package, its file or its type.
func (e *extractor) gives(v outline.Value, h contract.Handed) bool {
	called := ""
	switch {
	case v.Kind == outline.ValCall && v.Call != nil:
		called = v.Call.Name
	case e.o.Lang == "rust" && v.Kind == outline.ValName:
		called = v.Text
	default:
		return false
	}
	name := strings.ToLower(strings.ReplaceAll(called, "::", "."))
	at := strings.LastIndexByte(name, '.')
	if name[at+1:] != strings.ToLower(h.Func) {
		return false
	}
	if at < 0 { // of this package, or imported by its name
		return true
	}
	recv := name[strings.LastIndexByte(name[:at], '.')+1 : at]
	for of := range strings.FieldsSeq(h.Of) {
		if of != "." && (strings.Contains(of, recv) || strings.Contains(recv, of)) {
			return true
		}
	}
	return false
}

// groupOf finds the assignment in a function that makes a group of routes of
// another one.
func (e *extractor) groupOf(name string, scopes []outline.Scope) (parent, path string, ok bool) {
	for _, a := range e.o.Assigns {
		inside := false
		for _, s := range scopes {
			inside = inside || a.Line >= s.Span.Row && a.Line <= s.Span.Last
		}
		if a.Name != name || !inside || a.Value.Kind != outline.ValCall || a.Value.Call == nil {
			continue
		}
		if r, c := e.group(a.Value.Call); r != nil && r.Options.Get("path") != "=" { // else it is a new one
			p := place{o: e.o, rule: r, call: c, def: a.Def, find: e.known(c)}
			return e.parentOf(p), p.prefix(), true
		}
	}
	return "", "", false
}

// A Handing is a call that hands a router to a function.
type Handing struct {
	Prefix string
	Router contract.Handed // that it was handed itself, if it was
}

// Handings finds where a file calls a function with a router.
func (v *Version) Handings(h contract.Handed) (out []Handing) {
	e := v.extractor
	if e == nil {
		return nil
	}
	e.anyGroup = true // who hands a router on need not import the framework
	defer func() { e.anyGroup = false }()
	switch h.Param {
	case contract.Given:
		return e.mountings(h)
	case contract.Inherited:
		return e.heirs(h)
	case contract.Paired:
		return e.pairings(h)
	}
	for _, c := range v.Outline.CallsTo(func(last string) bool { return last == h.Func }) {
		if h.Param == contract.Receiver {
			from, _ := e.routerOf(&c, "")
			out = append(out, Handing{e.scopePrefix(c.Span.Start), from})
			continue
		}
		arg, ok := e.handed(&c, h.Param)
		if !ok {
			continue
		}
		below := ""
		if arg.Kind == outline.ValCall && arg.Call != nil {
			r, call := e.group(arg.Call)
			if r == nil {
				continue
			}
			p := place{o: e.o, rule: r, call: call, def: c.Def, find: e.known(call)}
			below = p.prefix()
			arg = outline.Value{Kind: outline.ValName, Text: receiver(call.Name)}
		}
		if arg.Kind != outline.ValName {
			continue
		}
		from, prefix := e.routerOf(&c, arg.Text)
		out = append(out, Handing{contract.JoinRoute(prefix, below), from})
	}
	return out
}

// handed is the argument of a call; what an extension method of C# is called on
// is its first.
func (e *extractor) handed(c *outline.Call, param int) (outline.Value, bool) {
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
	for i := range v.Outline.Calls {
		c := &v.Outline.Calls[i]
		for _, r := range e.matching(c, "prefix") {
			p := &place{o: e.o, rule: r, call: c, def: c.Def}
			if r.Framework == framework {
				for _, s := range e.spellings(p, r.Options.Get("path")) {
					return strings.Trim(s, "{}")
				}
			}
		}
	}
	return ""
}
