package extract

import (
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
)

// links are the routers of a file that others of it mount, by variable.
type links map[string]link

type link struct{ owner, prefix string }

// add notes what a rule says is mounted.
func (l links) add(e *extractor, p *place, v outline.Value, prefix string) {
	names, owner := routerNames(v), mountOwner(e.o, p.call)
	prefix = contract.JoinRoute(e.scopePrefix(p.call.Span.Start), prefix)
	lists, router := e.listNamed(v)
	if router != "" {
		names = []string{router}
	}
	for _, name := range names {
		if _, known := l[name]; name != "" && !known {
			l[name] = link{owner, prefix}
		}
	}
	for _, span := range lists {
		if prefix != "" {
			e.within(scoped{span: span, prefix: prefix})
		}
	}
}

// follow puts the prefixes of what mounts a router before its own.
func (l links) follow(e *extractor) {
	own := map[string]string{}
	for name := range l {
		own[name] = e.prefixes[name]
	}
	for name := range l {
		whole, at := own[name], name
		for range 4 {
			up, ok := l[at]
			if !ok {
				break
			}
			whole = contract.JoinRoute(up.prefix, whole)
			if up.owner == at || up.owner == name {
				break
			}
			at = up.owner
			if _, mounted := l[at]; mounted {
				whole = contract.JoinRoute(own[at], whole)
			} else {
				whole = contract.JoinRoute(e.prefixes[at], whole)
			}
		}
		if whole != "" {
			e.prefixes[name] = whole
		}
	}
}

// prefix is what a rule says stands before routes.
func (p *place) prefix() string {
	if v, ok := p.value(p.rule.Options.Get("path")); ok && p.rule.Options.Get("open") != "" {
		if out := p.textsOf(v); len(out) > 0 {
			return "/" + strings.TrimLeft(out[0], "/")
		}
		return "/{}" // what is no text is a parameter
	}
	text := withoutSetting(p.first(p.rule.Options.Get("path")))
	if p.rule.Options.Get("item") != "" && text != "" {
		text = contract.JoinRoute(text, "{}")
	}
	return strings.TrimPrefix(strings.TrimRight(text, "*"), "^") // of Django's expressions
}

// withoutSetting is a route or prefix of a server without the setting that it
// may begin with: that is mostly empty.
func withoutSetting(route string) string {
	rest, ok := strings.CutPrefix(route, "{}")
	if ok && rest != "" && (rest[0] == '/' || rest[0] >= 'a' && rest[0] <= 'z') { // it may end in a slash
		return "/" + strings.TrimPrefix(rest, "/")
	}
	return route
}

// routerNames are the variables of the routers that are mounted: one itself, what
// makes a middleware of it, as api.routes() does, or those whose routes a list
// takes in: include([path(...), *router.urls]), a.urls + b.urls.
func routerNames(v outline.Value) (out []string) {
	if v.Kind == outline.ValName {
		return []string{strings.TrimSuffix(v.Text, ".registry")}
	}
	if v.Kind != outline.ValCall || v.Call == nil || v.Call.Inner != nil {
		return nil
	}
	if len(v.Call.Args) == 0 {
		return []string{receiver(v.Call.Name)}
	}
	var look func(of outline.Value)
	look = func(of outline.Value) {
		if list, ok := of.Spread(); ok {
			of = list
		}
		if router, ok := strings.CutSuffix(of.Text, ".urls"); ok && of.Kind == outline.ValName {
			out = append(out, router)
		}
		for _, item := range append(of.Items, of.Parts...) { // include((router.urls, "shop"))
			look(item)
		}
	}
	look(v.Call.Args[0])
	return out
}
