package bodies

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// Some classes say what they are written as in words of their own: lists of
// names, or a function that makes it.

var (
	metaFields  = lazy.Regexp(`(?m)^\s+fields\s*=\s*[(\[]([^)\]]*)[)\]]`)
	metaAll     = lazy.Regexp(`(?m)^\s+fields\s*=\s*['"]__all__['"]`)
	metaModel   = lazy.Regexp(`(?m)^\s+model\s*=\s*([\w.]+)`)
	attributes  = lazy.Regexp(`(?m)^\s*(attributes?|has_many|has_one|belongs_to|fields?|association|view)\s+((?::\w+[?!]?\s*,?\s*)+)(.*)$`)
	serializing = lazy.Regexp(`(?i)serializ|blueprint|resource|represent|presenter|decorator`)
	quoted      = lazy.Regexp(`["'](\w+)["']|:(\w+)`)
)

// declared adds the fields that a class lists.
func (e *Eval) declared(p Place, out *Shape) {
	d := &p.File.Defs[p.Def]
	body := e.src(p.File)[d.Span.Start:d.Span.End]
	sc := &scope{o: p.File}
	switch p.File.Lang {
	case "python":
		if !strings.Contains(body, "class Meta") {
			return
		}
		var model *Shape
		if m := metaModel.Get().FindStringSubmatch(body); m != nil {
			if c, ok := e.findClass(sc, m[1]); ok {
				model = e.class(c, nil)
			}
		}
		if metaAll.Get().MatchString(body) && model != nil {
			for _, f := range model.Fields {
				out.set(f)
			}
		}
		if m := metaFields.Get().FindStringSubmatch(body); m != nil {
			own := *out
			out.Fields = nil
			for _, q := range quoted.Get().FindAllStringSubmatch(m[1], -1) {
				f := Field{Name: q[1], Shape: own.field(q[1])}
				if f.Shape == nil {
					f.Shape = model.field(q[1])
				}
				out.set(f)
			}
		}
	case "ruby":
		if head := strings.Join(append(d.Bases, d.Name), " "); !serializing.Get().MatchString(head) {
			return
		}
		for _, m := range attributes.Get().FindAllStringSubmatch(body, -1) {
			for _, q := range quoted.Get().FindAllStringSubmatch(m[2], -1) {
				f := Field{Name: q[2]}
				if m[1] != "attributes" && m[1] != "attribute" {
					if c, ok := e.findClass(sc, strings.ToUpper(q[2][:1])+q[2][1:]+"Serializer"); ok {
						f.Shape = e.class(c, nil)
						if m[1] == "has_many" {
							f.Shape = &Shape{Elem: f.Shape}
						}
					}
				}
				out.set(f)
			}
		}
	}
}

// writers are the methods that make what a class is written as.
var writers = lazy.Table[map[string][]string]{Make: func() map[string][]string {
	return map[string][]string{
		"typescript": {"toJSON"}, "javascript": {"toJSON"}, "php": {"toArray", "jsonSerialize"}, "ruby": {"as_json", "serializable_hash"},
	}
}}

// written is what a value becomes when it is sent.
func (e *Eval) written(s *Shape, depth int) *Shape {
	if s == nil || depth > 3 {
		return s
	}
	if s.Elem != nil {
		if w := e.written(s.Elem, depth+1); w != s.Elem {
			return &Shape{Elem: w, Null: s.Null}
		}
		return s
	}
	if s.class == nil || s.class.Def >= len(s.class.File.Defs) {
		return s
	}
	for _, w := range writers.Get()[s.class.File.Lang] {
		if p, ok := e.method(s, w); ok {
			if r := e.function(p, nil, s); r.holds() {
				return r
			}
		}
	}
	return s
}

// dumped puts what a schema of Python makes of its fields around them.
func (e *Eval) dumped(s *Shape, many bool) *Shape {
	if s == nil || s.class == nil || s.class.File.Lang != "python" {
		return s
	}
	out := s
	whole := []Place{}
	seen := map[string]bool{}
	e.eachClass(s, func(c Place) bool {
		for i := range c.File.Defs {
			m := &c.File.Defs[i]
			if m.Parent != c.Def || !m.HasCall || seen[lastOf(m.Name)] {
				continue
			}
			head := e.src(c.File)[max(0, int(m.Span.Start)-120):m.Span.Start]
			at := strings.LastIndex(head, "@post_dump")
			if at < 0 || strings.Contains(head[at:], "\n\n") {
				continue
			}
			seen[lastOf(m.Name)] = true
			if strings.Contains(head[at:], "pass_many=True") {
				whole = append(whole, Place{c.File, i})
			} else if r := e.results(e.bodyScope(Place{c.File, i}, known(nil, out), s)); r.holds() {
				out = r
			}
		}
		return false
	})
	if !many {
		return out
	}
	out = &Shape{Elem: out}
	for _, p := range whole {
		if r := e.results(e.bodyScope(p, known(nil, out), s)); r.holds() {
			out = r
		}
	}
	return out
}
