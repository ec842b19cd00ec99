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
// Where many hold one another, even that is more than anybody can read: then it
// is followed less far, until it has no more than sideFields, or, in a file that
// has had more than fileFields, lateFields.
const (
	maxSchemaDepth = 6
	sideFields     = 1_000
	fileFields     = 100_000
	lateFields     = 50
)

// An openAPI is a description of an HTTP service, version 2 or 3.
type openAPI struct {
	root   *yaml.Node
	out    []contract.Contract
	refs   map[string]*yaml.Node
	fields int // so far, of all operations
}

// openAPIContracts reads the operations of an OpenAPI document.
func openAPIContracts(root *yaml.Node) []contract.Contract {
	o := &openAPI{root: root, refs: map[string]*yaml.Node{}}
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
		c.Shape.In = o.flatten(c.Shape.In, contract.Prop{Name: "body", Required: scalar(at(body, "required")) == "true"}, o.schemaOf(body))
	}
	each(at(op, "responses"), func(status string, _ int, r *yaml.Node) {
		if !strings.HasPrefix(status, "2") {
			return
		}
		c.Shape.Out = o.flatten(c.Shape.Out, contract.Prop{Name: status, Required: true}, o.schemaOf(o.deref(r)))
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
		c.Shape.In = o.flatten(c.Shape.In, contract.Prop{Name: "body", Required: required}, schema)
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

// flatten adds a field to others, and with dotted names what its schema holds.
func (o *openAPI) flatten(out []contract.Prop, p contract.Prop, s *yaml.Node) []contract.Prop {
	most := sideFields
	if o.fields > fileFields {
		most = lateFields
	}
	f := flattening{openAPI: o, most: len(out) + most}
	for f.deepest = maxSchemaDepth; ; f.deepest-- {
		f.out, f.full = append(slices.Clone(out), p), false
		f.schema(len(out), p.Name, s, 0)
		if !f.full || f.deepest == 0 {
			o.fields += len(f.out) - len(out)
			return f.out
		}
	}
}

// A flattening is a schema being flattened into dotted names.
type flattening struct {
	*openAPI
	out     []contract.Prop
	open    []*yaml.Node // schemas around the current one: a schema may hold itself
	deepest int
	most    int
	full    bool
}

// schema adds what a schema holds. of is the field that it describes, or of which
// it is one way to be.
func (f *flattening) schema(of int, prefix string, s *yaml.Node, depth int) {
	s = f.deref(s)
	switch {
	case s == nil || depth > maxSchemaDepth || slices.Contains(f.open, s):
		return
	case depth > f.deepest || f.full:
		f.out[of].Cut = true
	}
	if f.out[of].Name == prefix {
		f.out[of].Typ, f.out[of].Enum = typeOf(s), enumOf(s)
	}
	if f.out[of].Cut {
		return
	}
	f.open = append(f.open, s)
	defer func() { f.open = f.open[:len(f.open)-1] }()
	for _, key := range []string{"allOf", "oneOf", "anyOf"} {
		list := at(s, key)
		if list == nil {
			continue
		}
		for i, part := range list.Content {
			if key == "allOf" {
				f.schema(of, prefix, part, depth+1)
			} else {
				f.schema(of, fmt.Sprintf("%s<%d>", prefix, i+1), part, depth+1)
			}
		}
	}
	f.members(of, prefix, s, depth)
}

func (f *flattening) members(of int, prefix string, s *yaml.Node, depth int) {
	if items := f.deref(at(s, "items")); items != nil {
		f.add(of, contract.Prop{Name: prefix + "[]", Required: true}, items, depth)
	}
	var must []string
	if list := at(s, "required"); list != nil {
		for _, n := range list.Content {
			must = append(must, n.Value)
		}
	}
	each(at(s, "properties"), func(name string, _ int, p *yaml.Node) {
		// Required means: wherever the object is given, which itself may be optional.
		f.add(of, contract.Prop{Name: prefix + "." + name, Required: slices.Contains(must, name)}, p, depth)
	})
}

// add adds a field of another with what its own schema holds.
func (f *flattening) add(of int, p contract.Prop, s *yaml.Node, depth int) {
	if len(f.out) >= f.most {
		f.out[of].Cut, f.full = true, true
		return
	}
	f.out = append(f.out, p)
	f.schema(len(f.out)-1, p.Name, s, depth+1)
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
		known := false
		if n, known = o.refs[ref]; !known {
			n = o.find(ref)
			o.refs[ref] = n
		}
	}
	return nil
}

// find looks up what a reference names.
func (o *openAPI) find(ref string) *yaml.Node {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	n := o.root
	for step := range strings.SplitSeq(path, "/") {
		n = at(n, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
	}
	return n
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
