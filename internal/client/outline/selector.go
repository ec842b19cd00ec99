package outline

import (
	"strings"

	"github.com/svc-hq/svc/internal/client/grammar"
)

// A trail leads from a node to a part of it: alternatives, each of steps.
type trail [][]step

// A step leads to a child.
type step struct {
	how   how
	field uint16
	kinds []uint16
}

type how uint8

const (
	toField   how = iota
	toDeepest     // follow a field down to its last node
	toKind
	toFirst
	toLast
	toNothing
)

// trail reads a selector: alternatives separated by |, each a path of steps
// separated by /. A step is a field, .kind for the first child of that kind,
// 0 and -1 for the first and last of any, or ~field to follow a field down to its last node.
func (s *syntax) trail(selector string) trail {
	var out trail
	for alt := range strings.SplitSeq(selector, "|") {
		var steps []step
		for word := range strings.SplitSeq(alt, "/") {
			switch {
			case word == "":
				steps = append(steps, step{how: toNothing})
			case word == "0":
				steps = append(steps, step{how: toFirst})
			case word == "-1":
				steps = append(steps, step{how: toLast})
			case word[0] == '.':
				steps = append(steps, step{how: toKind, kinds: s.grammar.KindIDs(word[1:])})
			case word[0] == '~':
				steps = append(steps, step{how: toDeepest, field: s.grammar.FieldID(word[1:])})
			default:
				steps = append(steps, step{how: toField, field: s.grammar.FieldID(word)})
			}
		}
		out = append(out, steps)
	}
	return out
}

// learn keeps what a selector says.
func (s *syntax) learn(selector string) {
	if _, known := s.trails[selector]; !known {
		s.trails[selector] = s.trail(selector)
	}
}

// part finds the part of node i that a selector leads to, or -1.
func (s *syntax) part(t *grammar.Tree, i int, selector string) int {
	if selector == "" {
		return -1
	}
	p, ok := s.trails[selector]
	if !ok {
		p = s.trail(selector)
	}
	for _, steps := range p {
		if at := follow(t, i, steps); at >= 0 && at != i {
			return at
		}
	}
	return -1
}

func follow(t *grammar.Tree, at int, steps []step) int {
	for _, st := range steps {
		switch st.how {
		case toField:
			at = t.ChildIn(at, st.field)
		case toDeepest:
			at = deepest(t, at, st.field)
		case toKind:
			at = t.ChildOf(at, st.kinds...)
		case toFirst:
			at = firstChild(t, at)
		case toLast:
			last := -1
			for c := range t.Children(at) {
				last = c
			}
			at = last
		default:
			return -1
		}
		if at < 0 {
			return -1
		}
	}
	return at
}

func firstChild(t *grammar.Tree, i int) int {
	if int(t.Nodes[i].Next) > i+1 {
		return i + 1
	}
	return -1
}

func deepest(t *grammar.Tree, i int, field uint16) int {
	at := i
	for {
		next := t.ChildIn(at, field)
		if next < 0 {
			if at == i {
				return -1
			}
			return at
		}
		at = next
	}
}
