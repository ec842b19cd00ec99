package extract

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/scope"
)

// Ktor may write a route as a class: its annotation has a path, which goes on
// from that of the class around it, or of its parameter called parent.

// maxParents bounds how many classes a route is made of.
const maxParents = 8

// classRoute is the route that a class of the file stands for; nil if there is
// none.
func (e *extractor) classRoute(name string) []string {
	for i := range e.o.Defs {
		if d := &e.o.Defs[i]; d.Contain && (d.Name == name || strings.HasSuffix(d.Name, "."+name)) {
			if out := e.routeOfClass(i, maxParents); out != nil {
				return out
			}
		}
	}
	return nil
}

func (e *extractor) routeOfClass(class, depth int) []string {
	at := slices.IndexFunc(e.o.Marks, func(m outline.Mark) bool { return m.Target == class && e.isResource(&m) })
	if at < 0 || depth == 0 {
		return nil
	}
	m := &e.o.Marks[at]
	p := place{o: e.o, mark: m, def: class, find: e.elsewhere}
	path := p.first("0|:path")
	d := &e.o.Defs[class]
	if d.Parent >= 0 {
		if above := e.routeOfClass(d.Parent, depth-1); above != nil {
			return []string{joined(above[0], path)}
		}
	}
	for _, param := range d.Full().Params {
		words := strings.Fields(param.Name)
		if len(words) > 0 && words[len(words)-1] == "parent" {
			if above := e.elsewhere("@" + strings.TrimSpace(param.Typ)); above != nil {
				return []string{joined(above[0], path)}
			}
		}
	}
	return []string{path}
}

func joined(above, path string) string {
	return strings.TrimRight(above, "/") + "/" + strings.TrimLeft(path, "/")
}

// isResource tells whether an annotation makes a route of a class.
func (e *extractor) isResource(m *outline.Mark) bool {
	return slices.ContainsFunc(e.m.Rules, func(r *rules.Rule) bool {
		return r.Role == "group" && slices.Contains(r.Marks, m.Name[strings.LastIndexByte(m.Name, '.')+1:]) && e.active[r]
	})
}

// atTyped finds routes that functions of the program's own add, which are called
// like one of the framework at their end: authenticatedGet<Order> { ... }.
func (e *extractor) atTyped() {
	for _, r := range e.m.Rules {
		if r.Role != "provides" || r.Options.Get("wrapped") == "" || !e.active[r] {
			continue
		}
		for _, c := range e.o.CallsTo(func(last string) bool { return methodAtEnd(last) != "" }) {
			if c.Types == "" {
				continue
			}
			e.rule = r.Place()
			q := *r
			q.Options = append(rules.Options{{Key: "method", Value: "=" + methodAtEnd(c.Name)}}, r.Options.Without("method")...)
			e.served(&place{o: e.o, rule: &q, call: &c, def: c.Def, span: c.Span, line: int(c.Span.Row) + 1, find: e.known(&c)}, "")
		}
	}
}

// methodAtEnd is the method of HTTP that a name ends in, with a part before it.
func methodAtEnd(name string) string {
	for _, m := range scope.Methods() {
		word := m[:1] + strings.ToLower(m[1:])
		if strings.HasSuffix(name, word) && len(name) > len(word) {
			return m
		}
	}
	return ""
}

// ClassRoute is the route that a class of the file stands for.
func (v *Version) ClassRoute(name string) []string {
	if v.extractor == nil {
		return nil
	}
	return v.extractor.classRoute(name)
}
