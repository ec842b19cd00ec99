package extract

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
)

// Routes may stand in an interface or a base class, and what is before them in
// the classes that have them.

// inheritable is the class around an annotated method if others have its routes.
func (e *extractor) inheritable(p *place) contract.Handed {
	class := e.o.Defs[p.def].Parent
	if class < 0 || !strings.Contains(p.rule.Options.Get("prefix"), "class@") || !e.unfinished(class) {
		return contract.Handed{}
	}
	return contract.Handed{Func: shortClass(&e.o.Defs[class]), Param: contract.Inherited, Of: p.rule.Framework}
}

// unfinished tells whether a class is there for others to extend.
func (e *extractor) unfinished(class int) bool {
	head := " " + e.o.Defs[class].Full().Head
	return strings.Contains(head, " interface ") || strings.Contains(head, " abstract ") || strings.Contains(head, " trait ")
}

func shortClass(d *outline.Def) string { return d.Name[strings.LastIndexByte(d.Name, '.')+1:] }

// heirs are the classes of a file that extend another one, by what they put
// before its routes.
func (e *extractor) heirs(h contract.Handed) (out []Handing) {
	for i := range e.o.Defs {
		d := &e.o.Defs[i]
		if !d.Contain || !slices.ContainsFunc(d.Bases, func(b string) bool { return plainBase(b) == h.Func }) || e.calls(i) {
			continue
		}
		x := Handing{}
		for _, r := range e.m.Rules {
			if r.Framework != h.Of || !strings.Contains(r.Options.Get("prefix"), "class@") {
				continue
			}
			p := place{o: e.o, rule: r, mark: &outline.Mark{Target: i}, def: i, find: e.elsewhere}
			if x.Prefix = p.first(strings.ReplaceAll(r.Options.Get("prefix"), "class@", "@")); x.Prefix != "" {
				break
			}
		}
		if x.Prefix == "" && e.unfinished(i) {
			x.Router = contract.Handed{Func: shortClass(d), Param: contract.Inherited, Of: h.Of}
		}
		out = append(out, x)
	}
	return out
}

// plainBase is the name of a class without its package and its arguments.
func plainBase(s string) string {
	s, _, _ = strings.Cut(s, "<")
	s, _, _ = strings.Cut(s, "(")
	return strings.TrimSpace(s[strings.LastIndexByte(s, '.')+1:])
}

// clientMarks are of interfaces whose methods are calls, not routes.
var clientMarks = []string{"FeignClient", "Client", "RegisterRestClient", "HttpExchange"}

// calls tells whether a class is a client.
func (e *extractor) calls(class int) bool {
	return e.classMarked(class, clientMarks)
}

func (e *extractor) classMarked(class int, names []string) bool {
	return class >= 0 && slices.ContainsFunc(e.o.Marks, func(m outline.Mark) bool {
		return m.Target == class && slices.Contains(names, m.Name[strings.LastIndexByte(m.Name, '.')+1:])
	})
}

// classFits checks what a rule says about the class around an annotated method.
func (e *extractor) classFits(r *rules.Rule, class int) bool {
	if want := r.Options.Get("class"); want != "" {
		return e.classMarked(class, strings.Split(want, ","))
	}
	return r.Role != "provides" || !e.calls(class)
}

// clientPrefix is what stands before the paths of an interface whose methods are
// calls: the name of a service does not.
func (e *extractor) clientPrefix(p *place, prefix string) string {
	switch {
	case prefix == "" || prefix[0] == '/' || strings.Contains(prefix, "://"):
		return prefix
	case p.rule.Options.Get("relative") != "" && !strings.Contains(prefix, "$"):
		return "/" + prefix
	}
	return ""
}
