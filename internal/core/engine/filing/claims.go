package filing

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// AddClaim files one claim, whose selector is canonical. A selector that
// cannot be read stands for nothing.
func (t *Tree) AddClaim(ids []uint32, c *coord.Claim, owner uint32, sub uint16) []uint32 {
	if c.Mode == coord.Observe {
		return ids
	}
	e := Entry{Owner: owner, Sub: sub, Kind: Claim}
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
				ids = append(ids, t.Add(t.ensurePath(root, path), e))
			}
		}
	default:
		for _, at := range t.EnsureKeys(c.Selector) {
			ids = append(ids, t.Add(at, e))
		}
	}
	return ids
}

// ensureKey returns the node of a symbol or contract.
func (t *Tree) ensureKey(key string) (uint32, bool) {
	if IsSymbol(key) {
		sym, err := scope.ParseSymbol(key)
		if err != nil {
			return 0, false
		}
		return t.ensureSymbol(sym), true
	}
	return t.ensure(root, contractSpace, key), true
}

// EnsureKeys returns the nodes that something is filed at: its own, and of a
// route the one where those meet that differ only by their prefix.
func (t *Tree) EnsureKeys(key string) []uint32 {
	at, ok := t.ensureKey(key)
	if !ok {
		return nil
	}
	if loose := scope.LooseKey(key); loose != "" {
		return []uint32{at, t.ensure(root, contractSpace, loose)}
	}
	return []uint32{at}
}

// IsSymbol tells symbols from contract keys.
func IsSymbol(key string) bool {
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

// Below visits what stands at the paths under a node.
func (t *Tree) Below(id uint32, visit func(*Entry)) {
	for child := t.nodes[id].child; child != 0; child = t.nodes[child].next {
		if t.nodes[child].space == pathSpace {
			t.At(child, visit)
			t.Below(child, visit)
		}
	}
}

// AddPath files an entry at a path.
func (t *Tree) AddPath(path string, e Entry) uint32 { return t.Add(t.ensurePath(root, path), e) }

// FindContract returns the node of a contract, or 0.
func (t *Tree) FindContract(key string) uint32 { return t.find(root, contractSpace, key) }
