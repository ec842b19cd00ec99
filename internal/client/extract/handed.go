package extract

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
)

// A request function may be made by another one, which is told the method:
// const api = { get: request("GET"), post: request("POST") }.

// Handed are the request functions that a file gets from one that gives them, by
// the names that it gives them. The file calls that one local.
func (q *Request) Handed(o *outline.File, local string) (out []Request) {
	if q.Name != outline.Gives || local == "" {
		return nil
	}
	add := func(owner, name string, v outline.Value) {
		if v.Call != nil && v.Call.Name == local && outline.IsWord(name) {
			out = append(out, q.bound(v.Call, owner, name))
		}
	}
	for _, a := range o.Assigns {
		add("", a.Name, a.Value)
		for _, f := range a.Value.Fields {
			add(a.Name, f.Name, f.Value)
		}
	}
	return out
}

// bound is what a request function is once the one that gives it was called.
func (q *Request) bound(c *outline.Call, owner, name string) Request {
	b := *q
	b.Owner, b.Name = owner, name
	fill := func(text string) string {
		return marks.Get().ReplaceAllStringFunc(text, func(m string) string {
			fn, param, field := parseMark(m)
			if fn == q.fn {
				return m
			}
			if param < len(c.Args) && field == "" {
				if s, ok := c.Args[param].Literal(); ok {
					return s
				}
			}
			return "{}"
		})
	}
	b.path, b.method = fill(q.path), fill(q.method)
	return b
}

// Hand adds the request functions that the file gets from its own that give them.
func (v *Version) Hand() {
	if v.extractor == nil {
		return
	}
	for _, q := range v.Requests {
		for _, h := range q.Handed(v.Outline, q.Owner[strings.LastIndexByte(q.Owner, '.')+1:]) {
			v.extractor.know(h)
		}
	}
	v.Requests = v.extractor.requests
}

// know keeps a request function, once.
func (e *extractor) know(q Request) {
	for i := range e.requests {
		if e.requests[i].Same(&q) {
			return
		}
	}
	e.requests = append(e.requests, q)
}

// Told tells whether a call names the one method that it has.
func (q *Request) Told(c *outline.Call) bool {
	m := methodAmong(c)
	return m != "" && strings.EqualFold(q.method, m)
}

// Same tells whether two request functions are one.
func (q *Request) Same(x *Request) bool {
	return q.Owner == x.Owner && q.Name == x.Name && q.path == x.path && q.method == x.method
}

// withBase leaves out what is asked for as it was given where it gets a base, too:
// that is for addresses of elsewhere, url.startsWith("http") ? url : base + url.
func withBase(paths []string) []string {
	return slices.DeleteFunc(slices.Clone(paths), func(s string) bool {
		return marks.Get().FindString(s) == s && s != "" &&
			slices.ContainsFunc(paths, func(x string) bool { return len(x) > len(s) && strings.HasSuffix(x, s) })
	})
}
