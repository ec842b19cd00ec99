package extract

import (
	"cmp"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
	"github.com/svc-hq/svc/internal/core/scope"
)

// maxThen is how far after a path its method may stand, where no definition
// tells where that ends.
const maxThen = 600

// atMatches finds routes that a language or library writes in a way of its own.
func (e *extractor) atMatches() {
	for _, r := range e.m.Rules {
		if r.Match == nil || !e.active[r] || r.Role != "provides" && r.Role != "uses" {
			continue
		}
		e.rule = r.Place()
		at, line := 0, 1
		all := r.Match.Get().FindAllSubmatchIndex(e.o.Source, -1)
		for i, m := range all {
			end := len(e.o.Source)
			if i+1 < len(all) {
				end = all[i+1][0]
			}
			if r.Contract == "event" {
				e.matchedEvent(r, m)
				continue
			}
			method, route, from := e.matched(r, m, end)
			line += strings.Count(string(e.o.Source[at:from]), "\n")
			at = from
			role := coord.ContractRole(r.Role)
			if r.Options.Get("relative") != "" && !strings.HasPrefix(route, "/") && !strings.Contains(route, "://") {
				route = "/" + route
			}
			prefix, router := e.under(r, m[0]), contract.Handed{}
			if role == coord.Provides {
				prefix = contract.JoinRoute(e.scopePrefix(uint32(m[0])), prefix)
			}
			if r.Options.Get("paired") != "" {
				prefix, router = e.paired(uint32(m[0]))
			} else if r.Options.Get("given") != "" {
				router = e.givenBy(e.o.Around(uint32(m[0])))
			}
			if route, ok := cleanRoute(route, prefix, role); ok {
				before := len(e.out)
				if e.add("http:"+method+" "+route, role, line, contract.Shape{}); len(e.out) > before {
					e.out[before].Answer, e.out[before].Router = e.answerAfter(m[1]), router
					if i := r.Match.Get().SubexpIndex("class"); i > 0 {
						class := string(e.o.Source[m[2*i]:m[2*i+1]])
						e.out[before].Answer = contract.Answer{Names: []string{class + ".as_view"}, At: uint32(m[1])}
					}
				}
			}
		}
	}
}

// matched reads what a rule matched: the groups method and path, or the first
// two. A method may also come after it, or be what the rule says.
func (e *extractor) matched(r *rules.Rule, m []int, end int) (method, route string, from int) {
	group := func(name string, or int) (string, int) {
		if i := r.Match.Get().SubexpIndex(name); i > 0 {
			or = i
		} else if r.Match.Get().SubexpIndex("path") > 0 {
			return "", -1
		}
		if m[2*or] < 0 {
			return "", -1
		}
		return string(e.o.Source[m[2*or]:m[2*or+1]]), m[2*or]
	}
	method, _ = group("method", 1)
	route, from = group("path", 2)
	if method == "" && r.Then != nil {
		end = min(end, e.endAround(m[0]))
		if found := r.Then.Get().FindSubmatch(e.o.Source[m[0]:max(end, m[1])]); found != nil {
			method = cmp.Or(string(found[1]), scope.AnyMethod) // it is given, and nobody can tell which
		}
	}
	if method == "" {
		method = strings.TrimPrefix(r.Options.Get("method"), "=")
	}
	if method == "" {
		method = scope.AnyMethod
	}
	return strings.ToUpper(method), patternRoute(route), max(from, m[0])
}

// endAround is where the innermost function around a place ends.
func (e *extractor) endAround(at int) int {
	end := min(len(e.o.Source), at+maxThen)
	inner := outline.Span{}
	for i := range e.o.Defs {
		if d := &e.o.Defs[i]; d.HasCall && d.Span.Holds(uint32(at)) && d.Span.Start >= inner.Start {
			inner = d.Span
		}
	}
	if inner.End > 0 {
		return int(inner.End)
	}
	return end
}

// under is the prefix that a rule finds before a place: the nearest one above
// it, or the first.
func (e *extractor) under(r *rules.Rule, at int) string {
	if r.Under == nil {
		return ""
	}
	prefix := ""
	for _, m := range r.Under.Get().FindAllSubmatchIndex(e.o.Source, -1) {
		if m[0] < at || prefix == "" {
			prefix = string(e.o.Source[m[2]:m[3]])
		}
	}
	return prefix
}

// filledIn is what a text leaves open, in the languages that match.
var filledIn = lazy.Regexp(`\$\{[^}]*\}|\\\([^)]*\)`)

// capturing is a part of an expression that a route is written as.
var capturing = lazy.Regexp(`\((?:\?P<\w+>)?(?:\[[^\]]*\]|\\\w|\.)[^()]*\)`)

// appended are the parts of a path that is put together call by call.
var appended = lazy.Regexp(`\w+\(\s*"([^"]*)"\s*\)`)

// patternRoute reads a route that is written as a pattern: what is no text is a
// parameter, as in "users" / LongVar(id), /users/$id and .path("users").path("\(id)").
func patternRoute(s string) string {
	s = filledIn.Get().ReplaceAllString(s, "{}")
	s = capturing.Get().ReplaceAllString(s, "{}")
	if parts := appended.Get().FindAllStringSubmatch(s, -1); parts != nil && !strings.HasPrefix(strings.TrimSpace(s), "/") {
		out := ""
		for _, p := range parts {
			out += "/" + strings.Trim(p[1], "/")
		}
		return out
	}
	if !strings.Contains(s, `"`) && !strings.HasPrefix(strings.TrimSpace(s), "/ ") {
		return s
	}
	out := ""
	for part := range strings.SplitSeq(strings.Trim(s, " /"), "/") {
		part = strings.TrimSpace(part)
		if text, ok := strings.CutPrefix(part, `"`); ok {
			out += "/" + strings.TrimSuffix(text, `"`)
		} else if part != "" {
			out += "/{}"
		}
	}
	return out
}
