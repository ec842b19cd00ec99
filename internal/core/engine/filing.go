package engine

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// addClaim files one claim, whose selector is canonical. A selector that
// cannot be read stands for nothing.
func (t *tree) addClaim(ids []uint32, c *coord.Claim, owner uint32, sub uint16) []uint32 {
	if c.Mode == coord.Observe {
		return ids
	}
	e := entry{owner: owner, sub: sub, kind: claimEntry}
	switch c.Kind {
	case coord.ClaimPath:
		g, err := scope.ParseGlob(c.Selector)
		if err != nil {
			return ids
		}
		for _, p := range g.Patterns() {
			if scope.HasWildcard(p) {
				ids = append(ids, t.addPattern(p, owner, sub))
			} else {
				path, _ := scope.SplitPattern(p)
				ids = append(ids, t.add(t.ensurePath(root, path), e))
			}
		}
	default:
		if at, ok := t.ensureKey(c.Selector); ok {
			ids = append(ids, t.add(at, e))
		}
	}
	return ids
}

// ensureKey returns the node of a symbol or contract.
func (t *tree) ensureKey(key string) (uint32, bool) {
	if isSymbol(key) {
		sym, err := scope.ParseSymbol(key)
		if err != nil {
			return 0, false
		}
		return t.ensureSymbol(sym), true
	}
	return t.ensure(root, contractSpace, key), true
}

// ensureKeys returns the nodes that something is filed at: its own, and of a
// route the one where those meet that differ only by their prefix.
func (t *tree) ensureKeys(key string) []uint32 {
	at, ok := t.ensureKey(key)
	if !ok {
		return nil
	}
	if loose := scope.LooseKey(key); loose != "" {
		return []uint32{at, t.ensure(root, contractSpace, loose)}
	}
	return []uint32{at}
}

// isSymbol tells symbols from contract keys.
func isSymbol(key string) bool {
	if strings.HasPrefix(key, "sym:") {
		return true
	}
	for _, p := range scope.ContractPrefixes() {
		if strings.HasPrefix(key, p) {
			return false
		}
	}
	return strings.Contains(key, "#")
}

// addPaths files a change by its paths.
func (t *tree) addPaths(c *Change, at uint32) []uint32 {
	f := &c.Facts
	ids := []uint32{t.add(t.ensurePath(root, f.Path), entry{owner: at, kind: changeEntry})}
	if f.OldPath != nil && *f.OldPath != f.Path {
		ids = append(ids, t.add(t.ensurePath(root, *f.OldPath), entry{owner: at, kind: oldPathEntry}))
	}
	return ids
}

// addKeys files a change by the definitions and contracts it is about.
func (t *tree) addKeys(c *Change, at uint32, ids []uint32) []uint32 {
	f := &c.Facts
	file := func(key string, kind entryKind, sub int) {
		for _, node := range t.ensureKeys(key) {
			ids = append(ids, t.add(node, entry{owner: at, sub: uint16(sub), kind: kind}))
		}
	}
	former := formerKeys(f)
	for i, s := range f.Symbols {
		if s.Change == coord.Same {
			continue
		}
		file(s.Key, symbolEntry, i)
		if key := former[i]; key != "" {
			file(key, symbolEntry, i)
		}
	}
	for i, k := range f.Contracts {
		file(k.Key, contractEntry, i)
	}
	for i, ref := range f.References {
		file(ref.Key, referenceEntry, i)
	}
	return ids
}
