package extract

import (
	"regexp"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
)

// A Wiring is what a file says of the routes and calls of others: the clients
// that it makes, and the routers that it mounts.
type Wiring struct {
	Outline  *outline.File
	Clients  map[string]string // base addresses of HTTP clients, by variable
	Prefixes map[string]string // of routers, by variable
	Mounts   []mount
}

// A mount is a router that is reached under a prefix.
type mount struct {
	Router outline.Value
	Prefix string
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
	for i := range e.o.Calls {
		c := &e.o.Calls[i]
		for _, rule := range e.matching(c, "mount") {
			p := place{o: e.o, rule: rule, call: c, def: c.Def}
			v, ok := p.value(rule.Options.Get("var"))
			if !ok {
				continue
			}
			above := contract.JoinRoute(e.scopePrefix(c.Span.Start), e.prefixes[mountOwner(e.o, c)])
			m := mount{Router: v, Prefix: contract.JoinRoute(above, p.prefix())}
			path, has := p.value(rule.Options.Get("path"))
			if listed := e.listed(v, path); len(listed) > 0 {
				for _, l := range listed {
					l.Prefix = contract.JoinRoute(above, l.Prefix)
					w.Mounts = append(w.Mounts, l)
				}
				continue
			}
			if over := e.loopOver(v, c); over != "" {
				m.Router, m.Listed = outline.Value{Kind: outline.ValName, Text: over}, true
			}
			if has && path.Kind == outline.ValName && len(e.o.TextsOf(path)) == 0 && path.Text != v.Text {
				m.Name = path.Text
			}
			w.Mounts = append(w.Mounts, m)
		}
	}
	return w
}

// listed are the routers of a list of objects, when a loop mounts one after the
// other: list.forEach(x => app.use(x.path, x.router)).
func (e *extractor) listed(router, path outline.Value) (out []mount) {
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
			m := mount{Router: of}
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
	if recv := rootReceiver(c); recv != "" && !strings.Contains(c.Name, "()") {
		return recv
	}
	for _, a := range o.Assigns {
		if a.Value.Span.Holds(c.Span.Start) {
			return a.Name
		}
	}
	return ""
}
