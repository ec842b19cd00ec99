package analysis

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

const (
	maxOverloads = 50
	maxParamName = 200
)

// takes returns the parameters of a changed definition's overloads, if they
// alone make it incompatible: then the form of a call decides whether it still
// works. It returns nil if other uses fail too, or if types would decide.
func takes(old, new *group, tr *traits) [][]coord.Param {
	if len(new.defs) > maxOverloads {
		return nil
	}
	gone, fresh := changedOverloads(old, new)
	if len(gone) != len(fresh) && sameLength(gone, new.defs) {
		return nil
	}
	out := make([][]coord.Param, 0, len(new.defs))
	for _, d := range new.defs {
		var was *def
		if at := slices.Index(fresh, d); at >= 0 && len(gone) == len(fresh) {
			if was = gone[at]; !decidedByCall(was, d, tr) {
				return nil
			}
		}
		out = append(out, callerParams(was, d, tr))
	}
	return out
}

// sameLength tells whether an overload that is gone had as many parameters as
// one that is there: then only types tell which of them a call means.
func sameLength(gone, left []*def) bool {
	for _, g := range gone {
		if slices.ContainsFunc(left, func(d *def) bool { return len(d.full().params) == len(g.full().params) }) {
			return true
		}
	}
	return false
}

// decidedByCall tells whether the parameters of a definition changed in a
// graver way than the rest of it.
func decidedByCall(old, new *def, tr *traits) bool {
	if !old.hasCall || !new.hasCall || slices.ContainsFunc(append(slices.Clone(old.params), new.params...), isPattern) {
		return false
	}
	params, rest := worst(compareParams(old.params, new.params, tr)), worst(compareRest(old, new, tr))
	return params.compat == coord.Compatible && rest.compat == coord.Compatible || rank[rest.compat] < rank[params.compat]
}

// isPattern tells a parameter that is taken apart in place: its fields count.
func isPattern(p param) bool { return strings.HasPrefix(p.name, "{") || strings.HasPrefix(p.name, "[") }

// callerParams are the parameters as callers see them, compared with what they
// were; old may be nil.
func callerParams(old, new *def, tr *traits) []coord.Param {
	params := ownParams(new)
	out := make([]coord.Param, 0, len(params))
	var was []param
	if old != nil {
		was = ownParams(old)
	}
	oldPos, _ := split(was)
	place := 0
	for _, p := range params {
		q := coord.Param{Optional: p.optional, Rest: p.rest, Keyword: p.keyword}
		if n := strings.TrimLeft(p.name, "*&$."); (p.keyword || tr.namesMatter) && n != "_" && len(n) <= maxParamName && isWord(n) {
			q.Name = n
		}
		before := slices.IndexFunc(was, func(o param) bool { return o.name == p.name && p.name != "" })
		if !p.keyword {
			if place < len(oldPos) {
				before, q.Moved = place, moved(oldPos, p, place)
			}
			place++
		}
		if before >= 0 && before < len(was) {
			if a, b := was[before].each(), p.each(); a != b {
				q.Changed = compareTypes("", a, b, true, tr).compat == coord.Breaking
			}
		}
		out = append(out, q)
	}
	return out
}

// each is the type of one argument, also where there may be many.
func (p param) each() string {
	if !p.rest {
		return p.typ
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(p.typ, "..."), "..."), "[]")
}

// moved tells whether a parameter stood in another place before.
func moved(old []param, p param, place int) bool {
	return p.name != "" && old[place].name != p.name && slices.ContainsFunc(old, func(o param) bool { return o.name == p.name })
}

// ownParams leaves out the one that Python's methods get without being asked.
func ownParams(d *def) []param {
	params := d.full().params
	if len(params) > 0 && d.parent >= 0 && (params[0].name == "self" || params[0].name == "cls") {
		return params[1:]
	}
	return params
}

// constructors are what languages call the method that makes an object; in the
// others it is called like its class.
var constructors = map[string]string{
	"python": "__init__", "typescript": "constructor", "javascript": "constructor", "php": "__construct", "ruby": "initialize", "swift": "init",
}

// raiseConstructors tells of a class what its constructor's change means:
// users call the class.
func raiseConstructors(out []coord.SymbolFacts, lang string) []coord.SymbolFacts {
	for i := range out {
		c := out[i]
		at := strings.LastIndexByte(c.Key, '.')
		hash := strings.IndexByte(c.Key, '#')
		if !c.Exported || c.Change != coord.Signature || c.Compatibility == coord.Compatible || at < hash {
			continue
		}
		class := c.Key[:at]
		want, ok := constructors[lang]
		if !ok {
			want = class[strings.LastIndexAny(class, ".#")+1:]
		}
		if c.Key[at+1:] != want {
			continue
		}
		k := slices.IndexFunc(out, func(s coord.SymbolFacts) bool { return s.Key == class })
		if k >= 0 && (out[k].Change == coord.Removed || out[k].Change == coord.Added || rank[out[k].Compatibility] >= rank[c.Compatibility]) {
			continue
		}
		c.Key, c.Kind = class, "class"
		if c.Detail != nil {
			c.Detail = detail("its constructor: " + *c.Detail)
		}
		if k < 0 {
			out = append(out, c)
		} else {
			c.Kind, c.Lines = out[k].Kind, out[k].Lines
			out[k] = c
		}
	}
	return out
}
