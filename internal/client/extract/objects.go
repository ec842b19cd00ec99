package extract

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// Some programs describe their routes as objects in a table, which something
// else goes through: { method: "GET", path: "/x", handler: f }.

// described yields the rules of a role that objects set off, with each object
// as the call that it stands for: its first argument, and what answers.
func (e *extractor) described(role string, yield func(r *rules.Rule, c *outline.Call)) {
	for i := range e.o.Objects {
		v := e.o.Objects[i].Value
		var names []string
		for _, f := range v.Fields {
			names = append(names, f.Name)
		}
		for _, r := range e.m.Rules {
			if r.Role != role || !e.active[r] || !r.HasFields(names) {
				continue
			}
			c := &outline.Call{Args: []outline.Value{v}, Span: v.Span, Def: e.o.Objects[i].Def}
			for _, name := range r.Fields[len(r.Fields)-1] {
				f, ok := v.Get(name)
				if inner, has := f.Get("handler"); has {
					f = inner
				}
				if ok && f.Kind != outline.ValObject {
					c.Args = append(c.Args, f)
				}
			}
			yield(r, c)
			if role == "provides" { // one framework speaks for an object
				break
			}
		}
	}
}

// atObjects finds the routes that objects describe.
func (e *extractor) atObjects() {
	e.described("provides", func(r *rules.Rule, c *outline.Call) {
		p := &place{o: e.o, rule: r, call: c, def: c.Def, span: c.Span, line: int(c.Span.Row) + 1}
		if !methods(p.texts(r.Options.Get("method"))) {
			return
		}
		e.rule = r.Place()
		before := len(e.out)
		e.route(p, e.scopePrefix(c.Span.Start))
		found := slices.Clone(e.out[before:])
		e.out = e.out[:before]
		for _, f := range found { // the call around it may have said the same
			if !slices.ContainsFunc(e.out[:before], func(c contract.Contract) bool { return c.Key == f.Key && c.Role == coord.Provides }) {
				e.out = append(e.out, f)
			}
		}
	})
}

// outerPath joins the paths of the objects that an object is a child of.
func (e *extractor) outerPath(r *rules.Rule, c *outline.Call) string {
	out := ""
	for _, o := range e.o.Objects {
		if _, has := o.Value.Get("children"); has && o.Value.Span.Start < c.Span.Start && c.Span.End <= o.Value.Span.End {
			p := place{o: e.o, rule: r, call: &outline.Call{Args: []outline.Value{o.Value}}}
			out = contract.JoinRoute(out, p.prefix())
		}
	}
	return out
}

// methods tells whether all of the words are methods of HTTP, or stand for them.
func methods(words []string) bool {
	for _, w := range words {
		if w = strings.ToUpper(w); w != "*" && w != "ALL" && w != "ANY" && !slices.Contains(scope.Methods(), w) {
			return false
		}
	}
	return len(words) > 0
}
