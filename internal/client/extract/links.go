package extract

import (
	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
)

// links are the routers of a file that others of it mount, by variable.
type links map[string]link

type link struct{ owner, prefix string }

// add notes what a rule says is mounted.
func (l links) add(e *extractor, p *place, v outline.Value) {
	name, owner := routerName(v), mountOwner(e.o, p.call)
	prefix := contract.JoinRoute(e.scopePrefix(p.call.Span.Start), p.prefix())
	if _, known := l[name]; name != "" && !known {
		l[name] = link{owner, prefix}
	}
	if span := e.listNamed(v); span.End > 0 && prefix != "" {
		e.within(scoped{span: span, prefix: prefix})
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
