// Package lazy makes values when they are first used. Agents start svc at every
// edit, and svc hook uses few of the tables and expressions that are linked
// into it: what all starts would pay for at once, only those pay that need it.
// It is for tables and expressions that cannot fail; nothing made here may
// depend on the machine or the time.
package lazy

import (
	"regexp"
	"strings"
	"sync"
)

// Regexp compiles an expression when it is first asked for.
func Regexp(expr string) func() *regexp.Regexp {
	return (&once[*regexp.Regexp]{from: expr, make: regexp.MustCompile}).get
}

// once is sync.OnceValue for what cannot fail, with a third of its allocations:
// hundreds are made at every start.
type once[T any] struct {
	sync.Once
	from  string
	make  func(string) T
	value T
}

func (o *once[T]) get() T {
	o.Do(func() { o.value = o.make(o.from) })
	return o.value
}

// Words makes a set of the words in a list when it is first asked for.
func Words(list string) func() map[string]bool {
	return (&once[map[string]bool]{from: list, make: setOf}).get
}

func setOf(list string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		out[w] = true
	}
	return out
}
