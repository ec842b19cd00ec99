package extract

import (
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/lazy"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A place is where a rule was set off: a call, an annotation or a definition.
type place struct {
	o    *outline.File
	rule *rules.Rule
	call *outline.Call
	mark *outline.Mark
	def  int // the definition around or at it
	span outline.Span
	line int
	find func(name string) []string // what a name means that the file gives no text; may be nil
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
	case slices.Contains(callWords, alt):
		return p.ofCall(alt)
	case alt[0] == '=':
		return []string{alt[1:]}
	case alt == "callee":
		return p.callees()
	case alt == "methods":
		return p.methodCalls()
	case alt == "after":
		if m := methodAfter(p.o, p.call); m != "" {
			return []string{m}
		}
		return nil
	case alt == "args":
		var out []string
		if p.call != nil {
			for _, a := range p.call.Args {
				out = append(out, p.textsOf(a)...)
			}
		}
		return out
	case alt == "args0":
		return p.plainArgs(0)
	case alt == "args1":
		return p.plainArgs(1)
	case strings.HasPrefix(alt, "keys."):
		return p.keys(alt[len("keys."):])
	case strings.HasPrefix(alt, "chain."):
		return p.inChain(alt[len("chain."):])
	case alt == "joined":
		return slashed(p.plainArgs(0))
	case alt == "joined1":
		return slashed(p.plainArgs(1))
	case strings.HasPrefix(alt, "app+"): // Django's table of a model
		if model := p.first(alt[4:]); model != "" {
			return []string{djangoApp(p.o.Path) + "_" + strings.ToLower(model)}
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
		return p.textsOf(v)
	}
	return nil
}

// plainArgs are the texts of the arguments without a name, from one on.
func (p *place) plainArgs(from int) (out []string) {
	for i := from; p.call != nil && i < len(p.call.Args); i++ {
		if p.call.Args[i].Name == "" {
			out = append(out, p.textsOf(p.call.Args[i])...)
		}
	}
	return out
}

// firstValue returns what the first alternative of a selector finds.
func (p *place) firstValue(selector string) (outline.Value, bool) {
	for alt := range strings.SplitSeq(selector, "|") {
		if v, ok := p.value(alt); ok {
			return v, true
		}
	}
	return outline.Value{}, false
}

// callWords are the selectors of what a call is besides its arguments.
var callWords = []string{"verb", "verb1", "base.in", "on", "chainverb", "type0"}

func (p *place) ofCall(word string) []string {
	if p.call == nil {
		return nil
	}
	switch word {
	case "verb":
		return verbInName(p.call.Name)
	case "verb1":
		if p.call.Inner != nil {
			n := p.call.Inner.Name
			return []string{strings.ToUpper(n[strings.LastIndexByte(n, '.')+1:])}
		}
	case "base.in":
		return p.endpointPath()
	case "on":
		if p.call.On != "" {
			return []string{p.call.On}
		}
	case "chainverb":
		return p.chainVerb()
	case "type0":
		if p.call.Types != "" && p.find != nil {
			name, _, _ := strings.Cut(p.call.Types, ",")
			return p.find("@" + strings.TrimSpace(name))
		}
	}
	return nil
}

func slashed(parts []string) []string {
	if len(parts) == 0 {
		return nil
	}
	return []string{strings.Join(parts, "/")}
}

// value returns the argument that a selector means: 0, -1, :name, 0.field,
// inner.0.
func (p *place) value(selector string) (outline.Value, bool) {
	var args []outline.Value
	c := p.call
	switch {
	case p.mark != nil:
		args = p.mark.Args
	case c != nil:
		args = c.Args
	}
	if selector == "recv" && c != nil {
		return outline.Value{Kind: outline.ValName, Text: receiver(c.Name)}, receiver(c.Name) != ""
	}
	if rest, ok := strings.CutPrefix(selector, "root."); ok && c != nil {
		for selector = rest; c.Inner != nil; c = c.Inner {
		}
		args = c.Args
	}
	for c != nil && strings.HasPrefix(selector, "inner.") {
		selector = selector[len("inner."):]
		if c = c.Inner; c == nil {
			return outline.Value{}, false
		}
		args = c.Args
	}
	return pick(args, selector)
}

// pick finds an argument: a position among those without a name, or :name;
// then fields of it after dots.
func pick(args []outline.Value, selector string) (outline.Value, bool) {
	head, rest, _ := strings.Cut(selector, ".")
	v, ok := pickArg(args, head)
	for ok && rest != "" {
		head, rest, _ = strings.Cut(rest, ".")
		if n, err := strconv.Atoi(head); err == nil {
			if ok = n < len(v.Items); ok {
				v = v.Items[n]
			}
			continue
		}
		v, ok = v.Result().Get(head)
	}
	return v, ok
}

func pickArg(args []outline.Value, head string) (outline.Value, bool) {
	if name, ok := strings.CutPrefix(head, ":"); ok {
		at := slices.IndexFunc(args, func(v outline.Value) bool { return v.Name == name })
		if at < 0 {
			return outline.Value{}, false
		}
		return args[at], true
	}
	n, err := strconv.Atoi(head)
	if err != nil {
		return outline.Value{}, false
	}
	var plain []outline.Value
	for _, a := range args {
		if a.Name == "" {
			plain = append(plain, a)
		}
	}
	if n < 0 {
		n += len(plain)
	}
	if n < 0 || n >= len(plain) {
		return outline.Value{}, false
	}
	return plain[n], true
}

// callees are what may be called, where a call picks one of several members.
func (p *place) callees() (out []string) {
	if p.call == nil || len(p.call.Picks) < 2 {
		return []string{p.callee()}
	}
	for _, name := range p.call.Picks {
		out = append(out, strings.ToUpper(name))
	}
	return out
}

// callee is the last part of what was called, or an annotation's name, in
// capitals and without the affixes that the rule strips.
func (p *place) callee() string {
	name := ""
	if p.mark != nil {
		name = p.mark.Name
	} else if p.call != nil {
		name = p.call.Name
	}
	name = strings.ToUpper(name[strings.LastIndexByte(name, '.')+1:])
	for affix := range strings.SplitSeq(p.rule.Options.Get("strip"), ",") {
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
	parts := strings.Split(p.call.Name, ".")
	if i >= len(parts) {
		return nil
	}
	return []string{parts[len(parts)-1-i]}
}

// keys are the names of an object's fields.
func (p *place) keys(selector string) (out []string) {
	v, ok := p.value(selector)
	for _, f := range v.Fields {
		out = append(out, p.filledKey(strings.Trim(f.Name, `"'`)))
	}
	if !ok && p.call != nil && len(p.call.Args) > 0 && p.call.Args[0].Name != "" { // get "x" => "y#z"
		out = append(out, p.filledKey(strings.Trim(p.call.Args[0].Name, `"'`)))
	}
	return out
}

// inChain joins what the calls of a name in a chain were given:
// controller(A).prefix("a").prefix("b").group(f).
func (p *place) inChain(name string) []string {
	out := ""
	for c := p.call; c != nil; c = c.Inner {
		if c.Name[strings.LastIndexByte(c.Name, '.')+1:] == name && len(c.Args) > 0 {
			given := c.Args[:1]
			if p.o.Lang == "swift" { // grouped("api", "v1")
				given = c.Args
			}
			for i := len(given) - 1; i >= 0; i-- {
				if texts := p.textsOf(given[i]); len(texts) > 0 {
					if out == "" {
						out = texts[0]
						continue
					}
					out = contract.JoinRoute(texts[0], out)
				}
			}
		}
	}
	if out == "" {
		return nil
	}
	return []string{out}
}

// chainVerb is the HTTP method that a chain of calls names: .url(x).post(y).
func (p *place) chainVerb() []string {
	for c := p.call; c != nil; c = c.Inner {
		last := strings.ToUpper(c.Name[strings.LastIndexByte(c.Name, '.')+1:])
		if slices.Contains(scope.Methods(), last) {
			return []string{last}
		}
		if last == "METHOD" && len(c.Args) > 0 {
			return anyIfNone(p.textsOf(c.Args[0]))
		}
	}
	return nil
}

// anyIfNone is any method where one is given and nobody can tell which.
func anyIfNone(methods []string) []string {
	if len(methods) == 0 {
		return []string{scope.AnyMethod}
	}
	return methods
}

// methodCalls are the HTTP methods among the calls chained in the last
// argument: get(a).post(b).
func (p *place) methodCalls() []string {
	v, ok := p.value("-1")
	if !ok {
		return nil
	}
	var out []string
	for c := v.Call; v.Kind == outline.ValCall && c != nil; c = c.Inner {
		last := strings.ToUpper(c.Name[strings.LastIndexByte(c.Name, '.')+1:])
		if slices.Contains(scope.Methods(), last) && !slices.Contains(out, last) {
			out = append(out, last)
		}
	}
	return out
}

// classField is a text assigned in the class body.
func (p *place) classField(name string) []string {
	for _, a := range p.o.Assigns {
		if a.Name == name && (a.Def == p.def || a.Def >= 0 && p.def >= 0 && p.o.Defs[a.Def].Parent == p.def) {
			return p.textsOf(a.Value)
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
		if target < 0 || target >= len(p.o.Defs) {
			return nil
		}
		target = p.o.Defs[target].Parent
	}
	if target < 0 {
		return nil
	}
	if where == "class" {
		return p.markedAt(target, rest, 0)
	}
	return p.marked(target, rest)
}

// marked is what an annotation at a definition says.
func (p *place) marked(target int, rest string) []string {
	end := strings.IndexAny(rest, ".:")
	name, sel := rest, "0"
	if end >= 0 {
		name, sel = rest[:end], strings.TrimPrefix(rest[end:], ".")
	}
	for i := range p.o.Marks {
		m := &p.o.Marks[i]
		if m.Target != target || m.Name[strings.LastIndexByte(m.Name, '.')+1:] != name {
			continue
		}
		if v, ok := pick(m.Args, sel); ok {
			return p.textsOf(v)
		}
	}
	return nil
}

// markedAt is what an annotation at a class says, or at one that it extends.
func (p *place) markedAt(class int, rest string, depth int) []string {
	if out := p.marked(class, rest); out != nil || p.o.Lang != "csharp" {
		return out
	}
	return p.inherited(class, rest, depth)
}

var returned = lazy.Regexp(`return\s+"([^"]+)"`)

// tableName is what a model's TableName method returns.
func (p *place) tableName() []string {
	if p.def < 0 {
		return nil
	}
	for _, d := range p.o.Defs {
		if d.Name == p.o.Defs[p.def].Name+".TableName" {
			if m := returned.Get().FindStringSubmatch(d.Own); m != nil {
				return m[1:]
			}
		}
	}
	return nil
}

// className makes a table's name from the class.
func (p *place) className(how string) []string {
	if p.def < 0 || p.def >= len(p.o.Defs) {
		return nil
	}
	name := p.o.Defs[p.def].Name
	name = name[strings.LastIndexByte(name, '.')+1:]
	switch how {
	case "snake":
		return []string{outline.Snake(name)}
	case "snakes":
		return []string{outline.Plural(outline.Snake(name))}
	case "django":
		return []string{djangoApp(p.o.Path) + "_" + strings.ToLower(name)}
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
