package extract

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// What stands in a route may be a name that another file gives a text. Who reads
// one file does not know it: it is noted that one was asked for, and the file is
// looked at again once somebody can tell.

// methodHolder is what methods of HTTP are taken from; no file of the program
// says more of them.
var methodHolder = lazy.Regexp(`(?i)^(?:\w+\.)*\w*(?:http|method|verb)\w*\.\w+$`)

// elsewhere is what other files say of a name: one that is imported, or that of
// a member of a type where those need no import; &name is the prefix of a router,
// @name the route that a class stands for, ${name} a setting.
func (e *extractor) elsewhere(name string) []string {
	name = strings.ReplaceAll(name, "::", ".")
	local, _, dotted := strings.Cut(strings.TrimSuffix(name, "()"), ".")
	if router, is := strings.CutPrefix(name, "&"); is {
		if prefix, here := e.prefixes[router]; here {
			return []string{prefix}
		}
	} else if class, is := strings.CutPrefix(name, "@"); is {
		if out := e.classRoute(class); out != nil {
			return out
		}
	} else if methodHolder.Get().MatchString(name) || !e.ambient(local, dotted) &&
		!slices.ContainsFunc(e.o.Imports, func(im outline.Imported) bool { return im.Local == local }) {
		return nil
	}
	if e.foreign == nil {
		e.asked = true
		return nil
	}
	return e.foreign(name)
}

// ambient tells whether a name may be one that another file defines without any
// import.
func (e *extractor) ambient(local string, dotted bool) bool {
	if local == "" {
		return false
	}
	switch e.o.Lang {
	case "csharp", "swift":
		return dotted && local[0] >= 'A' && local[0] <= 'Z'
	case "scala": // objects are called like values, too
		return outline.IsNameByte(local[0]) || local[0] == '$'
	case "java", "kotlin": // a class, a constant of one that is imported whole, or a setting
		return local[0] >= 'A' && local[0] <= 'Z' || local[0] == '$'
	case "go":
		return !dotted && len(local) > 2 && local != "nil"
	}
	return false
}

// inherited is what an annotation of the classes that a class extends says:
// those of this file, or of others.
func (p *place) inherited(class int, sel string, depth int) []string {
	for _, base := range p.o.Defs[class].Bases {
		base = base[strings.LastIndexByte(base, '.')+1:]
		at := slices.IndexFunc(p.o.Defs, func(d outline.Def) bool { return d.Contain && d.Name == base })
		if at >= 0 && at != class && depth < 4 {
			if out := p.markedAt(at, sel, depth+1); out != nil {
				return out
			}
		} else if at < 0 && p.o.Elsewhere != nil && base != "" {
			if out := p.o.Elsewhere(base + "." + "@" + sel); out != nil {
				return out
			}
		}
	}
	return nil
}

// Marked is what an annotation of a class of the file says, or of those that it
// extends.
func (v *Version) Marked(class, sel string) []string {
	if v.extractor == nil {
		return nil
	}
	p := place{o: v.extractor.o}
	for i := range p.o.Defs {
		if d := &p.o.Defs[i]; d.Contain && d.Name[strings.LastIndexByte(d.Name, '.')+1:] == class {
			return p.markedAt(i, sel, 0)
		}
	}
	return nil
}

// Resolve looks at the file again if what it says depends on names of others.
func (v *Version) Resolve(foreign func(name string) []string) {
	e := v.extractor
	if e == nil {
		return
	}
	if e.foreign = foreign; !e.asked {
		return
	}
	e.asked = false // files that ask each other end here
	again := newExtractor(e.m, v.Outline)
	again.foreign = foreign
	v.Contracts = append(v.Contracts[:v.declared:v.declared], again.contracts()...)
	v.Requests, v.Clients, v.extractor = again.requests, again.clients, again
}

// beside finds what the names in an assignment of a class mean: what the class,
// or the nearest around it, assigns to them.
func beside(o *outline.File, at, depth int) func(string) []string {
	return func(name string) []string {
		for def := o.Assigns[at].Def; depth < 4; def = o.Defs[def].Parent {
			for i, a := range o.Assigns {
				if a.Name == name && a.Def == def && i != at {
					return o.Spell(a.Value, beside(o, i, depth+1))
				}
			}
			if def < 0 || def >= len(o.Defs) {
				return nil
			}
		}
		return nil
	}
}
