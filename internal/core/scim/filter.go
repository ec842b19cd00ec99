// Package scim has the rules of SCIM 2.0 (RFC 7643, RFC 7644) that are about
// resources as JSON alone: filters, paths, and what a patch makes of a resource.
//
// A resource here is what encoding/json makes of it: map[string]any. It knows
// neither people nor a database.
package scim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/problem"
)

// A Filter tells whether a resource, or an element of one of its lists, is meant.
type Filter func(map[string]any) bool

// maxFilter bounds a filter, in bytes: brackets in brackets are read by a
// function that calls itself, and a patch may have as many as a body has room for.
const maxFilter = 2000

// ParseFilter reads a filter such as userName eq "ana" and active eq true.
func ParseFilter(text string) (Filter, error) {
	if len(text) > maxFilter {
		return nil, problem.InvalidField("filter", "may have at most %d bytes", maxFilter)
	}
	p := &parser{words: words(text)}
	f, err := p.or()
	if err == nil && len(p.words) > 0 {
		err = fmt.Errorf("%q is too much", p.words[0])
	}
	if err != nil {
		return nil, problem.InvalidField("filter", "cannot be understood: %v", err)
	}
	return f, nil
}

// words cuts a filter into names, operators, values and brackets.
func words(text string) (out []string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		end := 1
		switch text[0] {
		case '(', ')', '[', ']':
		case '"':
			for end < len(text) && text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(text))
		default:
			if end = strings.IndexAny(text, " \t()[]\""); end <= 0 {
				end = len(text)
			}
		}
		out, text = append(out, text[:end]), text[end:]
	}
	return out
}

type parser struct{ words []string }

func (p *parser) next() string {
	if len(p.words) == 0 {
		return ""
	}
	w := p.words[0]
	p.words = p.words[1:]
	return w
}

// takes reports whether the next word is w, and passes it if so.
func (p *parser) takes(w string) bool {
	if len(p.words) == 0 || !strings.EqualFold(p.words[0], w) {
		return false
	}
	p.next()
	return true
}

func (p *parser) or() (Filter, error) {
	left, err := p.and()
	for err == nil && p.takes("or") {
		a, b := left, Filter(nil)
		b, err = p.and()
		left = func(r map[string]any) bool { return a(r) || b(r) }
	}
	return left, err
}

func (p *parser) and() (Filter, error) {
	left, err := p.term()
	for err == nil && p.takes("and") {
		a, b := left, Filter(nil)
		b, err = p.term()
		left = func(r map[string]any) bool { return a(r) && b(r) }
	}
	return left, err
}

func (p *parser) term() (Filter, error) {
	switch {
	case p.takes("not"):
		f, err := p.term()
		return func(r map[string]any) bool { return !f(r) }, err
	case p.takes("("):
		f, err := p.or()
		if err == nil && !p.takes(")") {
			err = fmt.Errorf("a bracket is not closed")
		}
		return f, err
	}
	return p.comparison()
}

func (p *parser) comparison() (Filter, error) {
	path := p.next()
	if path == "" || strings.ContainsAny(path[:1], `"()[]`) {
		return nil, fmt.Errorf("an attribute is missing")
	}
	name := path
	values := func(r map[string]any) []any { return items(at(r, path)) }
	if p.takes("[") {
		only, err := p.or()
		if err == nil && !p.takes("]") {
			err = fmt.Errorf("a bracket is not closed")
		}
		if err != nil {
			return nil, err
		}
		elements := func(r map[string]any) []any {
			return slices.DeleteFunc(slices.Clone(items(at(r, path))), func(v any) bool {
				m, ok := v.(map[string]any)
				return !ok || !only(m)
			})
		}
		if len(p.words) == 0 || !strings.HasPrefix(p.words[0], ".") {
			return func(r map[string]any) bool { return len(elements(r)) > 0 }, nil
		}
		name = p.next()[1:]
		values = func(r map[string]any) []any { return items(at(map[string]any{"x": elements(r)}, "x."+name)) }
	}
	return p.compared(values, exactly(name))
}

// compared reads what values are compared with.
func (p *parser) compared(values func(map[string]any) []any, exact bool) (Filter, error) {
	op := strings.ToLower(p.next())
	if op == "pr" {
		return func(r map[string]any) bool { return len(values(r)) > 0 }, nil
	}
	compare := operators[op]
	if compare == nil && op != "ne" {
		return nil, fmt.Errorf("%q is no operator", op)
	}
	var want any
	if err := json.Unmarshal([]byte(p.next()), &want); err != nil {
		return nil, fmt.Errorf("the value after %s is no JSON", op)
	}
	if op == "ne" { // of a list: none of them is
		return func(r map[string]any) bool {
			return !slices.ContainsFunc(values(r), func(v any) bool { return word(v, exact) == word(want, exact) })
		}, nil
	}
	return func(r map[string]any) bool {
		return slices.ContainsFunc(values(r), func(v any) bool { return compare(word(v, exact), word(want, exact)) })
	}, nil
}

var operators = map[string]func(have, want string) bool{
	"eq": func(have, want string) bool { return have == want },
	"co": strings.Contains,
	"sw": strings.HasPrefix,
	"ew": strings.HasSuffix,
	"gt": func(have, want string) bool { return have > want },
	"ge": func(have, want string) bool { return have >= want },
	"lt": func(have, want string) bool { return have < want },
	"le": func(have, want string) bool { return have <= want },
}

// exactly reports whether the case of an attribute's letters matters.
func exactly(path string) bool {
	name := strings.ToLower(path[strings.LastIndexAny(path, ".:")+1:])
	return name == "id" || name == "externalid" || name == "value"
}

// word is a value as it is compared: of an element of a list its "value". Some
// directories send true as "True".
func word(v any, exact bool) string {
	if m, ok := v.(map[string]any); ok {
		v = m[key(m, "value")]
	}
	text := fmt.Sprint(v)
	if s, isText := v.(string); isText && exact {
		return s
	}
	return strings.ToLower(text)
}

// at returns what stands at a path such as name.familyName or emails.value.
func at(r map[string]any, path string) any {
	path = plain(path)
	first, rest, deeper := strings.Cut(path, ".")
	v := r[key(r, first)]
	if !deeper {
		return v
	}
	var out []any
	for _, item := range items(v) {
		if m, ok := item.(map[string]any); ok {
			out = append(out, items(at(m, rest))...)
		}
	}
	return out
}

// items are the values of an attribute: of a list each, none of nothing.
func items(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	if v == "" {
		return nil
	}
	return []any{v}
}

// key returns the name under which a resource has an attribute: their case does
// not matter.
func key(r map[string]any, name string) string {
	if _, ok := r[name]; ok {
		return name
	}
	for k := range r {
		if strings.EqualFold(k, name) {
			return k
		}
	}
	return name
}

// core begins the full names of the attributes that both resources have.
const core = "urn:ietf:params:scim:schemas:core:2.0:"

// plain is a path without the schema in front of it.
func plain(path string) string {
	if len(path) > len(core) && strings.EqualFold(path[:len(core)], core) {
		if _, rest, ok := strings.Cut(path[len(core):], ":"); ok {
			return rest
		}
	}
	return path
}

// Drop takes attributes out of a resource.
func Drop(r map[string]any, names ...string) {
	for _, name := range names {
		delete(r, key(r, name))
	}
}
