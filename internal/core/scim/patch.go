package scim

import (
	"reflect"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/problem"
)

// An Operation is one change of a patch.
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// Apply makes a patch's changes of a resource, in order.
func Apply(r map[string]any, ops []Operation) error {
	for _, o := range ops {
		if err := apply(r, o); err != nil {
			return err
		}
	}
	return nil
}

func apply(r map[string]any, o Operation) error {
	o.Op = strings.ToLower(o.Op) // Entra writes Replace
	if o.Op != "add" && o.Op != "replace" && o.Op != "remove" {
		return problem.InvalidField("op", "is none of add, replace and remove")
	}
	if o.Path == "" {
		if o.Op == "remove" {
			return problem.InvalidField("path", "is what remove needs")
		}
		whole, ok := o.Value.(map[string]any)
		if !ok {
			return problem.InvalidField("value", "must be an object where there is no path")
		}
		for name, v := range whole { // a name may be a path itself
			if err := apply(r, Operation{o.Op, name, v}); err != nil {
				return err
			}
		}
		return nil
	}
	t, err := targetOf(o.Path)
	if err != nil || t.attr == "" {
		return err
	}
	k := key(r, t.attr)
	switch {
	case t.only != nil:
		return t.inItems(r, k, o)
	case t.sub != "":
		inner, _ := r[k].(map[string]any)
		if inner == nil {
			if o.Op == "remove" {
				return nil
			}
			inner = map[string]any{}
			r[k] = inner
		}
		change(inner, key(inner, t.sub), o)
		return nil
	}
	change(r, k, o)
	return nil
}

// A target is what a path names: attr, attr.sub, attr[only] or attr[only].sub.
type target struct {
	attr, sub string
	only      Filter
	made      map[string]any // what an element holds that the filter names, if it says so plainly
}

func targetOf(path string) (t target, err error) {
	path = plain(strings.TrimSpace(path))
	if strings.HasPrefix(strings.ToLower(path), "urn:") {
		return target{}, nil // of an extension: nothing here is
	}
	attr, rest, filtered := strings.Cut(path, "[")
	if !filtered {
		t.attr, t.sub, _ = strings.Cut(path, ".")
		if t.attr == "" || strings.ContainsAny(path, " \"]") {
			err = problem.InvalidField("path", "cannot be understood")
		}
		return t, err
	}
	end := strings.LastIndex(rest, "]")
	if end < 0 {
		return t, problem.InvalidField("path", "has a bracket that is not closed")
	}
	if t.only, err = ParseFilter(rest[:end]); err != nil {
		return t, problem.InvalidField("path", "has a filter that cannot be understood")
	}
	t.attr, t.sub = attr, strings.TrimPrefix(rest[end+1:], ".")
	if w := words(rest[:end]); len(w) == 3 && strings.EqualFold(w[1], "eq") {
		t.made = map[string]any{w[0]: strings.Trim(w[2], `"`)}
	}
	return t, nil
}

// inItems changes the elements of a list that a filter names. If there is none,
// adding and replacing make one: Entra replaces a work address that was never
// there.
func (t target) inItems(r map[string]any, k string, o Operation) error {
	all := slices.Clone(items(r[k]))
	found := false
	kept := all[:0]
	for _, item := range all {
		m, ok := item.(map[string]any)
		if !ok || !t.only(m) {
			kept = append(kept, item)
			continue
		}
		found = true
		if o.Op == "remove" && t.sub == "" {
			continue
		}
		t.inItem(m, o)
		kept = append(kept, m)
	}
	if !found && o.Op != "remove" {
		if t.made == nil {
			return problem.InvalidField("path", "names nothing that is there")
		}
		t.inItem(t.made, o)
		kept = append(kept, t.made)
	}
	r[k] = kept
	return nil
}

func (t target) inItem(m map[string]any, o Operation) {
	if t.sub != "" {
		change(m, key(m, t.sub), o)
		return
	}
	if more, ok := o.Value.(map[string]any); ok {
		for name, v := range more {
			m[key(m, name)] = v
		}
	}
}

// change changes one attribute.
func change(r map[string]any, k string, o Operation) {
	switch have, list := r[k].([]any); {
	case o.Op == "remove" && list && o.Value != nil: // Entra names the elements to remove beside the path
		r[k] = slices.DeleteFunc(slices.Clone(have), func(x any) bool {
			return slices.ContainsFunc(items(o.Value), func(y any) bool { return same(x, y) })
		})
	case o.Op == "remove":
		delete(r, k)
	case o.Op == "add" && list:
		for _, v := range items(o.Value) {
			if !slices.ContainsFunc(have, func(x any) bool { return same(x, v) }) {
				have = append(have, v)
			}
		}
		r[k] = have
	default:
		old, isOld := r[k].(map[string]any)
		more, isMore := o.Value.(map[string]any)
		if !isOld || !isMore { // a part of a name leaves its other parts alone
			r[k] = o.Value
			return
		}
		for name, v := range more {
			old[key(old, name)] = v
		}
	}
}

// same reports whether two elements of a list are one: they have the same value.
func same(a, b any) bool {
	x, isX := a.(map[string]any)
	y, isY := b.(map[string]any)
	if !isX || !isY {
		return reflect.DeepEqual(a, b)
	}
	return reflect.DeepEqual(x[key(x, "value")], y[key(y, "value")])
}
