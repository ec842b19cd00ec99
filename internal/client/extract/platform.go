package extract

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/coord"
)

// operations are what API Platform may make of a resource; a put it only makes
// when it is asked to.
var operations = []struct{ name, method, suffix string }{
	{"GetCollection", "GET", ""}, {"Post", "POST", ""}, {"Get", "GET", "/{}"}, {"Put", "PUT", "/{}"},
	{"Patch", "PATCH", "/{}"}, {"Delete", "DELETE", "/{}"},
}

// platform adds the routes of a resource of API Platform: those of an operation
// that stands by itself or in a list, or all of them.
func (e *extractor) platform(p *place) {
	last := p.mark.Name[strings.LastIndexByte(p.mark.Name, '.')+1:]
	name := "/api/" + p.className("snakes")[0]
	if last != "ApiResource" {
		e.operation(last, name, p.mark.Args, p.line)
		return
	}
	listed, ok := pick(p.mark.Args, ":operations")
	for _, item := range listed.Items {
		if item.Kind == outline.ValCall && item.Call != nil {
			made := strings.TrimPrefix(item.Call.Name, "new ")
			e.operation(made[strings.LastIndexByte(made, '.')+1:], name, item.Call.Args, p.line)
		}
	}
	alone := slices.ContainsFunc(e.o.Marks, func(m outline.Mark) bool {
		return m.Target == p.mark.Target && isOperation(m.Name[strings.LastIndexByte(m.Name, '.')+1:])
	})
	for _, o := range operations {
		if !ok && !alone && o.name != "Put" {
			e.operation(o.name, name, p.mark.Args, p.line)
		}
	}
}

// operation adds the route of one operation.
func (e *extractor) operation(name, route string, args []outline.Value, line int) {
	for _, o := range operations {
		if o.name != name {
			continue
		}
		route += o.suffix
		if v, ok := pick(args, ":uriTemplate"); ok {
			for _, text := range e.o.TextsOf(v) {
				route = contract.JoinRoute("/api", text)
			}
		}
		e.add("http:"+o.method+" "+route, coord.Provides, line, contract.Shape{})
	}
}

func isOperation(name string) bool {
	for _, o := range operations {
		if o.name == name {
			return true
		}
	}
	return false
}
