package engine

import (
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine/filing"
	"github.com/svc-hq/svc/internal/core/scope"
)

// addBreak adds a change that may fail a use, unless who uses it made the same
// change: a branch that was merged by a copy of its commits goes on with it.
func (g *gatherer) addBreak(what hitKind, ours, theirs item, other *Worker) {
	changed, use, changer, user := ours, theirs, g.self, other
	if what == theyBreak {
		changed, use, changer, user = theirs, ours, other, g.self
	}
	if definition(changed) && (g.didToo(changed, user) || g.usesToo(use, changer) || g.movedAlong(changed, use, changer) ||
		g.handsOn(changed, use, changer) || g.broughtIn(changed, use, changer)) {
		return
	}
	g.add(what, ours, theirs, other)
}

// definition reports whether an item changes a definition, by its file or by
// its package.
func definition(it item) bool {
	return it.kind == symbolEntry || it.kind == contractEntry && ofPackage(it.key())
}

// cause returns the key of what a broken use comes from: members that went with
// their class or enum are one cause, not one each.
func cause(changed item) string {
	key := changed.key()
	if change, _, _ := changed.effect(); change != coord.Removed {
		return key
	}
	gone := func(outer string) bool {
		f := &changed.change.Facts
		if changed.kind == symbolEntry {
			return slices.ContainsFunc(f.Symbols, func(s coord.SymbolFacts) bool { return s.Key == outer && s.Change == coord.Removed })
		}
		return slices.ContainsFunc(f.Contracts, func(k coord.ContractFacts) bool {
			return k.Key == outer && k.Role == coord.Provides && k.Change == coord.Removed
		})
	}
	hash := strings.IndexByte(key, '#')
	for outer := key; ; {
		dot := strings.LastIndexByte(outer, '.')
		if hash < 0 || dot < hash {
			return key
		}
		if outer = outer[:dot]; gone(outer) {
			key = outer
		}
	}
}

func ofPackage(key string) bool { return strings.HasPrefix(key, "pkg:") }

// usesToo reports whether who changed a definition has the new use as well, in
// the same file: then it was adapted along. Who only adapted the uses that were
// there, or has new ones in other definitions, leaves the other side's as they are.
func (g *gatherer) usesToo(use item, changer *Worker) bool {
	if use.kind != referenceEntry {
		return false
	}
	too, in := false, use.change.Facts.References[use.sub].In
	g.ownAt(use.key(), changer, func(e *entry, c *Change) {
		too = too || e.Kind == referenceEntry && c.Facts.Path == use.file() && subset(in, c.Facts.References[e.Sub].In)
	})
	return too
}

// movedAlong reports whether who moved a definition to another folder moved the
// file of the use there too: git takes the other side's edit along, and beside
// each other the two find each other as before.
func (g *gatherer) movedAlong(changed, use item, changer *Worker) bool {
	if changed.kind != symbolEntry || use.change == nil {
		return false
	}
	f, from := &changed.change.Facts, basePath(&use.change.Facts)
	sym, err := scope.ParseSymbol(changed.key())
	if err != nil || from == "" || sym.Path == f.Path || sym.Path != basePath(f) || path.Dir(sym.Path) != path.Dir(from) {
		return false
	}
	at := g.repo.tree.FindPath(from)
	if at == 0 {
		return false
	}
	along := false
	g.repo.tree.At(at, func(e *entry) {
		if e.Kind != oldPathEntry || along {
			return
		}
		c := g.ix.changes[e.Owner].c
		along = g.ix.ownerID(c) == changer.ID && path.Dir(newPath(&c.Facts)) == path.Dir(f.Path)
	})
	return along
}

// handsOn reports whether who removed a definition also changed the file that
// hands it on: that one gives it from elsewhere now, mostly.
func (g *gatherer) handsOn(changed, use item, changer *Worker) bool {
	change, _, _ := changed.effect()
	if change != coord.Removed || use.kind != referenceEntry {
		return false
	}
	via := use.change.Facts.References[use.sub].Via
	if via == "" {
		return false
	}
	does := false
	g.changesTo(via, changer, func(*Change) { does = true })
	return does
}

// broughtIn reports whether a use finds a definition that was removed all the
// same, since who removed it has the name from another file now, in the file of
// the use.
func (g *gatherer) broughtIn(changed, use item, changer *Worker) bool {
	change, _, _ := changed.effect()
	if change != coord.Removed || changed.kind != symbolEntry || use.kind != referenceEntry {
		return false
	}
	key := changed.key()
	name := key[strings.IndexByte(key, '#'):]
	has := false
	g.changesTo(use.file(), changer, func(c *Change) {
		has = has || slices.ContainsFunc(c.Facts.References, func(r coord.Reference) bool {
			return r.Key != key && strings.HasSuffix(r.Key, name)
		})
	})
	return has
}

// changesTo visits the changes of one worker to a file.
func (g *gatherer) changesTo(file string, w *Worker, visit func(*Change)) {
	at := g.repo.tree.FindPath(file)
	if at == 0 {
		return
	}
	g.repo.tree.At(at, func(e *entry) {
		if e.Kind != changeEntry {
			return
		}
		if c := g.ix.changes[e.Owner].c; g.ix.ownerID(c) == w.ID {
			visit(c)
		}
	})
}

func subset(a, b []string) bool {
	return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}

// didToo reports whether a worker left a definition as somebody else did.
func (g *gatherer) didToo(changed item, w *Worker) bool {
	did := false
	g.ownAt(changed.key(), w, func(e *entry, c *Change) {
		if e.Kind == changed.kind && !did {
			did = sameDoing(changed, item{kind: e.Kind, change: c, sub: int32(e.Sub)})
		}
	})
	return did
}

// sameDoing reports whether two items change a definition alike.
func sameDoing(a, b item) bool {
	same := func(x, y *string) bool { return x != nil && y != nil && *x == *y }
	if a.kind == symbolEntry {
		s, t := a.symbol(), b.symbol()
		return t.Change != coord.Same && (sameText(s, t) || same(s.SignatureHash, t.SignatureHash))
	}
	k, l := a.contract(), b.contract()
	return l.Role == coord.Provides && l.Change == k.Change && (k.Change == coord.Removed || same(k.SignatureHash, l.SignatureHash))
}

// ownAt visits the changes of one worker that stand at a definition.
func (g *gatherer) ownAt(key string, w *Worker, visit func(*entry, *Change)) {
	g.repo.atKey(key, func(e *entry) {
		if e.Kind != symbolEntry && e.Kind != contractEntry && e.Kind != referenceEntry {
			return
		}
		if c := g.ix.changes[e.Owner].c; g.ix.ownerID(c) == w.ID {
			visit(e, c)
		}
	})
}

// atKey visits what stands at a definition or contract.
func (r *repo) atKey(key string, visit func(*entry)) {
	at := uint32(0)
	if !filing.IsSymbol(key) {
		at = r.tree.FindContract(key)
	} else if sym, err := scope.ParseSymbol(key); err == nil {
		at = r.tree.FindSymbol(sym)
	}
	if at != 0 {
		r.tree.At(at, visit)
	}
}

// inSight reports whether who changes a definition in a use's own repository
// had that use before them. Of those that go by their package's name, the
// facts list every use of a file that was touched; the new ones are references.
func inSight(use item) bool { return use.kind == contractEntry && ofPackage(use.key()) }
