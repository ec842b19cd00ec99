package extract

import (
	"math"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
)

// What stands in a path by its name is looked for around the call, in the file,
// and in those that it imports.

// maxCalling bounds how deep functions are followed that make paths.
const maxCalling = 4

// lookup tells what the names at a call stand for: what they are assigned in
// the function around it, or a mark for one of its parameters.
func (e *extractor) lookup(c *outline.Call) func(string) []string {
	scopes := e.o.Around(c.Span.Start)
	var trail outline.Trail[followed]
	var find func(name string) []string
	find = func(name string) (out []string) {
		name = strings.TrimLeft(name, "$&*")
		trail.Follow(followed{name, byValue}, func() { out = e.assigned(name, scopes, c, find) })
		if out != nil {
			return out
		}
		if called, ok := strings.CutSuffix(name, "()"); ok {
			return e.called(called)
		}
		if object, ok := strings.CutSuffix(name, outline.AnyMember); ok {
			trail.Follow(followed{object, byMembers}, func() { out = e.anyOf(c, object, find) })
			return out
		}
		base, field, _ := strings.Cut(name, ".")
		for _, s := range scopes {
			for i, p := range s.Params {
				switch {
				case paramName(p) == base && paramName(p) != "":
					return []string{mark(s.ID, i, field)}
				case isPattern(p) && slices.Contains(patternNames(p.Name), base):
					return []string{mark(s.ID, i, base)}
				}
			}
		}
		spell := func(v outline.Value) func() { return func() { out = e.o.Spell(v, find) } }
		if v, ok := e.member(name); ok && v.Kind != outline.ValLambda && trail.Follow(followed{name, byMembers}, spell(v)) {
			return out
		}
		if v, ok := e.atTop(name); ok && trail.Follow(followed{name, byValue}, spell(v)) {
			return out
		}
		return e.elsewhere(name)
	}
	return find
}

// followed is a name that is looked up, by what it is assigned or by what an
// object has under it: module.exports = { base } is not the end of base.
type followed struct {
	name string
	by   string
}

const (
	byValue   = "value"
	byMembers = "members"
)

// anyOf are the paths that an object holds: one of them is looked up in it.
func (e *extractor) anyOf(c *outline.Call, object string, find func(string) []string) (out []string) {
	o, _ := e.object(c, object)
	for _, f := range o.Fields {
		for _, s := range e.o.Spell(f.Value, find) {
			if strings.Contains(s, "/") && !slices.Contains(out, s) && len(out) < 8 {
				out = append(out, s)
			}
		}
	}
	return out
}

// assigned is what a name was given before a call, in the innermost function
// that does.
func (e *extractor) assigned(name string, scopes []outline.Scope, c *outline.Call, find func(string) []string) (out []string) {
	for _, s := range scopes {
		for _, a := range e.o.Assigns {
			if a.Name != name || a.Line < s.Span.Row || a.Line > c.Span.Row || len(out) >= 4 {
				continue
			}
			value := e.o.Spell(a.Value, find)
			switch {
			case a.Adds && a.Maybe:
				out = append(out, each(out, value)...)
			case a.Adds:
				out = each(out, value)
			default:
				out = append(out, value...)
			}
		}
		if out != nil {
			return slices.Compact(out)
		}
	}
	return nil
}

// atTop is what a file gives a name outside of functions, unless that is a
// plain text: the outline knows those.
func (e *extractor) atTop(name string) (outline.Value, bool) {
	for _, a := range e.o.Assigns {
		if a.Name == name && a.Def < 0 && (a.Value.Kind == outline.ValChoice || a.Value.Kind == outline.ValCall) {
			return a.Value, true
		}
	}
	return outline.Value{}, false
}

// member is a member of an object that the file gives a name, or exports as a
// whole.
func (e *extractor) member(name string) (outline.Value, bool) {
	name = strings.TrimPrefix(name, "this.")
	base, field, nested := strings.Cut(name, ".")
	for _, a := range e.o.Assigns {
		if !nested && a.Name != "module.exports" && a.Name != "exports" {
			continue
		}
		switch a.Name {
		case base, "exports." + base, "module.exports." + base:
			if v, ok := a.Value.At(field); ok {
				return v, true
			}
		case "module.exports", "exports":
			if v, ok := a.Value.At(name); ok {
				return v, true
			}
		}
	}
	return outline.Value{}, false
}

// called is what a function of this file or of another makes of its parameters,
// if that may be a path.
func (e *extractor) called(name string) (out []string) {
	if e.calling == maxCalling {
		return nil
	}
	e.calling++
	defer func() { e.calling-- }()
	given, known := e.o.Given(name)
	if v, ok := e.member(name); !known && ok && v.Kind == outline.ValLambda && v.Gives != nil {
		given, known = v.Gives(), true
	}
	if !known {
		return e.elsewhere(name + "()")
	}
	for _, v := range given {
		out = append(out, e.made(v)...)
	}
	if slices.ContainsFunc(out, func(s string) bool { return strings.Contains(s, "/") }) {
		return out
	}
	return nil
}

// made spells what a function gives back, with holes for its parameters.
func (e *extractor) made(v outline.Value) []string {
	own := -1
	if around := e.o.Around(v.Span.Start); len(around) > 0 {
		own = around[0].ID
	}
	out := e.o.Spell(v, e.lookup(&outline.Call{Span: v.Span}))
	for i, s := range out {
		out[i] = marks.Get().ReplaceAllStringFunc(s, func(m string) string {
			if fn, param, field := parseMark(m); fn == own && field == "" {
				return outline.ParamHole(param)
			}
			return "{}"
		})
	}
	return out
}

// Constant is the text that a file gives a name, a member of an object, or what
// one of its functions makes if the name ends in ().
func (v *Version) Constant(name string) []string {
	e := v.extractor
	if e == nil {
		return nil
	}
	if called, ok := strings.CutSuffix(name, "()"); ok {
		return e.called(called)
	}
	find := e.lookup(&outline.Call{Span: outline.Span{Start: math.MaxUint32}})
	for i, a := range e.o.Assigns {
		switch {
		case a.Name == name || a.Name == "exports."+name || a.Name == "module.exports."+name:
			return e.o.Spell(a.Value, find)
		case strings.Contains(name, ".") && a.Def >= 0 && a.Def < len(e.o.Defs) && // of a class
			strings.HasSuffix("."+e.o.Defs[a.Def].Name+"."+a.Name, "."+name):
			return e.o.Spell(a.Value, beside(e.o, i, 0))
		}
	}
	if m, ok := e.member(name); ok && m.Kind != outline.ValLambda {
		return e.o.Spell(m, find)
	}
	if c, ok := e.o.ConstOf(name); ok {
		return []string{c}
	}
	return nil
}

// Know lets a file ask what others say of a name.
func (v *Version) Know(foreign func(name string) []string) {
	if v.extractor != nil {
		v.extractor.foreign = foreign
	}
}
