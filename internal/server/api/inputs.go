package api

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/core/wire"
)

// Inputs are the schemas of what an operation takes, by where REST takes it
// from, and All of it together, as a tool takes it.
type Inputs struct {
	Path, Query, Header, Body *shape.Schema
	All                       *shape.Schema
	Whole                     bool // a list without pages: its limit changes nothing, and it has no cursors
	fields                    []field
	headers                   []header
	cursor                    []int // where a list takes its cursor; nil where it takes none
}

// A field is one of an input, wherever embedding has put it.
type field struct {
	name     string
	tag      string // path, query or header; empty for the body
	index    []int
	fallback any // what a missing one is; nil leaves it zero
}

// A header is a field that comes in a header.
type header struct {
	field
	canonical string
	schema    *shape.Schema
}

// Inputs returns the schemas of op's input.
func (a *API) Inputs(op Op) *Inputs { return a.inputs[op.Key()] }

func (a *API) inputsOf(op Op) *Inputs {
	t := op.Run.Input
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("api: the input of %s is %s, not a struct", op.Key(), t))
	}
	from := func(tag string) *shape.Schema {
		return a.Schemas.Fields(t, shape.In, func(f reflect.StructField) bool { return f.Tag.Get(tag) != "" })
	}
	all := a.Schemas.Fields(t, shape.In, func(reflect.StructField) bool { return true })
	in := &Inputs{Path: from("path"), Query: from("query"), Header: from("header"),
		Body: a.Schemas.Fields(t, shape.In, inBody),
		All:  all, fields: fieldsOf(t, nil, all)}
	for _, f := range in.fields {
		if p := in.Header.Properties[f.name]; f.tag == "header" && p != nil {
			in.headers = append(in.headers, header{f, http.CanonicalHeaderKey(f.name), p})
		}
	}
	if isList(op) && in.Query.Properties["limit"] == nil { // whoever reads lists may ask every list for its pages
		in.Whole = true
		in.Query = in.Query.With(a.Schemas.Fields(reflect.TypeFor[wire.WholeList](), shape.In, func(reflect.StructField) bool { return true }))
	}
	if f, ok := t.FieldByName("Cursor"); ok && f.Type.Kind() == reflect.String && op.Route != "" {
		in.cursor = f.Index
	}
	if strings.HasPrefix(op.Route, "PATCH ") {
		in.Body.Refuse(clearable(t))
	}
	return in
}

// clearable returns the names of the fields that null makes empty.
func clearable(t reflect.Type) (out []string) {
	for f := range t.Fields() {
		if f.Anonymous && f.Type.Kind() == reflect.Struct && f.Tag.Get("json") == "" {
			out = append(out, clearable(f.Type)...)
			continue
		}
		if name, _ := shape.Name(f); f.Tag.Get("clear") == "yes" {
			out = append(out, name)
		}
	}
	return out
}

// isList reports whether an operation reads a list, with pages or without.
func isList(op Op) bool {
	if op.Run.Output.Kind() != reflect.Struct || !strings.HasPrefix(op.Route, "GET ") {
		return false
	}
	_, paged := nextCursor(reflect.Zero(op.Run.Output))
	return paged
}

// AnyQuery reports whether a query may hold what the operation does not know:
// providers, directories, hosts, mail programs and probes add parameters of their own to
// addresses that they were given.
func (op *Op) AnyQuery() bool { return op.Door == Public || op.Browser != nil || op.ForDirectory() }

func fieldsOf(t reflect.Type, at []int, all *shape.Schema) (out []field) {
	for i := range t.NumField() {
		f := t.Field(i)
		index := append(slices.Clone(at), i)
		if f.Anonymous && f.Type.Kind() == reflect.Struct && f.Tag.Get("json") == "" {
			out = append(out, fieldsOf(f.Type, index, all)...)
			continue
		}
		name, _ := shape.Name(f)
		p := all.Properties[name]
		if p == nil {
			continue
		}
		place := field{name: name, index: index, fallback: p.Default}
		for _, tag := range []string{"path", "query", "header"} {
			if f.Tag.Get(tag) != "" {
				place.tag = tag
			}
		}
		out = append(out, place)
	}
	return out
}

// SetDefaults fills in what the schema says a missing field is.
func (in *Inputs) SetDefaults(v reflect.Value) error {
	for _, f := range in.fields {
		if f.fallback == nil {
			continue
		}
		if err := assign(v.FieldByIndex(f.index), f.fallback); err != nil {
			return fmt.Errorf("default of %s: %w", f.name, err)
		}
	}
	return nil
}

// FillText sets what is one text in a header, without a closer look, which few
// headers need. It reports whether that was all there is to set.
func (in *Inputs) FillText(v reflect.Value, header http.Header) bool {
	for i := range in.headers {
		f := &in.headers[i]
		given := header[f.canonical]
		if len(given) == 0 && len(in.Header.Required) == 0 {
			continue
		}
		if len(given) != 1 || given[0] == "" || !utf8.ValidString(given[0]) || !f.schema.AcceptsText(given[0]) {
			return false
		}
		if to := v.FieldByIndex(f.index); to.Kind() == reflect.String {
			to.SetString(given[0])
		} else {
			return false
		}
	}
	return true
}

// Fill sets the fields that path, query or header gave. The values are
// validated: what does not fit is our own mistake.
func (in *Inputs) Fill(v reflect.Value, tag string, values map[string]any) error {
	if len(values) == 0 {
		return nil
	}
	for _, f := range in.fields {
		value, ok := values[f.name]
		if f.tag != tag || !ok {
			continue
		}
		if err := assign(v.FieldByIndex(f.index), value); err != nil {
			return fmt.Errorf("field %s: %w", f.name, err)
		}
	}
	return nil
}

func inBody(f reflect.StructField) bool {
	return f.Tag.Get("path") == "" && f.Tag.Get("query") == "" && f.Tag.Get("header") == ""
}
