package bodies

import (
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// findClass finds the class that a name means.
func (e *Eval) findClass(sc *scope, name string) (Place, bool) {
	for _, p := range e.find(sc, name) {
		if p.Def < len(p.File.Defs) && isClass(&p.File.Defs[p.Def]) {
			return p, true
		}
	}
	if at := strings.LastIndexByte(name, '.'); at > 0 && at+1 < len(name) { // Create.Command
		if outer, ok := e.findClass(sc, name[:at]); ok {
			for i := range outer.File.Defs {
				if d := &outer.File.Defs[i]; isClass(d) && lastOf(d.Name) == name[at+1:] {
					return Place{outer.File, i}, true
				}
			}
		}
		return e.findClass(sc, name[at+1:])
	}
	return Place{}, false
}

func isClass(d *outline.Def) bool {
	switch d.Kind {
	case "implementation", "object", "namespace", "module":
		return false
	}
	return d.Contain || d.Kind == "type"
}

var (
	renamed = lazy.Regexp(`(?i)(?:json\w*|serial\w*|\brename|alias|data_key|expose|\bfield)\s*[=(:]\s*` +
		`(?:[^()"'\n]*?(?:name|value|alias|data_key)\s*[=:]\s*)?["']([\w$.-]+)["']`)
	hidden = lazy.Regexp(`(?i)@?json_?ignore\b(?:\W|$)|serde\([^)]*\bskip(?:_serializing)?\b[^_]|@transient\b|@Exclude\(|` +
		`load_only|write_only|\[IgnoreDataMember|json:"-"`)
	policy = lazy.Regexp(`rename_all(?:\([^)]*\))?\s*=\s*"(\w+)"|(alias_generator|to_camel)|JsonNaming\([^)]*?(Snake|LowerCamel|Kebab)`)
)

// class works out what a value of a class holds.
func (e *Eval) class(p Place, given []*Shape) *Shape {
	key := p.File.Path + "#" + itoa(p.Def)
	if s, ok := e.classes[p]; ok && len(given) == 0 {
		return s
	}
	out := &Shape{class: &p}
	if !e.open.Follow(key, func() { out = e.held(p, given) }) {
		return out
	}
	if len(given) == 0 && e.steps <= maxSteps { // what was cut short is not kept
		e.classes[p] = out
	}
	return out
}

func (e *Eval) held(p Place, given []*Shape) *Shape {
	d := &p.File.Defs[p.Def]
	out := &Shape{class: &p, types: e.typeParams(p, given)}
	switch {
	case d.Kind == "enum":
		out.Type = "string"
	case d.Kind == "type":
		out = e.alias(p, out)
	default:
		e.members(p, out)
	}
	return out
}

// typeParams ties the parameters of a class to what is given for them.
func (e *Eval) typeParams(p Place, given []*Shape) map[string]*Shape {
	d := &p.File.Defs[p.Def]
	src := e.src(p.File)
	at := int(d.NameAt()) + len(lastOf(d.Name))
	if at >= len(src) || src[at] != '<' && src[at] != '[' {
		return nil
	}
	end := closeAngle(src, at)
	if src[at] == '[' {
		end = closing(src, at, p.File.Lang)
	}
	if end == 0 {
		return nil
	}
	out := map[string]*Shape{}
	for i, param := range splitTop(src[at+1:end-1], ',') {
		name, fallback, _ := strings.Cut(param, "=")
		f := strings.FieldsFunc(name, func(r rune) bool { return !isName(byte(r)) })
		if len(f) == 0 {
			continue
		}
		switch {
		case i < len(given):
			out[f[0]] = given[i]
		case strings.TrimSpace(fallback) != "":
			out[f[0]] = e.typ(fallback, &scope{o: p.File})
		default:
			out[f[0]] = nil
		}
	}
	return out
}

// alias works out type A = B.
func (e *Eval) alias(p Place, out *Shape) *Shape {
	d := &p.File.Defs[p.Def]
	sc := &scope{o: p.File, types: out.types}
	whole := e.src(p.File)[d.NameAt():d.Span.End]
	if _, t, ok := strings.Cut(whole, "="); ok {
		s := e.typ(strings.TrimRight(strings.TrimSpace(t), ";"), sc)
		if s != nil && s.class == nil {
			c := *s
			c.class = &p
			return &c
		}
		return s
	}
	if p.File.Lang == "go" { // type A B
		return e.typ(strings.TrimPrefix(whole, lastOf(d.Name)), sc)
	}
	return nil
}

// members adds the fields of a class, those of its bases first.
func (e *Eval) members(p Place, out *Shape) {
	d := &p.File.Defs[p.Def]
	sc := &scope{o: p.File, types: out.types}
	style := e.style(p)
	for _, b := range d.Bases {
		if base, ok := e.findClass(sc, strings.TrimLeft(dots(b), "*&")); ok && base != p {
			s := e.class(base, nil)
			if s == nil {
				continue
			}
			for _, f := range s.Fields {
				f.Name = styled(f.Name, style)
				out.set(f)
			}
		}
	}
	if d.HasCall && (d.Kind == "record" || p.File.Lang == "scala") {
		for _, prm := range d.Full().Params {
			f := strings.Fields(prm.Name)
			if len(f) > 0 {
				shape := e.written(e.typ(prm.Typ, sc), 0)
				out.set(Field{Name: styled(f[len(f)-1], style), Shape: shape, Needed: p.File.Lang == "scala" && !prm.Optional && !isNull(shape)})
			}
		}
	}
	at := int(d.NameAt())
	for i := range p.File.Defs {
		m := &p.File.Defs[i]
		if m.Parent != p.Def {
			continue
		}
		from := at
		at = int(m.Span.End)
		if f, ok := e.memberField(p, m, out.types, e.src(p.File)[min(from, int(m.Span.Start)):m.Span.End], style); ok {
			out.set(f)
		}
	}
	e.declared(p, out)
}

func isNull(s *Shape) bool { return s != nil && s.Null }

// memberField is the field that a member of a class is written as.
func (e *Eval) memberField(p Place, m *outline.Def, types map[string]*Shape, decl, style string) (Field, bool) {
	f := Field{Name: strings.TrimLeft(lastOf(m.Name), "$#")}
	if m.Contain || strings.HasPrefix(f.Name, "_") || hidden.Get().MatchString(decl) || m.Kind == "case" {
		return f, false
	}
	head := m.Before
	switch p.File.Lang {
	case "csharp":
		if m.Kind != "property" || !strings.Contains(head, "public") || strings.Contains(head, "static") {
			return f, false
		}
	case "java", "php", "kotlin", "scala":
		if strings.Contains(head, "static ") || m.Kind == "constant" || p.File.Lang == "php" && !strings.Contains(head, "public") {
			return f, false
		}
	case "typescript", "javascript":
		if strings.Contains(head, "private") || strings.Contains(head, "static") {
			return f, false
		}
	}
	if m.HasCall {
		return f, e.getter(p, m, &f, types)
	}
	if p.File.Lang == "go" {
		f.Shape = e.memberType(p, m, types)
		f.Needed = strings.Contains(m.Tag, "required")
		return f, tagged(&f, m.Tag)
	}
	named := decl
	if at := strings.LastIndex(decl, "@"); p.File.Lang != "python" && at < 0 && !strings.ContainsAny(decl, "[#") {
		named = ""
	}
	if found := renamed.Get().FindStringSubmatch(named); found != nil {
		f.Name = found[1]
	} else {
		f.Name = styled(f.Name, style)
	}
	after := strings.TrimSpace(e.src(p.File)[int(m.NameAt())+len(lastOf(m.Name)) : m.Span.End])
	f.Optional = strings.HasPrefix(after, "?") || strings.Contains(decl, "skip_serializing_if")
	f.Shape = e.written(e.memberType(p, m, types), 0)
	f.Needed = !f.Optional && mustGive(p.File.Lang, decl, after, f.Shape)
	return f, true
}

// getter takes a method that only reads for the field that it is written as,
// where a class or interface has no fields.
func (e *Eval) getter(p Place, m *outline.Def, f *Field, types map[string]*Shape) bool {
	if p.File.Lang != "java" || p.File.Defs[p.Def].Kind != "interface" || len(m.Full().Params) > 0 {
		return false
	}
	for _, verb := range []string{"get", "is"} {
		if rest, ok := strings.CutPrefix(f.Name, verb); ok && isUpper(rest) {
			f.Name = strings.ToLower(rest[:1]) + rest[1:]
			f.Shape = e.memberType(p, m, types)
			return true
		}
	}
	return false
}

// memberType is what a member holds: as it is declared, or what it is given.
func (e *Eval) memberType(p Place, m *outline.Def, types map[string]*Shape) *Shape {
	sc := &scope{o: p.File, types: types}
	if p.File.Lang == "go" {
		src := e.src(p.File)
		line := strings.TrimSpace(src[int(m.NameAt())+len(lastOf(m.Name)) : m.Span.End])
		if i := strings.LastIndexByte(strings.TrimSuffix(line, "`"), '`'); i >= 0 && strings.HasSuffix(line, "`") {
			line = line[:i]
		}
		return e.typ(line, sc)
	}
	if t := outline.ResultOf(m, p.File.Traits); t != "" && len(t) < 400 {
		if s := e.typ(cutDefault(t), sc); s != nil {
			return s
		}
	}
	if m.Kind == "property" && p.File.Lang == "csharp" {
		return nil
	}
	return e.definition(Place{p.File, e.indexOf(p.File, m)})
}

// cutDefault cuts off what follows a type: accessors, a default.
func cutDefault(t string) string {
	if i := strings.Index(t, " = "); i >= 0 {
		t = t[:i]
	}
	if i := strings.IndexByte(t, '{'); i > 0 {
		t = t[:i]
	}
	return strings.TrimSpace(t)
}

func (e *Eval) indexOf(o *outline.File, d *outline.Def) int {
	for i := range o.Defs {
		if &o.Defs[i] == d {
			return i
		}
	}
	return len(o.Defs) + len(o.Funcs)
}

// style is how a class's fields are written when they are sent.
func (e *Eval) style(p Place) (out string) {
	e.open.Follow("s:"+p.File.Path+"#"+itoa(p.Def), func() { out = e.styleOf(p) })
	return out
}

func (e *Eval) styleOf(p Place) string {
	d := &p.File.Defs[p.Def]
	src := e.src(p.File)
	from := max(0, int(d.Span.Start)-300)
	if before := strings.LastIndexAny(src[from:d.Span.Start], "};"); before >= 0 {
		from += before
	}
	to := int(d.Body().Start)
	if p.File.Lang == "python" || to == 0 {
		to = int(d.Span.End)
	}
	if m := policy.Get().FindStringSubmatch(src[from:max(from, to)]); m != nil {
		return m[1] + m[2] + m[3]
	}
	sc := &scope{o: p.File}
	for _, b := range d.Bases {
		if base, ok := e.findClass(sc, dots(b)); ok && base != p && p.File.Lang == "python" {
			if s := e.style(base); s != "" {
				return s
			}
		}
	}
	if p.File.Lang == "csharp" {
		return "lower"
	}
	return ""
}

// styled writes a name as a class says.
func styled(name, style string) string {
	switch style {
	case "camelCase", "alias_generator", "to_camel", "LowerCamel":
		parts := strings.Split(strings.Trim(name, "_"), "_")
		for i := 1; i < len(parts); i++ {
			if parts[i] != "" {
				parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
			}
		}
		return strings.Join(parts, "")
	case "lower":
		if name != "" {
			return strings.ToLower(name[:1]) + name[1:]
		}
	case "snake_case", "Snake":
		return outline.Snake(name)
	}
	return name
}

// eachClass goes through a class and what it extends.
func (e *Eval) eachClass(s *Shape, visit func(Place) bool) {
	if s == nil || s.class == nil {
		return
	}
	seen := map[Place]bool{}
	var walk func(p Place) bool
	walk = func(p Place) bool {
		if seen[p] || len(seen) > 12 {
			return false
		}
		seen[p] = true
		if visit(p) {
			return true
		}
		if p.Def >= len(p.File.Defs) {
			return false
		}
		sc := &scope{o: p.File}
		for _, b := range p.File.Defs[p.Def].Bases {
			if base, ok := e.findClass(sc, strings.TrimLeft(dots(b), "*&")); ok && walk(base) {
				return true
			}
		}
		return false
	}
	walk(*s.class)
}
