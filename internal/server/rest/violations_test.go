package rest_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/shape"
)

// A violation is a value that breaks one declared limit, and the field that
// the answer must name.
type violation struct {
	what  string
	field string
	value any
}

// plain returns v as JSON has it.
func plain(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var out any
	if err := json.Unmarshal(b, &out); err != nil {
		panic(err)
	}
	return out
}

// gone marks a property to leave out.
var gone = new(int)

// violations returns a value for every way to break schema s, starting from a
// valid value.
func violations(reg *shape.Registry, s *shape.Schema, good any, field string) (out []violation) {
	s = reg.Resolve(s)
	if len(s.AnyOf) == 2 { // a reference or null
		return slices.DeleteFunc(violations(reg, s.AnyOf[0], good, field), func(v violation) bool { return v.what == "null" && v.field == field })
	}
	add := func(what string, value any) { out = append(out, violation{what, field, value}) }
	types := typesOf(s)
	if len(types) == 0 {
		return nil // anything goes
	}
	if !slices.Contains(types, "null") {
		add("null", nil)
	}
	switch types[0] {
	case "string":
		out = append(out, textViolations(s, field)...)
	case "integer", "number":
		add("text for a number", "many")
		if s.Minimum != nil {
			add("below the minimum", *s.Minimum-1)
		}
		if s.Maximum != nil {
			add("above the maximum", *s.Maximum+1)
		}
		if types[0] == "integer" {
			add("a fraction", 1.5)
			add("a huge number", 1e300)
		}
	case "boolean":
		add("text for a boolean", "yes")
	case "array":
		out = append(out, arrayViolations(reg, s, good, field)...)
	case "object":
		out = append(out, objectViolations(reg, s, good, field)...)
	}
	return out
}

func typesOf(s *shape.Schema) []string {
	switch t := s.Type.(type) {
	case string:
		return []string{t}
	case []string:
		return t
	}
	return nil
}

func textViolations(s *shape.Schema, field string) (out []violation) {
	add := func(what string, value any) { out = append(out, violation{what, field, value}) }
	if !slices.Contains(typesOf(s), "integer") {
		add("a number for text", 7)
	}
	add("a NUL character", "a\x00b")
	if s.MinLength != nil && *s.MinLength > 0 {
		add("too short", strings.Repeat("x", *s.MinLength-1))
	}
	if s.MaxLength != nil {
		add("too long", strings.Repeat("é", *s.MaxLength+1))
	}
	if len(s.Enum) > 0 {
		add("not one of the values", "something-else")
	}
	if s.Format != "" {
		add("not of the format "+s.Format, "not a\u202e "+s.Format)
	}
	return out
}

func arrayViolations(reg *shape.Registry, s *shape.Schema, good any, field string) (out []violation) {
	add := func(what string, value any) { out = append(out, violation{what, field, value}) }
	add("text for a list", "x")
	list, _ := good.([]any)
	if len(list) == 0 {
		list = []any{plain(reg.Example(s.Items))}
	}
	if s.MaxItems != nil {
		add("too many items", slices.Repeat(list[:1], *s.MaxItems+1))
	}
	if s.MinItems != nil && *s.MinItems > 0 {
		add("too few items", slices.Repeat(list[:1], *s.MinItems-1))
	}
	for _, v := range violations(reg, s.Items, list[0], field+"[0]") {
		out = append(out, violation{v.what, v.field, []any{v.value}})
	}
	return out
}

func objectViolations(reg *shape.Registry, s *shape.Schema, good any, field string) (out []violation) {
	base, _ := good.(map[string]any)
	with := func(name string, value any) map[string]any {
		m := maps.Clone(base)
		if m == nil {
			m = map[string]any{}
		}
		if m[name] = value; value == any(gone) {
			delete(m, name)
		}
		return m
	}
	under := func(name string) string { return strings.TrimPrefix(field+"."+name, ".") }
	if field != "" {
		out = append(out, violation{"a list for an object", field, []any{}})
	}
	for _, name := range s.Required {
		out = append(out, violation{"a missing field", under(name), with(name, gone)})
	}
	for name, p := range s.Properties {
		for _, v := range violations(reg, p, base[name], under(name)) {
			out = append(out, violation{v.what, v.field, with(name, v.value)})
		}
	}
	if s.AdditionalProperties == false {
		out = append(out, violation{"an unknown field", under("zzz"), with("zzz", 1)})
	}
	return out
}
