// Package filing keeps what is live in a repository by where it is, so that a
// lookup meets what it overlaps and little else. It knows places and numbers:
// what an entry stands for, and whether two of them collide, only the engine
// can tell.
package filing

import (
	"hash/maphash"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/svc-hq/svc/internal/core/scope"
)

// A Tree files what is live in a repo by where it is, so that a lookup meets
// what it overlaps and little else. A path is a walk from the root, one node
// an element; symbols hang below their file, contracts below the root.
//
//   - A claim on a literal path, and a change, stand at that path's node.
//   - A claim with wildcards stands at the node of its literal leading
//     elements, with the rest as a pattern.
//
// Nodes and entries refer to each other by number and lie in slices: a
// pointer each would double the memory and slow the collector.
type Tree struct {
	nodes    []node
	entries  []Entry
	patterns []string
	table    []uint32 // nodes by parent, space and name: open addressing, 0 is empty
	seed     maphash.Seed

	freeNode, freeEntry uint32
	freePatterns        []uint32
	live                int  // nodes in the table
	Fold                bool // paths that differ in case alone are one
}

// cased returns a path or pattern as it is filed. The disks that do not tell
// case apart do not tell é from e with an accent after it either.
func (t *Tree) cased(path string) string {
	if t.Fold {
		return strings.ToLower(norm.NFC.String(path))
	}
	return path
}

// A space keeps names of different sorts apart.
type space uint8

const (
	pathSpace space = iota
	symbolSpace
	contractSpace
	gramSpace // see splitAt
)

const root uint32 = 0

// A node is one place. In a chain, 0 ends it.
type node struct {
	name              string // shares the memory of a selector
	parent            uint32
	child, prev, next uint32
	entries           uint32 // what stands exactly here
	patterns          uint32 // claims with wildcards below here
	patternCount      uint16
	gramSizes         uint8 // bit n: patterns are filed by pieces of n bytes
	space             space
}

// A Kind tells what an entry stands for.
type Kind uint8

const (
	Claim     Kind = iota + 1 // owner is a worker, sub the claim
	Pattern                   // the same, for one alternative of a glob
	Change                    // owner is a change
	OldPath                   // a change that renamed the file away from here
	Former                    // a change of a file that the default branch had here before
	Symbol                    // a changed definition: sub is the symbol
	Contract                  // a changed or used contract: sub is the contract
	Reference                 // a new use: sub is the reference
	Use                       // live code: owner is a file of uses, sub the use
	Number                    // a new file that takes the number of a migration
)

// An Entry says that something stands at a node: Owner and Sub are numbers that
// whoever files it understands.
type Entry struct {
	Owner      uint32
	node       uint32
	prev, next uint32
	pattern    uint32 // of a Pattern
	Sub        uint16
	Kind       Kind
}

// extend appends x and leaves less room to spare than append does.
func extend[T any](s []T, x T) []T {
	if len(s) == cap(s) {
		s = append(make([]T, 0, len(s)+len(s)/12+16), s...)
	}
	return append(s, x)
}

// New returns an empty tree.
func New() *Tree {
	return &Tree{
		nodes:    make([]node, 1),
		entries:  make([]Entry, 1),
		patterns: make([]string, 1),
		table:    make([]uint32, 16),
		seed:     maphash.MakeSeed(),
	}
}

func (t *Tree) slot(parent uint32, sp space, name string) uint64 {
	return (maphash.String(t.seed, name) + uint64(parent)*0x9e3779b97f4a7c15 + uint64(sp)) & uint64(len(t.table)-1)
}

// find returns the child of that name, or 0.
func (t *Tree) find(parent uint32, sp space, name string) uint32 {
	mask := uint64(len(t.table) - 1)
	for at := t.slot(parent, sp, name); ; at = (at + 1) & mask {
		id := t.table[at]
		if id == 0 {
			return 0
		}
		if n := &t.nodes[id]; n.parent == parent && n.space == sp && n.name == name {
			return id
		}
	}
}

// FindPath returns the node of a path, or 0.
func (t *Tree) FindPath(path string) uint32 {
	id, more := root, true
	path = t.cased(path)
	for more {
		var elem string
		elem, path, more = strings.Cut(path, "/")
		if id = t.find(id, pathSpace, elem); id == 0 {
			return 0
		}
	}
	return id
}

// FindSymbol returns the node of a symbol, or 0.
func (t *Tree) FindSymbol(s scope.Symbol) uint32 {
	id := t.FindPath(s.Path)
	for rest, more := s.Name, true; more && id != 0; {
		var name string
		name, rest, more = strings.Cut(rest, ".")
		id = t.find(id, symbolSpace, name)
	}
	return id
}

func (t *Tree) ensure(parent uint32, sp space, name string) uint32 {
	if id := t.find(parent, sp, name); id != 0 {
		return id
	}
	id := t.freeNode
	if id != 0 {
		t.freeNode = t.nodes[id].next
	} else {
		t.nodes = extend(t.nodes, node{})
		id = uint32(len(t.nodes) - 1)
	}
	first := t.nodes[parent].child
	t.nodes[id] = node{name: name, parent: parent, space: sp, next: first}
	if first != 0 {
		t.nodes[first].prev = id
	}
	t.nodes[parent].child = id
	if t.live++; t.live*4 > len(t.table)*3 {
		t.grow()
	}
	t.enter(id)
	return id
}

func (t *Tree) enter(id uint32) {
	n := &t.nodes[id]
	mask := uint64(len(t.table) - 1)
	at := t.slot(n.parent, n.space, n.name)
	for t.table[at] != 0 {
		at = (at + 1) & mask
	}
	t.table[at] = id
}

func (t *Tree) grow() {
	old := t.table
	t.table = make([]uint32, len(old)*2)
	for _, id := range old {
		if id != 0 {
			t.enter(id)
		}
	}
}

func (t *Tree) ensurePath(from uint32, path string) uint32 {
	path = t.cased(path)
	for more := path != ""; more; {
		var elem string
		elem, path, more = strings.Cut(path, "/")
		from = t.ensure(from, pathSpace, elem)
	}
	return from
}

func (t *Tree) ensureSymbol(s scope.Symbol) uint32 {
	id := t.ensurePath(root, s.Path)
	for rest, more := s.Name, true; more; {
		var name string
		name, rest, more = strings.Cut(rest, ".")
		id = t.ensure(id, symbolSpace, name)
	}
	return id
}

// Add puts e at a node and returns its number.
func (t *Tree) Add(at uint32, e Entry) uint32 {
	id := t.freeEntry
	if id != 0 {
		t.freeEntry = t.entries[id].next
	} else {
		t.entries = extend(t.entries, Entry{})
		id = uint32(len(t.entries) - 1)
	}
	head := t.head(at, e.Kind)
	e.node, e.prev, e.next = at, 0, *head
	if *head != 0 {
		t.entries[*head].prev = id
	}
	*head = id
	t.entries[id] = e
	if e.Kind == Pattern {
		t.nodes[at].patternCount++
	}
	return id
}

func (t *Tree) head(at uint32, k Kind) *uint32 {
	if k == Pattern {
		return &t.nodes[at].patterns
	}
	return &t.nodes[at].entries
}

// addPattern files a claim with wildcards.
func (t *Tree) addPattern(pattern string, owner uint32, sub uint16) uint32 {
	dir, rest := scope.SplitPattern(t.cased(pattern))
	at := t.splitAt(t.ensurePath(root, dir), rest)
	var slot uint32
	if n := len(t.freePatterns); n > 0 {
		slot, t.freePatterns = t.freePatterns[n-1], t.freePatterns[:n-1]
		t.patterns[slot] = rest
	} else {
		t.patterns = extend(t.patterns, rest)
		slot = uint32(len(t.patterns) - 1)
	}
	return t.Add(at, Entry{Owner: owner, Sub: sub, Kind: Pattern, pattern: slot})
}

func (t *Tree) RemoveAll(ids []uint32) {
	for _, id := range ids {
		t.remove(id)
	}
}

// remove takes an entry out, and the nodes that nothing needs any more.
func (t *Tree) remove(id uint32) {
	e := t.entries[id]
	if e.prev != 0 {
		t.entries[e.prev].next = e.next
	} else {
		*t.head(e.node, e.Kind) = e.next
	}
	if e.next != 0 {
		t.entries[e.next].prev = e.prev
	}
	if e.Kind == Pattern {
		t.nodes[e.node].patternCount--
		t.patterns[e.pattern] = ""
		t.freePatterns = append(t.freePatterns, e.pattern)
	}
	t.entries[id] = Entry{next: t.freeEntry}
	t.freeEntry = id
	t.prune(e.node)
}

func (t *Tree) prune(id uint32) {
	for id != root {
		n := t.nodes[id]
		if n.child != 0 || n.entries != 0 || n.patterns != 0 {
			return
		}
		t.leave(id)
		if n.prev != 0 {
			t.nodes[n.prev].next = n.next
		} else {
			t.nodes[n.parent].child = n.next
		}
		if n.next != 0 {
			t.nodes[n.next].prev = n.prev
		}
		t.nodes[id] = node{next: t.freeNode}
		t.freeNode = id
		t.live--
		id = n.parent
	}
}

// leave takes a node out of the table and moves up what its going would make
// unreachable.
func (t *Tree) leave(id uint32) {
	mask := uint64(len(t.table) - 1)
	n := &t.nodes[id]
	hole := t.slot(n.parent, n.space, n.name)
	for t.table[hole] != id {
		hole = (hole + 1) & mask
	}
	for at := (hole + 1) & mask; t.table[at] != 0; at = (at + 1) & mask {
		m := &t.nodes[t.table[at]]
		home := t.slot(m.parent, m.space, m.name)
		if (at-home)&mask >= (at-hole)&mask {
			t.table[hole] = t.table[at]
			hole = at
		}
	}
	t.table[hole] = 0
}
