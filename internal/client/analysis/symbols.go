package analysis

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

const (
	maxSignature = 4000
	maxDetail    = 500
)

// A group is all definitions of one name: overloads stand together.
type group struct {
	defs []*def
}

// groups orders an outline's definitions by name, first come first. A Rust
// implementation adds to its type and is no definition of its own.
func (o *outline) groups() (map[string]*group, []string) {
	by := map[string]*group{}
	var order []string
	for i := range o.defs {
		d := &o.defs[i]
		if d.kind == "implementation" {
			continue
		}
		g := by[d.name]
		if g == nil {
			g = &group{}
			by[d.name] = g
			order = append(order, d.name)
		}
		g.defs = append(g.defs, d)
	}
	return by, order
}

// signature is what users of a definition see, as text.
func (g *group) signature() string {
	var out []string
	for _, d := range g.defs {
		out = append(out, d.full().head)
	}
	return strings.Join(out, "; ")
}

func (g *group) exported() bool {
	for _, d := range g.defs {
		if d.exported {
			return true
		}
	}
	return false
}

func (g *group) own() string {
	if len(g.defs) == 1 {
		return g.defs[0].own
	}
	var b strings.Builder
	for _, d := range g.defs {
		b.WriteString(d.own)
	}
	return b.String()
}

func (g *group) last() *group { return &group{defs: g.defs[len(g.defs)-1:]} }

// textHash names the text of a definition, so that two sides can see that they
// wrote the same.
func (g *group) textHash() *string {
	h := hashText(g.own())
	return &h
}

// symbolFacts compares the definitions of two versions of a file. Those that
// did not change are left out.
func symbolFacts(path string, old, new *outline, opts *Options) []coord.SymbolFacts {
	var out []coord.SymbolFacts
	olds, oldOrder := old.groups()
	news, newOrder := new.groups()
	halfWritten := new.broken && !old.broken
	for _, n := range oldOrder {
		g := olds[n]
		if now := news[n]; now != nil {
			if f, changed := changedSymbol(g, now, new.traits); changed {
				f.Key = symbolKey(new.lang, path, n)
				out = append(out, f)
			}
			continue
		}
		if halfWritten && mentions(new.source, n) {
			continue // it is probably still there, in the part that does not parse
		}
		f := coord.SymbolFacts{Key: symbolKey(old.lang, path, n), Kind: g.defs[0].kind, Exported: g.exported(), Change: coord.Removed, Compatibility: coord.Compatible}
		switch {
		case !g.exported() && !seenInPackage(old.lang, g):
		case handedOn(new, n):
			f.Detail = detail("comes from another file now")
		default:
			f.Compatibility, f.Detail = coord.Breaking, detail("was removed")
			if to := renamedTo(g, n, olds, news, newOrder); to != "" {
				f.Detail = detail("was removed; " + to + " looks like its new name")
			}
		}
		setSignatures(&f.PreviousSignature, &f.PreviousSignatureHash, g.signature())
		f.Lines = linesOf(g)
		out = append(out, f)
	}
	for _, n := range newOrder {
		if olds[n] != nil {
			continue
		}
		g := news[n]
		f := coord.SymbolFacts{Key: symbolKey(new.lang, path, n), Kind: g.defs[0].kind, Exported: g.exported(), Change: coord.Added, Compatibility: coord.Compatible}
		setSignatures(&f.Signature, &f.SignatureHash, g.signature())
		f.TextHash = g.textHash()
		out = append(out, f)
	}
	out = raiseConstructors(out, new.lang)
	for i := range out {
		if halfWritten && out[i].Compatibility == coord.Breaking {
			out[i].Compatibility = coord.Unknown
			out[i].Detail = detail(*out[i].Detail + "; the file does not parse at the moment")
		}
	}
	if opts.MetadataOnly {
		for i := range out {
			out[i].Signature, out[i].PreviousSignature, out[i].Detail = nil, nil, nil
			out[i].Takes = coord.HideParams(out[i].Takes)
		}
	}
	return out
}

// mentions tells whether the last part of a name stands in the source as a word.
func mentions(source []byte, name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	for at := 0; ; {
		i := bytes.Index(source[at:], []byte(last))
		if i < 0 {
			return false
		}
		i += at
		end := i + len(last)
		if (i == 0 || !isNameByte(source[i-1])) && (end == len(source) || !isNameByte(source[end])) {
			return true
		}
		at = end
	}
}

// renamedTo finds an added definition with the same signature but for the name.
func renamedTo(g *group, n string, olds, news map[string]*group, order []string) string {
	last := n[strings.LastIndexByte(n, '.')+1:]
	for _, m := range order {
		if olds[m] != nil || len(g.defs) != len(news[m].defs) || g.defs[0].kind != news[m].defs[0].kind {
			continue
		}
		to := m[strings.LastIndexByte(m, '.')+1:]
		if strings.Replace(g.signature(), last, to, 1) == news[m].signature() && g.defs[0].hasCall {
			return m
		}
	}
	return ""
}

func symbolKey(lang, path, name string) string {
	key := strings.ToValidUTF8(scope.Symbol{Lang: lang, Path: path, Name: name}.String(), "\uFFFD")
	if len(key) > scope.MaxSelector {
		key = strings.ToValidUTF8(key[:scope.MaxSelector], "")
	}
	return key
}

// changedSymbol compares one name's definitions, and tells whether there is
// anything to tell.
func changedSymbol(old, new *group, tr *traits) (coord.SymbolFacts, bool) {
	if len(old.defs) == len(new.defs) && old.exported() == new.exported() && old.own() == new.own() {
		return coord.SymbolFacts{}, false
	}
	f := coord.SymbolFacts{Kind: new.defs[0].kind, Exported: old.exported() || new.exported(), Change: coord.Modified, Compatibility: coord.Compatible, Lines: linesOf(old), TextHash: new.textHash()}
	own := old.own() != new.own()
	if tr.starred {
		// Of Python's overloads callers meet the last, which does the work.
		old, new = old.last(), new.last()
	}
	was, is := old.signature(), new.signature()
	setSignatures(&f.PreviousSignature, &f.PreviousSignatureHash, was)
	setSignatures(&f.Signature, &f.SignatureHash, is)
	if was == is && old.exported() == new.exported() {
		return f, own
	}
	f.Change = coord.Signature
	v := compareGroups(old, new, tr)
	if !old.exported() && new.exported() {
		v = verdict{coord.Compatible, "is now visible to others"}
	}
	f.Compatibility = v.compat
	if v.compat != coord.Compatible {
		f.Takes = takes(old, new, tr)
	}
	if v.detail != "" {
		f.Detail = detail(v.detail)
	}
	return f, true
}

// compareGroups judges overloads: one that is gone breaks its callers.
func compareGroups(old, new *group, tr *traits) verdict {
	gone, fresh := changedOverloads(old, new)
	var vs []verdict
	if len(gone) == len(fresh) {
		for i := range gone {
			vs = append(vs, compareDefs(gone[i], fresh[i], tr))
		}
		return worst(vs)
	}
	for _, d := range gone {
		vs = append(vs, verdict{coord.Breaking, fmt.Sprintf("overload %q removed", clip(d.head))})
	}
	for _, d := range fresh {
		vs = append(vs, verdict{coord.Compatible, fmt.Sprintf("overload %q added", clip(d.head))})
	}
	return worst(vs)
}

// changedOverloads returns those that are not on the other side as they were.
func changedOverloads(old, new *group) (gone, fresh []*def) {
	if len(old.defs) == 1 && len(new.defs) == 1 {
		return old.defs, new.defs
	}
	for _, d := range old.defs {
		if !containsHead(new.defs, d.head) {
			gone = append(gone, d)
		}
	}
	for _, d := range new.defs {
		if !containsHead(old.defs, d.head) {
			fresh = append(fresh, d)
		}
	}
	return gone, fresh
}

func containsHead(ds []*def, head string) bool {
	for _, d := range ds {
		if d.head == head {
			return true
		}
	}
	return false
}

func linesOf(g *group) *coord.LineCount {
	s := g.defs[0].span
	return &coord.LineCount{Start: int(s.row) + 1, Count: int(s.last-s.row) + 1}
}

func setSignatures(text, hash **string, s string) {
	h := hashText(s)
	*hash = &h
	if len(s) > maxSignature {
		s = strings.ToValidUTF8(s[:maxSignature], "")
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	*text = &s
}

func hashText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

func detail(s string) *string {
	if len(s) > maxDetail {
		s = strings.ToValidUTF8(s[:maxDetail-3], "") + "..."
	}
	return &s
}
