package filing

import (
	"math/bits"
	"strings"

	"github.com/svc-hq/svc/internal/core/scope"
)

// maxTogether is how many patterns may stand at one node before further ones
// are filed apart by a piece of their text.
const maxTogether = 24

// gramSize is the longest piece by which patterns are filed apart.
const gramSize = 4

// splitAt returns where to file a pattern that belongs at dir. In a folder
// with many patterns each is filed by the least used piece of its literal
// text: a path can match it only if it holds that piece.
func (t *Tree) splitAt(dir uint32, pattern string) uint32 {
	if t.nodes[dir].patternCount < maxTogether {
		return dir
	}
	gram := t.rarestGram(dir, pattern)
	t.nodes[dir].gramSizes |= 1 << len(gram)
	return t.ensure(dir, gramSpace, gram)
}

func (t *Tree) rarestGram(dir uint32, pattern string) string {
	if strings.Contains(pattern, "[]") || strings.Contains(pattern, "[!]") || strings.Contains(pattern, "[^]") {
		return "" // a set that holds its own bracket: inSet cannot tell where it ends
	}
	for size := gramSize; size > 0; size-- {
		best, fewest := "", uint16(0)
		for i := 0; i+size <= len(pattern); i++ {
			gram := pattern[i : i+size]
			if strings.ContainsAny(gram, `*?[]/\`) || inSet(pattern, i) {
				continue
			}
			count := uint16(0)
			if id := t.find(dir, gramSpace, gram); id != 0 {
				count = t.nodes[id].patternCount
			}
			if best == "" || count < fewest {
				best, fewest = gram, count
			}
		}
		if best != "" {
			return best
		}
	}
	return ""
}

// inSet reports whether the text at i stands between brackets.
func inSet(pattern string, i int) bool {
	return strings.LastIndexByte(pattern[:i], '[') > strings.LastIndexByte(pattern[:i], ']')
}

// At visits what stands at a node itself.
func (t *Tree) At(id uint32, visit func(*Entry)) {
	for e := t.nodes[id].entries; e != 0; e = t.entries[e].next {
		visit(&t.entries[e])
	}
}

// Beside visits what stands where an entry does, itself included.
func (t *Tree) Beside(id uint32, visit func(*Entry)) { t.At(t.entries[id].node, visit) }

// Matching visits the claims with wildcards that select path, and everything
// that stands at path itself, whose node it returns (0 if there is none).
func (t *Tree) Matching(path string, visit func(*Entry)) uint32 {
	id, rest, more := root, t.cased(path), true
	for {
		t.patternsMatching(id, rest, visit)
		if !more {
			t.At(id, visit)
			return id
		}
		var elem string
		elem, rest, more = strings.Cut(rest, "/")
		if id = t.find(id, pathSpace, elem); id == 0 {
			return 0
		}
	}
}

func (t *Tree) patternsMatching(id uint32, rest string, visit func(*Entry)) {
	n := &t.nodes[id]
	t.patternsIn(n.patterns, rest, visit)
	if n.gramSizes == 0 {
		return
	}
	for size := range gramSize + 1 {
		if n.gramSizes&(1<<size) == 0 {
			continue
		}
		if size == 0 {
			if gram := t.find(id, gramSpace, ""); gram != 0 {
				t.patternsIn(t.nodes[gram].patterns, rest, visit)
			}
			continue
		}
		for i := 0; i+size <= len(rest); i++ {
			gram := rest[i : i+size]
			if g := t.find(id, gramSpace, gram); g != 0 && strings.Index(rest, gram) == i {
				t.patternsIn(t.nodes[g].patterns, rest, visit)
			}
		}
	}
}

func (t *Tree) patternsIn(head uint32, rest string, visit func(*Entry)) {
	for e := head; e != 0; e = t.entries[e].next {
		if scope.MatchPattern(t.patterns[t.entries[e].pattern], rest) {
			visit(&t.entries[e])
		}
	}
}

// A walk goes through the tree with a pattern. Its states are sets of
// positions: bit i says that the first i elements are used up.
type walk struct {
	t     *Tree
	elems []string
	tails []string // the pattern from element i on
	visit func(*Entry, bool)
}

// Overlapping visits what some path selected by pattern meets: claims whose
// globs overlap it, and what stands at paths that it selects. visit is told
// whether the entry stands below a file's symbols.
func (t *Tree) Overlapping(pattern string, visit func(e *Entry, inFile bool)) {
	w := walk{t: t, visit: visit}
	for rest, more := t.cased(pattern), true; more; {
		w.tails = append(w.tails, rest)
		var elem string
		elem, rest, more = strings.Cut(rest, "/")
		w.elems = append(w.elems, elem)
	}
	w.tails = append(w.tails, "")
	w.from(root, w.closure(1))
}

// closure lets each ** stand for nothing.
func (w *walk) closure(states uint64) uint64 {
	for i, elem := range w.elems {
		if elem == "**" && states&(1<<i) != 0 {
			states |= 1 << (i + 1)
		}
	}
	return states
}

func (w *walk) step(states uint64, name string) uint64 {
	var next uint64
	for s := states; s != 0; s &= s - 1 {
		i := bits.TrailingZeros64(s)
		switch {
		case i == len(w.elems):
		case w.elems[i] == "**":
			next |= 1 << i
		case scope.MatchElem(w.elems[i], name):
			next |= 1 << (i + 1)
		}
	}
	return w.closure(next)
}

func (w *walk) from(id uint32, states uint64) {
	t := w.t
	w.patternsAt(id, states)
	if states&(1<<len(w.elems)) != 0 {
		t.At(id, func(e *Entry) { w.visit(e, false) })
		w.symbolsBelow(id)
	}
	if elem, ok := w.onlyLiteral(states); ok {
		if child := t.find(id, pathSpace, elem); child != 0 {
			w.from(child, w.closure(states<<1))
		}
		if t.nodes[id].gramSizes == 0 {
			return
		}
	}
	for child := t.nodes[id].child; child != 0; child = t.nodes[child].next {
		switch n := &t.nodes[child]; n.space {
		case gramSpace:
			w.patternsAt(child, states)
		case pathSpace:
			if _, ok := w.onlyLiteral(states); ok {
				continue
			}
			if next := w.step(states, n.name); next != 0 {
				w.from(child, next)
			}
		}
	}
}

// onlyLiteral returns the one name by which the walk can go on, if it is one.
func (w *walk) onlyLiteral(states uint64) (string, bool) {
	if bits.OnesCount64(states) != 1 {
		return "", false
	}
	i := bits.TrailingZeros64(states)
	if i == len(w.elems) || scope.HasWildcard(w.elems[i]) || strings.Contains(w.elems[i], `\`) {
		return "", false
	}
	return w.elems[i], true
}

func (w *walk) patternsAt(id uint32, states uint64) {
	t := w.t
	for e := t.nodes[id].patterns; e != 0; e = t.entries[e].next {
		if w.meets(t.patterns[t.entries[e].pattern], states) {
			w.visit(&t.entries[e], false)
		}
	}
}

func (w *walk) meets(pattern string, states uint64) bool {
	for s := states; s != 0; s &= s - 1 {
		i := bits.TrailingZeros64(s)
		if i == len(w.elems) {
			if pattern == "**" {
				return true
			}
		} else if scope.PatternsOverlap(w.tails[i], pattern) {
			return true
		}
	}
	return false
}

// symbolsBelow visits what is claimed of the definitions in a file.
func (w *walk) symbolsBelow(id uint32) {
	for child := w.t.nodes[id].child; child != 0; child = w.t.nodes[child].next {
		if w.t.nodes[child].space == symbolSpace {
			w.t.At(child, func(e *Entry) { w.visit(e, true) })
			w.symbolsBelow(child)
		}
	}
}

// SymbolsIn visits what stands at the definitions of a file.
func (t *Tree) SymbolsIn(file uint32, visit func(*Entry)) {
	w := walk{t: t, visit: func(e *Entry, _ bool) { visit(e) }}
	w.symbolsBelow(file)
}

// Definitions visits what stands at a definition, at those that hold it and
// At those that it holds; exact tells which.
func (t *Tree) Definitions(s scope.Symbol, visit func(e *Entry, exact bool)) {
	id := t.FindPath(s.Path)
	if id == 0 {
		return
	}
	for rest, more := s.Name, true; more; {
		var name string
		name, rest, more = strings.Cut(rest, ".")
		if id = t.find(id, symbolSpace, name); id == 0 {
			return
		}
		t.At(id, func(e *Entry) { visit(e, !more) })
	}
	t.SymbolsIn(id, func(e *Entry) { visit(e, false) })
}
