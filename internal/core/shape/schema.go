// Package shape reads the struct tags of the wire types into JSON schemas and
// validates decoded JSON against them. A limit is written once, on the type:
// validation, the API document and the tools' schemas come from here. It knows
// no type of ours and no rule between two fields; those are the operation's.
package shape

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A Schema is a JSON Schema (2020-12) as far as we use it.
type Schema struct {
	Ref         string  `json:"$ref,omitempty"`
	Type        any     `json:"type,omitempty"` // a string, or two where null is allowed
	Format      string  `json:"format,omitempty"`
	Title       string  `json:"title,omitempty"`
	Description string  `json:"description,omitempty"`
	Enum        []any   `json:"enum,omitempty"`
	Default     any     `json:"default,omitempty"`
	Examples    []any   `json:"examples,omitempty"`
	Pattern     string  `json:"pattern,omitempty"`
	MinLength   *int    `json:"minLength,omitempty"`
	MaxLength   *int    `json:"maxLength,omitempty"`
	Minimum     *int    `json:"minimum,omitempty"`
	Maximum     *int    `json:"maximum,omitempty"`
	MinItems    *int    `json:"minItems,omitempty"`
	MaxItems    *int    `json:"maxItems,omitempty"`
	Items       *Schema `json:"items,omitempty"`
	// of an object without any it is {}: some hosts refuse tools that leave it out
	Properties           map[string]*Schema `json:"properties,omitzero"`
	Required             []string           `json:"required,omitempty"`
	AdditionalProperties any                `json:"additionalProperties,omitempty"` // false or a *Schema
	AnyOf                []*Schema          `json:"anyOf,omitempty"`

	def     *Schema        // what Ref refers to
	order   []string       // of Properties, as declared
	pattern *regexp.Regexp // compiled Pattern
	sample  string         // what has the form, if Pattern is one
}

// A Direction tells whether a type is read from callers or written to them.
// Going in, fields with a zero value to fall back on may be missing; going
// out, every field is there.
type Direction int

const (
	In Direction = iota
	Out
)

// A Registry makes schemas and keeps the named ones, to be referred to.
type Registry struct {
	mu    sync.Mutex
	Defs  map[string]*Schema
	names map[key]string
	forms map[string][2]string
}

type key struct {
	t   reflect.Type
	dir Direction
}

// NewRegistry returns an empty registry. Forms are the patterns that form
// tags name, each with an example: what the operations themselves read, and say better than a
// pattern what is wrong with. They are for the document; Validate leaves them
// to the operations.
func NewRegistry(forms map[string][2]string) *Registry {
	return &Registry{Defs: map[string]*Schema{}, names: map[key]string{}, forms: forms}
}

// Clone returns a registry with the same schemas, which are never changed.
func (r *Registry) Clone() *Registry {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &Registry{Defs: maps.Clone(r.Defs), names: maps.Clone(r.names), forms: r.forms}
}

// RefPrefix is where named schemas live in an OpenAPI document.
const RefPrefix = "#/components/schemas/"

// Of returns the schema of t, by reference where t is a named struct.
func (r *Registry) Of(t reflect.Type, dir Direction) *Schema {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.of(t, dir)
}

// Resolve follows a reference.
func (r *Registry) Resolve(s *Schema) *Schema {
	if s.Ref == "" {
		return s
	}
	return s.def
}

var timeType = reflect.TypeFor[coord.Time]()

type enumerated interface{ Enum() []string }

// A loose type takes several JSON types, such as a string or a number. Form
// says what it is like as text, for the document, and how great as a number.
type loose interface {
	JSONTypes() []string
	Form() (pattern string, least, most int)
}

func (r *Registry) of(t reflect.Type, dir Direction) *Schema {
	if t == timeType {
		return &Schema{Type: "string", Format: "date-time"}
	}
	if e, ok := reflect.Zero(t).Interface().(enumerated); ok && t.Kind() == reflect.String {
		return &Schema{Type: "string", Enum: anys(e.Enum())}
	}
	if l, ok := reflect.Zero(t).Interface().(loose); ok && t.Kind() == reflect.String {
		pattern, least, most := l.Form()
		return &Schema{Type: l.JSONTypes(), Pattern: pattern, sample: strconv.Itoa(least), Minimum: &least, Maximum: &most}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(r.of(t.Elem(), dir))
	case reflect.String:
		return &Schema{Type: "string"}
	case reflect.Bool:
		return &Schema{Type: "boolean"}
	case reflect.Int, reflect.Int64, reflect.Int32:
		return &Schema{Type: "integer"}
	case reflect.Float64:
		return &Schema{Type: "number"}
	case reflect.Slice, reflect.Array:
		return &Schema{Type: "array", Items: r.of(t.Elem(), dir)}
	case reflect.Map:
		return &Schema{Type: "object", AdditionalProperties: r.of(t.Elem(), dir)}
	case reflect.Interface:
		return &Schema{}
	case reflect.Struct:
		return r.ofStruct(t, dir)
	}
	panic(fmt.Sprintf("shape: no schema for %s", t))
}

func (r *Registry) ofStruct(t reflect.Type, dir Direction) *Schema {
	k := key{t, dir}
	name, known := r.names[k]
	if !known {
		name = typeName(t)
		if dir == In {
			name += "Input"
		}
		if _, taken := r.Defs[name]; taken {
			panic(fmt.Sprintf("shape: two types are called %s", name))
		}
		r.names[k] = name
		s := &Schema{Type: "object", Properties: map[string]*Schema{}}
		if dir == In {
			s.AdditionalProperties = false
		}
		r.Defs[name] = s // before its fields: types may refer to themselves
		r.addFields(s, t, dir, func(reflect.StructField) bool { return true })
	}
	return &Schema{Ref: RefPrefix + name, def: r.Defs[name]}
}

// typeName returns a name for a type, readable also for instances of generics.
func typeName(t reflect.Type) string {
	name := t.Name()
	base, args, generic := strings.Cut(name, "[")
	if !generic {
		return name
	}
	arg := strings.TrimSuffix(args, "]")
	return arg[strings.LastIndexAny(arg, "./")+1:] + base
}

// Fields returns an object schema made of those fields of struct type t that
// keep wants, with the properties in declared order.
func (r *Registry) Fields(t reflect.Type, dir Direction, keep func(reflect.StructField) bool) *Schema {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &Schema{Type: "object", Properties: map[string]*Schema{}}
	if dir == In {
		s.AdditionalProperties = false
	}
	r.addFields(s, t, dir, keep)
	return s
}

func (r *Registry) addFields(s *Schema, t reflect.Type, dir Direction, keep func(reflect.StructField) bool) {
	for f := range t.Fields() {
		if f.Anonymous && f.Tag.Get("json") == "" {
			r.addFields(s, f.Type, dir, keep)
			continue
		}
		name, opts := Name(f)
		if name == "" || !keep(f) {
			continue
		}
		s.Properties[name] = r.field(f, dir)
		s.order = append(s.order, name)
		if required(f, opts, dir) {
			s.Required = append(s.Required, name)
		}
	}
}

// Name returns the name that JSON, query or path gives a field, empty if it
// has none, and the json tag's options.
func Name(f reflect.StructField) (name, opts string) {
	name, opts, _ = strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" || !f.IsExported() {
		return "", ""
	}
	for _, tag := range []string{"path", "query", "header"} {
		if name == "" {
			name = f.Tag.Get(tag)
		}
	}
	return name, opts
}

func required(f reflect.StructField, opts string, dir Direction) bool {
	if strings.Contains(opts, "omitempty") || strings.Contains(opts, "omitzero") {
		return false
	}
	if dir == Out {
		return true
	}
	switch {
	case f.Tag.Get("required") != "":
		return f.Tag.Get("required") == "true"
	case f.Tag.Get("default") != "":
		return false
	}
	switch f.Type.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Bool:
		return false
	}
	return f.Tag.Get("query") == "" && f.Tag.Get("header") == ""
}

// field returns the schema of one struct field with the limits in its tags.
func (r *Registry) field(f reflect.StructField, dir Direction) *Schema {
	s := r.of(f.Type, dir)
	tag := f.Tag
	if k := f.Type.Kind(); dir == In && (k == reflect.Slice || k == reflect.Map) && tag.Get("required") == "" {
		s = nullable(s) // many clients write an empty list as null
	}
	if doc := tag.Get("doc"); doc != "" {
		if s.Ref != "" { // siblings of $ref are allowed in 3.1
			s = &Schema{Ref: s.Ref, def: s.def}
		}
		s.Description = doc
	}
	target, items := s, s.Items
	number(tag, "minLength", &target.MinLength)
	number(tag, "maxLength", &target.MaxLength)
	number(tag, "minimum", &target.Minimum)
	number(tag, "maximum", &target.Maximum)
	number(tag, "minItems", &target.MinItems)
	number(tag, "maxItems", &target.MaxItems)
	if items != nil {
		number(tag, "itemMinLength", &items.MinLength)
		number(tag, "itemMaxLength", &items.MaxLength)
	}
	if e := tag.Get("enum"); e != "" {
		if items != nil {
			items.Enum = anys(strings.Split(e, ","))
		} else {
			target.Enum = choices(f.Type, strings.Split(e, ","))
		}
	}
	if v := tag.Get("format"); v != "" {
		target.Format = v
	}
	if p := tag.Get("pattern"); p != "" {
		target.Pattern, target.pattern = p, regexp.MustCompile(p)
	}
	if name := tag.Get("form"); name != "" && dir == In {
		if items != nil {
			target = items
		}
		if target.Pattern, target.sample = r.forms[name][0], r.forms[name][1]; target.Pattern == "" {
			panic(fmt.Sprintf("shape: no form %q", name))
		}
		target = s
	}
	if d, ok := tag.Lookup("default"); ok && dir == In {
		target.Default = literal(f.Type, d)
	}
	if x := tag.Get("example"); x != "" {
		target.Examples = []any{literal(f.Type, x)}
	}
	return s
}

// choices are the values of an enumeration as JSON has them.
func choices(t reflect.Type, texts []string) (out []any) {
	for _, text := range texts {
		switch v := literal(t, text).(type) {
		case int:
			out = append(out, float64(v))
		default:
			out = append(out, text)
		}
	}
	if t.Kind() == reflect.Pointer {
		out = append(out, nil)
	}
	return out
}

func number(tag reflect.StructTag, name string, to **int) {
	v, ok := tag.Lookup(name)
	if !ok {
		return
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		panic(fmt.Sprintf("shape: tag %s:%q is not a number", name, v))
	}
	*to = &n
}

func literal(t reflect.Type, s string) any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool:
		return s == "true"
	case reflect.Int, reflect.Int64, reflect.Int32:
		n, err := strconv.Atoi(s)
		if err != nil {
			panic(fmt.Sprintf("shape: %q is not a number", s))
		}
		return n
	case reflect.Slice:
		return anys(strings.Split(s, ","))
	}
	return s
}

func nullable(s *Schema) *Schema {
	if s.Ref != "" {
		return &Schema{AnyOf: []*Schema{s, {Type: "null"}}}
	}
	if name, ok := s.Type.(string); ok {
		s.Type = []string{name, "null"}
	}
	if s.Enum != nil {
		s.Enum = append(s.Enum, nil)
	}
	return s
}

func anys(vs []string) []any {
	out := make([]any, len(vs))
	for i, v := range vs {
		out[i] = v
	}
	return out
}

// With returns an object schema with the properties of both.
func (s *Schema) With(more *Schema) *Schema {
	out := *s
	out.Properties = maps.Clone(s.Properties)
	maps.Copy(out.Properties, more.Properties)
	out.order = slices.Concat(s.order, more.order)
	out.Required = slices.Concat(s.Required, more.Required)
	return &out
}

// Refuse makes an object schema refuse null for the properties that are no
// lists, but for some: what cannot be empty cannot be emptied.
func (s *Schema) Refuse(except []string) {
	for name, p := range s.Properties {
		types, _ := p.Type.([]string)
		switch {
		case slices.Contains(except, name) || slices.Contains(types, "array") && p.def == nil && p.MinItems == nil:
		case len(p.AnyOf) == 2:
			s.Properties[name] = p.AnyOf[0]
		case len(types) == 2 && types[1] == "null":
			own := *p
			own.Type = types[0]
			own.Enum = slices.DeleteFunc(slices.Clone(p.Enum), func(v any) bool { return v == nil })
			s.Properties[name] = &own
		}
	}
}

// Names returns the properties of an object schema as they were declared.
func (s *Schema) Names() []string { return s.order }

// Describe says in a few words what a schema takes, for people.
func (s *Schema) Describe() string {
	var parts []string
	if s.Ref != "" || len(s.AnyOf) > 0 {
		parts = append(parts, "object")
	} else {
		parts = append(parts, typeOf(s))
	}
	if s.Format != "" {
		parts = append(parts, s.Format)
	}
	if len(s.Enum) > 0 {
		parts = append(parts, "one of "+list(s.Enum))
	}
	limits := []struct {
		name     string
		min, max *int
	}{{"characters", s.MinLength, s.MaxLength}, {"items", s.MinItems, s.MaxItems}, {"", s.Minimum, s.Maximum}}
	for _, l := range limits {
		switch {
		case l.min != nil && l.max != nil:
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("%d-%d %s", *l.min, *l.max, l.name)))
		case l.max != nil:
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("at most %d %s", *l.max, l.name)))
		case l.min != nil:
			parts = append(parts, strings.TrimSpace(fmt.Sprintf("at least %d %s", *l.min, l.name)))
		}
	}
	if s.Default != nil {
		parts = append(parts, fmt.Sprintf("default %v", s.Default))
	}
	return strings.Join(parts, ", ")
}
