package extract

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
)

// An HTTP client with a base address is made by a call, and often handed on: to
// a function that adds to it, by one that makes such clients, or as a copy with
// other settings.

// maxClientDepth bounds the calls between a variable and the client in it.
const maxClientDepth = 4

// copies are the functions of clients that give a client with other settings.
var copies = []string{"extend", "create", "instance", "auth", "options", "headers", "middlewares", "defaults"}

// findClients learns which variables hold HTTP clients.
func (e *extractor) findClients() {
	for i := range e.o.Assigns {
		a := &e.o.Assigns[i]
		if a.Value.Kind != outline.ValCall || a.Value.Call == nil {
			continue
		}
		if base, ok := e.clientOf(a.Value, 0); ok {
			name := a.Name[strings.LastIndexByte(a.Name, '.')+1:] // of self.http, too
			e.clients[name] = base
		}
	}
	e.findMakers()
}

// findMakers learns which functions give an HTTP client: api().get("/x"). They
// are known as they are called.
func (e *extractor) findMakers() {
	if !e.ecma() {
		return
	}
	for i := range e.o.Calls {
		c := &e.o.Calls[i]
		if len(e.matching(c, "client")) == 0 {
			continue
		}
		name := "default" // one without a name that the file exports
		var given []outline.Value
		if c.Def >= 0 {
			name = e.o.Defs[c.Def].Name
			given, _ = e.o.Given(name)
		}
		for _, a := range e.o.Assigns {
			if v := a.Value; c.Def < 0 && a.Name == name && v.Kind == outline.ValLambda && v.Gives != nil {
				given = v.Gives()
			}
		}
		for _, v := range given {
			if base, ok := e.clientOf(v, 0); ok {
				e.clients[name+byCall] = base
			}
		}
	}
}

// byCall stands behind the name of a function that gives a client.
const byCall = "()"

// clientOf is the base address of the HTTP client that a value is.
func (e *extractor) clientOf(v outline.Value, depth int) (string, bool) {
	if depth == maxClientDepth {
		return "", false
	}
	if v.Kind == outline.ValName {
		base, ok := e.clients[v.Text[strings.LastIndexByte(v.Text, '.')+1:]]
		return base, ok
	}
	c := v.Call
	if v.Kind != outline.ValCall || c == nil {
		return "", false
	}
	if made := e.matching(c, "client"); len(made) > 0 {
		path := made[0].Options.Get("path")
		p := &place{o: e.o, rule: made[0], call: c, def: c.Def}
		if all := e.spellings(p, path); len(all) > 0 {
			return marks.Get().ReplaceAllString(all[0], "{}"), true
		}
		return "", !strings.HasPrefix(path, "chain.")
	}
	if base, ok := e.clients[receiver(c.Name)]; ok && slices.Contains(copies, c.Name[strings.LastIndexByte(c.Name, '.')+1:]) {
		for _, field := range []string{"baseURL", "baseUrl", "prefixUrl", "prefix"} {
			if v, ok := pick(c.Args, "0."+field); ok {
				return marks.Get().ReplaceAllString(e.o.Spell(v, e.lookup(c))[0], "{}"), true
			}
		}
		return base, true
	}
	if e.o.Lang != "typescript" && e.o.Lang != "javascript" {
		return "", false
	}
	given, _ := e.o.Given(c.Name)
	if last := c.Name[strings.LastIndexByte(c.Name, '.')+1:]; last == "" || last[0] >= 'A' && last[0] <= 'Z' {
		return "", false // an object that uses a client is none
	}
	for _, x := range slices.Concat(given, c.Args) {
		if base, ok := e.clientOf(x, depth+1); ok {
			return base, true
		}
	}
	return "", false
}

// askedWith is the client that a call is made with: a variable, or a function that
// gives one.
func (e *extractor) askedWith(c *outline.Call) string {
	if maker := receiver(c.Name); strings.HasSuffix(maker, byCall) {
		if _, ok := e.clients[maker]; ok {
			return maker
		}
	}
	return rootReceiver(c)
}

// IsClient tells whether it is a function of an HTTP client.
func (q *Request) IsClient() bool { return q.client }

// ClientRequests are the request functions that a client with a base address
// has.
func ClientRequests(client, base string) (out []Request) {
	path := mark(0, 0, "")
	if base != "" {
		path = contract.JoinRoute(base, path)
	}
	for _, m := range []string{"get", "post", "put", "patch", "delete", "head"} {
		out = append(out, Request{client: true, Owner: client, Name: m, path: path, method: strings.ToUpper(m)})
	}
	for _, field := range []string{"url", "path"} {
		at := mark(0, 0, field)
		if base != "" {
			at = contract.JoinRoute(base, at)
		}
		out = append(out, Request{client: true, Owner: client, Name: "request", path: at, method: mark(0, 0, "method")})
		out = append(out, Request{client: true, Name: client, path: at, method: mark(0, 0, "method")})
	}
	return append(out, Request{client: true, Name: client, path: path, method: mark(0, 1, "method")})
}
