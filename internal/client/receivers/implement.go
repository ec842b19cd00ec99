package receivers

import (
	"bytes"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/coord"
)

// Implementers are the types of a file that newly implement others, by saying
// so, or in Go by being given where an interface is wanted; and those that did
// and lost or changed members, which the others may need by now.
func (r *Reader) Implementers(old, new *outline.File) (out []Use) {
	if new.Lang == "go" {
		return r.implementersGo(old, new)
	}
	for i := range new.Defs {
		if !new.Defs[i].Contain {
			continue // most, whose headers nobody asks for
		}
		d := new.Defs[i].Full()
		if isAbstract(d) {
			continue
		}
		had := basesIn(old, d)
		for _, name := range headerBases(new.Lang, d) {
			base, ok := r.w.Find(new, name)
			if !ok || r.fake[base.File] {
				continue
			}
			base = r.alias(base, 0)
			at := Place{new, i}
			if slices.Contains(had, name) {
				if lacks := r.lost(old, at); len(lacks) > 0 {
					out = append(out, r.alsoOf(base, Use{Line: d.Span.Row, Lacks: lacks})...)
				}
				continue
			}
			out = append(out, r.alsoOf(base, Use{Line: d.Span.Row, Whole: true, Has: r.memberNames(at, base)})...)
			out = append(out, r.overrides(at, base)...)
		}
	}
	return out
}

// alsoOf makes a use of a type one of all that it has its members from, too:
// what an interface above an interface comes to need, whoever implements it must
// have. A class in between may have it.
func (r *Reader) alsoOf(p Place, u Use) (out []Use) {
	seen := map[Place]bool{}
	var add func(Place)
	add = func(p Place) {
		if seen[p] || len(seen) > 20 || r.fake[p.File] {
			return
		}
		seen[p] = true
		u.File, u.Name = p.File, p.def().Name
		out = append(out, u)
		if kind := p.def().Kind; kind == "interface" || kind == "trait" || kind == "protocol" {
			for _, b := range r.bases(p) {
				add(b)
			}
		}
	}
	add(p)
	return out
}

// lost are the members that a type had in the file as it was, and has no longer
// or with other parameters or another result.
func (r *Reader) lost(old *outline.File, p Place) (out []string) {
	own := p.def().Name + "."
	had := map[string]*outline.Def{}
	for i := range old.Defs {
		if m, ok := strings.CutPrefix(old.Defs[i].Name, own); ok && !strings.Contains(m, ".") && !isConstructor(&old.Defs[i], m) {
			had[m] = old.Defs[i].Full()
		}
	}
	if len(had) == 0 {
		return nil
	}
	now := r.memberNames(p, Place{})
	for i := range p.File.Defs {
		m, ok := strings.CutPrefix(p.File.Defs[i].Name, own)
		if was := had[m]; ok && was != nil && was.HasCall {
			if d := p.File.Defs[i].Full(); parameters(d) == parameters(was) && outline.ResultText(d) == outline.ResultText(was) {
				delete(had, m)
			}
		} else if ok {
			delete(had, m)
		}
	}
	for m := range had {
		inFile := slices.ContainsFunc(p.File.Defs, func(d outline.Def) bool { return d.Name == own+m })
		if inFile || !slices.Contains(now, m) { // what moved to a file beside is there still
			out = append(out, m)
		}
	}
	slices.Sort(out)
	return out
}

// isAbstract tells a type that leaves it to others to have all members.
func isAbstract(d *outline.Def) bool {
	return d.Kind == "interface" || d.Kind == "trait" || d.Kind == "protocol" ||
		slices.ContainsFunc(strings.Fields(d.Before), func(w string) bool { return w == "abstract" || w == "interface" || w == "sealed" }) ||
		strings.Contains(d.Head, "(ABC") || strings.Contains(d.Head, "(Protocol")
}

// headerBases are the types that a definition says it implements.
func headerBases(lang string, d *outline.Def) []string {
	if lang == "rust" {
		if trait, ok := implemented(d); ok && d.Kind == "implementation" {
			return []string{trait}
		}
		return nil
	}
	return baseNames(lang, d)
}

// basesIn are those that it said before.
func basesIn(old *outline.File, d *outline.Def) (out []string) {
	for i := range old.Defs {
		if o := old.Defs[i].Full(); o.Name == d.Name && o.Contain {
			out = append(out, headerBases(old.Lang, o)...)
		}
	}
	return out
}

// memberNames are the members of a type, and of what it inherits apart from one
// of its bases.
func (r *Reader) memberNames(p, except Place) []string {
	var out []string
	seen := map[Place]bool{except: true}
	var add func(p Place)
	add = func(p Place) {
		if seen[p] || len(seen) > 20 {
			return
		}
		seen[p] = true
		own := p.def()
		for _, o := range append([]*outline.File{p.File}, r.w.Beside(p)...) {
			for i := range o.Defs {
				if m, ok := strings.CutPrefix(o.Defs[i].Name, own.Name+"."); ok && !strings.Contains(m, ".") &&
					!(own.Kind == "implementation" && o.Defs[i].Parent != p.Def) {
					out = append(out, m)
				}
			}
		}
		for _, b := range r.bases(p) {
			if b.def().Kind != "interface" || p.File.Lang == "go" {
				add(b)
			}
		}
	}
	add(p)
	slices.Sort(out)
	return slices.Compact(out)
}

// overrides are the uses of a base's members by who defines them anew.
func (r *Reader) overrides(p, base Place) (out []Use) {
	own := p.def()
	for i := range p.File.Defs {
		d := &p.File.Defs[i]
		name, ok := strings.CutPrefix(d.Name, own.Name+".")
		if !ok || !d.HasCall || strings.Contains(name, ".") || isConstructor(d, name) {
			continue
		}
		m, ok := r.memberOf(base, name, map[Place]bool{})
		if !ok || r.fake[m.File] {
			continue
		}
		u := Use{File: m.File, Name: m.def().Name, Line: d.Span.Row, Call: &coord.Call{Args: parameters(d.Full())}, Whole: !saysSo(p.File, i)}
		if p.File.Lang == "typescript" {
			u.Call = nil // it may take fewer
		}
		out = append(out, u)
	}
	return out
}

// isConstructor tells a member that makes one of its type.
func isConstructor(d *outline.Def, name string) bool {
	owner := strings.TrimSuffix(d.Name, "."+name)
	return d.Kind == "constructor" || name == "__init__" || name == "constructor" || name == owner[strings.LastIndexByte(owner, '.')+1:]
}

// saysSo tells a definition that fails when there is nothing to override.
func saysSo(o *outline.File, def int) bool {
	return o.Lang == "rust" || slices.Contains(strings.Fields(o.Defs[def].Before), "override") ||
		slices.ContainsFunc(o.Marks, func(m outline.Mark) bool { return m.Target == def && m.Name == "Override" })
}

func parameters(d *outline.Def) (n int) {
	for _, p := range d.Params {
		if !strings.HasSuffix(p.Name, "self") && p.Name != "cls" {
			n++
		}
	}
	return n
}

// implementersGo finds where a type is given for an interface that is new, or
// has lost members.
func (r *Reader) implementersGo(old, new *outline.File) (out []Use) {
	b := r.code(new)
	seen := map[string]bool{}
	for i := range new.Defs {
		d := &new.Defs[i]
		if d.Parent >= 0 || d.Kind != "struct" && d.Kind != "type" {
			continue
		}
		self, u := Place{new, i}, Use{Whole: true}
		if slices.ContainsFunc(old.Defs, func(o outline.Def) bool { return o.Name == d.Name }) {
			if u = (Use{Lacks: r.lost(old, self)}); len(u.Lacks) == 0 {
				continue
			}
		}
		for at, k := range outline.Words(b, d.Name) {
			if at > 0 && b[at-1] == '.' {
				continue
			}
			p, ok := r.wantedGo(new, b, at, k)
			if !ok || p.def().Kind != "interface" || r.fake[p.File] || seen[d.Name+" "+p.File.Path+p.def().Name] {
				continue
			}
			seen[d.Name+" "+p.File.Path+p.def().Name] = true
			if u.Line = lineAt(b, at); u.Whole {
				u.Has = r.memberNames(self, Place{})
				out = append(out, r.overrides(self, p)...)
			}
			out = append(out, r.alsoOf(p, u)...)
		}
	}
	return out
}

// wantedGo is the type that is wanted where a value of a type is written down,
// as T{}, &T{}, new(T) or (*T)(nil).
func (r *Reader) wantedGo(o *outline.File, b []byte, at, end int) (Place, bool) {
	switch {
	case end < len(b) && b[end] == '{':
		if at > 0 && b[at-1] == '&' {
			at--
		}
	case bytes.HasPrefix(b[end:], []byte(")(nil)")) && at > 1 && bytes.HasSuffix(b[:at], []byte("(*")):
		at -= 2
	case bytes.HasSuffix(b[:at], []byte("new(")):
		at -= 4
	default:
		return Place{}, false
	}
	p := back(b, at)
	if p == 0 {
		return Place{}, false
	}
	open := around(b, at, max(0, at-maxText))
	switch line := lineStart(b, at); {
	case b[p-1] == '=' && b[p-2] != ':':
		decl := bytes.TrimSpace(b[line : p-1])
		if rest, ok := bytes.CutPrefix(decl, []byte("var ")); ok {
			rest = bytes.TrimSpace(rest)
			return r.place(one(o, string(rest[len(wordFrom(rest, 0)):])))
		}
		if start := chainStart(b, p-1); start >= 0 {
			v, _ := r.chain(o, start, back(b, p-1))
			return r.place(v)
		}
	case wordTo(b, p) == "return" || b[p-1] == ',' && bytes.HasPrefix(bytes.TrimSpace(b[line:]), []byte("return ")):
		d, ok := functionAround(o, at)
		if !ok {
			return Place{}, false
		}
		head := bytes.TrimSpace(b[line:p])
		results := split(strings.TrimSuffix(strings.TrimPrefix(outline.ResultText(d), "("), ")"), ',')
		if n := bytes.Count(head, []byte(",")); n < len(results) {
			return r.place(one(o, results[n]))
		}
	case (b[p-1] == '(' || b[p-1] == ',') && open >= 0 && b[open] == '(':
		return r.place(r.argument(o, b, open, at))
	case b[p-1] == ':' && open >= 0 && b[open] == '{':
		if lit, ok := r.literal(o, b, open); ok {
			if m, ok := r.memberOf(lit, wordTo(b, back(b, p-1)), map[Place]bool{}); ok {
				return r.place(r.valueOf(m))
			}
		}
	}
	return Place{}, false
}
