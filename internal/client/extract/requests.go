package extract

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
	"github.com/svc-hq/svc/internal/core/scope"
)

// Programs seldom call an HTTP library all over the place: they have a function
// of their own for it. A function whose parameters flow into the path of an HTTP
// call is an HTTP call itself, and so is one whose parameters flow into that.

// A Request is such a function.
type Request struct {
	Owner  string // the object or type that it is a member of; "" for none
	Name   string
	fn     int // tells the functions of its file apart
	params []outline.Param
	path   string // with marks where a parameter stands
	method string // likewise; "" if it is not known
	client bool   // of an HTTP client
}

// A mark stands in a text for a parameter of a function, or for a field of one.
// What it is when nothing is given for it may stand behind the field.
func mark(fn, param int, field string) string {
	return "\x01" + strconv.Itoa(fn) + ":" + strconv.Itoa(param) + ":" + field + "\x02"
}

// parseMark takes a mark apart.
func parseMark(m string) (fn, param int, field string) {
	at := marks.Get().FindStringSubmatch(m)
	fn, _ = strconv.Atoi(at[1])
	param, _ = strconv.Atoi(at[2])
	return fn, param, at[3]
}

var marks = lazy.Regexp("\x01(\\d+):(\\d+):([^\x02]*)\x02")

func paramName(p outline.Param) string { return strings.TrimLeft(p.Name, ".$&*") }

func isPattern(p outline.Param) bool { return strings.HasPrefix(p.Name, "{") }

// patternNames are the names that a parameter is taken apart into.
func patternNames(s string) (out []string) {
	for part := range strings.SplitSeq(strings.Trim(s, "{} "), ",") {
		name, _, _ := strings.Cut(part, "=")
		name, _, _ = strings.Cut(name, ":")
		out = append(out, strings.TrimLeft(strings.TrimSpace(name), "."))
	}
	return out
}

// argument returns the argument that a selector means. A name that was given an
// object before stands for it.
func (e *extractor) argument(p *place, selector string) (outline.Value, bool) {
	head, field, nested := strings.Cut(selector, ".")
	v, ok := p.value(head)
	if !ok || !nested {
		if v, ok = p.value(selector); ok && strings.HasPrefix(v.Text, "...") { // handed on as they came
			return outline.Value{Kind: outline.ValName, Text: strings.TrimPrefix(v.Text, "...")}, true
		}
		return v, ok
	}
	if v.Kind == outline.ValObject && v.Open && !strings.Contains(field, ".") {
		return e.field(v, field)
	}
	if v.Kind != outline.ValName {
		return p.value(selector)
	}
	name := v.Text + "." + field
	if o, ok := e.object(p.call, v.Text); ok && !e.isSet(name, p.call) {
		return e.field(o, field)
	}
	return outline.Value{Kind: outline.ValName, Text: name}, true
}

// isSet tells whether a field of an object was set before a call:
// request.url = x.
func (e *extractor) isSet(name string, c *outline.Call) bool {
	for _, a := range e.o.Assigns {
		if a.Name == name && a.Def == c.Def && a.Line <= c.Span.Row {
			return true
		}
	}
	return false
}

// field is a field of an object, or of the one that it takes it over from. A
// method may be both: what it is unless the other has one.
func (e *extractor) field(o outline.Value, name string) (outline.Value, bool) {
	own, ok := o.Get(name)
	if ok && name != "method" {
		return own, true
	}
	for _, from := range slices.Backward(o.Over(name)) {
		if from.Kind != outline.ValName {
			continue
		}
		v := outline.Value{Kind: outline.ValName, Text: from.Text + "." + name}
		if ok {
			v = outline.Value{Kind: outline.ValChoice, Text: unless, Items: []outline.Value{v, own}}
		}
		return v, true
	}
	return own, ok
}

// unless is the text of a choice of the first, where it is there.
const unless = "unless"

// object is what a name was assigned before a call, if that is an object.
func (e *extractor) object(c *outline.Call, name string) (out outline.Value, ok bool) {
	for _, a := range e.o.Assigns {
		if a.Name == name && a.Value.Kind == outline.ValObject && a.Line <= c.Span.Row && (a.Def == c.Def || a.Def < 0) {
			out, ok = a.Value, true
		}
	}
	return out, ok
}

// spellings are the texts that a selector of a rule may mean at a call.
func (e *extractor) spellings(p *place, selector string) []string {
	if p.call == nil {
		return p.texts(selector)
	}
	for alt := range strings.SplitSeq(selector, "|") {
		if alt == "" {
			continue
		}
		if v, ok := e.argument(p, alt); ok && v.Kind != outline.ValList {
			if out := e.o.Spell(v, e.lookup(p.call)); !slices.Equal(out, []string{"{}"}) {
				return out
			}
		} else if out := p.alternative(alt); len(out) > 0 {
			return out
		}
	}
	return nil
}

// methods are the methods of an HTTP call: texts, marks, or "" when something
// says it that cannot be read.
func (e *extractor) methods(p *place) []string {
	if p.call != nil && p.call.Index != nil {
		return e.methodOf(*p.call.Index, e.lookup(p.call))
	}
	for alt := range strings.SplitSeq(p.rule.Options.Get("method"), "|") {
		head, _, nested := strings.Cut(alt, ".")
		if p.call != nil && nested && slices.ContainsFunc(p.call.Args, isSpread) {
			return []string{""}
		}
		v, ok := outline.Value{}, false
		if p.call != nil && nested {
			v, ok = e.argument(p, alt)
		}
		switch {
		case ok:
			return e.methodOf(v, e.lookup(p.call))
		case nested && p.call != nil:
			if o, has := p.value(head); has && o.Kind == outline.ValObject && o.Open {
				return []string{""}
			}
		}
		if p.call != nil && !nested && alt != "" && alt[0] <= '9' {
			if v, ok := p.value(alt); ok {
				return e.methodOf(v, e.lookup(p.call))
			}
		}
		if out := p.alternative(alt); len(out) > 0 {
			return out
		}
	}
	return nil
}

func isSpread(v outline.Value) bool { return strings.HasPrefix(v.Text, "...") }

// methodOf spells a method: also those that are names, such as Method.GET.
func (e *extractor) methodOf(v outline.Value, find func(string) []string) []string {
	if v.Kind == outline.ValChoice && v.Text == unless {
		other, own := e.methodOf(v.Items[0], find), e.methodOf(v.Items[1], find)
		if len(other) == 1 && len(own) == 1 && marks.Get().MatchString(other[0]) && !marks.Get().MatchString(own[0]) {
			return []string{strings.TrimSuffix(other[0], "\x02") + "=" + own[0] + "\x02"}
		}
		return own
	}
	if v.Kind == outline.ValName && find(v.Text) == nil {
		if out := e.o.TextsOf(v); len(out) > 0 {
			return out
		}
	}
	return e.o.Spell(v, find)
}

// request adds what a call of an HTTP library means: a use of a route, or that
// the function around it is such a call.
func (e *extractor) request(p *place, client string) {
	base, known := e.clients[client]
	if all, ok := e.clients[""]; ok && !known { // of all calls of the file that name none
		base = all
	}
	if p.rule.Under != nil && !known {
		base = e.under(p.rule, int(p.call.Span.Start))
	}
	selector := p.rule.Options.Get("path")
	if p.call.Index != nil { // client[method](path)
		selector = "0"
	}
	paths := withBase(e.spellings(p, selector))
	if len(paths) == 0 && p.rule.Options.Get("path-optional") != "" {
		paths = []string{""}
	}
	before, wrapped := len(e.out), len(e.requests)
	defer func() {
		if len(e.out) == before && len(e.requests) == wrapped && len(p.call.Args) > 0 {
			e.miss(p, "its path is not known")
		}
	}()
	methods := e.methods(p)
	if len(methods) == 0 {
		methods = []string{scope.AnyMethod}
	}
	loose := known || p.rule.Options.Get("relative") != ""
	for i, path := range paths {
		if p.rule.Options.Get("slash") != "" && !rooted.Get().MatchString(path) {
			continue
		}
		if base != "" && !strings.Contains(path, "://") {
			path = contract.JoinRoute(base, path)
		}
		for _, m := range together(methods, i, len(paths)) {
			e.conclude(p.call, p.line, path, m, loose)
		}
	}
}

// rooted is a path from the root of a server.
var rooted = lazy.Regexp(`^(?:\{\})?/|://|^\x01`)

// together are the methods that go with one of several paths: as many of both
// are chosen by the same condition.
func together(methods []string, i, paths int) []string {
	if len(methods) == paths && paths > 1 {
		return methods[i : i+1]
	}
	return methods
}

// conclude makes of a path and a method, in which marks may stand, a use of a
// route or a Request.
func (e *extractor) conclude(c *outline.Call, line int, path, method string, loose bool) {
	if fn, ok := e.wraps(c, path); ok {
		name := fn.Name[strings.LastIndexByte(fn.Name, '.')+1:]
		q := Request{Owner: strings.TrimSuffix(strings.TrimSuffix(fn.Name, name), "."), Name: name, fn: fn.ID, params: fn.Params,
			path: path, method: method}
		e.know(q)
		return
	}
	path = marks.Get().ReplaceAllString(path, "{}")
	if at := max(strings.LastIndex(path, "http://"), strings.LastIndex(path, "https://")); at > 0 && !strings.Contains(path[:at], "?") {
		path = path[at:] // no base stands before a whole address
	}
	if rest, ok := strings.CutPrefix(path, "{}//"); ok { // both ends of what is joined may have one
		path = "{}/" + rest
	}
	if at := marks.Get().FindStringSubmatch(method); at != nil {
		if _, or, ok := strings.Cut(at[3], "="); ok {
			method = or
		}
	}
	method = strings.ToUpper(method)
	if marks.Get().MatchString(method) || method == "" || method == "{}" || method == "REQUEST" {
		method = scope.AnyMethod
	} else if method == "DEL" {
		method = "DELETE"
	}
	if loose && path != "" && !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "{}") && !strings.Contains(path, "://") {
		path = "/" + path
	}
	path, ok := cleanRoute(glued.Get().ReplaceAllString(path, "$1"), "", coord.Uses)
	if ok && plausible.Get().MatchString(path) && !onlyBase.Get().MatchString(path) && !asset.Get().MatchString(path) {
		e.add("http:"+method+" "+path, coord.Uses, line, contract.Shape{})
	}
}

// plausible is what a path may be written with.
var plausible = lazy.Regexp(`^[\w/{}.~:@!$&'()*+,;=%?#\[\]|-]+$`)

// glued is what is put right behind a word: a query.
var glued = lazy.Regexp(`(/[\w-]*[A-Za-z]{3})\{\}$`)

// asset is a file that lies beside a page, no route of a program.
var asset = lazy.Regexp(`(?i)\.(?:m?js|css|svg|png|jpe?g|gif|ico|wasm|woff2?)(?:$|[?#])`)

// onlyBase is an address that others are put together from.
var onlyBase = lazy.Regexp(`^(?:\w+://[^/]+)?/*(?:apis?|rest|v\d+)(?:/+(?:apis?|rest|v\d+))*/*$`)

// bases are the beginnings of paths that say where an API lies rather than what
// is asked of it.
var bases = lazy.Regexp(`^(?:\{\}|/)*(?:(?:api|rest|v\d+|services?|backend|gateway|graphql)(?:/|$))*$`)

// wraps tells whether a path is for the callers of a function to say: what
// stands first in it is a parameter.
func (e *extractor) wraps(c *outline.Call, path string) (outline.Scope, bool) {
	at := marks.Get().FindStringSubmatchIndex(path)
	if at == nil || c == nil {
		return outline.Scope{}, false
	}
	before := path[:at[0]]
	if _, rest, ok := strings.Cut(before, "://"); ok {
		_, before, _ = strings.Cut(rest, "/")
		if strings.HasSuffix(before, "/") && !bases.Get().MatchString(before) || strings.Count(before, "/") > 2 {
			return outline.Scope{}, false
		}
	} else if !bases.Get().MatchString(strings.TrimPrefix(before, "/")) {
		return outline.Scope{}, false
	}
	id, _ := strconv.Atoi(path[at[2]:at[3]])
	param, _ := strconv.Atoi(path[at[4]:at[5]])
	for _, s := range e.o.Around(c.Span.Start) {
		if s.ID == id {
			return s, s.Name != "" && (at[1] < len(path) || !isQuery(s.Params[param], path[at[6]:at[7]]))
		}
	}
	return outline.Scope{}, false
}

// queries are what parameters are called that hold the query of an address.
var queries = lazy.Regexp(`(?i)quer(?:y|ies|ystring)$|params?$|search$|filters?$|^qs$`)

// isQuery tells whether what stands last in a path is its query, by its name.
func isQuery(p outline.Param, field string) bool {
	return queries.Get().MatchString(cmp.Or(field, paramName(p)))
}

// Forget drops what a rule took a call for by the name of what it is made with:
// what that is, is known now.
func (v *Version) Forget(c *outline.Call) {
	client := rootReceiver(c)
	v.Contracts = slices.DeleteFunc(v.Contracts, func(x contract.Contract) bool {
		return x.Client == client && client != "" && x.Line == int(c.Span.Row)+1
	})
}

// Apply adds what a call of a request function means to the version.
func (v *Version) Apply(c *outline.Call, q *Request) {
	e := v.extractor
	e.rule = strings.TrimPrefix(q.Owner+"."+q.Name, ".") + "()"
	find := e.lookup(c)
	fill := func(text, missing string) []string {
		out := []string{""}
		at := 0
		for _, m := range marks.Get().FindAllStringSubmatchIndex(text, -1) {
			param, _ := strconv.Atoi(text[m[4]:m[5]])
			value := e.given(c, q, param, text[m[6]:m[7]], find, missing)
			out = each(out, []string{text[at:m[0]]})
			out = each(out, value)
			at = m[1]
		}
		return each(out, []string{text[at:]})
	}
	methods := []string{q.method}
	later := methodAfter(e.o, c)
	switch {
	case later != "":
		methods = []string{later}
	case q.method == "" || q.method == "{}":
		methods = []string{methodAmong(c)}
	case marks.Get().MatchString(q.method):
		methods = fill(q.method, "GET")
	}
	before := len(e.out)
	if at := marks.Get().FindStringSubmatch(q.path); q.client && at != nil && at[3] != "" && !isObject(c) {
		return // it is not called with an object
	}
	paths := fill(q.path, "")
	for i, path := range paths {
		for _, m := range together(methods, i, len(paths)) {
			e.conclude(c, int(c.Span.Row)+1, path, m, true)
		}
	}
	for i := before; i < len(e.out); i++ {
		e.out[i].Answer = contract.Answer{From: c.Span.Start, To: c.Span.End}
	}
	v.Contracts = append(v.Contracts, e.out[before:]...)
	v.Requests = e.requests
}

// isObject tells whether the first argument of a call may be an object.
func isObject(c *outline.Call) bool {
	return len(c.Args) > 0 && (c.Args[0].Kind == outline.ValObject || c.Args[0].Kind == outline.ValName)
}

func each(a, b []string) (out []string) {
	for _, x := range a {
		for _, y := range b {
			if len(out) < 8 {
				out = append(out, x+y)
			}
		}
	}
	return out
}

// given is what a call passes for a parameter.
func (e *extractor) given(c *outline.Call, q *Request, param int, field string, find func(string) []string, missing string) []string {
	place := param
	field, or, _ := strings.Cut(field, "=")
	if or != "" {
		missing = or
	}
	if len(q.params) > 0 && (paramName(q.params[0]) == "self" || paramName(q.params[0]) == "cls") {
		place--
	}
	var v outline.Value
	ok := false
	if param < len(q.params) {
		v, ok = pickArg(c.Args, ":"+paramName(q.params[param]))
	}
	if !ok {
		v, ok = pickArg(c.Args, strconv.Itoa(place))
	}
	if !ok || place < 0 {
		return []string{missing}
	}
	if field != "" {
		if v.Kind == outline.ValName {
			if o, is := e.object(c, v.Text); is {
				v = o
			} else if out := find(v.Text + "." + field); out != nil {
				return out
			}
		}
		if v, ok = e.field(v, field); !ok {
			return []string{missing}
		}
	}
	return e.methodOf(v, find)
}

var laterMethod = lazy.Regexp(`^\s*(?:\.\w+\([^;{}]*?\)\s*)*?\.method\(\s*"?(?:\w+::)*(\w+)"?\s*\)`)

// setMethod is what gives a request of Swift its method.
var setMethod = lazy.Regexp(`\.httpMethod\s*=\s*(?:"(\w+)"|\w)`)

// methodAfter finds the method that the rest of a chain gives a request of Rust,
// or what follows in the function one of Swift; "" if it does not.
func methodAfter(o *outline.File, c *outline.Call) string {
	if o.Lang != "rust" && o.Lang != "swift" || c == nil {
		return ""
	}
	rest := o.Source[c.Span.End:min(len(o.Source), int(c.Span.End)+maxThen)]
	if o.Lang == "swift" {
		if at := bytes.Index(rest, []byte("func ")); at >= 0 {
			rest = rest[:at]
		}
		m := setMethod.Get().FindSubmatch(rest)
		if m == nil {
			return ""
		}
		return cmp.Or(strings.ToUpper(string(m[1])), scope.AnyMethod) // it is given, and nobody can tell which
	}
	if m := laterMethod.Get().FindSubmatch(rest); m != nil && slices.Contains(scope.Methods(), strings.ToUpper(string(m[1]))) {
		return strings.ToUpper(string(m[1]))
	}
	return ""
}

// methodAmong finds the method among the arguments of a call: as one of them,
// or in an object; "" if it is not there.
func methodAmong(c *outline.Call) string {
	is := func(v outline.Value) string {
		if s, ok := v.Literal(); ok && slices.Contains(scope.Methods(), strings.ToUpper(s)) {
			return strings.ToUpper(s)
		}
		return ""
	}
	for _, a := range c.Args {
		if m := is(a); m != "" {
			return m
		}
		for _, f := range a.Fields {
			if strings.HasSuffix(strings.ToLower(f.Name), "method") || f.Name == "verb" || f.Name == "type" {
				if m := is(f.Value); m != "" {
					return m
				}
			}
		}
	}
	return ""
}
