package outline

import (
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// maxSpellings bounds the texts that one value may stand for.
const maxSpellings = 8

// textParts takes a literal with holes apart.
func (w *walker) textParts(i, depth int) (out []Value) {
	var holes []int
	for j := i + 1; j < int(w.t.Nodes[i].Next); j++ {
		if w.s.class[w.t.Nodes[j].Kind] == kindHole {
			holes = append(holes, j)
			j = int(w.t.Nodes[j].Next) - 1
		}
	}
	if len(holes) == 0 {
		return nil
	}
	at, end := w.t.Nodes[i].Start, w.t.Nodes[i].End
	closing := "" // of a hole whose brackets the grammar leaves to the text
	text := func(from, to uint32, first, last bool) {
		if from >= to {
			return
		}
		s := string(w.Source[from:to])
		s = strings.TrimPrefix(s, closing)
		closing = ""
		if cut, ok := strings.CutSuffix(s, `\(`); ok {
			s, closing = cut, ")"
		} else if cut, ok := strings.CutSuffix(s, "{"); ok && w.Lang == "php" {
			s, closing = cut, "}"
		}
		if w.Lang == "kotlin" {
			s = strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(s, "${"), "$"), "}")
		}
		if first {
			s = strings.TrimLeft(strings.TrimLeft(s, "rRbBuUfFsLc@$#"), "\"'`")
		}
		if last {
			s = strings.TrimRight(s, "\"'`")
		}
		if s != "" {
			out = append(out, Value{Kind: ValText, Text: s})
		}
	}
	for k, j := range holes {
		n := w.t.Nodes[j]
		text(at, n.Start, k == 0, false)
		out = append(out, w.hole(j, depth))
		at = n.End
	}
	text(at, end, false, true)
	return out
}

// hole reads what is filled in at node j.
func (w *walker) hole(j, depth int) Value {
	v := Value{Span: w.span(j)}
	if text := w.t.Text(j); strings.HasPrefix(text, "$") && strings.Contains(text, "->") { // PHP: the hole is the member itself
		if name := strings.ReplaceAll(text[1:], "->", "."); IsWord(name) {
			v.Kind, v.Text = ValName, name
		}
		return v
	}
	for c := range w.t.Children(j) {
		if w.s.class[w.t.Nodes[c].Kind] != kindComment && w.t.Text(c) != "{" { // C# has a node for the bracket
			v = w.valueAt(w.unwrap(c), depth+1)
			break
		}
	}
	if v.Kind == ValOther && v.Text == "" && v.Parts == nil {
		if name := strings.Trim(w.t.Text(j), "${}#()\\ "); IsWord(name) {
			v.Kind, v.Text = ValName, name
		}
	}
	return v
}

// methodOfText reads a call of a method of a literal that gives the text itself,
// or fills it in: "/x".to_string(), "/x/{}".format(id).
func (w *walker) methodOfText(i, depth int) (Value, bool) {
	f := w.s.forms[w.t.Nodes[i].Kind]
	at := i + 1
	for range 3 {
		if at >= len(w.t.Nodes) || w.s.class[w.t.Nodes[at].Kind] == kindText {
			break
		}
		at++ // a first child stands right after its parent
	}
	if at >= int(w.t.Nodes[i].Next) || w.s.class[w.t.Nodes[at].Kind] != kindText || w.t.Nodes[at].Start != w.t.Nodes[i].Start {
		return Value{}, false
	}
	v := w.valueAt(at, depth+1)
	switch w.lastName(i, f) {
	case "to_string", "to_owned", "into", "toString", "trim", "strip", "as_str", "String", "toUri", "toHttpUrl",
		"replace", "replaceAll": // of a parameter in it, mostly
		return v, true
	case "concat":
		return Value{Kind: ValText, Text: v.Text + "{}", Span: v.Span, Parts: append([]Value{v}, w.allArguments(i, f)...)}, true
	case "format", "formatted":
		text := filled(v.Text)
		return Value{Kind: ValText, Text: text, Span: v.Span, Parts: fillIn(text, w.allArguments(i, f))}, true
	}
	return Value{}, false
}

// textBefore is the literal that a call begins with, maybe in brackets.
func (w *walker) textBefore(i int) string {
	for at := i + 1; at < min(i+6, int(w.t.Nodes[i].Next)); at++ { // a first child stands right after its parent
		switch w.s.class[w.t.Nodes[at].Kind] {
		case kindText:
			return w.literal(at)
		case kindCall, kindLambda:
			return ""
		}
		if w.t.Nodes[at].Next == uint32(at+1) { // a leaf
			return ""
		}
	}
	return ""
}

// choice reads a value that is one of two.
func (w *walker) choice(i, depth int) Value {
	v := Value{Kind: ValChoice, Span: w.span(i)}
	f := w.s.forms[w.t.Nodes[i].Kind]
	yes, no := w.s.part(w.t, i, f.parts.Get("yes")), w.s.part(w.t, i, f.parts.Get("no"))
	if yes < 0 || no < 0 {
		yes, no = -1, -1
		for c := range w.t.Children(i) {
			if yes < 0 {
				yes = c
			}
			no = c
		}
	}
	for _, c := range []int{yes, no} {
		if c >= 0 {
			v.Items = append(v.Items, w.valueAt(w.unwrap(c), depth+1))
		}
	}
	return v
}

// fillIn puts values into the holes of a text, one after the other.
func fillIn(text string, values []Value) (out []Value) {
	for {
		before, after, ok := strings.Cut(text, "{}")
		if before != "" {
			out = append(out, Value{Kind: ValText, Text: before})
		}
		if !ok {
			return out
		}
		hole := Value{}
		if len(values) > 0 {
			hole, values = values[0], values[1:]
		}
		out = append(out, hole)
		text = after
	}
}

// Spell returns the texts that a value may stand for, with {} where something
// is filled in that is not known. lookup tells what a name stands for; nil when
// it does not know.
func (o *File) Spell(v Value, lookup func(name string) []string) []string {
	return o.spell(v, lookup, 0)
}

func (o *File) spell(v Value, lookup func(string) []string, depth int) []string {
	unknown := []string{"{}"}
	if depth > 8 {
		return unknown
	}
	switch {
	case len(v.Parts) > 0:
		out := []string{""}
		for _, p := range v.Parts {
			out = product(out, o.spell(p, lookup, depth+1), "")
		}
		return out
	case v.Kind == ValText || v.Kind == ValSymbol:
		return []string{v.Text}
	case v.Kind == ValChoice:
		var out []string
		for _, item := range v.Items {
			for _, s := range o.spell(item, lookup, depth+1) {
				if !slices.Contains(out, s) && len(out) < maxSpellings {
					out = append(out, s)
				}
			}
		}
		if v.Text == orElse && len(out) > 1 { // what a setting is by default says more than that it is one
			out = slices.DeleteFunc(out, func(s string) bool { return s == "{}" })
		}
		return out
	case v.Kind == ValName:
		if out := lookup(v.Text); out != nil {
			return out
		}
		if name, ok := strings.CutSuffix(v.Text, ".href"); ok { // of an URL
			return o.spell(Value{Kind: ValName, Text: name}, lookup, depth+1)
		}
		if c, ok := o.constant(v.Text); ok {
			return o.spell(c, lookup, depth+1)
		}
	case v.Kind == ValLambda && v.Gives != nil: // what is asked for once it is needed
		var out []string
		for _, g := range v.Gives() {
			out = append(out, o.spell(g, lookup, depth+1)...)
		}
		if out != nil {
			return out
		}
		if o.Elsewhere != nil {
			if out := o.Elsewhere(v.Text); out != nil {
				return out
			}
		}
	case v.Kind == ValCall && v.Call != nil:
		return o.spellCall(v.Call, lookup, depth)
	}
	return unknown
}

// Const is a text that the file gives a name.
func (o *File) Const(name string) (string, bool) {
	c, ok := o.constant(name)
	return c.Text, ok
}

func (o *File) constant(name string) (Value, bool) {
	for _, n := range []string{name, name[strings.LastIndexAny(name, ".:")+1:]} {
		c, ok := o.consts[n]
		for range 4 { // one that is another
			if !ok || c.Kind != ValName {
				break
			}
			c, ok = o.consts[c.Text]
		}
		if ok && c.Kind == ValText {
			return c, true
		}
	}
	return Value{}, false
}

// ConstOf is a text that the file gives a member of a class: of those that are
// called alike the one whose class is named.
func (o *File) ConstOf(name string) (string, bool) {
	of, member := "", name
	if at := strings.LastIndexByte(name, '.'); at > 0 {
		of, member = name[:at], name[at+1:]
	}
	for _, a := range o.Assigns {
		if a.Name != member || of == "" || a.Value.Kind != ValText || a.Def < 0 {
			continue
		}
		if class := strings.TrimSuffix(o.Defs[a.Def].Name, ".Companion"); class == of || strings.HasSuffix(of, "."+class) {
			return a.Value.Text, true
		}
	}
	return o.Const(name)
}

// spellCall follows what only makes or joins texts.
func (o *File) spellCall(c *Call, lookup func(string) []string, depth int) []string {
	unknown := []string{"{}"}
	object, last := "", c.Name
	if at := strings.LastIndexByte(c.Name, '.'); at >= 0 {
		object, last = c.Name[:at], c.Name[at+1:]
	}
	if len(c.Args) == 0 && last == "toString" && IsWord(object) {
		return o.spell(Value{Kind: ValName, Text: object}, lookup, depth+1)
	}
	if made := lookup(c.Name + "()"); made != nil {
		return o.fillHoles(made, c, lookup, depth)
	}
	switch last {
	case "replace", "replaceAll", "trim", "trimStart", "trimEnd": // what is cut off it says little
		if (o.Lang == "typescript" || o.Lang == "javascript") && IsWord(object) {
			return o.spell(Value{Kind: ValName, Text: object}, lookup, depth+1)
		}
	}
	if len(c.Args) == 0 {
		return unknown
	}
	arg := func(i int) []string { return o.spell(c.Args[i], lookup, depth+1) }
	switch last {
	case "Sprintf", "format", "sprintf", "printf", "Format", "formatted":
		for i, a := range c.Args {
			if a.Kind == ValText {
				text := filled(a.Text)
				return o.spell(Value{Kind: ValText, Text: text, Parts: fillIn(text, c.Args[i+1:])}, lookup, depth+1)
			}
		}
	case "URL", "Url":
		if len(c.Args) == 1 {
			return arg(0)
		}
		return product(arg(1), arg(0), "/") // new URL(path, base)
	case "join", "JoinPath", "urljoin", "resolve":
		out := arg(0)
		for i := 1; i < len(c.Args); i++ {
			out = product(out, arg(i), "/")
		}
		return out
	case "useMemo", "computed": // what a function makes, again when that changes
		if c.Args[0].Kind == ValLambda {
			return arg(0)
		}
	case "URI", "Uri", "parse", "create", "String", "to_string", "from", "encodeURI", "uri", "url", "of", "toString", "trim":
		return arg(0)
	}
	return unknown
}

// ParamHole stands in what a function makes for one of its parameters.
func ParamHole(i int) string { return "\x03" + strconv.Itoa(i) + "\x04" }

var paramHoles = lazy.Regexp("\x03(\\d+)\x04")

// fillHoles puts the arguments of a call into what the function makes of its
// parameters.
func (o *File) fillHoles(texts []string, c *Call, lookup func(string) []string, depth int) (out []string) {
	for _, text := range texts {
		made, at := []string{""}, 0
		for _, m := range paramHoles.Get().FindAllStringSubmatchIndex(text, -1) {
			value := []string{""} // one that is not given is mostly optional
			if i, _ := strconv.Atoi(text[m[2]:m[3]]); i < len(c.Args) {
				value = o.spell(c.Args[i], lookup, depth+1)
			}
			made = product(product(made, []string{text[at:m[0]]}, ""), value, "")
			at = m[1]
		}
		out = append(out, product(made, []string{text[at:]}, "")...)
	}
	return out[:min(len(out), maxSpellings)]
}

// product joins each of a with each of b, by one separator.
func product(a, b []string, sep string) (out []string) {
	for _, x := range a {
		for _, y := range b {
			if sep != "" {
				x, y = strings.TrimRight(x, sep), sep+strings.TrimLeft(y, sep)
			}
			if len(out) < maxSpellings {
				out = append(out, x+y)
			}
		}
	}
	return out
}
