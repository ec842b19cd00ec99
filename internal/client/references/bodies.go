package references

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/bodies"
	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/coord"
)

// What routes take and give is followed from the functions that answer them,
// through whatever files that leads to.

// bodied adds what is known of the bodies of a file's routes.
func (r *Repo) bodied(v *extract.Version) {
	if r.files.Tree == nil || v.Generated || v.Outline == nil {
		return
	}
	if r.modules.eval == nil {
		r.modules.eval = bodies.New(world{r})
	}
	e := r.modules.eval
	r.readBy(e, v)
	if !slices.ContainsFunc(v.Contracts, isProvidedRoute) {
		return
	}
	replies := func(o *outline.File, from, to int) []outline.Span {
		if o == v.Outline {
			return v.Replies(v, from, to)
		}
		if other := r.versionOf(o.Path); other != nil {
			return other.Replies(v, from, to)
		}
		return nil
	}
	for i := range v.Contracts {
		c := &v.Contracts[i]
		if !isProvidedRoute(*c) {
			continue
		}
		for _, h := range r.handlers(e, v.Outline, c.Answer) {
			r.taken(e, c, h, v)
			s := e.Reply(h, replies)
			if s == nil || len(s.Parts()) == 0 {
				s = r.view(h)
			}
			if s != nil {
				if parts := s.Parts(); len(parts) > 0 {
					c.Shape.Out, c.Shape.Note, c.Shape.Open = props(parts), "", s.Open
					break
				}
			}
		}
	}
}

// readBy adds what calls read of their replies, where a type says it.
func (r *Repo) readBy(e *bodies.Eval, v *extract.Version) {
	for i := range v.Contracts {
		c := &v.Contracts[i]
		if c.Role != coord.Uses || !strings.HasPrefix(c.Key, "http:") || c.Answer.To == 0 || c.Fields != nil {
			continue
		}
		s := e.Read(v.Outline, int(c.Answer.From), int(c.Answer.To))
		if s == nil || s.Open {
			continue
		}
		for _, p := range s.Parts() {
			if len(c.Fields) < contract.MaxFields && len(p.Path) <= 200 {
				c.Fields = append(c.Fields, coord.ContractField{Name: p.Path, Line: c.Line})
			}
		}
	}
}

// taken adds what a handler takes as its body.
func (r *Repo) taken(e *bodies.Eval, c *contract.Contract, h bodies.Handler, v *extract.Version) {
	s, param := e.Request(h)
	if s == nil {
		other := v
		if h.File != v.Outline {
			other = r.versionOf(h.File.Path)
		}
		if other == nil {
			return
		}
		for _, span := range other.Takes(v, h.From, h.To) {
			if s = e.Bound(h.File, int(span.Start), int(span.End)); s != nil && len(s.Fields) > 0 {
				break
			}
		}
	}
	known := func(p contract.Prop) bool { return strings.HasPrefix(p.Name, "body.") }
	if s == nil || len(s.Fields) == 0 || slices.ContainsFunc(c.Shape.In, known) {
		return
	}
	c.Shape.In = slices.DeleteFunc(slices.Clone(c.Shape.In), func(p contract.Prop) bool { return p.Name == param })
	for _, p := range s.Parts() {
		c.Shape.In = append(c.Shape.In, contract.Prop{Name: "body." + p.Path, Typ: p.Type, Required: p.Needed})
	}
}

// handlers are the functions that may answer a route, the likeliest first.
func (r *Repo) handlers(e *bodies.Eval, o *outline.File, a contract.Answer) (out []bodies.Handler) {
	if a.To > 0 {
		h := bodies.Handler{File: o, From: int(a.From), To: int(a.To), Def: -1}
		for i := range o.Defs {
			if o.Defs[i].Span.Start == a.From && o.Defs[i].Span.End == a.To && o.Defs[i].HasCall {
				h.Def = i
			}
		}
		for i := range o.Funcs {
			if o.Funcs[i].Span.Start == a.From && o.Funcs[i].Span.End == a.To {
				h.Def = len(o.Defs) + i
			}
		}
		return []bodies.Handler{h}
	}
	for _, name := range a.Names {
		name = strings.TrimSuffix(name, ".bind")
		for _, p := range e.Named(o, name, int(a.At)) {
			if h, ok := e.HandlerAt(p); ok {
				out = append(out, h)
			}
		}
	}
	return out
}

func props(parts []bodies.Part) []contract.Prop {
	out := make([]contract.Prop, len(parts))
	for i, p := range parts {
		out[i] = contract.Prop{Name: p.Path, Typ: p.Type, Required: p.Required}
	}
	return out
}
