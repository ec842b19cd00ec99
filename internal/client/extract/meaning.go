package extract

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
	"github.com/svc-hq/svc/internal/core/scope"
)

// known tells what the names at a call of a server stand for: what they are
// assigned in the function around it, or what another file says of them.
func (e *extractor) known(c *outline.Call) func(string) []string {
	var scopes []outline.Scope
	var trail outline.Trail[string]
	var find func(name string) []string
	find = func(name string) (out []string) {
		trail.Follow(name, func() {
			if scopes == nil {
				scopes = e.o.Around(c.Span.Start)
			}
			if out = e.assigned(name, scopes, c, find); out == nil {
				out = e.each(name, c.Span.Start)
			}
			if out == nil {
				out = e.injected(name)
			}
			if out == nil {
				out = e.elsewhere(name)
			}
		})
		return out
	}
	return find
}

// injected is the setting that a field is given by an annotation.
func (e *extractor) injected(name string) []string {
	for i := range e.o.Marks {
		m := &e.o.Marks[i]
		if m.Name != "Value" && m.Name != "ConfigProperty" || len(m.Args) == 0 || m.Target < 0 || m.Target >= len(e.o.Defs) {
			continue
		}
		if field := e.o.Defs[m.Target].Name; field == name || strings.HasSuffix(field, "."+strings.TrimPrefix(name, "this.")) {
			p := place{o: e.o, mark: m, def: m.Target, find: e.elsewhere}
			if out := p.texts("0|:value"); len(out) == 1 && !strings.Contains(out[0], "$") {
				return out
			}
		}
	}
	return nil
}

// placeholder is a setting in the text of an annotation: ${name:default}.
var placeholder = lazy.Regexp(`\\?\$\{([\w.-]+)(?::([^}]*))?\}`)

// textsOf reads a value as texts. What the file itself does not say of a name,
// others may.
func (p *place) textsOf(v outline.Value) []string {
	if p.find == nil {
		return p.o.TextsOf(v)
	}
	if v.Kind == outline.ValList {
		var out []string
		for _, i := range v.Items {
			out = append(out, p.textsOf(i)...)
		}
		return out
	}
	out := p.o.TextsOf(v)
	open := len(v.Parts) > 0 && (len(out) == 0 || strings.Contains(out[0], "{}"))
	if open || v.Kind == outline.ValName && len(out) == 0 {
		found := p.o.Spell(v, func(name string) []string {
			if c, ok := p.o.Const(name); ok {
				return []string{c}
			}
			return p.find(name)
		})
		if v.Kind == outline.ValText || !slices.Contains(found, "{}") && len(strings.Trim(found[0], "{}/")) > 0 {
			out = found
		}
	}
	if p.mark != nil {
		for i, s := range out {
			out[i] = p.filledIn(s)
		}
	}
	return out
}

// filledIn puts the settings that a text names in their places, or what they
// are by default.
func (p *place) filledIn(s string) string {
	if !strings.Contains(s, "${") {
		return s
	}
	return placeholder.Get().ReplaceAllStringFunc(s, func(hole string) string {
		m := placeholder.Get().FindStringSubmatch(hole)
		if out := p.find("${" + m[1] + "}"); len(out) == 1 {
			return out[0]
		}
		if strings.Contains(hole, ":") {
			return m[2]
		}
		return hole
	})
}

// paths are the texts that a selector finds for a path: a handler that is called
// like a method of HTTP is none.
func (p *place) paths(selector string) []string {
	return slices.DeleteFunc(p.texts(selector), func(s string) bool { return slices.Contains(scope.Methods(), s) })
}
