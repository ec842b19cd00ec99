package bodies

import (
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
)

// name works out what a name stands for where it is written.
func (e *Eval) name(n *node, sc *scope) (out *Shape) {
	if isSelf(n.name) {
		return sc.self
	}
	key := sc.o.Path + "#" + n.name + "@" + itoa(n.at)
	e.open.Follow(key, func() {
		if out = e.variable(n.name, n.at, sc); out == nil {
			out = e.property(sc.self, n.name)
		}
		if out == nil {
			out = e.global(sc, n.name)
		}
	})
	return out
}

func itoa(i int) string {
	if i == 0 {
		return "0"
	}
	var b []byte
	for ; i > 0; i /= 10 {
		b = append([]byte{byte('0' + i%10)}, b...)
	}
	return string(b)
}

// global is what a name stands for that no function binds: a class, or what a
// file gives a name.
func (e *Eval) global(sc *scope, name string) *Shape {
	if t, ok := sc.types[name]; ok {
		return t
	}
	for _, p := range e.find(sc, name) {
		if s := e.definition(p); s != nil {
			return s
		}
	}
	return nil
}

// definition is what a definition stands for by its name alone.
func (e *Eval) definition(p Place) *Shape {
	if p.Def >= len(p.File.Defs) {
		return nil
	}
	d := &p.File.Defs[p.Def]
	switch {
	case d.Contain, d.Kind == "type", d.Kind == "struct", d.Kind == "record":
		return e.class(p, nil)
	case d.HasCall:
		return nil
	}
	src := e.src(p.File)
	whole := src[d.NameAt():d.Span.End]
	if at := strings.IndexByte(whole, '='); at >= 0 {
		from := int(d.NameAt()) + at + 1
		if strings.HasPrefix(whole[at:], "=>") {
			from++
		}
		return e.at(&scope{o: p.File, from: from, to: int(d.Span.End)}, from, int(d.Span.End))
	}
	return nil
}

func (e *Eval) find(sc *scope, name string) []Place {
	o := sc.o
	var out []Place
	last := lastOf(dots(name))
	for i := range o.Defs {
		d := &o.Defs[i]
		if d.Name == name || lastOf(d.Name) == last && (d.Parent < 0 || d.Contain || sc.self != nil && sc.self.class != nil &&
			sc.self.class.File == o && d.Parent == sc.self.class.Def) {
			out = append(out, Place{o, i})
		}
	}
	if len(out) > 0 && !strings.Contains(name, ".") {
		return out
	}
	if found := e.world.Find(o, dots(name)); len(found) > 0 {
		return found
	}
	return out
}

// variable is what a function's text says of a name before it is used.
func (e *Eval) variable(name string, at int, sc *scope) *Shape {
	for s := sc; s != nil; s = s.up {
		if b := e.bound(name, at, s); b != nil {
			return e.added(b, name, at, s)
		}
		if p := s.params[name]; p != nil {
			if v := e.force(p); v != nil {
				return v
			}
		}
		for _, p := range s.decl {
			if strings.TrimLeft(p.Name, "$&@") != strings.TrimLeft(name, "$") || p.Typ == "" {
				continue
			}
			if t := e.typ(p.Typ, s); t != nil {
				return t
			}
		}
	}
	return nil
}

// bound finds the last assignment of a name before a place.
func (e *Eval) bound(name string, at int, sc *scope) *Shape {
	src := e.src(sc.o)
	to := min(at, sc.to)
	if at <= sc.from {
		to = sc.to
	}
	lost := false // it was given something that is not understood, perhaps made of what it was before
	for end := to; end > sc.from; {
		i := strings.LastIndex(src[sc.from:end], name)
		if e.steps++; i < 0 || e.steps > maxSteps {
			return nil
		}
		i += sc.from
		end = i
		after := i + len(name)
		if i > 0 && (isName(src[i-1]) || src[i-1] == '.' || src[i-1] == '@' || strings.HasSuffix(src[:i], "->")) ||
			after < len(src) && isName(src[after]) {
			continue
		}
		s := e.boundAt(name, i, after, sc)
		if s != nil && lost && !s.Open {
			c := *s
			c.Open = true
			return &c
		}
		if s != nil {
			return s
		}
		rest := strings.TrimLeft(src[after:min(sc.to, len(src))], " \t")
		lost = lost || strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") && !strings.HasPrefix(rest, "=>")
	}
	return nil
}

// boundAt looks whether the name at i is given a value there.
func (e *Eval) boundAt(name string, i, after int, sc *scope) *Shape {
	src := e.src(sc.o)
	line := src[strings.LastIndexByte(src[:i], '\n')+1 : i]
	j := after
	for j < sc.to && (src[j] == ' ' || src[j] == '\t') {
		j++
	}
	rest := src[j:min(sc.to, len(src))]
	before := typeBefore(line)
	declared := before == "let" || before == "const" || before == "var" || before == "val" || before == "mut" || sc.o.Lang == "python"
	switch {
	case strings.HasPrefix(rest, ":="):
		return e.value(j+2, sc)
	case strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") && !strings.HasPrefix(rest, "=>"):
		if isType(before) {
			if s := e.typ(before, sc); s.holds() {
				return s
			}
		}
		return e.value(j+1, sc)
	case strings.HasPrefix(rest, ":") && declared && !strings.HasPrefix(rest, "::"):
		r := e.reader(sc, j+1, sc.to)
		r.space()
		if s := e.typ(r.typeText(), sc); s.holds() {
			return s
		}
		if r.space(); r.peek() == '=' {
			return e.value(r.pos+1, sc)
		}
	case strings.HasPrefix(rest, "of "), strings.HasPrefix(rest, "in ") || strings.HasPrefix(rest, ": ") && sc.o.Lang == "java":
		if s := e.value(j+strings.IndexAny(rest, " ")+1, sc); s != nil && s.Elem != nil {
			return s.Elem
		}
	case strings.HasPrefix(rest, ",") && sc.o.Lang == "go":
		if op := strings.Index(rest, ":="); op > 0 && op < 60 && !strings.ContainsAny(rest[:op], "(\n{") && strings.TrimSpace(line) == "" {
			return e.value(j+op+2, sc)
		}
	case isType(before) && (strings.HasPrefix(rest, ";") || strings.HasPrefix(rest, ",") || strings.HasPrefix(rest, ")") ||
		sc.o.Lang == "go"):
		return e.typ(before, sc)
	case sc.o.Lang == "go" && strings.HasSuffix(strings.TrimSpace(line), "var"):
		return e.typ(strings.TrimSpace(rest[:max(0, strings.IndexByte(rest, '\n'))]), sc)
	}
	return e.destructured(name, i, sc)
}

// typeBefore is the word before a name, with its type arguments.
func typeBefore(line string) string {
	line = strings.TrimRight(line, " \t*&")
	end := len(line)
	depth := 0
	i := end
	for i > 0 {
		c := line[i-1]
		switch {
		case c == '>' || c == ']':
			depth++
		case c == '<' || c == '[':
			depth--
			if depth < 0 {
				return ""
			}
		case depth == 0 && !isName(c) && c != '.' && c != '?':
			return line[i:end]
		}
		i--
	}
	return line[i:end]
}

func isType(s string) bool {
	s = strings.TrimLeft(s, "[]*&")
	return s != "" && isUpper(lastOf(strings.SplitN(s, "<", 2)[0]))
}

// value works out what is assigned at a place.
func (e *Eval) value(at int, sc *scope) *Shape {
	src := e.src(sc.o)
	for at < sc.to && at < len(src) && strings.IndexByte(" \t\r\n", src[at]) >= 0 {
		at++
	}
	if strings.HasPrefix(src[at:], "range ") {
		if s := e.at(sc, at+6, sc.to); s != nil {
			return s.Elem
		}
		return nil
	}
	return e.at(sc, at, sc.to)
}

// destructured looks for const { a, b: name } = x around i.
func (e *Eval) destructured(name string, i int, sc *scope) *Shape {
	src := e.src(sc.o)
	open := strings.LastIndexAny(src[sc.from:i], "{;\n}(")
	if open < 0 || src[sc.from+open] != '{' && src[sc.from+open] != '\n' {
		return nil
	}
	open += sc.from
	if src[open] == '\n' {
		open = max(sc.from, strings.LastIndexByte(src[:open], '{'))
	}
	if open < 0 || src[open] != '{' {
		return nil
	}
	head := strings.TrimSpace(src[strings.LastIndexByte(src[:open], '\n')+1 : open])
	if !strings.HasSuffix(head, "const") && !strings.HasSuffix(head, "let") && !strings.HasSuffix(head, "var") {
		return nil
	}
	end := closing(src, open, sc.o.Lang)
	rest := strings.TrimLeft(src[end:min(len(src), end+400)], " ")
	if end <= i || !strings.HasPrefix(rest, "=") {
		return nil
	}
	key := name
	for _, part := range splitTop(src[open+1:end-1], ',') {
		if k, v, ok := strings.Cut(part, ":"); ok && strings.TrimSpace(strings.SplitN(v, "=", 2)[0]) == name {
			key = strings.TrimSpace(k)
		}
	}
	return e.value(end+strings.Index(src[end:], "=")+1, sc).field(key)
}

// added gives a value the fields that are set on it later.
func (e *Eval) added(s *Shape, name string, at int, sc *scope) *Shape {
	if s.class != nil && !s.Open || s.Elem != nil || s.Type != "" {
		return s
	}
	src := e.src(sc.o)
	out := *s
	out.Fields = append([]Field{}, s.Fields...)
	for from := sc.from; from < min(at, sc.to); {
		i := strings.Index(src[from:min(at, sc.to)], name)
		if e.steps++; i < 0 || e.steps > maxSteps {
			break
		}
		i += from
		from = i + len(name)
		if i > 0 && (isName(src[i-1]) || src[i-1] == '.') {
			continue
		}
		r := e.reader(sc, from, sc.to)
		var key string
		switch {
		case r.at(".put("), r.at(".set("):
			r.pos += 4
			if args := r.args(')'); len(args) == 2 && args[0].val != nil && args[0].val.kind == text {
				out.set(Field{Name: args[0].val.name, Shape: e.part(args[1].val, sc)})
			}
			continue
		case r.at("["):
			if args := r.args(']'); len(args) == 1 && args[0].val != nil && args[0].val.kind == text {
				key = args[0].val.name
			}
		case r.at("."):
			r.pos++
			key = r.word()
		}
		r.space()
		if key != "" && r.at("=") && !r.at("==") && !r.at("=>") && out.field(key) == nil {
			out.set(Field{Name: key, Shape: e.valuePart(r.pos+1, sc)})
		}
	}
	return &out
}

func (e *Eval) valuePart(at int, sc *scope) *Shape {
	if e.steps++; e.steps > maxSteps {
		return nil
	}
	return e.written(e.value(at, sc), 0)
}

// assigned is the expression that a name was given last.
func (e *Eval) assigned(name string, at int, sc *scope) *node {
	src := e.src(sc.o)
	for end := min(max(at, sc.from), sc.to); end > sc.from; {
		i := strings.LastIndex(src[sc.from:end], name)
		if i < 0 {
			return nil
		}
		i += sc.from
		end = i
		after := strings.TrimLeft(src[i+len(name):sc.to], " ")
		if (i == 0 || !isName(src[i-1])) && strings.HasPrefix(after, "=") && !strings.HasPrefix(after, "==") && !strings.HasPrefix(after, "=>") {
			return e.reader(sc, sc.to-len(after)+1, sc.to).expr()
		}
	}
	return nil
}

// property is what a class has under a name.
func (e *Eval) property(self *Shape, name string) *Shape {
	if self == nil || self.class == nil {
		return nil
	}
	bare := strings.TrimLeft(name, "$@_")
	var out *Shape
	e.eachClass(self, func(c Place) bool {
		for i := range c.File.Defs {
			d := &c.File.Defs[i]
			if d.Parent == c.Def && !d.HasCall && !d.Contain && strings.TrimLeft(lastOf(d.Name), "$@_") == bare {
				if out = e.memberType(c, d, self.types); out != nil {
					return true
				}
			}
		}
		out = e.injected(c, bare)
		return out != nil
	})
	return out
}

// injected is the type of what a constructor is given under a name.
func (e *Eval) injected(c Place, name string) *Shape {
	d := &c.File.Defs[c.Def]
	sc := &scope{o: c.File, from: int(d.Span.Start), to: int(d.Span.End)}
	look := func(ps []outline.Param) *Shape {
		for _, p := range ps {
			f := strings.Fields(strings.TrimLeft(p.Name, "$"))
			if len(f) > 0 && strings.TrimLeft(f[len(f)-1], "$@_") == name && p.Typ != "" {
				return e.typ(p.Typ, sc)
			}
		}
		return nil
	}
	if d.HasCall {
		if s := look(d.Full().Params); s != nil {
			return s
		}
	}
	for i := range c.File.Defs {
		if m := &c.File.Defs[i]; m.Parent == c.Def && m.HasCall {
			switch lastOf(m.Name) {
			case "constructor", "__construct", "__init__", "initialize", "init", lastOf(d.Name):
				if s := look(m.Full().Params); s != nil {
					return s
				}
			}
		}
	}
	return nil
}
