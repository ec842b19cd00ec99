package analysis

import (
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A place is where a rule was set off: a call, an annotation or a definition.
type place struct {
	o    *outline
	rule *rule
	call *call
	mark *mark
	def  int // the definition around or at it
	span span
	line int
}

// first returns the first text that a selector finds, or "".
func (p *place) first(selector string) string {
	if all := p.texts(selector); len(all) > 0 {
		return all[0]
	}
	return ""
}

// texts returns what a selector finds: alternatives are separated by |, and
// the first that finds something counts.
func (p *place) texts(selector string) []string {
	for alt := range strings.SplitSeq(selector, "|") {
		if out := p.alternative(alt); len(out) > 0 {
			return out
		}
	}
	return nil
}

func (p *place) alternative(alt string) []string {
	switch {
	case alt == "":
		return nil
	case alt[0] == '=':
		return []string{alt[1:]}
	case alt == "callee":
		return []string{p.callee()}
	case alt == "methods":
		return p.methodCalls()
	case alt == "args":
		var out []string
		if p.call != nil {
			for _, a := range p.call.args {
				out = append(out, p.o.textsOf(a)...)
			}
		}
		return out
	case alt == "joined":
		return []string{strings.Join(p.alternative("args"), "/")}
	case alt == "verb1":
		if p.call != nil && p.call.inner != nil {
			n := p.call.inner.name
			return []string{strings.ToUpper(n[strings.LastIndexByte(n, '.')+1:])}
		}
		return nil
	case strings.HasPrefix(alt, "app+"): // Django's table of a model
		if model := p.first(alt[4:]); model != "" {
			return []string{djangoApp(p.o.path) + "_" + strings.ToLower(model)}
		}
		return nil
	case alt == "tablename":
		return p.tableName()
	case strings.HasPrefix(alt, "part"):
		return p.part(alt[4:])
	case strings.HasPrefix(alt, "field:"):
		return p.classField(alt[6:])
	case strings.Contains(alt, "@"):
		return p.markTexts(alt)
	case alt == "snake", alt == "snakes", alt == "django", alt == "class":
		return p.className(alt)
	}
	if v, ok := p.value(alt); ok {
		return p.o.textsOf(v)
	}
	return nil
}

// value returns the argument that a selector means: 0, -1, :name, 0.field,
// inner.0.
func (p *place) value(selector string) (value, bool) {
	var args []value
	c := p.call
	switch {
	case p.mark != nil:
		args = p.mark.args
	case c != nil:
		args = c.args
	}
	if rest, ok := strings.CutPrefix(selector, "root."); ok && c != nil {
		for selector = rest; c.inner != nil; c = c.inner {
		}
		args = c.args
	}
	for c != nil && strings.HasPrefix(selector, "inner.") {
		selector = selector[len("inner."):]
		if c = c.inner; c == nil {
			return value{}, false
		}
		args = c.args
	}
	return pick(args, selector)
}

// pick finds an argument: a position among those without a name, or :name;
// then fields of it after dots.
func pick(args []value, selector string) (value, bool) {
	head, rest, _ := strings.Cut(selector, ".")
	v, ok := pickArg(args, head)
	for ok && rest != "" {
		head, rest, _ = strings.Cut(rest, ".")
		if n, err := strconv.Atoi(head); err == nil {
			if ok = n < len(v.items); ok {
				v = v.items[n]
			}
			continue
		}
		v, ok = v.get(head)
	}
	return v, ok
}

func pickArg(args []value, head string) (value, bool) {
	if name, ok := strings.CutPrefix(head, ":"); ok {
		at := slices.IndexFunc(args, func(v value) bool { return v.name == name })
		if at < 0 {
			return value{}, false
		}
		return args[at], true
	}
	n, err := strconv.Atoi(head)
	if err != nil {
		return value{}, false
	}
	var plain []value
	for _, a := range args {
		if a.name == "" {
			plain = append(plain, a)
		}
	}
	if n < 0 {
		n += len(plain)
	}
	if n < 0 || n >= len(plain) {
		return value{}, false
	}
	return plain[n], true
}

// textsOf reads a value as texts: a literal, a constant of the file, a format,
// or each of a list.
func (o *outline) textsOf(v value) []string {
	switch v.kind {
	case valText, valSymbol:
		return []string{v.text}
	case valName:
		name := v.text
		if c, ok := o.consts[name]; ok && c.kind == valText {
			return []string{c.text}
		}
		if c, ok := o.consts[name[strings.LastIndexByte(name, '.')+1:]]; ok && c.kind == valText {
			return []string{c.text}
		}
		if last := strings.ToUpper(name[strings.LastIndexAny(name, ".:")+1:]); slices.Contains(scope.Methods(), strings.TrimPrefix(last, "METHOD")) {
			return []string{strings.TrimPrefix(last, "METHOD")} // RequestMethod.GET, http.MethodPost
		}
	case valList:
		var out []string
		for _, i := range v.items {
			out = append(out, o.textsOf(i)...)
		}
		return out
	case valCall:
		if v.call == nil {
			return nil
		}
		last := v.call.name[strings.LastIndexByte(v.call.name, '.')+1:]
		switch last {
		case "Sprintf", "format", "sprintf", "printf", "URI", "URL", "Url", "parse", "of", "create", "url", "String", "to_string", "join", "from", "encodeURI", "uri", "Uri", "Column":
			for _, a := range v.call.args {
				if ts := o.textsOf(a); len(ts) > 0 {
					return []string{filled(ts[0])}
				}
			}
		}
	}
	return nil
}

// callee is the last part of what was called, or an annotation's name, in
// capitals and without the affixes that the rule strips.
func (p *place) callee() string {
	name := ""
	if p.mark != nil {
		name = p.mark.name
	} else if p.call != nil {
		name = p.call.name
	}
	name = strings.ToUpper(name[strings.LastIndexByte(name, '.')+1:])
	for affix := range strings.SplitSeq(p.rule.options["strip"], ",") {
		if affix == "" {
			continue
		}
		affix = strings.ToUpper(affix)
		name = strings.TrimSuffix(strings.TrimPrefix(name, affix), affix)
	}
	return name
}

// part is the nth part of the dotted name of what was called, from its end:
// part1 is the one before the last.
func (p *place) part(n string) []string {
	i, err := strconv.Atoi(n)
	if err != nil || p.call == nil {
		return nil
	}
	parts := strings.Split(p.call.name, ".")
	if i >= len(parts) {
		return nil
	}
	return []string{parts[len(parts)-1-i]}
}

// methodCalls are the HTTP methods among the calls chained in the last
// argument: get(a).post(b).
func (p *place) methodCalls() []string {
	v, ok := p.value("-1")
	if !ok {
		return nil
	}
	var out []string
	for c := v.call; v.kind == valCall && c != nil; c = c.inner {
		last := strings.ToUpper(c.name[strings.LastIndexByte(c.name, '.')+1:])
		if slices.Contains(scope.Methods(), last) && !slices.Contains(out, last) {
			out = append(out, last)
		}
	}
	return out
}

// classField is a text assigned in the class body.
func (p *place) classField(name string) []string {
	for _, a := range p.o.assigns {
		if a.name == name && (a.def == p.def || a.def >= 0 && p.def >= 0 && p.o.defs[a.def].parent == p.def) {
			return p.o.textsOf(a.value)
		}
	}
	return nil
}

// markTexts reads @Name, @Name.0, @Name:arg and class@Name...: an argument of
// an annotation at the same definition, or at the one around it.
func (p *place) markTexts(alt string) []string {
	where, rest, _ := strings.Cut(alt, "@")
	target := p.def
	if where == "class" {
		if target < 0 || target >= len(p.o.defs) {
			return nil
		}
		target = p.o.defs[target].parent
	}
	end := strings.IndexAny(rest, ".:")
	name, sel := rest, "0"
	if end >= 0 {
		name, sel = rest[:end], strings.TrimPrefix(rest[end:], ".")
	}
	for i := range p.o.marks {
		m := &p.o.marks[i]
		if m.target != target || target < 0 || m.name[strings.LastIndexByte(m.name, '.')+1:] != name {
			continue
		}
		if v, ok := pick(m.args, sel); ok {
			return p.o.textsOf(v)
		}
	}
	return nil
}

var returned = lazy.Regexp(`return\s+"([^"]+)"`)

// tableName is what a model's TableName method returns.
func (p *place) tableName() []string {
	if p.def < 0 {
		return nil
	}
	for _, d := range p.o.defs {
		if d.name == p.o.defs[p.def].name+".TableName" {
			if m := returned().FindStringSubmatch(d.own); m != nil {
				return m[1:]
			}
		}
	}
	return nil
}

// className makes a table's name from the class.
func (p *place) className(how string) []string {
	if p.def < 0 || p.def >= len(p.o.defs) {
		return nil
	}
	name := p.o.defs[p.def].name
	name = name[strings.LastIndexByte(name, '.')+1:]
	switch how {
	case "snake":
		return []string{snake(name)}
	case "snakes":
		return []string{plural(snake(name))}
	case "django":
		return []string{djangoApp(p.o.path) + "_" + strings.ToLower(name)}
	}
	return []string{name}
}

// djangoApp is the app that a file belongs to.
func djangoApp(file string) string {
	for _, cut := range []string{"/models.py", "/models/", "/migrations/"} {
		file, _, _ = strings.Cut(file, cut)
	}
	return file[strings.LastIndexByte(file, '/')+1:]
}

// snake writes UserProfile as user_profile.
func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if r >= 'A' && r <= 'Z' {
			if i > 0 && (s[i-1] < 'A' || s[i-1] > 'Z' || i+1 < len(s) && s[i+1] >= 'a' && s[i+1] <= 'z') && s[i-1] != '_' {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// plural is the usual English plural, as the frameworks make it.
func plural(s string) string {
	switch {
	case strings.HasSuffix(s, "person"):
		return strings.TrimSuffix(s, "person") + "people"
	case strings.HasSuffix(s, "child"):
		return s + "ren"
	case strings.HasSuffix(s, "y") && len(s) > 1 && !strings.ContainsRune("aeiou", rune(s[len(s)-2])):
		return s[:len(s)-1] + "ies"
	case strings.HasSuffix(s, "s"), strings.HasSuffix(s, "x"), strings.HasSuffix(s, "z"), strings.HasSuffix(s, "ch"), strings.HasSuffix(s, "sh"):
		return s + "es"
	}
	return s + "s"
}
