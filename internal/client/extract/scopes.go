package extract

import (
	"regexp"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
)

// A scoped stretch of source has a prefix before its routes.
type scoped struct {
	span     outline.Span
	prefix   string
	resource string // whose routes they are
	up       bool   // they are of the resource as a whole
	whole    bool   // nothing else stands before it
}

// matchScopes finds the stretches of source that a pattern puts under a prefix:
// what the bracket holds that it ends in, or the class that it stands in.
func (e *extractor) matchScopes() {
	for _, r := range e.m.Rules {
		if r.Role != "scope" || r.Match == nil || !e.active[r] {
			continue
		}
		for _, m := range r.Match.Get().FindAllSubmatchIndex(e.o.Source, -1) {
			span := outline.Span{}
			for i := range e.o.Defs {
				if d := &e.o.Defs[i]; d.Contain && d.Span.Holds(uint32(m[0])) {
					span = d.Span
				}
			}
			if last := e.o.Source[m[1]-1]; last == '(' || last == '{' {
				end := m[1] - 1 + outline.Bracketed(string(e.o.Source[m[1]-1:]))
				span = outline.Span{Start: uint32(m[0]), End: uint32(end)}
			}
			if span.End > 0 {
				e.within(scoped{span: span, prefix: string(e.o.Source[m[2]:m[3]])})
			}
		}
	}
}

// within adds a stretch of source; of a chain that makes several the longest
// counts.
func (e *extractor) within(s scoped) {
	for i, known := range e.scopes {
		if known.span.Start == s.span.Start && known.prefix == s.prefix && known.up == s.up {
			e.scopes[i].span.End = max(known.span.End, s.span.End)
			return
		}
	}
	e.scopes = append(e.scopes, s)
}

func (e *extractor) scopePrefix(at uint32) string {
	prefix := ""
	from := 0
	for i, s := range e.scopes {
		if s.whole && s.span.Start < at && at < s.span.End {
			from, prefix = i, s.prefix
		}
	}
	for i, s := range e.scopes {
		if from > 0 && (i == from || s.span.Start < e.scopes[from].span.Start) {
			continue
		}
		if s.up && s.span.Start < at && at < s.span.End { // of a resource as a whole
			prefix = strings.TrimSuffix(strings.TrimRight(prefix, "/"), "/{}")
		} else if s.span.Start < at && at < s.span.End {
			prefix = contract.JoinRoute(prefix, s.prefix)
		}
	}
	return prefix
}

// listNamed is where the lists of routes stand that are included by a name, and
// the router if the name is that of its routes: include(patterns),
// include((patterns, "shop")).
func (e *extractor) listNamed(v outline.Value) (lists []outline.Span, router string) {
	if v.Kind != outline.ValCall || v.Call == nil || len(v.Call.Args) == 0 {
		return nil, ""
	}
	of := v.Call.Args[0]
	if len(of.Items) > 0 {
		of = of.Items[0]
	}
	if of.Kind != outline.ValName {
		return nil, ""
	}
	given := regexp.MustCompile(`(?m)^[ \t]*` + regexp.QuoteMeta(of.Text) + `\s*\+?=\s*(?:\[|(\w+)\.urls\b)`)
	for _, m := range given.FindAllSubmatchIndex(e.o.Source, -1) {
		if m[2] >= 0 {
			router = string(e.o.Source[m[2]:m[3]])
			continue
		}
		from := m[1] - 1
		lists = append(lists, outline.Span{Start: uint32(from), End: uint32(from + outline.Bracketed(string(e.o.Source[from:])))})
	}
	return lists, router
}

// blockOf is where the routes of a scope stand: in the function that it is
// given, or in the whole chain.
func blockOf(c *outline.Call) outline.Span {
	for i := len(c.Args) - 1; i >= 0; i-- {
		if c.Inner != nil && c.Args[i].Kind == outline.ValLambda {
			return c.Args[i].Span
		}
	}
	return c.Span
}
