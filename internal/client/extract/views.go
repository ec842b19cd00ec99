package extract

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// Some frameworks answer a route by a class: its methods are called like those
// of HTTP.

// classMethods are the methods of a class that answer routes, by the HTTP
// method, with their definitions.
func (e *extractor) classMethods(class int) (methods []string, defs []int) {
	for i := range e.o.Defs {
		d := &e.o.Defs[i]
		m := strings.ToUpper(d.Name[strings.LastIndexByte(d.Name, '.')+1:])
		if d.Parent == class && d.HasCall && slices.Contains(scope.Methods(), m) {
			methods, defs = append(methods, m), append(defs, i)
		}
	}
	return methods, defs
}

// classRoutes adds the routes of a class that an annotation gives a path.
func (e *extractor) classRoutes(p *place, prefix string) {
	methods, defs := e.classMethods(p.def)
	for _, text := range p.texts(p.rule.Options.Get("path")) {
		route, ok := cleanRoute(text, prefix, coord.Provides)
		for i, m := range methods {
			before := len(e.out)
			if !ok {
				continue
			}
			if e.add("http:"+m+" "+route, coord.Provides, p.line, contract.Shape{}); len(e.out) > before {
				s := e.o.Defs[defs[i]].Span
				e.out[before].Answer = contract.Answer{From: s.Start, To: s.End}
			}
		}
	}
}

// viewMethods are the methods of the class that a call is given: by its name, or
// as X.as_view(). A class of another file may have any.
func (e *extractor) viewMethods(p *place) []string {
	if p.call == nil {
		return nil
	}
	for _, a := range p.call.Args {
		name := ""
		switch {
		case a.Kind == outline.ValName && p.rule.Options.Get("view") == "class":
			name = a.Text
		case a.Kind == outline.ValCall && a.Call != nil:
			class, is := strings.CutSuffix(a.Call.Name, ".as_view")
			if !is {
				continue
			}
			if len(a.Call.Args) > 0 && len(a.Call.Args[0].Fields) > 0 { // as_view({'get': 'list'})
				var out []string
				for _, f := range a.Call.Args[0].Fields {
					out = append(out, strings.ToUpper(f.Name))
				}
				return out
			}
			name = class
		default:
			continue
		}
		for i := range e.o.Defs {
			if d := &e.o.Defs[i]; d.Contain && d.Name == name {
				if found, _ := e.classMethods(i); len(found) > 0 {
					return found
				}
			}
		}
		return []string{scope.AnyMethod}
	}
	return nil
}

// isCalled tells whether a class is called as a function is, and no route is of
// the method that is called.
func (e *extractor) isCalled(class int) bool {
	for i, d := range e.o.Defs {
		if d.Parent == class && strings.HasSuffix(d.Name, ".__invoke") {
			return !slices.ContainsFunc(e.o.Marks, func(m outline.Mark) bool { return m.Target == i })
		}
	}
	return false
}
