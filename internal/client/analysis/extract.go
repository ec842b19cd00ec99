package analysis

import (
	"regexp"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// An extractor finds the contracts of one file.
type extractor struct {
	m        *matcher
	o        *outline
	active   map[*rule]bool
	prefixes map[string]string // of routers, by the variable that holds them
	clients  map[string]string // base addresses of HTTP clients, by variable
	scopes   []scoped          // stretches of source whose routes have a prefix
	consumed map[uint32]bool   // calls that a longer chain spoke for
	out      []contract
}

type scoped struct {
	span   span
	prefix string
}

func newExtractor(m *matcher, o *outline) *extractor {
	e := &extractor{m: m, o: o, active: map[*rule]bool{}, prefixes: map[string]string{}, clients: map[string]string{}, consumed: map[uint32]bool{}}
	for _, r := range m.rules {
		e.active[r] = r.applies(o)
	}
	return e
}

// contracts finds what a file provides and uses.
func (m *matcher) contracts(o *outline) []contract {
	e := newExtractor(m, o)
	e.findPrefixes()
	for i := range o.calls {
		e.atCall(&o.calls[i])
	}
	for i := range o.marks {
		e.atMark(&o.marks[i])
	}
	for _, r := range o.reads {
		for _, rl := range m.reads[r.object] {
			if rl != nil && e.active[rl] && isSetting(r.key) {
				e.add(rl.contract+":"+r.key, coord.ContractRole(rl.role), int(r.line)+1, shape{})
			}
		}
	}
	e.atClasses()
	e.atExports()
	for _, t := range o.texts {
		e.out = append(e.out, queryContracts(t)...)
	}
	if testPath(o.path) { // what a test provides is made up
		e.out = slices.DeleteFunc(e.out, func(c contract) bool { return c.role == coord.Provides })
	}
	return e.out
}

// isSetting tells a name of the environment from other fields of an object.
func isSetting(s string) bool {
	return s != "" && strings.ToUpper(s) == s && s[0] != '_' && s != "NODE_ENV"
}

func (e *extractor) add(key string, role coord.ContractRole, line int, s shape) {
	if c, ok := newContract(key, role, line); ok {
		c.shape = s
		e.out = append(e.out, c)
	}
}

// matching yields the active rules that a call sets off.
func (e *extractor) matching(c *call, roles ...string) []*rule {
	var out []*rule
	last := c.name[strings.LastIndexByte(c.name, '.')+1:]
	for _, r := range e.m.calls[last] {
		if e.active[r] && slices.Contains(roles, r.role) && !slices.Contains(out, r) && e.fits(r, c) {
			out = append(out, r)
		}
	}
	return out
}

// fits checks what a rule says about a call beyond its last name.
func (e *extractor) fits(r *rule, c *call) bool {
	if !slices.ContainsFunc(r.calls, func(p string) bool {
		return matchName(p, c.name) || strings.Contains(p, "()") && strings.Contains(c.name, "()") && matchName(p, c.unchained())
	}) {
		return false
	}
	if recv := r.options["on"]; recv != "" {
		object, _, _ := strings.Cut(c.name, ".")
		if i := strings.LastIndexByte(c.name, '.'); i > 0 {
			object = c.name[:i]
		}
		object = object[strings.LastIndexByte(object, '.')+1:]
		_, known := e.prefixes[object]
		if r.role == "uses" {
			_, known = e.clients[object]
		}
		if !known && !slices.ContainsFunc(strings.Split(recv, ","), func(p string) bool { return matchName(p, strings.ToLower(object)) }) {
			return false
		}
	}
	if least := r.options["min"]; least != "" && len(c.args) < int(least[0]-'0') {
		return false
	}
	if not := r.options["not-arg"]; not != "" && slices.ContainsFunc(c.args, func(v value) bool {
		return v.call != nil && slices.Contains(strings.Split(not, ","), v.call.name[strings.LastIndexByte(v.call.name, '.')+1:])
	}) {
		return false
	}
	if not := r.options["not-in"]; not != "" && c.def >= 0 {
		name := e.o.defs[c.def].name
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
func (c *call) unchained() string {
	if c.flat == "" {
		c.flat = chained().ReplaceAllString(c.name, "")
	}
	return c.flat
}

// findPrefixes learns which routers and which stretches of source add what in
// front of their routes.
func (e *extractor) findPrefixes() {
	o := e.o
	for i := range o.assigns {
		a := &o.assigns[i]
		if a.value.kind != valCall || a.value.call == nil {
			continue
		}
		for _, r := range e.matching(a.value.call, "group") {
			p := place{o: o, rule: r, call: a.value.call, def: a.def}
			parent := e.prefixes[receiver(a.value.call.name)]
			e.prefixes[a.name] = joinRoute(parent, p.first(r.options["path"]))
		}
		for _, r := range e.matching(a.value.call, "client") {
			p := place{o: o, rule: r, call: a.value.call, def: a.def}
			e.clients[a.name] = p.first(r.options["path"])
		}
	}
	for i := range o.calls {
		c := &o.calls[i]
		for _, r := range e.matching(c, "provides") {
			p := place{o: o, rule: r, call: c, def: c.def}
			if name := p.first(r.options["path"]); r.options["rest"] != "" && name != "" && slices.ContainsFunc(c.args, func(v value) bool { return v.kind == valLambda }) {
				e.scopes = append(e.scopes, scoped{c.span, "/" + name + "/{}"})
			}
		}
		for _, r := range e.matching(c, "scope") {
			p := place{o: o, rule: r, call: c, def: c.def}
			if prefix := p.first(r.options["path"]); prefix != "" {
				e.scopes = append(e.scopes, scoped{c.span, joinRoute(e.prefixes[receiver(c.name)], prefix)})
			}
		}
		for _, r := range e.matching(c, "mount") {
			p := place{o: o, rule: r, call: c, def: c.def}
			v, ok := p.value(r.options["var"])
			if prefix := p.first(r.options["path"]); ok && v.kind == valName && prefix != "" {
				e.prefixes[v.text] = joinRoute(prefix, e.prefixes[v.text])
			}
		}
	}
}

// receiver is what a method is called on, when that is a plain name.
func receiver(name string) string {
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[strings.LastIndexByte(name[:i], '.')+1 : i]
	}
	return ""
}

// joinRoute joins two parts of a route by one slash.
func joinRoute(a, b string) string {
	if a == "" {
		return b
	}
	return strings.TrimRight(a, "/") + "/" + strings.TrimLeft(b, "/")
}

func (e *extractor) atCall(c *call) {
	if e.consumed[c.span.end] {
		return
	}
	for _, r := range e.matching(c, "provides", "uses") {
		p := &place{o: e.o, rule: r, call: c, def: c.def, span: c.span, line: int(c.span.row) + 1}
		if c.inner != nil && len(c.args) > 0 { // a chain begins further up
			p.line = int(c.args[0].span.row) + 1
		}
		before := len(e.out)
		switch r.contract {
		case "http":
			recv := rootReceiver(c)
			if r.role == "uses" {
				e.route(p, e.clients[recv])
				e.remember(before, recv)
			} else {
				e.route(p, joinRoute(e.scopePrefix(c.span.start), e.prefixes[recv]))
			}
		case "db":
			e.table(p)
		default:
			e.named(p)
		}
		if len(e.out) > before && c.inner != nil && strings.Contains(r.options["path"], "inner.") {
			for in := c.inner; in != nil; in = in.inner {
				e.consumed[in.span.end] = true
			}
		}
		if len(e.out) > before {
			return
		}
	}
}

// remember notes the client that calls were made with, unless it is of this
// file: another may give it a base address.
func (e *extractor) remember(from int, client string) {
	if _, here := e.clients[client]; here {
		return
	}
	for i := from; i < len(e.out); i++ {
		e.out[i].client = client
	}
}

// rootReceiver is the variable that a chain of calls begins with.
func rootReceiver(c *call) string {
	for c.inner != nil {
		c = c.inner
	}
	return receiver(c.name)
}

func (e *extractor) scopePrefix(at uint32) string {
	prefix := ""
	for _, s := range e.scopes {
		if s.span.start < at && at < s.span.end {
			prefix = joinRoute(prefix, s.prefix)
		}
	}
	return prefix
}

func (e *extractor) atMark(m *mark) {
	last := m.name[strings.LastIndexByte(m.name, '.')+1:]
	for _, r := range e.m.marks[last] {
		if r == nil || !e.active[r] || r.role != "provides" && r.role != "uses" || m.target < 0 || m.target >= len(e.o.defs) {
			continue
		}
		if !slices.ContainsFunc(r.marks, func(p string) bool { return matchName(p, m.name) }) {
			continue
		}
		d := e.o.defs[m.target]
		p := &place{o: e.o, rule: r, mark: m, def: m.target, span: d.span, line: int(m.line) + 1}
		switch {
		case r.contract == "http" && !d.contain:
			e.route(p, joinRoute(e.prefixes[receiver(m.name)], p.first(r.options["prefix"])))
		case r.contract == "db" && d.contain:
			e.model(p)
		case r.contract != "http" && r.contract != "db":
			e.named(p)
		}
	}
}

// named adds contracts whose key is a name: events and configuration.
func (e *extractor) named(p *place) {
	for _, n := range p.texts(p.rule.options["name"]) {
		n = strings.TrimSpace(n)
		if p.rule.options["strip-braces"] != "" { // Spring's ${NAME:default}
			n = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(n, "\\"), "${"), "}")
			n, _, _ = strings.Cut(n, ":")
		}
		if n == "" || strings.Contains(n, "{}") {
			continue
		}
		if like := p.rule.options["like"]; like != "" {
			if ok, err := regexp.MatchString(like, n); err != nil || !ok {
				continue
			}
		}
		s := shape{}
		if v, ok := p.value(p.rule.options["shape"]); ok && p.rule.options["shape"] != "" {
			s.out = fieldsOf(v)
		}
		if p.rule.contract == "event" { // an address of a queue or topic ends in its name
			n = n[strings.LastIndexAny(n, "/:")+1:]
			if p.rule.options["whole"] != "" {
				n = p.first(p.rule.options["name"])
			}
		}
		e.add(p.rule.contract+":"+n, coord.ContractRole(p.rule.role), p.line, s)
	}
}
