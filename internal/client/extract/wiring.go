package extract

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
)

// A Wiring is what a file says of the routes and calls of others: the clients
// that it makes, and the routers that it mounts.
type Wiring struct {
	Outline  *outline.File
	Clients  map[string]string // base addresses of HTTP clients, by variable
	Prefixes map[string]string // of routers, by variable
	Mounts   []Mount
	Listed   bool // routes are objects of a table, which another file goes through
}

// A Mount is a router that is reached under a prefix.
type Mount struct {
	Router outline.Value
	Prefix string
	Up     bool   // of the resource as a whole, where what is above ends in a parameter
	Name   string // of a prefix that another file gives a name, what it is called
	Listed bool   // the router is a list of them
}

// Wiring is what the file says of others as far as prefixes and clients go; nil
// if it could not be read.
func (v *Version) Wiring() *Wiring {
	e := v.extractor
	if e == nil {
		return nil
	}
	w := &Wiring{Outline: e.o, Clients: e.clients, Prefixes: e.prefixes}
	add := func(rule *rules.Rule, c *outline.Call) {
		p := place{o: e.o, rule: rule, call: c, def: c.Def}
		w.Mounts = append(w.Mounts, e.mountsOf(&p)...)
	}
	for i := range e.o.Calls {
		c := &e.o.Calls[i]
		for _, rule := range e.matching(c, "mount") {
			add(rule, c)
		}
	}
	e.described("mount", func(rule *rules.Rule, c *outline.Call) {
		before := len(w.Mounts)
		add(rule, c)
		for i := before; i < len(w.Mounts); i++ {
			w.Mounts[i].Prefix = contract.JoinRoute(e.outerPath(rule, c), w.Mounts[i].Prefix)
		}
	})
	e.described("provides", func(*rules.Rule, *outline.Call) { w.Listed = true })
	return w
}

// mountsOf are the routers that a place mounts; in a loop those that it goes
// through.
func (e *extractor) mountsOf(p *place) (out []Mount) {
	v, ok := p.firstValue(p.rule.Options.Get("var"))
	if !ok {
		return nil
	}
	above := contract.JoinRoute(e.scopePrefix(p.call.Span.Start), e.prefixes[mountOwner(e.o, p.call)])
	if p.find = e.known(p.call); v.Kind == outline.ValName && e.imported(v.Text) == "" {
		e.eachRouter(p, v, func(router outline.Value, prefix string) {
			out = append(out, Mount{Router: router, Prefix: contract.JoinRoute(above, prefix)})
		})
	}
	p.find = nil
	if out != nil {
		return out
	}
	m := Mount{Router: v, Prefix: contract.JoinRoute(above, p.prefix()), Up: p.rule.Options.Get("up") != ""}
	if v.Kind == outline.ValName && !strings.Contains(v.Text, ".") && e.imported(v.Text) == "" {
		for _, l := range e.o.Loops() {
			if l.Span.Holds(p.call.Span.Start) && l.Calls(v.Text) && l.Over.Kind == outline.ValName { // a list of another file
				m.Router, m.Listed = l.Over, true
			}
		}
	}
	path, has := p.firstValue(p.rule.Options.Get("path"))
	if has && path.Kind == outline.ValName && len(e.o.TextsOf(path)) == 0 && path.Text != v.Text {
		m.Name = path.Text
	}
	return []Mount{m}
}

// eachRouter visits the routers that a loop around a place mounts, each with the
// prefix that goes with it.
func (e *extractor) eachRouter(p *place, router outline.Value, visit func(router outline.Value, prefix string)) {
	l := e.loopAt(router.Text, p.call.Span.Start)
	if l == nil {
		return
	}
	routers, prefixes := e.o.Each(l, router.Text), e.inTurn(p.prefix())
	for i, r := range routers {
		prefix := prefixes[0]
		if len(prefixes) == len(routers) {
			prefix = prefixes[i]
		}
		visit(r, prefix)
	}
}

// mountOwner is the router that a mount belongs to: the receiver, or the
// variable that the whole chain is assigned to.
func mountOwner(o *outline.File, c *outline.Call) string {
	recv := rootReceiver(c)
	if of, ok := strings.CutSuffix(c.Name, ".registry.extend"); ok { // of Django's routers
		return of[strings.LastIndexByte(of, '.')+1:]
	}
	if recv != "" && (!strings.Contains(c.Name, "()") || isVariable(o, recv)) {
		return recv
	}
	for _, a := range o.Assigns {
		if a.Value.Span.Holds(c.Span.Start) {
			return a.Name
		}
	}
	return ""
}

// isVariable tells a router that a chain of JavaScript begins with from the
// module that makes one.
func isVariable(o *outline.File, name string) bool {
	return (o.Lang == "typescript" || o.Lang == "javascript") &&
		!slices.ContainsFunc(o.Imports, func(im outline.Imported) bool { return im.Local == name })
}
