package extract

import (
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
)

// A function may give a router, which others mount by the function's name.

// service is a function of Rust that is mounted by its name.
func (e *extractor) service(name string) contract.Handed {
	stem := strings.TrimSuffix(path.Base(e.o.Path), path.Ext(e.o.Path))
	of := strings.ToLower(path.Base(path.Dir(e.o.Path)) + " " + stem)
	return contract.Handed{Func: name[strings.LastIndexByte(name, '.')+1:], Param: contract.Given, Of: of}
}

// mountings finds where a file mounts what a function gives.
func (e *extractor) mountings(h contract.Handed) (out []Handing) {
	for i := range e.o.Calls {
		c := &e.o.Calls[i]
		if e.o.Lang == "rust" && isRouteList(c.Name) && e.lists(c.Span, h) { // in a function that gives them
			if from := e.givenBy(e.o.Around(c.Span.Start)); from.Func != "" && !e.mountsAround(c) {
				out = append(out, Handing{"", from})
			}
			continue
		}
		for _, r := range e.matching(c, "mount", "scope") {
			if len(c.Args) == 0 || r.Role == "scope" && len(c.Args) < 2 || !e.gives(c.Args[len(c.Args)-1], h) {
				continue
			}
			p := place{o: e.o, rule: r, call: c, def: c.Def, find: e.known(c)}
			from, prefix := e.routerOf(c, e.rootRouter(c))
			prefix = contract.JoinRoute(e.chainPrefix(c), prefix)
			if from.Param == contract.Given && from.Func == h.Func && from.Of == h.Of {
				continue
			}
			above := contract.JoinRoute(e.scopePrefix(c.Span.Start), prefix)
			out = append(out, Handing{contract.JoinRoute(above, p.prefix()), from})
		}
	}
	return append(out, e.givesOn(h)...)
}

// givesOn finds the functions of a file of Rust that give what they got from
// another one, with more of their own: users::routes().route(...).
func (e *extractor) givesOn(h contract.Handed) (out []Handing) {
	if e.o.Lang != "rust" {
		return nil
	}
	for _, c := range e.o.CallsTo(func(last string) bool { return last == h.Func }) {
		from := e.givenBy(e.o.Around(c.Span.Start))
		held := false // by a variable
		for _, a := range e.o.Assigns {
			held = held || a.Value.Span.Holds(c.Span.Start)
		}
		if from.Func == "" || from.Func == h.Func && from.Of == h.Of || held || !e.mayCall(c.Name, h) || e.mountsAround(&c) {
			continue
		}
		out = append(out, Handing{"", from})
	}
	return out
}

// mountsAround tells whether a call stands in another one that mounts.
func (e *extractor) mountsAround(c *outline.Call) bool {
	for i := range e.o.Calls {
		x := &e.o.Calls[i]
		if x.Span.Start < c.Span.Start && c.Span.End < x.Span.End && len(e.matching(x, "mount")) > 0 {
			return true
		}
	}
	return false
}

// gives tells whether a value is the result of a function, by the name of what
// it is called on: its package, its file or its type.
func (e *extractor) gives(v outline.Value, h contract.Handed) bool {
	called := ""
	switch {
	case e.o.Lang == "rust" && v.Kind == outline.ValCall && v.Call != nil && isRouteList(v.Call.Name) && e.isMacro(v.Call):
		return e.lists(v.Call.Span, h)
	case v.Kind == outline.ValCall && v.Call != nil:
		called = v.Call.Name
		if e.o.Lang == "rust" { // users::routes().layer(x)
			called = chainRoot(v.Call).Name
		}
	case e.o.Lang == "rust" && v.Kind == outline.ValName:
		called = v.Text
		for _, a := range e.o.Assigns {
			if a.Name == v.Text && a.Value.Kind == outline.ValCall && a.Value.Call != nil {
				called = chainRoot(a.Value.Call).Name
			}
		}
	default:
		return false
	}
	return e.mayCall(called, h)
}

// isRouteList tells a macro of Rust that lists the functions that answer routes.
func isRouteList(name string) bool {
	return strings.HasSuffix(name, "routes") && !strings.Contains(name, "()")
}

// isMacro tells whether a call is one of a macro of Rust.
func (e *extractor) isMacro(c *outline.Call) bool {
	name, _, ok := strings.Cut(string(e.o.Source[c.Span.Start:c.Span.End]), "!")
	return ok && e.o.Lang == "rust" && outline.IsWord(name)
}

// lists tells whether a macro names what is mounted.
func (e *extractor) lists(s outline.Span, h contract.Handed) bool {
	_, list, ok := strings.Cut(string(e.o.Source[s.Start:s.End]), "!")
	if !ok {
		return false
	}
	for name := range strings.SplitSeq(strings.Trim(list, " \n\t()[]{}"), ",") {
		if e.mayCall(strings.TrimSpace(name), h) {
			return true
		}
	}
	return false
}

// mayCall tells whether a name may be that of a function.
func (e *extractor) mayCall(called string, h contract.Handed) bool {
	name := strings.ToLower(strings.ReplaceAll(e.whole(called), "::", "."))
	at := strings.LastIndexByte(name, '.')
	if name[at+1:] != strings.ToLower(h.Func) {
		return false
	}
	if at < 0 { // of this package, or imported by its name
		return !e.near || !e.defines(called) || strings.HasPrefix(h.Of, e.service(called).Of)
	}
	recv := name[strings.LastIndexByte(name[:at], '.')+1 : at]
	if recv == "crate" || recv == "super" || recv == "self" {
		return true
	}
	parts := strings.Fields(h.Of) // of Rust a folder, a file and perhaps a type
	if e.near && len(parts) > 1 && !slices.Contains([]string{"mod", "lib", "main"}, parts[1]) {
		parts = parts[1:]
	}
	for _, of := range parts {
		if of != "." && (strings.Contains(of, recv) || strings.Contains(recv, of)) {
			return true
		}
	}
	return false
}

// whole is a name of Rust with the path that it is imported by.
func (e *extractor) whole(called string) string {
	if e.o.Lang == "rust" && outline.IsWord(called) {
		for _, im := range e.o.Imports {
			if im.Local == called {
				return im.Module + "::" + im.Name
			}
		}
	}
	return called
}

// defines tells whether the file has a function of that name.
func (e *extractor) defines(name string) bool {
	return slices.ContainsFunc(e.o.Defs, func(d outline.Def) bool { return d.Name == name })
}
