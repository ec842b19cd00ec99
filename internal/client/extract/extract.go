// Package extract finds what one file provides and uses, by matching the rules
// with its outline. It never looks at another file: that is for references.
package extract

import (
	"bytes"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/formats"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// An extractor finds the contracts of one file.
type extractor struct {
	m        *rules.Matcher
	o        *outline.File
	active   map[*rules.Rule]bool
	prefixes map[string]string // of routers, by the variable that holds them
	clients  map[string]string // base addresses of HTTP clients, by variable
	scopes   []scoped          // stretches of source whose routes have a prefix
	consumed map[uint32]bool   // calls that a longer chain spoke for
	out      []contract.Contract
	requests []Request
	missed   []Missed
	turns    []turn
	engines  []outline.Call             // that draw routes
	bound    map[string]string          // names of a file of Scala, and what they are
	foreign  func(name string) []string // what other files say of a name
	rule     string                     // the framework of the rule at hand
	calling  int                        // functions that are followed at the moment
	anyGroup bool                       // groups count whatever the file imports
	near     bool                       // functions of Rust go by their own module
	asked    bool                       // such a name was asked for in vain
}

func newExtractor(m *rules.Matcher, o *outline.File) *extractor {
	asking := *o
	e := &extractor{
		m:        m,
		o:        &asking,
		active:   make(map[*rules.Rule]bool, len(m.Rules)),
		prefixes: map[string]string{},
		clients:  map[string]string{},
		consumed: map[uint32]bool{},
	}
	asking.Elsewhere = e.elsewhere
	var needs []string // of the rules before, which are of one framework
	has := false
	for _, r := range m.Rules {
		if len(r.Needs) == 0 {
			has = true
		} else if !slices.Equal(r.Needs, needs) {
			has = hasOne(r.Needs, o)
		}
		if needs = r.Needs; has && applies(r, o) {
			e.active[r] = true
		}
	}
	return e
}

// contracts finds what a file provides and uses.
func (e *extractor) contracts() []contract.Contract {
	m, o := e.m, e.o
	e.findPrefixes()
	for i := range o.Calls {
		e.atCall(&o.Calls[i])
	}
	for i := range o.Marks {
		e.atMark(&o.Marks[i])
	}
	for _, r := range o.Reads {
		for _, rl := range m.Reads.Of(r.Object) {
			if rl != nil && e.active[rl] && isSetting(r.Key) {
				e.rule = rl.Place()
				e.add(rl.Contract+":"+r.Key, coord.ContractRole(rl.Role), int(r.Line)+1, contract.Shape{})
			}
		}
	}
	e.atTyped()
	e.atClasses()
	e.atObjects()
	e.atExports()
	e.atMatches()
	for _, t := range o.Texts {
		if !e.namesClasses(t) {
			e.out = append(e.out, formats.Queries(t)...)
		}
	}
	if rules.TestPath(o.Path) { // what a test provides is made up
		e.out = slices.DeleteFunc(e.out, func(c contract.Contract) bool { return c.Role == coord.Provides })
	}
	return e.out
}

// isSetting tells a name of the environment from other fields of an object.
func isSetting(s string) bool {
	return s != "" && strings.ToUpper(s) == s && s[0] != '_' && s != "NODE_ENV"
}

func (e *extractor) add(key string, role coord.ContractRole, line int, s contract.Shape) {
	for _, key := range e.inTurn(key) {
		if c, ok := contract.New(key, role, line); ok {
			c.Shape, c.Rule = s, e.rule
			e.out = append(e.out, c)
		}
	}
}

// matching yields the active rules that a call sets off.
func (e *extractor) matching(c *outline.Call, roles ...string) []*rules.Rule {
	var out []*rules.Rule
	last := c.Name[strings.LastIndexByte(c.Name, '.')+1:]
	for _, r := range e.m.Calls.Of(last) {
		if (e.active[r] || e.anyGroup && r.Role == "group") && slices.Contains(roles, r.Role) && !slices.Contains(out, r) && e.fits(r, c) {
			out = append(out, r)
		}
	}
	return out
}

// fits checks what a rule says about a call beyond its last name.
func (e *extractor) fits(r *rules.Rule, c *outline.Call) bool {
	if !slices.ContainsFunc(r.Calls, func(p string) bool {
		return rules.MatchName(p, c.Name) || strings.Contains(p, "()") && strings.Contains(c.Name, "()") && rules.MatchName(p, unchained(c))
	}) {
		return false
	}
	if recv := r.Options.Get("on"); recv != "" {
		name := c.Name
		if r.Role == "provides" && strings.Contains(name, "()") { // router.get(a).post(b)
			name = unchained(c)
		}
		object, _, _ := strings.Cut(name, ".")
		if i := strings.LastIndexByte(name, '.'); i > 0 {
			object = name[:i]
		}
		object = object[strings.LastIndexByte(object, '.')+1:]
		_, known := e.prefixes[object]
		if r.Role == "uses" {
			if known { // a router, whatever it is called
				return false
			}
			_, known = e.clients[object]
		}
		if root, _, chained := strings.Cut(c.Name, "()"); chained && r.Role == "uses" { // http.extend(x).get
			object = receiver(root + "()")
		}
		if !known && !slices.ContainsFunc(strings.Split(recv, ","), func(p string) bool { return rules.MatchName(p, strings.ToLower(object)) }) {
			return false
		}
	}
	if least := r.Options.Get("min"); least != "" && len(c.Args) < int(least[0]-'0') {
		return false
	}
	if has := r.Options.Get("has"); has != "" && !slices.ContainsFunc(c.Args, func(v outline.Value) bool { return v.Name == has }) {
		return false
	}
	if want := r.Options.Get("block"); want != "" &&
		slices.ContainsFunc(c.Args, func(v outline.Value) bool { return v.Kind == outline.ValLambda }) != (want == "yes") {
		return false
	}
	if not := r.Options.Get("not-arg"); not != "" && slices.ContainsFunc(c.Args, func(v outline.Value) bool {
		name := v.Text
		if v.Call != nil {
			name = v.Call.Name
		}
		return (v.Call != nil || v.Kind == outline.ValName && strings.Contains(name, ".")) &&
			slices.Contains(strings.Split(not, ","), name[strings.LastIndexByte(name, '.')+1:])
	}) {
		return false
	}
	if want := r.Options.Get("arg"); want != "" && !slices.ContainsFunc(c.Args, func(v outline.Value) bool { return v.Text == want }) {
		return false
	}
	if not := r.Options.Get("not-in"); not != "" && c.Def >= 0 {
		name := e.o.Defs[c.Def].Name
		if slices.Contains(strings.Split(not, ","), name[strings.LastIndexByte(name, '.')+1:]) {
			return false
		}
	}
	return true
}

// chained are calls in the middle of a chain that say the same of one route:
// router.route(path).get(a).post(b).
var chained = lazy.Regexp(`\.(get|post|put|patch|delete|all)\(\)`)

// unchained is the name without such calls.
func unchained(c *outline.Call) string {
	if c.Flat == "" {
		c.Flat = chained.Get().ReplaceAllString(c.Name, "")
	}
	return c.Flat
}

// findPrefixes learns which routers and which stretches of source add what in
// front of their routes.
func (e *extractor) findPrefixes() {
	o := e.o
	for i := range o.Assigns {
		a := &o.Assigns[i]
		if a.Value.Kind != outline.ValCall || a.Value.Call == nil {
			continue
		}
		if r, c := e.group(a.Value.Call); r != nil {
			p := place{o: o, rule: r, call: c, def: a.Def, find: e.known(c)}
			name := a.Name[strings.LastIndexByte(a.Name, '.')+1:] // of s.api, too
			parent := e.parentOf(p)
			parent = parent[strings.LastIndexByte(parent, '.')+1:]
			e.prefixes[name] = contract.JoinRoute(e.prefixes[parent], p.prefix())
		}
	}
	e.findClients()
	e.matchScopes()
	links := links{}
	for i := range o.Calls {
		c := &o.Calls[i]
		for _, r := range e.matching(c, "provides") {
			p := place{o: o, rule: r, call: c, def: c.Def, find: e.known(c)}
			block := slices.ContainsFunc(c.Args, func(v outline.Value) bool { return v.Kind == outline.ValLambda })
			if name := p.first(r.Options.Get("path")); block && r.Options.Get("rest") != "" && name != "" {
				below := "/" + strings.TrimLeft(name, "/")
				if !p.isSingle() {
					below += "/{}"
				}
				if s := (scoped{span: c.Span, prefix: below, resource: name}); !slices.Contains(e.scopes, s) {
					e.scopes = append(e.scopes, s)
				}
			}
		}
		for _, r := range e.matching(c, "client") {
			if p := (place{o: o, rule: r, call: c, def: c.Def}); r.Options.Get("all") != "" {
				e.clients[""] = p.first(r.Options.Get("path"))
			}
		}
		for _, r := range e.matching(c, "scope") {
			p := place{o: o, rule: r, call: c, def: c.Def, find: e.known(c)}
			if prefix := p.prefix(); prefix != "" || r.Options.Get("up") != "" {
				prefix = contract.JoinRoute(e.prefixes[receiver(c.Name)], prefix)
				e.within(scoped{span: blockOf(c), prefix: prefix, up: r.Options.Get("up") != ""})
			}
		}
		for _, r := range e.matching(c, "mount") {
			p := place{o: o, rule: r, call: c, def: c.Def, find: e.known(c)}
			if v, ok := p.firstValue(r.Options.Get("var")); ok {
				links.add(e, &p, v, p.prefix())
				if v.Kind == outline.ValName && e.prefixes[v.Text] == "" {
					e.eachRouter(&p, v, func(router outline.Value, prefix string) { links.add(e, &p, router, prefix) })
				}
			}
		}
	}
	links.follow(e)
	e.concerns()
}

// group is the call in a chain that makes a group of routes, and its rule:
// app.MapGroup("/x").WithTags("y").
func (e *extractor) group(c *outline.Call) (*rules.Rule, *outline.Call) {
	for ; c != nil; c = c.Inner {
		if found := e.matching(c, "group"); len(found) > 0 {
			return found[0], c
		}
	}
	return nil, nil
}

// parentOf is the router that a group is made of: the receiver, or an argument.
func (e *extractor) parentOf(p place) string {
	if of := p.rule.Options.Get("of"); of != "" {
		v, _ := p.value(of)
		return v.Text
	}
	if strings.HasPrefix(p.rule.Options.Get("path"), "base.") { // that says it
		return ""
	}
	if p.call.Inner != nil || e.o.Lang == "go" {
		return e.rootRouter(p.call)
	}
	return receiver(p.call.Name)
}

// receiver is what a method is called on, when that is a plain name.
func receiver(name string) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[strings.LastIndexByte(name[:i], '.')+1 : i]
	}
	return ""
}

func (e *extractor) atCall(c *outline.Call) {
	if e.consumed[c.Span.End] {
		return
	}
	for _, r := range e.matching(c, "provides", "uses") {
		p := &place{o: e.o, rule: r, call: c, def: c.Def, span: c.Span, line: int(c.Span.Row) + 1, find: e.known(c)}
		if c.Inner != nil && len(c.Args) > 0 { // a chain begins further up
			p.line = int(c.Args[0].Span.Row) + 1
		}
		if r.Options.Get("calls") != "" {
			if f := handedCall(c); f != nil {
				e.atCall(f)
			}
			continue
		}
		before := len(e.out)
		e.rule = r.Place()
		switch r.Contract {
		case "http":
			if r.Role == "uses" {
				client := e.askedWith(c)
				e.request(p, client)
				e.remember(before, client, c)
			} else {
				e.served(p, e.rootRouter(c))
			}
		case "db":
			e.table(p)
		default:
			e.named(p)
		}
		if len(e.out) > before && wholeChain(r) {
			for in := c.Inner; in != nil; in = in.Inner {
				e.consumed[in.Span.End] = true
			}
		}
		if len(e.out) > before {
			return
		}
	}
}

// handedCall is the call of a function that is handed with its arguments, as
// call(axios.get, url); nil if it is none.
func handedCall(c *outline.Call) *outline.Call {
	if len(c.Args) < 2 {
		return nil
	}
	f := c.Args[0]
	if f.Kind == outline.ValList && len(f.Items) == 2 { // with what it is called on
		f = f.Items[1]
	}
	if f.Kind != outline.ValName {
		return nil
	}
	handed := *c
	handed.Name, handed.Args, handed.Inner, handed.Flat = f.Text, c.Args[1:], nil, ""
	return &handed
}

// remember notes where the answer to a call is, and the client that it was made
// with, unless that is of this file: another may give it a base address.
func (e *extractor) remember(from int, client string, c *outline.Call) {
	_, here := e.clients[client]
	for i := from; i < len(e.out); i++ {
		e.out[i].Answer = contract.Answer{From: c.Span.Start, To: c.Span.End}
		if !here {
			e.out[i].Client = client
		}
	}
}

// imported is a router's variable if another file makes it.
func (e *extractor) imported(router string) string {
	if _, here := e.prefixes[router]; router == "" || here {
		return ""
	}
	if slices.ContainsFunc(e.o.Imports, func(im outline.Imported) bool { return im.Local == router }) {
		return router
	}
	return ""
}

// rootReceiver is the variable that a chain of calls begins with.
func rootReceiver(c *outline.Call) string { return receiver(chainRoot(c).Name) }

// chainRoot is the call that a chain of calls begins with.
func chainRoot(c *outline.Call) *outline.Call {
	for c.Inner != nil {
		c = c.Inner
	}
	return c
}

// wholeChain tells whether a rule reads a chain of calls as one: then the calls in
// it say nothing more. Where each names its method, each is one.
func wholeChain(r *rules.Rule) bool {
	path := r.Options.Get("path")
	return strings.Contains(path, "inner.") ||
		(strings.Contains(path, "chain.") || strings.HasPrefix(path, "base.")) && r.Options.Get("method") != "callee"
}

func (e *extractor) atMark(m *outline.Mark) {
	last := m.Name[strings.LastIndexByte(m.Name, '.')+1:]
	for _, r := range e.m.Marks.Of(last) {
		if r == nil || !e.active[r] || r.Role != "provides" && r.Role != "uses" || m.Target < 0 || m.Target >= len(e.o.Defs) {
			continue
		}
		if !slices.ContainsFunc(r.Marks, func(p string) bool { return rules.MatchName(p, m.Name) }) {
			continue
		}
		d := e.o.Defs[m.Target]
		if r.Contract == "http" && !e.classFits(r, d.Parent) {
			continue
		}
		e.rule = r.Place()
		p := &place{o: e.o, rule: r, mark: m, def: m.Target, span: d.Span, line: int(m.Line) + 1}
		if r.Contract != "config" { // there the name of a setting is what counts
			p.find = e.elsewhere
		}
		switch {
		case r.Contract == "http" && d.Contain && r.Options.Get("view") != "":
			before := len(e.out)
			e.classRoutes(p, e.prefixes[receiver(m.Name)])
			for i := before; i < len(e.out); i++ {
				e.out[i].Of = e.imported(receiver(m.Name))
			}
		case r.Contract == "http" && d.Contain && r.Options.Get("rest") == "platform":
			e.platform(p)
		case r.Contract == "http" && d.Contain && r.Options.Get("invoke") != "" && e.isCalled(m.Target):
			e.route(p, "")
		case r.Contract == "http" && !d.Contain && r.Options.Get("view") == "":
			before := len(e.out)
			prefix := contract.JoinRoute(e.prefixes[receiver(m.Name)], p.first(r.Options.Get("prefix")))
			prefix = contract.JoinRoute(e.scopePrefix(d.NameAt()), prefix)
			if r.Role == "uses" {
				prefix = e.clientPrefix(p, prefix)
			}
			if v := p.first(r.Options.Get("version")); v != "" && !strings.Contains(v, "{}") { // Nest puts it first
				prefix = contract.JoinRoute("/v"+v, prefix)
			}
			e.route(p, prefix)
			for i := before; i < len(e.out); i++ {
				e.out[i].Of = e.imported(receiver(m.Name))
				if prefix == "" && r.Role == "provides" {
					e.out[i].Router = e.inheritable(p)
				}
				if how := r.Options.Get("mounted"); how != "" {
					e.out[i].Router = e.service(d.Name)
					e.out[i].Router.Only = how == "only"
				}
			}
		case r.Contract == "db" && d.Contain:
			e.model(p)
		case r.Contract != "http" && r.Contract != "db":
			e.named(p)
		}
	}
}

// applies tells whether a rule can hold in a file that has what it needs.
func applies(r *rules.Rule, o *outline.File) bool {
	if !r.Covers(o.Path) {
		return false
	}
	return len(r.Exports) == 0 || made.Get().Match(o.Source) ||
		slices.ContainsFunc(o.Defs, func(d outline.Def) bool { return exports(r, o, &d) })
}

// hasOne tells whether a file has what a rule needs: one of the words among its
// imports, or in its text when the language has no such imports.
func hasOne(needs []string, o *outline.File) bool {
	for _, im := range o.Imports {
		name := im.Module + "." + im.Name
		if slices.ContainsFunc(needs, func(n string) bool { return strings.Contains(name, n) }) {
			return true
		}
	}
	return slices.ContainsFunc(needs, func(n string) bool {
		text, ok := strings.CutPrefix(n, "text:")
		return ok && bytes.Contains(o.Source, []byte(text))
	})
}
