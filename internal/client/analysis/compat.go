package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A verdict is a compatibility with its reason in words.
type verdict struct {
	compat coord.Compatibility
	detail string
}

var rank = map[coord.Compatibility]int{coord.Compatible: 0, coord.Unknown: 1, coord.Breaking: 2}

// worst joins verdicts: the gravest wins, and its reasons are told.
func worst(vs []verdict) verdict {
	out := verdict{coord.Compatible, ""}
	for _, v := range vs {
		if rank[v.compat] > rank[out.compat] {
			out.compat = v.compat
		}
	}
	var words []string
	for _, v := range vs {
		if v.compat == out.compat && v.detail != "" && !slices.Contains(words, v.detail) {
			words = append(words, v.detail)
		}
	}
	out.detail = strings.Join(words, "; ")
	return out
}

// compareDefs judges a definition whose header changed.
func compareDefs(old, new *def, tr *traits) verdict {
	vs := compareRest(old, new, tr)
	if old.hasCall && new.hasCall {
		vs = append(compareParams(old.params, new.params, tr), vs...)
	}
	if len(vs) == 0 {
		vs = append(vs, verdict{coord.Compatible, "only its wording changed"})
	}
	return worst(vs)
}

// calledAlike are the kinds that Python's callers may call in the same way.
var calledAlike = map[string]bool{"function": true, "class": true, "variable": true, "constant": true}

// compareRest judges everything but the parameters.
func compareRest(old, new *def, tr *traits) []verdict {
	var vs []verdict
	if old.exported && !new.exported {
		vs = append(vs, verdict{coord.Breaking, "is no longer visible to others"})
	}
	if old.kind != new.kind {
		v := verdict{coord.Breaking, fmt.Sprintf("was a %s, is a %s", old.kind, new.kind)}
		if tr.starred && calledAlike[old.kind] && calledAlike[new.kind] {
			v.compat = coord.Unknown // who calls it may not notice
		}
		vs = append(vs, v)
	}
	vs = append(vs, compareWords(old, new, tr)...)
	vs = append(vs, compareAfter(old, new, tr)...)
	if old.tag != new.tag {
		vs = append(vs, verdict{coord.Unknown, fmt.Sprintf("its tag was %q, is %q", old.tag, new.tag)})
	}
	return vs
}

// compareParams judges a change of parameters by position, and by name where
// callers may name them.
func compareParams(old, new []param, tr *traits) []verdict {
	var vs []verdict
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
		vs = append(vs, verdict{coord.Breaking, "parameter " + p.called() + " removed"})
	}
	for _, p := range oldKey {
		if at := slices.IndexFunc(newKey, func(q param) bool { return q.name == p.name }); at < 0 {
			vs = append(vs, verdict{coord.Breaking, "keyword " + p.name + " removed"})
		} else if p.optional && !newKey[at].optional {
			vs = append(vs, verdict{coord.Breaking, "keyword " + p.name + " is now required"})
		}
	}
	for _, p := range newKey {
		if !slices.ContainsFunc(oldKey, func(q param) bool { return q.name == p.name }) {
			vs = append(vs, added(p, tr))
		}
	}
	return vs
}

func split(ps []param) (pos, key []param) {
	for _, p := range ps {
		if p.keyword {
			key = append(key, p)
		} else {
			pos = append(pos, p)
		}
	}
	return pos, key
}

func (p param) called() string {
	if p.name == "" {
		return p.typ
	}
	return p.name
}

func added(p param, tr *traits) verdict {
	if p.optional && tr.defaults || p.rest && !tr.typed || p.rest && tr.defaults {
		return verdict{coord.Compatible, "optional parameter " + p.called() + " added"}
	}
	if p.rest {
		return verdict{coord.Compatible, "parameter " + p.called() + " added, which takes any number"}
	}
	return verdict{coord.Breaking, "required parameter " + p.called() + " added"}
}

func compareParam(old, new param, tr *traits) []verdict {
	var vs []verdict
	if old.name != new.name && old.name != "" {
		if tr.namesMatter && !old.rest {
			vs = append(vs, verdict{coord.Breaking, fmt.Sprintf("parameter %s is now %s", old.name, new.called())})
		} else if strings.HasPrefix(old.name, "{") {
			vs = append(vs, verdict{coord.Unknown, fmt.Sprintf("parameter %s is now %s", clip(old.name), clip(new.called()))})
		} else if old.typ != "" && old.typ == new.typ || old.typ == new.typ && !tr.typed {
			vs = append(vs, verdict{coord.Compatible, fmt.Sprintf("parameter %s renamed to %s", old.name, new.called())})
		}
	}
	if old.typ != new.typ {
		vs = append(vs, compareTypes("parameter "+old.called(), old.typ, new.typ, true, tr))
	}
	switch {
	case old.optional && !new.optional:
		vs = append(vs, verdict{coord.Breaking, "parameter " + old.called() + " is now required"})
	case !old.optional && new.optional:
		vs = append(vs, verdict{coord.Compatible, "parameter " + old.called() + " is now optional"})
	}
	if old.rest && !new.rest {
		vs = append(vs, verdict{coord.Breaking, "parameter " + old.called() + " no longer takes any number"})
	}
	return vs
}

// compareTypes judges a change of a type. A parameter that takes more is
// compatible; a result that promises less is not.
func compareTypes(what, old, new string, input bool, tr *traits) verdict {
	said := fmt.Sprintf("%s was %s, is %s", what, orNone(old), orNone(new))
	switch {
	case old == "" || new == "":
		if input && new == "" {
			return verdict{coord.Compatible, said}
		}
		if !tr.typed || old == "" {
			return verdict{coord.Unknown, said}
		}
		return verdict{coord.Breaking, said}
	case input && widens(old, new) || !input && widens(new, old):
		return verdict{coord.Compatible, said}
	case !tr.typed:
		return verdict{coord.Unknown, said}
	}
	return verdict{coord.Breaking, said}
}

func orNone(s string) string {
	if s == "" {
		return "not typed"
	}
	return s
}

// widens tells whether new takes all that old does, as far as the text shows:
// a union with more members, or what is optional now.
func widens(old, new string) bool {
	if new == old+"?" || new == "?"+old || new == "Optional["+old+"]" || new == "any" || new == "unknown" || new == "object" || new == "Any" {
		return true
	}
	olds, news := splitTop(old, '|'), splitTop(new, '|')
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

// passive words of a header change nothing for callers.
var passive = []string{"public", "protected", "internal", "export", "default", "override", "final", "open", "virtual", "inline",
	"pub", "function", "func", "fun", "def", "fn", "const", "let", "var", "val", "readonly", "private", "declare", "extern", "unsafe", "suspend",
	"sealed", "partial", "data", "new", "async", "static", "abstract", "constexpr", "explicit", "mutating", "required", "convenience", "implicit", "lazy", "type", "class", "struct", "interface", "enum", "trait"}

// compareWords judges the words before the name: static, async, and in many
// languages the result.
func compareWords(old, new *def, tr *traits) []verdict {
	var vs []verdict
	a, b := strings.Fields(old.before), strings.Fields(new.before)
	for word, grave := range map[string]bool{"static": true, "abstract": true, "async": tr.awaited, "suspend": true, "sealed": true} {
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
		vs = append(vs, verdict{c, verb + word})
	}
	active := func(words []string) string {
		var out []string
		for _, w := range words {
			if (!slices.Contains(passive, strings.TrimSuffix(w, ":")) || w == "const" && !tr.nameFirst) && !strings.HasPrefix(w, "pub(") {
				out = append(out, w)
			}
		}
		return strings.Join(out, " ")
	}
	if x, y := active(a), active(b); x != y && old.kind == new.kind {
		if tr == &goTraits { // only a method's receiver stands there
			vs = append(vs, compareReceivers(x, y))
		} else {
			vs = append(vs, compareTypes("its type", x, y, false, tr))
		}
	}
	return vs
}

// compareReceivers: values of a type lose the methods that want a pointer.
func compareReceivers(old, new string) verdict {
	c := coord.Breaking
	if strings.ReplaceAll(old, "*", "") == new {
		c = coord.Compatible
	}
	return verdict{c, fmt.Sprintf("receiver was %s, is %s", old, new)}
}

// compareAfter judges what stands after the parameters or the name: the
// result, the type, the base classes, the whole of a type alias.
func compareAfter(old, new *def, tr *traits) []verdict {
	a, b := resultText(old), resultText(new)
	if !old.hasCall && !old.contain {
		switch was, is := isOptional(old), isOptional(new); {
		case was && !is:
			return []verdict{{coord.Breaking, "must now be given"}}
		case !was && is:
			return []verdict{{coord.Breaking, "may now be missing"}}
		}
	}
	if a == b {
		return nil
	}
	if old.contain {
		return []verdict{{coord.Unknown, fmt.Sprintf("its header was %q, is %q", clip(a), clip(b))}}
	}
	if old.hasCall {
		if thrown(a) && thrown(b) {
			return []verdict{compareThrown(a, b)}
		}
		return []verdict{compareTypes("result", a, b, false, tr)}
	}
	if a != "" && b != "" || tr.typed {
		v := compareTypes("its type", clip(a), clip(b), false, tr)
		if old.kind == "type" || old.kind == "macro" {
			v.compat = coord.Unknown
		}
		return []verdict{v}
	}
	return []verdict{{coord.Unknown, fmt.Sprintf("was %q, is %q", clip(a), clip(b))}}
}

// thrown tells what Java writes behind the parameters, where others have the
// result: the exceptions, or nothing.
func thrown(after string) bool {
	return after == "" || strings.HasPrefix(after, "throws ") && !strings.Contains(after, "->")
}

// compareThrown: who calls something that throws less has nothing to do; a new
// exception must be caught, unless it is handed on anyway.
func compareThrown(old, new string) verdict {
	was := splitTop(strings.TrimPrefix(old, "throws "), ',')
	for _, e := range splitTop(strings.TrimPrefix(new, "throws "), ',') {
		if e = strings.TrimSpace(e); e != "" && !slices.ContainsFunc(was, func(w string) bool { return strings.TrimSpace(w) == e }) {
			return verdict{coord.Unknown, "now throws " + e}
		}
	}
	return verdict{coord.Compatible, "throws less"}
}

// isOptional tells a field of TypeScript that may be missing.
func isOptional(d *def) bool {
	name, _, _ := strings.Cut(d.head, ":")
	return d.kind == "field" && strings.HasSuffix(strings.TrimSpace(name), "?")
}

func resultText(d *def) string {
	s := d.after
	if !d.hasCall {
		short := d.name[strings.LastIndexByte(d.name, '.')+1:]
		s = strings.TrimPrefix(strings.TrimPrefix(s, short), "?")
	}
	return strings.TrimSpace(strings.TrimLeft(s, ":-> "))
}

func clip(s string) string {
	if len(s) > 80 {
		return s[:77] + "..."
	}
	return s
}
