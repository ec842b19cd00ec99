// Package pathlike finds what merely looks like the use of a route: a text, a
// template or texts put together that have the shape of a path, whatever the
// language and whatever they are handed to. It cuts source into names, texts and
// signs and knows no grammar: what people write between quotes is alike
// everywhere, and a file that does not parse is read as well as any other.
// Which of it is a use is decided on the server, where the routes are known.
package pathlike

import (
	"strings"
	_ "text/tabwriter" // so that it is initialised late: see verdict

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A Source is a file that was cut into names, texts and signs.
type Source struct{ scan }

// Read cuts a file.
func Read(lang string, source []byte) *Source { return &Source{*newScan(lang, source)} }

// Find returns what looks like a path in a file.
func Find(lang string, source []byte) []coord.Candidate { return Read(lang, source).Paths() }

// Paths returns what looks like a path, in order.
func (s *Source) Paths() []coord.Candidate {
	s.findConsts()
	s.findMakers()
	s.findPrefixes()
	for i := 0; i < len(s.toks) && len(s.out) < coord.MaxCandidates; i++ {
		switch t := s.toks[i]; {
		case t.kind == tokText && !s.used[i]:
			s.expression(i)
		case t.kind == tokName && i+1 < len(s.toks) && s.toks[i+1].is("(") && !s.used[i]:
			if joins.Has(t.text) && !s.ofFiles(i) {
				s.joinCall(i)
			} else if s.makesPath(i) {
				s.makerCall(i)
			}
		case t.is("["):
			s.joinedList(i)
		}
	}
	return s.out
}

// A scan is the reading of one file.
type scan struct {
	lang    string
	toks    []token
	around  []int32 // the bracket that each token stands in, -1 for none
	match   []int32 // of a bracket: the one that goes with it
	used    []bool  // texts and calls that a longer expression spoke for
	consts  map[string]string
	makers  map[string]string // functions that give a path, and the one that they give
	classes []class
	told    map[told]bool
	out     []coord.Candidate
}

type told struct {
	form, method, via string
	line              int
}

func newScan(lang string, source []byte) *scan {
	s := &scan{lang: lang, toks: lex(lang, source), told: map[told]bool{}}
	n := len(s.toks)
	s.around, s.match, s.used = make([]int32, n), make([]int32, n), make([]bool, n)
	var open []int32
	for i, t := range s.toks {
		s.around[i], s.match[i] = -1, -1
		if t.kind == tokMark && (t.text == ")" || t.text == "]" || t.text == "}") && len(open) > 0 {
			last := open[len(open)-1]
			open = open[:len(open)-1]
			s.match[last], s.match[i] = int32(i), last
		}
		if len(open) > 0 {
			s.around[i] = open[len(open)-1]
		}
		if t.kind == tokMark && (t.text == "(" || t.text == "[" || t.text == "{") {
			open = append(open, int32(i))
		}
	}
	return s
}

// findConsts notes the names that stand for one text.
func (s *scan) findConsts() {
	s.consts = map[string]string{}
	for i := 2; i < len(s.toks); i++ {
		t := s.toks[i]
		if t.kind != tokText || len(t.text) > 200 || !(s.toks[i-1].is("=") || s.toks[i-1].is(":=") || s.toks[i-1].is(":")) {
			continue
		}
		if i+1 < len(s.toks) && s.toks[i+1].kind == tokMark && strings.Contains("+ . %", s.toks[i+1].text) && s.toks[i+1].line == t.line {
			continue // put together
		}
		name := s.assigned(i)
		if name == "" {
			continue
		}
		if old, ok := s.consts[name]; ok && old != t.text {
			s.consts[name] = string(hole) // one of several
			continue
		}
		s.consts[name] = t.text
	}
}

// assigned returns the name that what begins at a token is given to, "" for
// none: path in path := x, val path: String = x and { path: x }.
func (s *scan) assigned(i int) string {
	i--
	for i > 0 && s.toks[i].is("(") && s.toks[i-1].kind == tokMark { // a wrap
		i--
	}
	if i < 1 || s.toks[i].kind != tokMark {
		return ""
	}
	switch s.toks[i].text {
	case ":=", ":":
		return s.nameAt(i - 1)
	case "=":
		for k := i - 1; k >= max(0, i-5) && s.toks[k].line == s.toks[i].line; k-- { // behind a type
			if s.toks[k].is(":") {
				return s.nameAt(k - 1)
			}
			if s.toks[k].kind == tokMark && !strings.Contains("? ! . < >", s.toks[k].text) {
				break
			}
		}
		if k := i - 2; k >= 0 && s.lang == "go" && s.toks[k].kind == tokName && s.toks[k].text != "const" && s.toks[k].text != "var" &&
			s.toks[i-1].text == "string" {
			return s.toks[k].text
		}
		return s.nameAt(i - 1)
	}
	return ""
}

func (s *scan) nameAt(i int) string {
	if i >= 0 && s.toks[i].kind == tokName {
		return s.toks[i].text
	}
	return ""
}

// tell adds a text that was put together at a token, if it is a path.
func (s *scan) tell(text string, from, last int, joined bool) {
	text = s.prefixed(text, from)
	elems, slash := shape(text)
	if len(elems) == 0 || !slash && !joined && !s.handed(from) {
		return
	}
	via := s.via(text, from, last)
	if via == shown {
		return
	}
	form := scope.PathForm(elems).String()
	c := coord.Candidate{Form: form, Line: s.toks[from].line}
	c.Method, c.Guess = s.methods(from, last)
	c.Via = scope.Form{scope.WordOf(via)}.String()
	if key := (told{form, c.Method, c.Via, c.Line}); !s.told[key] {
		s.told[key] = true
		s.out = append(s.out, c)
	}
}

// handed tells whether a word alone is given to something that takes paths.
func (s *scan) handed(i int) bool {
	if name := s.assigned(i); name != "" {
		return speaks(name, pathWords)
	}
	if i > 0 && s.toks[i-1].kind == tokName && s.toks[i-1].text == "return" {
		return speaks(s.function(i), pathWords)
	}
	if o := s.around[i]; o > 0 && s.toks[o].is("(") {
		callee := s.callee(int(o))
		if verbs.Get()[strings.ToLower(s.toks[i].text)] != "" || s.ofMap(int(o)) {
			return false
		}
		return callee != "" && (speaks(callee, pathWords) || methodOf(callee) != "")
	}
	return false
}

// pathWords are words of names that hold or take paths.
var pathWords = lazy.Words("path url uri endpoint endpoints route resource href request api fetch call paths urls")

func speaks(name string, words *lazy.Set) bool {
	for _, w := range wordsOf(name) {
		if words.Has(w) {
			return true
		}
	}
	return false
}

// wordsOf cuts a name at its capitals and underscores, in small letters.
func wordsOf(name string) []string {
	var out []string
	from := 0
	cut := func(to int) {
		if to > from {
			out = append(out, strings.ToLower(name[from:to]))
		}
		from = to
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c == '_' || c == '-':
			cut(i)
			from = i + 1
		case c >= 'A' && c <= 'Z' && i > 0 && (name[i-1] >= 'a' && name[i-1] <= 'z' || i+1 < len(name) && name[i+1] >= 'a' && name[i+1] <= 'z'):
			cut(i)
		}
	}
	cut(len(name))
	return out
}
