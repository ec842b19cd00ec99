package bodies

import (
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

var (
	bodyMark  = lazy.Regexp(`@RequestBody|@Body\b|\[FromBody\]|=\s*Body\(|\bJson\b\s*[<(]|@Valid\b|\bForm<`)
	otherMark = lazy.Regexp(`@(Path|Query|Header|Context|Auth|Request|Cookie|Matrix|Bean|Form|Current|Session|Suspended)\w*|` +
		`\[From(Route|Query|Header|Services)\b|` +
		`Depends\(|Query\(|Path\(|Header\(|\b(State|Extension|Path|Query|Data)<`)
	alias   = lazy.Regexp(`alias\s*=\s*["'](\w+)["']|@Body\(\s*["'](\w+)["']`)
	needed  = lazy.Regexp(`@NotNull|@NotBlank|@NotEmpty|\[Required|\brequired\b|required:"true"|@IsNotEmpty`)
	spared  = lazy.Regexp(`@IsOptional|serde\([^)]*\bdefault|required=False|missing=|dump_only|read_only`)
	plumbed = lazy.Regexp(`(?i)^(slug|id|self|this|cls|user_?id)$`)
)

// Request works out what a handler takes as its body, by the parameter that is
// it; and the name of that parameter.
func (e *Eval) Request(h Handler) (s *Shape, param string) {
	s = e.whole(func() *Shape {
		s, param = e.request(h)
		return s
	})
	return s, param
}

func (e *Eval) request(h Handler) (*Shape, string) {
	if h.Def < 0 || h.Def >= len(h.File.Defs) {
		return nil, ""
	}
	d := &h.File.Defs[h.Def]
	src := e.src(h.File)
	open := strings.IndexByte(src[d.NameAt():d.Span.End], '(')
	if open < 0 {
		return nil, ""
	}
	open += int(d.NameAt())
	end := closing(src, open, h.File.Lang)
	if end > int(d.Span.End) {
		return nil, ""
	}
	sc := &scope{o: h.File}
	for i, prm := range splitTop(src[open+1:end-1], ',') {
		params := d.Full().Params
		if i >= len(params) || params[i].Typ == "" || plumbed.Get().MatchString(params[i].Name) {
			continue
		}
		marked := bodyMark.Get().MatchString(prm)
		if !marked && (otherMark.Get().MatchString(prm) || !takesPlain(h.File.Lang, prm)) {
			continue
		}
		s := e.top(e.typ(params[i].Typ, sc))
		if !s.holds() {
			continue
		}
		if m := alias.Get().FindStringSubmatch(prm); m != nil {
			s = &Shape{Fields: []Field{{Name: m[1] + m[2], Needed: true, Shape: s}}}
		}
		return s, params[i].Name
	}
	return nil, ""
}

// takesPlain tells whether a parameter without a mark may be the body.
func takesPlain(lang, param string) bool {
	switch lang {
	case "python":
		return true
	case "java":
		return !strings.Contains(param, "@Context")
	case "csharp":
		return !strings.Contains(param, "CancellationToken")
	}
	return false
}

// mustGive tells whether a request must hold a field that is declared so.
func mustGive(lang, decl, after string, s *Shape) bool {
	if spared.Get().MatchString(decl) || s != nil && s.Null {
		return false
	}
	switch lang {
	case "python", "kotlin", "scala", "swift":
		return !strings.Contains(after, "=") && !strings.Contains(after, "fields.") || strings.Contains(decl, "required=True") ||
			strings.Contains(after, "Field(...")
	case "rust":
		return true
	case "typescript":
		return !strings.HasPrefix(after, "?") && !strings.Contains(after, "=")
	}
	return needed.Get().MatchString(decl)
}

// Bound works out what is read from a request into the expression at a place.
func (e *Eval) Bound(o *outline.File, from, to int) *Shape {
	return e.whole(func() *Shape { return e.at(e.scopeAt(o, from), from, to) })
}
