//go:build !lean

package formats

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// Some programs say in a document, and nowhere in their code, which function
// answers a route.

func parseDocument(source []byte, _, kind string) ([]contract.Contract, bool) {
	var doc yaml.Node
	if err := yaml.Unmarshal(source, &doc); err != nil || len(doc.Content) == 0 {
		return nil, false
	}
	d, root := described{}, doc.Content[0]
	switch kind {
	case "serverless":
		d.serverless(root)
	case "sam":
		d.sam(root)
	case "symfony":
		d.symfony(root)
	case "openapi":
		return openAPIContracts(root), true
	}
	return d.out, true
}

// A described program is read into its routes.
type described struct{ out []contract.Contract }

func (d *described) add(rule, method, route string, line int) {
	if method == "" || method == "*" {
		method = scope.AnyMethod
	}
	if c, ok := contract.New("http:"+strings.ToUpper(method)+" /"+strings.TrimLeft(route, "/"), coord.Provides, line); ok {
		c.Rule = rule
		d.out = append(d.out, c)
	}
}

// serverless reads the events of the functions: GET /x, or a method and a path.
func (d *described) serverless(root *yaml.Node) {
	each(at(root, "functions"), func(_ string, _ int, f *yaml.Node) {
		events := at(f, "events")
		if events == nil {
			return
		}
		for _, e := range events.Content {
			for _, kind := range []string{"http", "httpApi"} {
				on := at(e, kind)
				if on == nil {
					continue
				}
				method, route, ok := strings.Cut(scalar(on), " ")
				if !ok {
					method, route = scalar(at(on, "method")), scalar(at(on, "path"))
				}
				if route != "" {
					d.add("serverless", method, strings.TrimSpace(route), on.Line)
				}
			}
		}
	})
}

// sam reads the events of the functions of a template of AWS.
func (d *described) sam(root *yaml.Node) {
	each(at(root, "Resources"), func(_ string, _ int, r *yaml.Node) {
		if scalar(at(r, "Type")) != "AWS::Serverless::Function" {
			return
		}
		each(at(at(r, "Properties"), "Events"), func(_ string, line int, e *yaml.Node) {
			on := at(e, "Properties")
			if kind := scalar(at(e, "Type")); (kind == "Api" || kind == "HttpApi") && scalar(at(on, "Path")) != "" {
				method := scalar(at(on, "Method"))
				if strings.EqualFold(method, "any") {
					method = ""
				}
				d.add("sam", method, scalar(at(on, "Path")), line)
			}
		})
	})
}

// symfony reads routes that go by name; what only names other files is not one.
func (d *described) symfony(root *yaml.Node) {
	each(root, func(_ string, line int, r *yaml.Node) {
		route := scalar(at(r, "path"))
		if route == "" || at(r, "resource") != nil {
			return
		}
		methods := at(r, "methods")
		if methods == nil || methods.Kind != yaml.SequenceNode {
			for _, m := range strings.FieldsFunc(scalar(methods)+"|", func(c rune) bool { return c == '|' || c == ',' || c == ' ' }) {
				d.add("symfony", m, route, line)
			}
			if methods == nil {
				d.add("symfony", "", route, line)
			}
			return
		}
		for _, m := range methods.Content {
			d.add("symfony", scalar(m), route, line)
		}
	})
}
