package bodies

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
)

// A Shape is what a value holds, as far as it is known. A nil one is not known.
type Shape struct {
	Fields []Field
	Elem   *Shape // of a list
	Type   string // of what holds no fields: string, integer, number, boolean, date
	Open   bool   // it may hold more
	Null   bool   // it may be nothing

	class *Place
	types map[string]*Shape // what its type parameters stand for
}

// A Field is a named part of a value.
type Field struct {
	Name     string
	Optional bool // it may be missing
	Needed   bool // of a request: it must be given
	Shape    *Shape
}

// A Place is a definition: one of Defs, or beyond them one of Funcs.
type Place struct {
	File *outline.File
	Def  int
}

// A World tells what names mean.
type World interface {
	// Find returns the definitions that a name means in a file, best first.
	Find(o *outline.File, name string) []Place
	// Method returns the functions of that last name, if they are few.
	Method(o *outline.File, name string) []Place
}

func (s *Shape) holds() bool { return s != nil && (len(s.Fields) > 0 || s.Elem.holds()) }

// field is a part by its name, however it is written.
func (s *Shape) field(name string) *Shape {
	if s == nil {
		return nil
	}
	key := plain(name)
	for _, f := range s.Fields {
		if f.Name == name || plain(f.Name) == key {
			return f.Shape
		}
	}
	return nil
}

// plain is a name without how it is written.
func plain(s string) string {
	s = strings.ToLower(strings.ReplaceAll(strings.Trim(s, "$@_?!"), "_", ""))
	return s
}

// set adds a field, or replaces it.
func (s *Shape) set(f Field) {
	for i := range s.Fields {
		if s.Fields[i].Name == f.Name {
			if f.Shape != nil || s.Fields[i].Shape == nil {
				s.Fields[i] = f
			}
			return
		}
	}
	s.Fields = append(s.Fields, f)
}

// either is what a value holds that is one of two: what both have is there,
// the rest may be.
func either(a, b *Shape) *Shape {
	switch {
	case a == nil || a.Type == "null" && b != nil:
		if b != nil && a != nil && !b.Null {
			c := *b
			c.Null = true
			return &c
		}
		return b
	case b == nil:
		return a
	case b.Type == "null":
		c := *a
		c.Null = true
		return &c
	case !a.holds() && b.holds(), onlyErrors(a) && b.holds(): // a failure has a form of its own
		return b
	case onlyErrors(b):
		return a
	case !b.holds():
		return a
	case a.Elem != nil || b.Elem != nil:
		if a.Elem == nil || b.Elem == nil {
			return a
		}
		return &Shape{Elem: either(a.Elem, b.Elem)}
	case a.class != nil && b.class != nil && *a.class == *b.class:
		return a
	}
	out := &Shape{Open: a.Open || b.Open, class: a.class, types: a.types}
	for _, f := range a.Fields {
		if !slices.ContainsFunc(b.Fields, func(g Field) bool { return g.Name == f.Name }) {
			f.Optional = true
		}
		out.Fields = append(out.Fields, f)
	}
	for _, f := range b.Fields {
		i := slices.IndexFunc(out.Fields, func(g Field) bool { return g.Name == f.Name })
		if i < 0 {
			f.Optional = true
			out.Fields = append(out.Fields, f)
			continue
		}
		out.Fields[i].Shape = either(out.Fields[i].Shape, f.Shape)
		out.Fields[i].Optional = out.Fields[i].Optional || f.Optional
	}
	return out
}

// merge is what a value holds that has all of both.
func merge(a, b *Shape) *Shape {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	out := &Shape{Open: a.Open || b.Open, class: a.class, types: a.types, Fields: slices.Clone(a.Fields)}
	for _, f := range b.Fields {
		out.set(f)
	}
	return out
}

// A Part is a field of a whole body, with the way that leads to it.
type Part struct {
	Path     string
	Type     string
	Required bool // of a reply: it is always there
	Needed   bool // of a request: it must be given
}

const (
	maxParts = 150
	maxDeep  = 5
)

// Parts lists the fields of a body: a.b for one in another, a[].b for those of
// a list's elements.
func (s *Shape) Parts() []Part {
	var out []Part
	s.parts(&out, "", 0, true)
	return out
}

func (s *Shape) parts(out *[]Part, prefix string, depth int, sure bool) {
	if s == nil || depth > maxDeep {
		return
	}
	if s.Elem != nil {
		if prefix == "" {
			*out = append(*out, Part{Path: "[]", Required: true})
		}
		s.Elem.parts(out, prefix+"[]", depth+1, sure)
		return
	}
	for _, f := range s.Fields {
		if len(*out) >= maxParts {
			return
		}
		path := f.Name
		if prefix != "" {
			path = prefix + "." + f.Name
		}
		*out = append(*out, Part{Path: path, Type: f.Shape.typeName(), Required: !f.Optional, Needed: f.Needed})
		f.Shape.parts(out, path, depth+1, sure && !f.Optional)
	}
}

// typeName is the type of what holds no fields; nothing when it is not known.
func (s *Shape) typeName() string {
	if s == nil || s.Type == "null" || s.Open {
		return ""
	}
	typ := s.Type
	switch {
	case s.Elem != nil:
		typ = "array"
	case len(s.Fields) > 0:
		typ = "object"
	}
	if typ != "" && s.Null {
		typ += "|null"
	}
	return typ
}
