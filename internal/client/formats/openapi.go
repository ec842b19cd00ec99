//go:build !lean

package formats

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// maxSchemaDepth bounds how far a schema is followed; schemas may be recursive.
const maxSchemaDepth = 6

// An openAPI is a description of an HTTP service, version 2 or 3.
type openAPI struct {
	root *yaml.Node
	out  []contract.Contract
	open []*yaml.Node // schemas around the current one: a schema may hold itself
}

// openAPIContracts reads the operations of an OpenAPI document.
func openAPIContracts(root *yaml.Node) []contract.Contract {
	o := &openAPI{root: root}
	if at(o.root, "openapi") == nil && at(o.root, "swagger") == nil {
		return nil
	}
	base := scalar(at(o.root, "basePath"))
	if servers := at(o.root, "servers"); servers != nil && len(servers.Content) > 0 {
		base = serverPath(scalar(at(servers.Content[0], "url")))
	}
	each(at(o.root, "paths"), func(route string, line int, item *yaml.Node) {
		item = o.deref(item)
		each(item, func(method string, line int, op *yaml.Node) {
			if m := strings.ToUpper(method); slices.Contains(scope.Methods(), m) {
				o.operation(m, contract.JoinRoute(strings.TrimSuffix(base, "/"), route), line, item, op)
			}
		})
	})
	return o.out
}

// serverPath is the path of a server's address.
func serverPath(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		_, path, found := strings.Cut(rest, "/")
		if !found {
			return ""
		}
		return "/" + path
	}
	if strings.HasPrefix(url, "/") {
		return url
	}
	return ""
}

func (o *openAPI) operation(method, route string, line int, item, op *yaml.Node) {
	c, ok := contract.New("http:"+method+" "+route, coord.Provides, line)
	if !ok {
		return
	}
	for _, list := range []*yaml.Node{at(item, "parameters"), at(op, "parameters")} {
		if list == nil {
			continue
		}
		for _, p := range list.Content {
			o.parameter(&c, o.deref(p))
		}
	}
	if body := o.deref(at(op, "requestBody")); body != nil {
		c.Shape.In = append(c.Shape.In, contract.Prop{Name: "body", Required: scalar(at(body, "required")) == "true"})
		o.fields(&c.Shape.In, "body", o.schemaOf(body), 0)
	}
	each(at(op, "responses"), func(status string, _ int, r *yaml.Node) {
		if !strings.HasPrefix(status, "2") {
			return
		}
		c.Shape.Out = append(c.Shape.Out, contract.Prop{Name: status, Required: true})
		o.fields(&c.Shape.Out, status, o.schemaOf(o.deref(r)), 0)
	})
	o.out = append(o.out, c)
}

func (o *openAPI) parameter(c *contract.Contract, p *yaml.Node) {
	in, name := scalar(at(p, "in")), scalar(at(p, "name"))
	if in == "path" { // its name is not part of the route
		name = "in path"
	}
	required := truth(at(p, "required"))
	schema := o.deref(at(p, "schema"))
	if schema == nil {
		schema = p // version 2 writes the type beside the name
	}
	if in == "body" {
		c.Shape.In = append(c.Shape.In, contract.Prop{Name: "body", Required: required})
		o.fields(&c.Shape.In, "body", schema, 0)
		return
	}
	q := contract.Prop{Name: in + " " + name, Typ: typeOf(schema), Required: required, Enum: enumOf(schema)}
	if in == "path" {
		q.Name = fmt.Sprintf("path parameter %d", 1+count(c.Shape.In, "path parameter"))
	}
	c.Shape.In = append(c.Shape.In, q)
}

func count(ps []contract.Prop, prefix string) int {
	n := 0
	for _, p := range ps {
		if strings.HasPrefix(p.Name, prefix) {
			n++
		}
	}
	return n
}

// schemaOf finds the schema of a body or response: JSON when there is a choice.
func (o *openAPI) schemaOf(n *yaml.Node) *yaml.Node {
	if s := at(n, "schema"); s != nil {
		return o.deref(s)
	}
	var found *yaml.Node
	each(at(n, "content"), func(media string, _ int, m *yaml.Node) {
		if found == nil || strings.Contains(media, "json") {
			found = o.deref(at(m, "schema"))
		}
	})
	return found
}

// fields flattens a schema into dotted names.
func (o *openAPI) fields(out *[]contract.Prop, prefix string, s *yaml.Node, depth int) {
	s = o.deref(s)
	if s == nil || depth > maxSchemaDepth || slices.Contains(o.open, s) {
		return
	}
	o.open = append(o.open, s)
	defer func() { o.open = o.open[:len(o.open)-1] }()
	for i := range *out {
		if (*out)[i].Name == prefix {
			(*out)[i].Typ, (*out)[i].Enum = typeOf(s), enumOf(s)
		}
	}
	for _, key := range []string{"allOf", "oneOf", "anyOf"} {
		list := at(s, key)
		if list == nil {
			continue
		}
		for i, part := range list.Content {
			if key == "allOf" {
				o.fields(out, prefix, part, depth+1)
			} else {
				o.fields(out, fmt.Sprintf("%s<%d>", prefix, i+1), part, depth+1)
			}
		}
	}
	o.members(out, prefix, s, depth)
}

func (o *openAPI) members(out *[]contract.Prop, prefix string, s *yaml.Node, depth int) {
	if s == nil {
		return
	}
	if items := o.deref(at(s, "items")); items != nil {
		*out = append(*out, contract.Prop{Name: prefix + "[]", Required: true})
		o.fields(out, prefix+"[]", items, depth+1)
	}
	var must []string
	if list := at(s, "required"); list != nil {
		for _, n := range list.Content {
			must = append(must, n.Value)
		}
	}
	each(at(s, "properties"), func(name string, _ int, p *yaml.Node) {
		full := prefix + "." + name
		// Required means: wherever the object is given, which itself may be optional.
		*out = append(*out, contract.Prop{Name: full, Required: slices.Contains(must, name)})
		o.fields(out, full, p, depth+1)
	})
}

// typeOf is a schema's type with its format and whether it may be null.
func typeOf(s *yaml.Node) string {
	if s == nil {
		return ""
	}
	typ, null := "", truth(at(s, "nullable"))
	if t := at(s, "type"); t != nil {
		if t.Kind == yaml.SequenceNode {
			var names []string
			for _, n := range t.Content {
				if n.Value == "null" {
					null = true
				} else {
					names = append(names, n.Value)
				}
			}
			sort.Strings(names)
			typ = strings.Join(names, "|")
		} else {
			typ = t.Value
		}
	}
	if f := scalar(at(s, "format")); f != "" {
		typ += ":" + f
	}
	if null {
		typ += "?"
	}
	return typ
}

func enumOf(s *yaml.Node) []string {
	var out []string
	if e := at(s, "enum"); e != nil {
		for _, n := range e.Content {
			out = append(out, n.Value)
		}
	}
	return out
}

// deref follows a reference inside the document.
func (o *openAPI) deref(n *yaml.Node) *yaml.Node {
	for range 8 {
		ref := scalar(at(n, "$ref"))
		if ref == "" {
			return n
		}
		path, ok := strings.CutPrefix(ref, "#/")
		if !ok {
			return nil
		}
		n = o.root
		for step := range strings.SplitSeq(path, "/") {
			n = at(n, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		}
	}
	return nil
}

// at returns a mapping's value, or nil.
func at(n *yaml.Node, key string) *yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// each calls f for every pair of a mapping.
func each(n *yaml.Node, f func(key string, line int, value *yaml.Node)) {
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		f(n.Content[i].Value, n.Content[i].Line, n.Content[i+1])
	}
}

func scalar(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

func truth(n *yaml.Node) bool { return scalar(n) == "true" }
