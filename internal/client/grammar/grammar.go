// Package grammar turns source text into a flat array of syntax nodes. It is
// the only package with C: tree-sitter parses, and one call brings the whole
// tree over. A build without a C compiler has the same C as WebAssembly, and
// makes the same trees; one with the tag lean or apart has no C and asks a
// program that has (Use).
//
// Nothing happens at start-up: a language's tables are touched when a file of
// that language is parsed.
package grammar

import (
	"errors"
	"math"
	"slices"
	"sync"
)

// ErrUnsupported is returned for a language this build cannot parse.
var ErrUnsupported = errors.New("no grammar for this language")

// ErrMemory is returned when there was not enough memory to parse.
var ErrMemory = errors.New("no memory to parse")

// ErrTimeout is returned when parsing took longer than allowed.
var ErrTimeout = errors.New("parsing took too long")

// A Node is a named node of a syntax tree, in order of first visit.
type Node struct {
	Kind   uint16 // index into the language's kinds
	Field  uint16 // index into the language's fields; 0 for none
	Depth  uint16
	Flags  Flags
	Start  uint32 // first byte
	End    uint32 // byte after the last
	Row    uint32 // line of the first byte, from 0
	EndRow uint32
	Next   uint32 // index of the first node after this one's descendants
}

// Flags tell what is special about a node.
type Flags uint16

const (
	Broken  Flags = 1 << iota // it stands for text that does not parse
	Missing                   // the parser made it up
)

// A Tree is a parsed file.
type Tree struct {
	Language *Language
	Source   []byte
	Nodes    []Node // the root is first
	text     string // the source again, which texts of nodes are parts of
}

func newTree(l *Language, source []byte, nodes []Node) *Tree {
	return &Tree{Language: l, Source: source, Nodes: nodes, text: string(source)}
}

// A Language names the kinds and fields of its nodes.
type Language struct {
	Name   string
	kinds  []string
	fields []string

	mu     sync.Mutex
	byKind map[string][]uint16
}

// Kind is the name of a node's kind.
func (t *Tree) Kind(i int) string { return t.Language.kinds[t.Nodes[i].Kind] }

// Field is the name of the field that a node fills in its parent.
func (t *Tree) Field(i int) string { return t.Language.fields[t.Nodes[i].Field] }

// Text is the source of a node.
func (t *Tree) Text(i int) string {
	n := &t.Nodes[i]
	return t.text[n.Start:n.End]
}

// Whole is the source as a string, which is there already.
func (t *Tree) Whole() string { return t.text }

// Children yields the indexes of a node's named children.
func (t *Tree) Children(i int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		end := int(t.Nodes[i].Next)
		for c := i + 1; c < end; c = int(t.Nodes[c].Next) {
			if !yield(c) {
				return
			}
		}
	}
}

// Child returns the first child that fills a field, or -1.
func (t *Tree) Child(i int, field string) int { return t.ChildIn(i, t.Language.FieldID(field)) }

// ChildIn returns the first child that fills the field of a number, or -1.
func (t *Tree) ChildIn(i int, field uint16) int {
	end := int(t.Nodes[i].Next)
	for c := i + 1; c < end; c = int(t.Nodes[c].Next) {
		if t.Nodes[c].Field == field {
			return c
		}
	}
	return -1
}

// ChildOf returns the first child whose kind has one of the numbers, or -1.
func (t *Tree) ChildOf(i int, kinds ...uint16) int {
	end := int(t.Nodes[i].Next)
	for c := i + 1; c < end; c = int(t.Nodes[c].Next) {
		if slices.Contains(kinds, t.Nodes[c].Kind) {
			return c
		}
	}
	return -1
}

// Broken tells whether part of the source did not parse.
func (t *Tree) Broken() bool {
	return slices.ContainsFunc(t.Nodes, func(n Node) bool { return n.Flags != 0 })
}

// KindIDs returns the numbers of the kinds with this name: a grammar may have
// several.
func (l *Language) KindIDs(name string) []uint16 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byKind == nil {
		l.byKind = make(map[string][]uint16, len(l.kinds))
		ids := make([]uint16, len(l.kinds)) // nearly all names have one
		for i, k := range l.kinds {
			ids[i] = uint16(i)
			if same := l.byKind[k]; same != nil {
				l.byKind[k] = append(same, ids[i])
			} else {
				l.byKind[k] = ids[i : i+1 : i+1]
			}
		}
	}
	return l.byKind[name]
}

// NoField is the number of a field that the language does not have.
const NoField = math.MaxUint16

// FieldID returns the number of a field, or NoField.
func (l *Language) FieldID(name string) uint16 {
	if i := slices.Index(l.fields, name); i > 0 {
		return uint16(i)
	}
	return NoField
}

// Kinds is how many kinds the language has.
func (l *Language) Kinds() int { return len(l.kinds) }
