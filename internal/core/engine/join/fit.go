// Package join decides which texts that look like paths are uses of a route. A
// provider leads: its route is held against the texts of the repositories that
// may talk to it, end against end, since what stands before is mostly a setting.
// What is handed to one function of a program goes to one place: so texts vote,
// function by function, for whose routes they are and for what stands before
// them, and one text is judged by the others that go the same way. Besides, how
// sure it is comes from how rare the words are, from the method, and from what
// people say. It does not decide who is told.
package join

import "github.com/svc-hq/svc/internal/core/scope"

// A Fit is how a text and a route go together.
type Fit struct {
	Words   []scope.Word // that both have
	Filled  int          // words of the route where the text has something filled in
	Valued  int          // words of the text where the route has a parameter
	Missing int          // words of the route before what the text says, base words apart
	Extra   int          // words of the text before the route, base words apart
	Equal   bool         // nothing at all stands before either
	shift   shift
}

// A shift is where a provider has a route and what stands before the one or the
// other, as a hash: texts that go the same way have the same.
type shift uint64

// Whole reports whether nothing but base words stands before the one or the
// other.
func (f *Fit) Whole() bool { return f.Missing == 0 && f.Extra == 0 }

// exact reports whether all words of the one are words of the other.
func (f *Fit) exact() bool { return f.Filled+f.Valued == 0 }

// Fits holds a text against a route, end against end.
func Fits(route, text scope.Form) (f Fit, ok bool) {
	n := min(len(route), len(text))
	for i := 1; i <= n; i++ { // most differ, and need no list
		if r, t := route[len(route)-i], text[len(text)-i]; r != t && r != 0 && t != 0 {
			return Fit{}, false
		}
	}
	f.Words = make([]scope.Word, 0, n)
	for i := 1; i <= n; i++ {
		r, t := route[len(route)-i], text[len(text)-i]
		switch {
		case r == t:
			if r != 0 {
				f.Words = append(f.Words, r)
			}
		case t == 0:
			f.Filled++
		default:
			f.Valued++
		}
	}
	lacks, adds := route[:len(route)-n], text[:len(text)-n]
	f.Missing, f.Extra, f.shift = before(lacks), before(adds), shiftOf(route, lacks, adds)
	f.Equal = len(lacks)+len(adds) == 0
	for _, w := range f.Words {
		if w.Kind() != scope.BaseWord {
			return f, true
		}
	}
	return Fit{}, false // nothing that says what is asked for
}

func before(f scope.Form) (n int) {
	for _, w := range f {
		if w != 0 && w.Kind() != scope.BaseWord {
			n++
		}
	}
	return n
}

func shiftOf(route, lacks, adds scope.Form) shift {
	var s shift
	for _, w := range route {
		if w.Kind() != scope.BaseWord {
			break
		}
		s = s*1_000_037 + shift(w)
	}
	for _, w := range lacks {
		s = s*1_000_003 + shift(w) + 1
	}
	for _, w := range adds {
		s = s*1_000_033 + shift(w) + 2
	}
	return s
}

// better reports whether a text goes together with one route more closely than
// with another.
func (f *Fit) better(than *Fit) bool {
	a := [4]int{len(f.Words), -f.Valued, -f.Filled, -f.Missing - f.Extra}
	b := [4]int{len(than.Words), -than.Valued, -than.Filled, -than.Missing - than.Extra}
	for i := range a {
		if a[i] != b[i] {
			return a[i] > b[i]
		}
	}
	return false
}

// A Certainty is how sure it is that a text is a use of a route.
type Certainty uint8

// The three words for it. What is not said is told nobody.
const (
	NotSaid Certainty = iota
	Probably
	Sure
)

// Agreement is what the method of a route and what stands beside a text say of
// each other.
type Agreement uint8

// From worst to best.
const (
	Contradicts Agreement = iota // another method is written there
	Doubtful                     // a name, or what goes the same way, makes another likely
	Unknown
	Likely // a name makes it likely
	Stated // it is written there, or goes without saying
)

// Evidence is all that speaks for a text being a use of a route.
type Evidence struct {
	Fit    Fit
	Weight float64 // of the words that agree: 1 for each that is rare in the org
	Common float64 // of the words of other routes that the two repositories have in common
	Votes  int     // other texts that go the same way and fit a route of the provider, with the same before it
	Share  float64 // of all that go the same way
	Led    bool    // no more of them fit with something else before it
	Usual  bool    // most of what the two have in common has the same before it
	Main   bool    // nothing else stands before more of it
	Said   bool    // people say that the two belong together
	Method Agreement
	Rivals bool // a route of the repository itself, or of another provider, fits as well
}

// said is what a person's word is worth, in words in common.
const said = 3

// Judge tells how sure it is.
func Judge(e Evidence) Certainty {
	if e.Method <= Doubtful || !e.Led && (e.Votes < 3 || !e.Fit.Whole()) || !e.Usual && (e.Votes < 9 || e.Share < 0.8) {
		return NotSaid // a page, a file, or what goes elsewhere
	}
	if len(e.Fit.Words) == 1 && e.Fit.Missing > 0 && !e.Main {
		return NotSaid // a word that may be anything's
	}
	common := e.Common
	if e.Said {
		common += said
	}
	c, sharing := NotSaid, e.Share
	if e.Main && e.Votes >= 9 && common >= 5 && e.Fit.Whole() && sharing >= 0.2 {
		sharing = max(sharing, 0.5) // so many are no accident, whatever else goes that way
	}
	switch {
	case common >= 3 && e.Share >= 0.5 && e.Votes >= 2 && e.Weight >= 0.25,
		common >= 2 && e.Share >= 0.5 && e.Votes >= 1 && e.Weight >= 1 && e.Fit.Whole():
		c = Sure
	case common >= 3 && sharing >= 0.3 && e.Votes >= 2,
		common >= 1.5 && sharing >= 0.5 && e.Weight+common >= 3 && (e.Votes > 0 || e.Fit.Whole()),
		common >= 5 && e.Weight >= 1.5 && e.Fit.Whole(),
		e.Weight >= 2 && e.Share >= 0.5 && e.Fit.Whole() && e.Fit.exact() && e.Method == Stated && !e.Rivals:
		c = Probably
	}
	if c == Sure && (e.Method == Unknown || !e.Led || !e.Usual || !e.Fit.exact() || e.Rivals) {
		return Probably
	}
	if c == Probably && (sharing < 0.5 && (e.Method == Unknown || e.Rivals || !e.Fit.exact()) || !e.Fit.exact() && e.Method < Stated) {
		return NotSaid
	}
	return c
}
