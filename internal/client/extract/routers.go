package extract

import (
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
)

// A router may be handed to a function that adds routes to it. What its prefix
// is, only the callers of the function know.

// routerOf finds where a route lies by the router that it is added to: the
// prefix that the function around it tells, and the parameter that it starts
// from, if it is one.
func (e *extractor) routerOf(c *outline.Call, router string) (contract.Handed, string) {
	prefix := ""
	scopes := e.o.Around(c.Span.Start)
	if len(scopes) == 0 {
		return contract.Handed{}, e.prefixes[router]
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
	return contract.Handed{}, contract.JoinRoute(e.prefixes[router], prefix)
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
		for _, r := range e.matching(a.Value.Call, "group") {
			p := place{o: e.o, rule: r, call: a.Value.Call, def: a.Def}
			return receiver(a.Value.Call.Name), p.first(r.Options["path"]), true
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
	for _, c := range v.Outline.CallsTo(func(last string) bool { return last == h.Func }) {
		if h.Param >= len(c.Args) {
			continue
		}
		arg := c.Args[h.Param]
		path := ""
		if arg.Kind == outline.ValCall && arg.Call != nil {
			groups := e.matching(arg.Call, "group")
			if len(groups) == 0 {
				continue
			}
			p := place{o: e.o, rule: groups[0], call: arg.Call, def: c.Def}
			path = p.first(groups[0].Options["path"])
			arg = outline.Value{Kind: outline.ValName, Text: receiver(arg.Call.Name)}
		}
		if arg.Kind != outline.ValName {
			continue
		}
		from, prefix := e.routerOf(&c, arg.Text)
		out = append(out, Handing{contract.JoinRoute(prefix, path), from})
	}
	return out
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
				for _, s := range e.spellings(p, r.Options["path"]) {
					return strings.Trim(s, "{}")
				}
			}
		}
	}
	return ""
}
