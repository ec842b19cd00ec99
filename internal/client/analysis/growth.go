package analysis

import (
	"iter"
	"slices"
	"strings"
)

const (
	maxIn     = 20  // definitions that are named for one reference
	maxInName = 200 // bytes of such a name
)

// growth names, for each thing that a file uses more often than it did, the
// definitions with more uses: who adapts or moves a use has none more.
func growth[K comparable](old, new *outline, was, now iter.Seq2[K, uint32]) map[K][]string {
	total := map[K]int{}
	for k := range was {
		total[k]--
	}
	for k := range now {
		total[k]++
	}
	by := map[K]map[string]int{}
	count := func(o *outline, uses iter.Seq2[K, uint32], n int) {
		for k, line := range uses {
			if total[k] <= 0 {
				continue
			}
			if by[k] == nil {
				by[k] = map[string]int{}
			}
			by[k][o.around(line)] += n
		}
	}
	count(old, was, -1)
	count(new, now, 1)
	out := map[K][]string{}
	for k, names := range by {
		for name, n := range names {
			if n > 0 {
				out[k] = append(out[k], name)
			}
		}
		slices.Sort(out[k])
		out[k] = out[k][:min(len(out[k]), maxIn)]
	}
	return out
}

// around names the innermost definition that a line stands in; "" for none.
func (o *outline) around(line uint32) string {
	name, size := "", ^uint32(0)
	for i := range o.defs {
		s := &o.defs[i].span
		if s.row <= line && line <= s.last && s.last-s.row <= size {
			name, size = o.defs[i].name, s.last-s.row
		}
	}
	if len(name) > maxInName {
		name = strings.ToValidUTF8(name[:maxInName], "")
	}
	return name
}

// next is the line of the first definition after a line, or that line.
func (o *outline) next(line uint32) uint32 {
	first := line
	for i := range o.defs {
		if row := o.defs[i].span.row; row > line && (first == line || row < first) {
			first = row
		}
	}
	return first
}

// eachUse visits uses with the lines of the definitions that they are in.
func (o *outline) eachUse(all []usedAt) iter.Seq2[use, uint32] {
	return func(yield func(use, uint32) bool) {
		for i := range all {
			line := all[i].line
			if all[i].mark {
				line = o.next(line)
			}
			if !yield(all[i].use, line) {
				return
			}
		}
	}
}
