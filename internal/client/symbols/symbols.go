// Package symbols compares the definitions of two versions of a file: which
// changed, and whether those who use them still work. It compares outlines and
// reads nothing.
package symbols

import (
	"fmt"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/verdict"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A group is all definitions of one name: overloads stand together.
type group struct {
	defs []*outline.Def
}

// groups orders an outline's definitions by name, first come first. A Rust
// implementation adds to its type and is no definition of its own.
func groups(o *outline.File) (map[string]*group, []string) {
	by := map[string]*group{}
	var order []string
	for i := range o.Defs {
		d := &o.Defs[i]
		if d.Kind == "implementation" {
			continue
		}
		g := by[d.Name]
		if g == nil {
			g = &group{}
			by[d.Name] = g
			order = append(order, d.Name)
		}
		g.defs = append(g.defs, d)
	}
	return by, order
}

// signature is what users of a definition see, as text.
func (g *group) signature() string {
	var out []string
	for _, d := range g.defs {
		out = append(out, d.Full().Head)
	}
	return strings.Join(out, "; ")
}

func (g *group) exported() bool {
	for _, d := range g.defs {
		if d.Exported {
			return true
		}
	}
	return false
}

func (g *group) own() string {
	if len(g.defs) == 1 {
		return g.defs[0].Own
	}
	var b strings.Builder
	for _, d := range g.defs {
		b.WriteString(d.Own)
	}
	return b.String()
}

func (g *group) last() *group { return &group{defs: g.defs[len(g.defs)-1:]} }

// textHash names the text of a definition, so that two sides can see that they
// wrote the same.
func (g *group) textHash() *string {
	h := verdict.HashText(g.own())
	return &h
}

// Facts compares the definitions of two versions of a file. Those that
// did not change are left out.
func Facts(path string, old, new *outline.File, metadataOnly bool) []coord.SymbolFacts {
	var out []coord.SymbolFacts
	olds, oldOrder := groups(old)
	news, newOrder := groups(new)
	halfWritten := new.Broken && !old.Broken
	for _, n := range oldOrder {
		g := olds[n]
		if now := news[n]; now != nil {
			if f, changed := changedSymbol(g, now, new.Traits); changed {
				f.Key = Key(new.Lang, path, n)
				out = append(out, f)
			}
			continue
		}
		if halfWritten && outline.Mentions(new.Source, n) {
			continue // it is probably still there, in the part that does not parse
		}
		f := coord.SymbolFacts{
			Key:           Key(old.Lang, path, n),
			Kind:          g.defs[0].Kind,
			Exported:      g.exported(),
			Change:        coord.Removed,
			Compatibility: coord.Compatible,
		}
		switch {
		case handedOn(new, n), !g.exported() && !seenInPackage(old.Lang, g) && imports(new, n):
			f.Detail = verdict.Detail("comes from another file now")
		default:
			f.Compatibility, f.Detail = coord.Breaking, verdict.Detail("was removed")
			if to := renamedTo(g, n, olds, news, newOrder); to != "" {
				f.Detail = verdict.Detail("was removed; " + to + " looks like its new name")
			}
		}
		verdict.SetSignatures(&f.PreviousSignature, &f.PreviousSignatureHash, g.signature())
		f.Lines = linesOf(g)
		out = append(out, f)
	}
	for _, n := range newOrder {
		if olds[n] != nil {
			continue
		}
		g := news[n]
		f := coord.SymbolFacts{
			Key:           Key(new.Lang, path, n),
			Kind:          g.defs[0].Kind,
			Exported:      g.exported(),
			Change:        coord.Added,
			Compatibility: coord.Compatible,
		}
		verdict.SetSignatures(&f.Signature, &f.SignatureHash, g.signature())
		f.TextHash = g.textHash()
		out = append(out, f)
	}
	out = narrowed(grown(raiseConstructors(out, new.Lang), path, old, new), path, old, new)
	for i := range out {
		if halfWritten && out[i].Compatibility == coord.Breaking {
			out[i].Compatibility = coord.Unknown
			out[i].Detail = verdict.Detail(*out[i].Detail + "; the file does not parse at the moment")
		}
	}
	if metadataOnly {
		for i := range out {
			out[i].Signature, out[i].PreviousSignature, out[i].Detail = nil, nil, nil
			out[i].Takes = coord.HideParams(out[i].Takes)
		}
	}
	return out
}

// renamedTo finds an added definition with the same signature but for the name.
func renamedTo(g *group, n string, olds, news map[string]*group, order []string) string {
	last := n[strings.LastIndexByte(n, '.')+1:]
	for _, m := range order {
		if olds[m] != nil || len(g.defs) != len(news[m].defs) || g.defs[0].Kind != news[m].defs[0].Kind {
			continue
		}
		to := m[strings.LastIndexByte(m, '.')+1:]
		if strings.Replace(g.signature(), last, to, 1) == news[m].signature() && g.defs[0].HasCall {
			return m
		}
	}
	return ""
}

func Key(lang, path, name string) string {
	key := strings.ToValidUTF8(scope.Symbol{Lang: lang, Path: path, Name: name}.String(), "\uFFFD")
	if len(key) > scope.MaxSelector {
		key = strings.ToValidUTF8(key[:scope.MaxSelector], "")
	}
	return key
}

// changedSymbol compares one name's definitions, and tells whether there is
// anything to tell.
func changedSymbol(old, new *group, tr *outline.Traits) (coord.SymbolFacts, bool) {
	if len(old.defs) == len(new.defs) && old.exported() == new.exported() && old.own() == new.own() {
		return coord.SymbolFacts{}, false
	}
	f := coord.SymbolFacts{
		Kind:          new.defs[0].Kind,
		Exported:      old.exported() || new.exported(),
		Change:        coord.Modified,
		Compatibility: coord.Compatible,
		Lines:         linesOf(old),
		TextHash:      new.textHash(),
	}
	own := old.own() != new.own()
	if tr.Starred {
		// Of Python's overloads callers meet the last, which does the work.
		old, new = old.last(), new.last()
	}
	was, is := old.signature(), new.signature()
	verdict.SetSignatures(&f.PreviousSignature, &f.PreviousSignatureHash, was)
	verdict.SetSignatures(&f.Signature, &f.SignatureHash, is)
	if was == is && old.exported() == new.exported() {
		meant(&f, old, new, tr)
		return f, own
	}
	f.Change = coord.Signature
	v := compareGroups(old, new, tr)
	if !old.exported() && new.exported() {
		v = verdict.Verdict{Compat: coord.Compatible, Detail: "is now visible to others"}
	}
	f.Compatibility = v.Compat
	if v.Compat != coord.Compatible {
		f.Takes = takes(old, new, tr)
		f.Given = f.Takes == nil && onlyResult(old, new, tr)
	}
	if v.Detail != "" {
		f.Detail = verdict.Detail(v.Detail)
	}
	meant(&f, old, new, tr)
	return f, true
}

// compareGroups judges overloads: one that is gone breaks its callers.
func compareGroups(old, new *group, tr *outline.Traits) verdict.Verdict {
	gone, fresh := changedOverloads(old, new)
	var vs []verdict.Verdict
	if len(gone) == len(fresh) {
		for i := range gone {
			vs = append(vs, compareDefs(gone[i], fresh[i], tr))
		}
		return verdict.Worst(vs)
	}
	for _, d := range gone {
		vs = append(vs, verdict.Verdict{Compat: coord.Breaking, Detail: fmt.Sprintf("overload %q removed", verdict.Clip(d.Head))})
	}
	for _, d := range fresh {
		vs = append(vs, verdict.Verdict{Compat: coord.Compatible, Detail: fmt.Sprintf("overload %q added", verdict.Clip(d.Head))})
	}
	return verdict.Worst(vs)
}

// changedOverloads returns those that are not on the other side as they were.
func changedOverloads(old, new *group) (gone, fresh []*outline.Def) {
	if len(old.defs) == 1 && len(new.defs) == 1 {
		return old.defs, new.defs
	}
	for _, d := range old.defs {
		if !containsHead(new.defs, d.Head) {
			gone = append(gone, d)
		}
	}
	for _, d := range new.defs {
		if !containsHead(old.defs, d.Head) {
			fresh = append(fresh, d)
		}
	}
	return gone, fresh
}

func containsHead(ds []*outline.Def, head string) bool {
	for _, d := range ds {
		if d.Head == head {
			return true
		}
	}
	return false
}

func linesOf(g *group) *coord.LineCount {
	s := g.defs[0].Span
	return &coord.LineCount{Start: int(s.Row) + 1, Count: int(s.Last-s.Row) + 1}
}
