package pathlike

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// A class is where one begins, and what stands before all paths that its own
// methods are handed: prefix = '/rest/db/', and then self.get('browse').
type class struct {
	from   int
	prefix string
}

// prefixWords are words of names that hold such a text.
var prefixWords = lazy.Words("prefix base root")

// findPrefixes notes the classes of a file that have one.
func (s *scan) findPrefixes() {
	for i, t := range s.toks {
		switch {
		case t.kind == tokName && t.text == "class" && s.nameAt(i+1) != "" && (i == 0 || !s.toks[i-1].is(".")):
			s.classes = append(s.classes, class{from: i})
		case t.kind == tokText && len(s.classes) > 0 && len(t.text) < 100 && strings.HasPrefix(t.text, "/") && speaks(s.assigned(i), prefixWords):
			if c := &s.classes[len(s.classes)-1]; c.prefix == "" && (s.around[i] < 0 || s.toks[s.around[i]].is("{")) {
				c.prefix = strings.TrimRight(t.text, "/")
			}
		}
	}
}

// prefixed is a path with what its class puts before it, where it is handed to
// one of the class's own methods that take paths.
func (s *scan) prefixed(text string, from int) string {
	at, found := slices.BinarySearchFunc(s.classes, from, func(c class, i int) int { return c.from - i })
	if !found {
		at--
	}
	if at < 0 || s.classes[at].prefix == "" || text == "" || text[0] == '/' || text[0] == hole || strings.Contains(text, "://") {
		return text
	}
	o := int(s.around[from])
	if o < 3 || !s.toks[o].is("(") || !own.Has(s.nameAt(o-3)) || !s.toks[o-2].is(".") && !s.toks[o-2].is("->") && !s.toks[o-2].is("::") {
		return text
	}
	if callee := s.callee(o); methodOf(callee) == "" && !speaks(callee, pathWords) {
		return text
	}
	return s.classes[at].prefix + "/" + text
}

// own are the names that a class has for itself.
var own = lazy.Words("self this cls super $this static")
