// Package lazy makes values when they are first used. Agents start svc at every
// edit, and svc hook uses few of the tables and expressions that are linked
// into it: what all starts would pay for at once, only those pay that need it.
// A package-level variable of it is written into the program by the compiler,
// and costs a start nothing. It is for tables and expressions that cannot
// fail; nothing made here may depend on the machine or the time.
package lazy

import (
	"regexp"
	"strings"
	"sync"
)

// An Expr is an expression.
type Expr struct {
	once sync.Once
	from string
	made *regexp.Regexp
}

// Regexp compiles an expression when it is first asked for.
func Regexp(expr string) *Expr { return &Expr{from: expr} }

// Get returns the expression.
func (e *Expr) Get() *regexp.Regexp {
	e.once.Do(func() { e.made = regexp.MustCompile(e.from) })
	return e.made
}

// A Set is a set of words.
type Set struct {
	once sync.Once
	from string
	made map[string]bool
}

// Words makes a set of the words in a list when it is first asked for.
func Words(list string) *Set { return &Set{from: list} }

// Has reports whether a word is one of them.
func (s *Set) Has(word string) bool { return s.Get()[word] }

// Get returns the words, for whoever goes through them.
func (s *Set) Get() map[string]bool {
	s.once.Do(func() {
		s.made = make(map[string]bool, len(s.from)/7) // to grow takes longer than all else
		for w := range strings.FieldsSeq(s.from) {
			s.made[w] = true
		}
	})
	return s.made
}

// A Table is whatever else a function makes.
type Table[T any] struct {
	Make func() T
	once sync.Once
	made T
}

// Get returns it.
func (t *Table[T]) Get() T {
	t.once.Do(func() { t.made = t.Make() })
	return t.made
}
