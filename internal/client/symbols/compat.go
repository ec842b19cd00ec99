package symbols

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/verdict"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// compareDefs judges a definition whose header changed.
func compareDefs(old, new *outline.Def, tr *outline.Traits) verdict.Verdict {
	vs := compareRest(old, new, tr)
	if old.HasCall && new.HasCall {
		vs = append(compareParams(old.Params, new.Params, tr), vs...)
	}
	if len(vs) == 0 {
		vs = append(vs, verdict.Verdict{Compat: coord.Compatible, Detail: "only its wording changed"})
	}
	return verdict.Worst(vs)
}

// calledAlike are the kinds that Python's callers may call in the same way.
var calledAlike = lazy.Words("function class variable constant")

// compareRest judges everything but the parameters.
func compareRest(old, new *outline.Def, tr *outline.Traits) []verdict.Verdict {
	var vs []verdict.Verdict
	if old.Exported && !new.Exported {
		vs = append(vs, verdict.Verdict{Compat: coord.Breaking, Detail: "is no longer visible to others"})
	}
	if old.Kind != new.Kind {
		v := verdict.Verdict{Compat: coord.Breaking, Detail: fmt.Sprintf("was a %s, is a %s", old.Kind, new.Kind)}
		if tr.Starred && calledAlike.Has(old.Kind) && calledAlike.Has(new.Kind) {
			v.Compat = coord.Unknown // who calls it may not notice
		}
		vs = append(vs, v)
	}
	vs = append(vs, compareWords(old, new, tr)...)
	vs = append(vs, compareAfter(old, new, tr)...)
	if old.Tag != new.Tag {
		vs = append(vs, verdict.Verdict{Compat: coord.Unknown, Detail: fmt.Sprintf("its tag was %q, is %q", old.Tag, new.Tag)})
	}
	return vs
}

// compareParams judges a change of parameters by position, and by name where
// callers may name them.
func compareParams(old, new []outline.Param, tr *outline.Traits) []verdict.Verdict {
	var vs []verdict.Verdict
	oldPos, oldKey := split(old)
	newPos, newKey := split(new)
	for i, p := range newPos {
		if i >= len(oldPos) {
			vs = append(vs, added(p, tr))
			continue
		}
		vs = append(vs, compareParam(oldPos[i], p, tr)...)
	}
	for _, p := range oldPos[min(len(oldPos), len(newPos)):] {
		vs = append(vs, verdict.Verdict{Compat: coord.Breaking, Detail: "parameter " + called(p) + " removed"})
	}
	for _, p := range oldKey {
		if at := slices.IndexFunc(newKey, func(q outline.Param) bool { return q.Name == p.Name }); at < 0 {
			vs = append(vs, verdict.Verdict{Compat: coord.Breaking, Detail: "keyword " + p.Name + " removed"})
		} else if p.Optional && !newKey[at].Optional {
			vs = append(vs, verdict.Verdict{Compat: coord.Breaking, Detail: "keyword " + p.Name + " is now required"})
		}
	}
	for _, p := range newKey {
		if !slices.ContainsFunc(oldKey, func(q outline.Param) bool { return q.Name == p.Name }) {
			vs = append(vs, added(p, tr))
		}
	}
	return vs
}

func split(ps []outline.Param) (pos, key []outline.Param) {
	for _, p := range ps {
		if p.Keyword {
			key = append(key, p)
		} else {
			pos = append(pos, p)
		}
	}
	return pos, key
}

func called(p outline.Param) string {
	if p.Name == "" {
		return p.Typ
	}
	return p.Name
}

func added(p outline.Param, tr *outline.Traits) verdict.Verdict {
	if p.Optional && tr.Defaults || p.Rest && !tr.Typed || p.Rest && tr.Defaults {
		return verdict.Verdict{Compat: coord.Compatible, Detail: "optional parameter " + called(p) + " added"}
	}
	if p.Rest {
		return verdict.Verdict{Compat: coord.Compatible, Detail: "parameter " + called(p) + " added, which takes any number"}
	}
	return verdict.Verdict{Compat: coord.Breaking, Detail: "required parameter " + called(p) + " added"}
}

func compareParam(old, new outline.Param, tr *outline.Traits) []verdict.Verdict {
	var vs []verdict.Verdict
	if old.Name != new.Name && old.Name != "" {
		if tr.NamesMatter && !old.Rest {
			vs = append(vs, verdict.Verdict{Compat: coord.Breaking, Detail: fmt.Sprintf("parameter %s is now %s", old.Name, called(new))})
		} else if strings.HasPrefix(old.Name, "{") {
			vs = append(vs, verdict.Verdict{
				Compat: coord.Unknown,
				Detail: fmt.Sprintf("parameter %s is now %s", verdict.Clip(old.Name), verdict.Clip(called(new))),
			})
		} else if old.Typ != "" && old.Typ == new.Typ || old.Typ == new.Typ && !tr.Typed {
			vs = append(vs, verdict.Verdict{Compat: coord.Compatible, Detail: fmt.Sprintf("parameter %s renamed to %s", old.Name, called(new))})
		}
	}
	if old.Typ != new.Typ {
		vs = append(vs, compareTypes("parameter "+called(old), old.Typ, new.Typ, true, tr))
	}
	switch {
	case old.Optional && !new.Optional:
		vs = append(vs, verdict.Verdict{Compat: coord.Breaking, Detail: "parameter " + called(old) + " is now required"})
	case !old.Optional && new.Optional:
		vs = append(vs, verdict.Verdict{Compat: coord.Compatible, Detail: "parameter " + called(old) + " is now optional"})
	}
	if old.Rest && !new.Rest {
		vs = append(vs, verdict.Verdict{Compat: coord.Breaking, Detail: "parameter " + called(old) + " no longer takes any number"})
	}
	return vs
}

// compareTypes judges a change of a type. A parameter that takes more is
// compatible; a result that promises less is not.
func compareTypes(what, old, new string, input bool, tr *outline.Traits) verdict.Verdict {
	said := fmt.Sprintf("%s was %s, is %s", what, verdict.OrNone(old), verdict.OrNone(new))
	switch {
	case old == "" || new == "":
		if input && new == "" {
			return verdict.Verdict{Compat: coord.Compatible, Detail: said}
		}
		if !tr.Typed || old == "" {
			return verdict.Verdict{Compat: coord.Unknown, Detail: said}
		}
		return verdict.Verdict{Compat: coord.Breaking, Detail: said}
	case input && widens(old, new) || !input && widens(new, old):
		return verdict.Verdict{Compat: coord.Compatible, Detail: said}
	case !tr.Typed, writtenOut(old) != writtenOut(new), vague(old, new):
		return verdict.Verdict{Compat: coord.Unknown, Detail: said}
	}
	return verdict.Verdict{Compat: coord.Breaking, Detail: said}
}

// writtenOut tells a type that lists its fields: one that is called by a name
// may be the same, where types are what they have.
func writtenOut(typ string) bool {
	return slices.ContainsFunc(outline.SplitTop(typ, '|'), func(t string) bool { return strings.HasPrefix(strings.TrimSpace(t), "{") })
}

// anything are the names of types that all others are.
var anything = []string{"any", "unknown", "object", "Any", "Object"}

// typeWords cuts a type into names and signs.
var typeWords = lazy.Regexp(`\w+|[^\w\s]`)

// vague tells whether two types differ in arguments alone of which one side says
// no more than that they are anything: most code fits both.
func vague(old, new string) bool {
	a, b := typeWords.Get().FindAllString(old, -1), typeWords.Get().FindAllString(new, -1)
	if len(a) != len(b) {
		return false
	}
	depth := 0
	for i := range a {
		if a[i] != b[i] && (depth == 0 || !slices.Contains(anything, a[i]) && !slices.Contains(anything, b[i])) {
			return false
		}
		switch b[i] {
		case "<", "[":
			depth++
		case ">", "]":
			depth--
		}
	}
	return true
}

// widens tells whether new takes all that old does, as far as the text shows:
// a union with more members, or what is optional now.
func widens(old, new string) bool {
	if new == old+"?" || new == "?"+old || new == "Optional["+old+"]" || new == "any" || new == "unknown" || new == "object" || new == "Any" {
		return true
	}
	if new == "testing.TB" && slices.Contains([]string{"*testing.T", "*testing.B", "*testing.F"}, old) {
		return true // Go's tests, benchmarks and fuzzers in one
	}
	olds, news := outline.SplitTop(old, '|'), outline.SplitTop(new, '|')
	if len(news) <= len(olds) {
		return false
	}
	for _, o := range olds {
		if !slices.ContainsFunc(news, func(n string) bool { return strings.TrimSpace(n) == strings.TrimSpace(o) }) {
			return false
		}
	}
	return true
}

// compareWords judges the words before the name: static, async, and in many
// languages the result.
func compareWords(old, new *outline.Def, tr *outline.Traits) []verdict.Verdict {
	var vs []verdict.Verdict
	a, b := strings.Fields(old.Before), strings.Fields(new.Before)
	for word, grave := range map[string]bool{"static": true, "abstract": true, "async": tr.Awaited, "suspend": true, "sealed": true} {
		was, is := slices.Contains(a, word), slices.Contains(b, word)
		if was == is {
			continue
		}
		verb := "is now "
		if was {
			verb = "is no longer "
		}
		c := coord.Unknown
		if grave && !(word == "abstract" || word == "sealed" || word == "suspend") || is && word != "async" && word != "static" {
			c = coord.Breaking
		}
		if word == "async" && (is && promises(old) || was && promises(new)) {
			c = coord.Compatible // callers get what they got
		}
		vs = append(vs, verdict.Verdict{Compat: c, Detail: verb + word})
	}
	active := func(words []string) string {
		var out []string
		for _, w := range words {
			if (!slices.Contains(outline.Passive, strings.TrimSuffix(w, ":")) || w == "const" && !tr.NameFirst) && !strings.HasPrefix(w, "pub(") {
				out = append(out, w)
			}
		}
		return strings.Join(out, " ")
	}
	if x, y := active(a), active(b); x != y && old.Kind == new.Kind {
		if tr == &outline.GoTraits { // only a method's receiver stands there
			vs = append(vs, compareReceivers(x, y))
		} else {
			vs = append(vs, compareTypes("its type", x, y, false, tr))
		}
	}
	return vs
}

// promises reports whether a function that is not async gives a promise all the
// same, as its text says.
func promises(d *outline.Def) bool {
	return strings.Contains(d.Own, "Promise") || strings.Contains(d.Own, ".then(")
}

// compareReceivers: values of a type lose the methods that want a pointer.
func compareReceivers(old, new string) verdict.Verdict {
	c := coord.Breaking
	if strings.ReplaceAll(old, "*", "") == new {
		c = coord.Compatible
	}
	return verdict.Verdict{Compat: c, Detail: fmt.Sprintf("receiver was %s, is %s", old, new)}
}

// compareAfter judges what stands after the parameters or the name: the
// result, the type, the base classes, the whole of a type alias.
func compareAfter(old, new *outline.Def, tr *outline.Traits) []verdict.Verdict {
	a, b := outline.ResultText(old), outline.ResultText(new)
	if !old.HasCall && !old.Contain {
		switch was, is := isOptional(old), isOptional(new); {
		case was && !is:
			return []verdict.Verdict{{Compat: coord.Breaking, Detail: "must now be given"}}
		case !was && is:
			return []verdict.Verdict{{Compat: coord.Breaking, Detail: "may now be missing"}}
		}
	}
	if a == b {
		return nil
	}
	if old.Contain {
		return []verdict.Verdict{{Compat: coord.Unknown, Detail: fmt.Sprintf("its header was %q, is %q", verdict.Clip(a), verdict.Clip(b))}}
	}
	if old.HasCall {
		if thrown(a) && thrown(b) {
			return []verdict.Verdict{compareThrown(a, b)}
		}
		return []verdict.Verdict{compareTypes("result", a, b, false, tr)}
	}
	if a != "" && b != "" || tr.Typed {
		v := compareTypes("its type", verdict.Clip(a), verdict.Clip(b), false, tr)
		if old.Kind == "type" || old.Kind == "macro" {
			v.Compat = coord.Unknown
		}
		return []verdict.Verdict{v}
	}
	return []verdict.Verdict{{Compat: coord.Unknown, Detail: fmt.Sprintf("was %q, is %q", verdict.Clip(a), verdict.Clip(b))}}
}

// thrown tells what Java writes behind the parameters, where others have the
// result: the exceptions, or nothing.
func thrown(after string) bool {
	return after == "" || strings.HasPrefix(after, "throws ") && !strings.Contains(after, "->")
}

// compareThrown: who calls something that throws less has nothing to do; a new
// exception must be caught, unless it is handed on anyway.
func compareThrown(old, new string) verdict.Verdict {
	was := outline.SplitTop(strings.TrimPrefix(old, "throws "), ',')
	for _, e := range outline.SplitTop(strings.TrimPrefix(new, "throws "), ',') {
		if e = strings.TrimSpace(e); e != "" && !slices.ContainsFunc(was, func(w string) bool { return strings.TrimSpace(w) == e }) {
			return verdict.Verdict{Compat: coord.Unknown, Detail: "now throws " + e}
		}
	}
	return verdict.Verdict{Compat: coord.Compatible, Detail: "throws less"}
}

// isOptional tells a field of TypeScript that may be missing.
func isOptional(d *outline.Def) bool {
	name, _, _ := strings.Cut(d.Head, ":")
	return d.Kind == "field" && strings.HasSuffix(strings.TrimSpace(name), "?")
}
