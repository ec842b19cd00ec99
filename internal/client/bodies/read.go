package bodies

import (
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
)

// Read works out what a caller reads of the reply to its request: the type
// that the call names, or that the function around it gives back.
func (e *Eval) Read(o *outline.File, from, to int) *Shape {
	return e.whole(func() *Shape { return e.read(o, from, to) })
}

func (e *Eval) read(o *outline.File, from, to int) *Shape {
	sc := e.scopeAt(o, from)
	for i := range o.Defs { // an interface that stands for its calls
		if d := &o.Defs[i]; int(d.Span.Start) == from && int(d.Span.End) == to && d.HasCall {
			return e.readType(e.resultText(outline.ResultOf(d, o.Traits), Place{o, i}), sc)
		}
	}
	if t := callTypes(e.reader(sc, from, to).expr()); t != "" {
		if s := e.readType(t, sc); s.holds() {
			return s
		}
	}
	src := e.src(o)
	if line := strings.TrimSpace(src[strings.LastIndexByte(src[:from], '\n')+1 : from]); !givesBack(line, o.Lang) {
		return nil
	}
	for i := range o.Defs {
		d := &o.Defs[i]
		if d.HasCall && !d.Contain && d.Span.Holds(uint32(from)) {
			return e.readType(e.resultText(outline.ResultOf(d, o.Traits), Place{o, i}), sc)
		}
	}
	return nil
}

func (e *Eval) readType(t string, sc *scope) *Shape {
	if t == "" || len(t) > 300 {
		return nil
	}
	if s := e.typ(t, sc); s.holds() {
		return e.top(s)
	}
	return nil
}

// givesBack tells whether what stands before a call hands on its result.
func givesBack(line, lang string) bool {
	return line == "" || strings.HasPrefix(line, "return") || strings.HasSuffix(line, "=>") || strings.HasSuffix(line, "=") && lang == "kotlin"
}

// callTypes are the type arguments of a call or of one that it is chained to.
func callTypes(n *node) string {
	for ; n != nil; n = n.x {
		if n.types != "" {
			first := strings.TrimSpace(splitTop(n.types, ',')[0])
			return first
		}
	}
	return ""
}
