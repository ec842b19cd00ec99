package symbols

import (
	"math"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/verdict"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// takes returns the parameters of a changed definition's overloads, if they
// alone make it incompatible: then the form of a call decides whether it still
// works. It returns nil if other uses fail too, or if types would decide.
func takes(old, new *group, tr *outline.Traits) [][]coord.Param {
	if len(new.defs) > outline.MaxOverloads {
		return nil
	}
	gone, fresh := changedOverloads(old, new)
	if len(gone) != len(fresh) && sameLength(gone, new.defs) {
		return nil
	}
	out := make([][]coord.Param, 0, len(new.defs))
	for _, d := range new.defs {
		var was *outline.Def
		if at := slices.Index(fresh, d); at >= 0 && len(gone) == len(fresh) {
			if was = gone[at]; becameCallable(was, d) {
				was = nil // of what it took nothing is known
			} else if !decidedByCall(was, d, tr) {
				return nil
			}
		}
		out = append(out, callerParams(was, d, tr))
	}
	return out
}

// becameCallable tells a value that is a function now: it may have held one, and
// who calls it then goes on as before.
func becameCallable(old, new *outline.Def) bool {
	return !old.HasCall && new.HasCall && (old.Kind == "variable" || old.Kind == "constant")
}

// sameLength tells whether an overload that is gone had as many parameters as
// one that is there: then only types tell which of them a call means.
func sameLength(gone, left []*outline.Def) bool {
	for _, g := range gone {
		if slices.ContainsFunc(left, func(d *outline.Def) bool { return len(d.Full().Params) == len(g.Full().Params) }) {
			return true
		}
	}
	return false
}

// decidedByCall tells whether the parameters of a definition changed in a
// graver way than the rest of it.
func decidedByCall(old, new *outline.Def, tr *outline.Traits) bool {
	if !old.HasCall || !new.HasCall || slices.ContainsFunc(append(slices.Clone(old.Params), new.Params...), isPattern) {
		return false
	}
	params, rest := verdict.Worst(compareParams(old.Params, new.Params, tr)), verdict.Worst(compareRest(old, new, tr))
	return params.Compat == coord.Compatible && rest.Compat == coord.Compatible || verdict.Rank[rest.Compat] < verdict.Rank[params.Compat]
}

// isPattern tells a parameter that is taken apart in place: its fields count.
func isPattern(p outline.Param) bool {
	return strings.HasPrefix(p.Name, "{") || strings.HasPrefix(p.Name, "[")
}

// callerParams are the parameters as callers see them, compared with what they
// were; old may be nil.
func callerParams(old, new *outline.Def, tr *outline.Traits) []coord.Param {
	params := ownParams(new)
	out := make([]coord.Param, 0, len(params))
	var was []outline.Param
	if old != nil {
		was = ownParams(old)
	}
	oldPos, _ := split(was)
	place := 0
	for _, p := range params {
		q := coord.Param{Optional: p.Optional, Rest: p.Rest, Keyword: p.Keyword}
		if n := strings.TrimLeft(p.Name, "*&$."); (p.Keyword ||
			tr.NamesMatter) && n != "_" && len(n) <= outline.MaxParamName && outline.IsWord(n) {
			q.Name = n
		}
		before := slices.IndexFunc(was, func(o outline.Param) bool { return o.Name == p.Name && p.Name != "" })
		if !p.Keyword {
			if place < len(oldPos) {
				before, q.Moved = place, moved(oldPos, params, p, place)
			}
			place++
		}
		if before >= 0 && before < len(was) {
			if a, b := each(was[before]), each(p); a != b {
				q.Changed = compareTypes("", a, b, true, tr).Compat == coord.Breaking
			}
		}
		out = append(out, q)
	}
	if old != nil && noneFitsBoth(oldPos, params) {
		for i := range out {
			out[i].Changed, out[i].Moved = false, false
		}
	}
	return out
}

// noneFitsBoth tells by number alone whether every call must have changed: then
// one with as many arguments as are taken now was made for what is there now.
func noneFitsBoth(old, params []outline.Param) bool {
	now, _ := split(params)
	least := func(ps []outline.Param) (n int) {
		for _, p := range ps {
			if !p.Optional && !p.Rest {
				n++
			}
		}
		return n
	}
	most := func(ps []outline.Param) int {
		if slices.ContainsFunc(ps, func(p outline.Param) bool { return p.Rest }) {
			return math.MaxInt
		}
		return len(ps)
	}
	return most(old) < least(now) || most(now) < least(old)
}

// each is the type of one argument, also where there may be many.
func each(p outline.Param) string {
	if !p.Rest {
		return p.Typ
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(p.Typ, "..."), "..."), "[]")
}

// moved tells whether a parameter stood in another place before, or what stood in
// its place is in another now. What takes any number takes them there, too.
func moved(old, now []outline.Param, p outline.Param, place int) bool {
	was := old[place]
	has := func(all []outline.Param, name string) bool {
		return name != "" && slices.ContainsFunc(all, func(o outline.Param) bool { return o.Name == name })
	}
	return p.Name != "" && was.Name != p.Name && (has(old, p.Name) || !was.Rest && has(now, was.Name))
}

// ownParams leaves out the one that Python's methods get without being asked.
func ownParams(d *outline.Def) []outline.Param {
	params := d.Full().Params
	if len(params) > 0 && d.Parent >= 0 && (params[0].Name == "self" || params[0].Name == "cls") {
		return params[1:]
	}
	return params
}

// constructors are what languages call the method that makes an object; in the
// others it is called like its class.
var constructors = lazy.Table[map[string]string]{Make: func() map[string]string {
	return map[string]string{
		"python":     "__init__",
		"typescript": "constructor",
		"javascript": "constructor",
		"php":        "__construct",
		"ruby":       "initialize",
		"swift":      "init",
	}
}}

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
		want, ok := constructors.Get()[lang]
		if !ok {
			want = class[strings.LastIndexAny(class, ".#")+1:]
		}
		if c.Key[at+1:] != want {
			continue
		}
		k := slices.IndexFunc(out, func(s coord.SymbolFacts) bool { return s.Key == class })
		if k >= 0 && (out[k].Change == coord.Removed || out[k].Change == coord.Added ||
			verdict.Rank[out[k].Compatibility] >= verdict.Rank[c.Compatibility]) {
			continue
		}
		c.Key, c.Kind = class, "class"
		if c.Detail != nil {
			c.Detail = verdict.Detail("its constructor: " + *c.Detail)
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
