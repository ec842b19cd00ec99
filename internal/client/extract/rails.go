package extract

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
)

// Routes of Ruby that lie where somebody else says: those of an engine where it
// is mounted, those of a concern below each resource that has it.

// engine is what the routes of a place are of that a program mounts by its name.
func (e *extractor) engine(at uint32) contract.Handed {
	if e.o.Lang != "ruby" || !bytes.Contains(e.o.Source, []byte(".routes.")) {
		return contract.Handed{}
	}
	if e.engines == nil {
		e.engines = e.o.CallsTo(func(last string) bool { return last == "draw" || last == "append" || last == "prepend" })
	}
	for _, c := range e.engines {
		of, ok := strings.CutSuffix(c.Name[:strings.LastIndexByte(c.Name, '.')+1], ".routes.")
		if ok && c.Span.Holds(at) && !strings.HasSuffix(strings.ToLower(of), "application") {
			return contract.Handed{Func: of, Param: contract.Mounted}
		}
	}
	return contract.Handed{}
}

// engineMounts finds where a file mounts an engine, by its name or the end of it.
func (e *extractor) engineMounts(h contract.Handed) (out []Handing) {
	for _, c := range e.o.CallsTo(func(last string) bool { return last == "mount" }) {
		if len(c.Args) == 0 {
			continue
		}
		of, at := c.Args[0].Text, ""
		if c.Args[0].Name != "" { // mount Engine => "/x"
			of = c.Args[0].Name
			at = first(e.o.TextsOf(c.Args[0]))
		}
		if v, ok := pickArg(c.Args, ":at"); ok {
			at = first(e.o.TextsOf(v))
		}
		of = strings.Trim(strings.ReplaceAll(of, "::", "."), ". ")
		if strings.HasSuffix("."+h.Func, "."+of) || strings.HasSuffix("."+of, "."+h.Func) {
			out = append(out, Handing{contract.JoinRoute(e.scopePrefix(c.Span.Start), at), e.engine(c.Span.Start)})
		}
	}
	return out
}

// shallow tells whether the items of a resource lie at the top, not below what
// the resource is nested in.
func (e *extractor) shallow(p *place) bool {
	if e.o.Lang != "ruby" || !bytes.Contains(e.o.Source, []byte("shallow")) {
		return false
	}
	if v, ok := p.value(":shallow"); ok {
		return v.Text == "true"
	}
	return slices.ContainsFunc(e.o.CallsTo(func(last string) bool { return last == "shallow" }), func(c outline.Call) bool {
		return c.Span.Holds(p.call.Span.Start)
	})
}

// besideResources is what the namespaces around a place put before routes, without
// the resources.
func (e *extractor) besideResources(at uint32) (prefix string) {
	for _, s := range e.scopes {
		if s.resource == "" && !s.up && s.span.Start < at && at < s.span.End {
			prefix = contract.JoinRoute(prefix, s.prefix)
		}
	}
	return prefix
}

func first(texts []string) string {
	if len(texts) == 0 {
		return ""
	}
	return texts[0]
}

// concerns puts the routes of a concern below every resource that has it.
func (e *extractor) concerns() {
	if e.o.Lang != "ruby" || !bytes.Contains(e.o.Source, []byte("concern")) {
		return
	}
	defined := e.o.CallsTo(func(last string) bool { return last == "concern" })
	users := e.o.CallsTo(func(last string) bool { return last == "concerns" || last == "resources" || last == "resource" })
	for _, c := range defined {
		if len(c.Args) == 0 || !slices.ContainsFunc(c.Args, func(v outline.Value) bool { return v.Kind == outline.ValLambda }) {
			continue
		}
		name := first(e.o.TextsOf(c.Args[0]))
		t := turn{loop: c.Span.Start, name: name}
		for _, u := range users {
			if c.Span.Holds(u.Span.Start) {
				continue
			}
			above := e.scopePrefix(u.Span.Start)
			given, has := pickArg(u.Args, ":concerns")
			if strings.HasSuffix(u.Name, "concerns") {
				given, has = outline.Value{Kind: outline.ValList, Items: u.Args}, true
			} else if path, ok := pickArg(u.Args, ":path"); ok {
				above = contract.JoinRoute(above, first(e.o.TextsOf(path)))
			} else if len(u.Args) > 0 {
				above = contract.JoinRoute(above, first(e.o.TextsOf(u.Args[0])))
			}
			if strings.HasSuffix(u.Name, "resources") {
				above = contract.JoinRoute(above, "{}")
			}
			if has && slices.Contains(e.o.TextsOf(given), name) {
				t.texts = append(t.texts, above)
			}
		}
		e.scopes = append(e.scopes, scoped{span: c.Span, prefix: "{each:" + strconv.Itoa(len(e.turns)) + "}", whole: true})
		e.turns = append(e.turns, t)
	}
}
