package extract

import (
	"regexp"
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

// mountsOf are the routers that a place mounts.
func (e *extractor) mountsOf(p *place) []Mount {
	v, ok := p.firstValue(p.rule.Options.Get("var"))
	if !ok {
		return nil
	}
	above := contract.JoinRoute(e.scopePrefix(p.call.Span.Start), e.prefixes[mountOwner(e.o, p.call)])
	path, has := p.firstValue(p.rule.Options.Get("path"))
	if listed := e.listed(v, path); len(listed) > 0 {
		for i := range listed {
			listed[i].Prefix = contract.JoinRoute(above, listed[i].Prefix)
		}
		return listed
	}
	m := Mount{Router: v, Prefix: contract.JoinRoute(above, p.prefix()), Up: p.rule.Options.Get("up") != ""}
	if over := e.loopOver(v, p.call); over != "" {
		m.Router, m.Listed = outline.Value{Kind: outline.ValName, Text: over}, true
	}
	if has && path.Kind == outline.ValName && len(e.o.TextsOf(path)) == 0 && path.Text != v.Text {
		m.Name = path.Text
	}
	return []Mount{m}
}

// listed are the routers of a list of objects, when a loop mounts one after the
// other: list.forEach(x => app.use(x.path, x.router)).
func (e *extractor) listed(router, path outline.Value) (out []Mount) {
	loop, member, whole := strings.Cut(router.Text, ".")
	if !whole {
		loop, member = "", router.Text // taken apart: ({ path, router }) => ...
	}
	if router.Kind != outline.ValName || e.imported(router.Text) != "" || e.imported(loop) != "" {
		return nil
	}
	for _, a := range e.o.Assigns {
		for _, item := range a.Value.Items {
			of, ok := item.Get(member)
			if !ok {
				continue
			}
			m := Mount{Router: of}
			if at, ok := item.Get(strings.TrimPrefix(path.Text, loop+".")); ok && path.Kind == outline.ValName {
				if texts := e.o.TextsOf(at); len(texts) > 0 {
					m.Prefix = texts[0]
				}
			} else if texts := e.o.TextsOf(path); len(texts) > 0 {
				m.Prefix = texts[0]
			}
			out = append(out, m)
		}
	}
	return out
}

// loopOver is the name of what a loop of Python runs over that mounts one router
// after the other.
func (e *extractor) loopOver(router outline.Value, c *outline.Call) string {
	if e.o.Lang != "python" || router.Kind != outline.ValName || e.imported(router.Text) != "" {
		return ""
	}
	loop := regexp.MustCompile(`\bfor\s+` + regexp.QuoteMeta(router.Text) + `\s+in\s+([\w.]+)\s*:\s*$`)
	before := strings.Split(string(e.o.Source[:c.Span.Start]), "\n")
	for _, line := range before[max(0, len(before)-6):] {
		if m := loop.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return ""
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
