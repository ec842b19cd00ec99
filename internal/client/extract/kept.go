package extract

import (
	"path"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
)

// A router of Go may be kept in a field or in a variable of a package: routes
// are added to it in other functions, files and packages than the one that
// makes it.

// rootRouter is what a chain of calls begins with: of Go as it is written, since
// the field of a struct is a router of its own.
func (e *extractor) rootRouter(c *outline.Call) string {
	if e.o.Lang == "go" {
		name := chainRoot(c).Name
		if at := strings.LastIndexByte(name, '.'); at > 0 && outline.IsWord(name[:at]) {
			return name[:at]
		}
	}
	return rootReceiver(c)
}

// keptIn is the field or the variable of a package that a router is, if it is
// none of the function around.
func (e *extractor) keptIn(router string) (contract.Handed, bool) {
	if e.o.Lang != "go" || router == "" {
		return contract.Handed{}, false
	}
	h := contract.Handed{Func: router, Param: contract.Kept, Of: path.Dir(e.o.Path)}
	root, below, field := strings.Cut(router, ".")
	for _, im := range e.o.Imports {
		if im.Local == root {
			h.Func, h.Of = below, importedPackage+im.Module
			return h, field
		}
	}
	if field {
		h.Func = "." + below // whatever holds it
	}
	return h, true
}

// importedPackage stands before the module of a package that a file imports.
const importedPackage = "import "

// ImportedPackage is the module of the package that keeps a router, if it is
// another one.
func ImportedPackage(of string) (module string, ok bool) {
	return strings.CutPrefix(of, importedPackage)
}

// keepings finds what a file gives to a field or variable that keeps a router.
func (e *extractor) keepings(h contract.Handed) (out []Handing) {
	last := h.Func[strings.LastIndexByte(h.Func, '.')+1:]
	for _, k := range e.o.Kept(last) {
		field := strings.Contains(k.Name, ".")
		if k.Local || field != strings.HasPrefix(h.Func, ".") {
			continue
		}
		if field && strings.Count(k.Name, ".") > 1 && strings.Count(h.Func, ".") > 1 && !strings.HasSuffix(k.Name, h.Func) {
			continue // a field of that name of something else
		}
		if x, ok := e.routerAt(k.Value); ok {
			out = append(out, x)
		}
	}
	return out
}

// routerAt is where the routes of a value lie, if it may be a router: a part of
// one, one by its name, or a new one.
func (e *extractor) routerAt(v outline.Value) (Handing, bool) {
	at := &outline.Call{Span: v.Span}
	switch {
	case v.Kind == outline.ValName:
		from, prefix := e.routerOf(at, v.Text)
		return Handing{prefix, from}, true
	case v.Kind == outline.ValCall && v.Call != nil:
		r, c := e.group(v.Call)
		if r == nil {
			return Handing{}, true
		}
		p := place{o: e.o, rule: r, call: c, def: c.Def, find: e.known(c)}
		from, prefix := e.routerOf(at, e.parentOf(p))
		return Handing{contract.JoinRoute(prefix, p.prefix()), from}, true
	}
	return Handing{}, false
}

// localRouter is what a function gives to a variable of its own: another router
// by its name, which is followed.
func (e *extractor) localRouter(router string, scopes []outline.Scope) (of string, local bool) {
	if e.o.Lang != "go" {
		return "", true
	}
	for _, k := range e.o.Kept(router) {
		at := k.Value.Span.Row
		if k.Name != router || !k.Local || at < scopes[len(scopes)-1].Span.Row || at > scopes[len(scopes)-1].Span.Last {
			continue
		}
		local = true
		if k.Value.Kind == outline.ValName && k.Value.Text != router {
			return k.Value.Text, true
		}
	}
	return "", local
}
