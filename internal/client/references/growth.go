package references

import (
	"iter"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/references/locate"
)

const (
	maxIn     = 20  // definitions that are named for one reference
	maxInName = 200 // bytes of such a name
)

// growth names, for each thing that a file uses more often than it did, the
// definitions with more uses: who adapts or moves a use has none more.
func growth[K comparable](old, new *outline.File, was, now iter.Seq2[K, uint32]) map[K][]string {
	total := map[K]int{}
	for k := range was {
		total[k]--
	}
	for k := range now {
		total[k]++
	}
	by := map[K]map[string]int{}
	count := func(o *outline.File, uses iter.Seq2[K, uint32], n int) {
		for k, line := range uses {
			if total[k] <= 0 {
				continue
			}
			if by[k] == nil {
				by[k] = map[string]int{}
			}
			by[k][around(o, line)] += n
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
func around(o *outline.File, line uint32) string {
	name, size := "", ^uint32(0)
	for i := range o.Defs {
		s := &o.Defs[i].Span
		if s.Row <= line && line <= s.Last && s.Last-s.Row <= size {
			name, size = o.Defs[i].Name, s.Last-s.Row
		}
	}
	if len(name) > maxInName {
		name = strings.ToValidUTF8(name[:maxInName], "")
	}
	return name
}

// next is the line of the first definition after a line, or that line.
func next(o *outline.File, line uint32) uint32 {
	first := line
	for i := range o.Defs {
		if row := o.Defs[i].Span.Row; row > line && (first == line || row < first) {
			first = row
		}
	}
	return first
}

// eachUse visits uses with the lines of the definitions that they are in.
func eachUse(o *outline.File, all []usedAt) iter.Seq2[locate.Use, uint32] {
	return func(yield func(locate.Use, uint32) bool) {
		for i := range all {
			line := all[i].line
			if all[i].mark {
				line = next(o, line)
			}
			if !yield(all[i].Use, line) {
				return
			}
		}
	}
}
