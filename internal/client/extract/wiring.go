package extract

import (
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
)

// A Wiring is what a file says of the routes and calls of others: the clients
// that it makes, and the routers that it mounts.
type Wiring struct {
	Outline *outline.File
	Clients map[string]string // base addresses of HTTP clients, by variable
	Mounts  []mount
}

// A mount is a router that is reached under a prefix.
type mount struct {
	Router outline.Value
	Prefix string
	Name   string // of a prefix that another file gives a name, what it is called
}

// Wire reads a file as far as prefixes and clients go; nil if it cannot be
// read.
func Wire(file string, source []byte, limit time.Duration) *Wiring {
	s := &Side{File: file, Lang: rules.LanguageOf(file), Source: source}
	if !outline.CanRead(s.Lang) || s.Read(nil, limit) != nil {
		return nil
	}
	m, err := rules.Load(rules.OrName(s.Lang))
	if err != nil {
		return nil
	}
	e := newExtractor(m, s.Version.Outline)
	e.findPrefixes()
	w := &Wiring{Outline: e.o, Clients: e.clients}
	for i := range e.o.Calls {
		c := &e.o.Calls[i]
		for _, rule := range e.matching(c, "mount") {
			p := place{o: e.o, rule: rule, call: c, def: c.Def}
			v, ok := p.value(rule.Options["var"])
			if !ok {
				continue
			}
			m := mount{Router: v, Prefix: contract.JoinRoute(e.prefixes[mountOwner(e.o, c)], p.first(rule.Options["path"]))}
			path, has := p.value(rule.Options["path"])
			if has && path.Kind == outline.ValName && len(e.o.TextsOf(path)) == 0 && path.Text != v.Text {
				m.Name = path.Text
			}
			w.Mounts = append(w.Mounts, m)
		}
	}
	return w
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
