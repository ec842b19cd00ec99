package bodies

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// Serialisers of Django's REST framework give what they are written as by their
// member data, and views name the one that they use.

var (
	writeOnly       = lazy.Regexp(`(?m)^\s+(\w+)\s*(?::[^=\n]+)?=\s*[\w.]+\([^\n]*\bwrite_only\s*=\s*True`)
	writeOnlyKwargs = lazy.Regexp(`['"](\w+)['"]\s*:\s*\{[^{}]*['"]write_only['"]\s*:\s*True`)
	serializerClass = lazy.Regexp(`(?m)^\s+serializer_class\s*=\s*([\w.]+)`)
)

// serialized is what the data of a serialiser holds; nil for what is none.
func (e *Eval) serialized(s *Shape) *Shape {
	switch {
	case s == nil:
		return nil
	case s.Elem != nil:
		if of := e.serialized(s.Elem); of != nil {
			return &Shape{Elem: of}
		}
		return nil
	case s.class == nil || s.class.File.Lang != "python" || !e.isSerializer(s):
		return nil
	}
	hidden := map[string]bool{}
	e.eachClass(s, func(c Place) bool {
		body := e.src(c.File)[c.File.Defs[c.Def].Span.Start:c.File.Defs[c.Def].Span.End]
		for _, m := range append(writeOnly.Get().FindAllStringSubmatch(body, -1), writeOnlyKwargs.Get().FindAllStringSubmatch(body, -1)...) {
			hidden[m[1]] = true
		}
		return false
	})
	out := &Shape{Open: s.Open}
	for _, f := range s.Fields {
		if !hidden[f.Name] {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}

// isSerializer tells whether a class is one, by the names of those that it
// extends.
func (e *Eval) isSerializer(s *Shape) (is bool) {
	e.eachClass(s, func(c Place) bool {
		for _, b := range c.File.Defs[c.Def].Bases {
			is = is || strings.HasSuffix(b, "Serializer")
		}
		return is
	})
	return is
}

// ownSerializer is the serialiser that a view makes of the class that it names:
// self.get_serializer(...), self.serializer_class(...).
func (e *Eval) ownSerializer(path string, n *node, sc *scope) (out *Shape) {
	if sc.o.Lang != "python" || sc.self == nil || sc.self.class == nil || path != "self.get_serializer" && path != "self.serializer_class" {
		return nil
	}
	e.eachClass(sc.self, func(c Place) bool {
		d := &c.File.Defs[c.Def]
		if m := serializerClass.Get().FindStringSubmatch(e.src(c.File)[d.Span.Start:d.Span.End]); m != nil {
			out = e.instance(m[1], n, &scope{o: c.File})
		}
		return out != nil
	})
	return out
}
