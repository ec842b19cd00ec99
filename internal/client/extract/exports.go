package extract

import (
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
	"github.com/svc-hq/svc/internal/core/scope"
)

// Routes that a framework makes of files and their exports.

// exports tells whether a definition is one that sets a rule off.
func exports(r *rules.Rule, o *outline.File, d *outline.Def) bool {
	return d.Parent < 0 && d.Exported &&
		(slices.Contains(r.Exports, d.Name) || slices.Contains(r.Exports, "default") && isDefault(o, d))
}

// atExports finds routes that a framework makes of files and their exports.
func (e *extractor) atExports() {
	for _, r := range e.m.Rules {
		if len(r.Exports) == 0 || !e.active[r] || r.File == nil {
			continue
		}
		found := r.File.Get().FindStringSubmatch(e.o.Path)
		if len(found) < 2 {
			continue
		}
		e.rule = r.Place()
		defined := false
		for i := range e.o.Defs {
			d := &e.o.Defs[i]
			if !exports(r, e.o, d) {
				continue
			}
			defined = true
			p := &place{o: e.o, rule: r, def: i, span: d.Span, line: int(d.Span.Row) + 1}
			methods := e.exportMethods(r, d.Name)
			s := e.exportShape(p)
			for _, method := range methods {
				before := len(e.out)
				if e.add("http:"+method+" "+fileRoute(found[1]), coord.Provides, p.line, s); len(e.out) > before {
					e.out[before].Answer = contract.Answer{From: d.Span.Start, To: d.Span.End}
				}
			}
		}
		if !defined {
			e.exportsMade(r, fileRoute(found[1]))
		}
	}
}

// exportsMade adds the routes of a file whose exports are no definitions of
// their own: export default f(g), export { f as GET }.
func (e *extractor) exportsMade(r *rules.Rule, route string) {
	for _, m := range made.Get().FindAllSubmatchIndex(e.o.Source, -1) {
		name := "default"
		if m[2] >= 0 {
			name = string(e.o.Source[m[2]:m[3]])
		}
		if !slices.Contains(r.Exports, name) {
			continue
		}
		line := 1 + strings.Count(string(e.o.Source[:m[0]]), "\n")
		for _, method := range e.exportMethods(r, name) {
			before := len(e.out)
			if e.add("http:"+method+" "+route, coord.Provides, line, contract.Shape{}); len(e.out) > before {
				e.out[before].Answer = contract.Answer{From: uint32(m[0]), To: uint32(len(e.o.Source))}
			}
		}
	}
}

var (
	made     = lazy.Regexp(`(?m)^export\s+default\b|\bas\s+([A-Z]+)\s*[,}]|^export\s+const\s+\{[^}]*?\b([A-Z]+)\b`)
	asked    = lazy.Regexp(`method\s*[!=]==?\s*['"](\w+)['"]|case\s+['"]([A-Z]+)['"]\s*:|(?m:^)\s*(?:\w+)?\.(get|post|put|patch|delete)\(`)
	onlySome = lazy.Regexp(`method\s*!==?\s*['"]|\b405\b`)
)

// exportMethods are the methods that an export answers: its own name, what the
// file's name says, or what a function for all of them asks for.
func (e *extractor) exportMethods(r *rules.Rule, name string) []string {
	if upper := strings.ToUpper(name); slices.Contains(scope.Methods(), upper) {
		return []string{upper}
	} else if upper == "DEL" {
		return []string{"DELETE"}
	}
	if at := r.File.Get().SubexpIndex("method"); at > 0 {
		if m := r.File.Get().FindStringSubmatch(e.o.Path); m[at] != "" {
			return []string{strings.ToUpper(m[at])}
		}
		return []string{scope.AnyMethod}
	}
	var out []string
	for _, m := range asked.Get().FindAllSubmatch(e.o.Source, -1) {
		method := strings.ToUpper(string(m[1]) + string(m[2]) + string(m[3]))
		if method != "OPTIONS" && method != "HEAD" && slices.Contains(scope.Methods(), method) && !slices.Contains(out, method) {
			out = append(out, method)
		}
	}
	if len(out) == 0 || len(out) == 1 && !onlySome.Get().Match(e.o.Source) { // the others may be what it does else
		return []string{scope.AnyMethod}
	}
	return out
}

func (e *extractor) exportShape(p *place) contract.Shape {
	q := *p
	q.mark = &outline.Mark{Target: p.def}
	return e.handlerShape(&q)
}

// fileRoute makes a route of a path: groups in brackets are not part of it.
func fileRoute(p string) string {
	var out []string
	for elem := range strings.SplitSeq(path.Clean("/"+p), "/") {
		if strings.HasPrefix(elem, "(") || strings.HasPrefix(elem, "@") || elem == "index" {
			continue
		}
		out = append(out, elem)
	}
	return "/" + strings.Trim(strings.Join(out, "/"), "/")
}

func isDefault(o *outline.File, d *outline.Def) bool {
	at := int(d.Span.Start)
	return strings.Contains(string(o.Source[max(0, at-16):at]), "default") || strings.Contains(string(o.Source), "export default "+d.Name)
}
