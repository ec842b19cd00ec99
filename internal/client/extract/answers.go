package extract

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// Which function answers a route, and where a function replies.

// answer is the function that answers a route of a place: the definition at
// an annotation, a function among the arguments, or what they name.
func (e *extractor) answer(p *place, method string) contract.Answer {
	if p.mark != nil {
		s := e.o.Defs[p.def].Span
		return contract.Answer{From: s.Start, To: s.End}
	}
	a := contract.Answer{At: p.span.Start}
	for _, s := range e.scopes { // get :feed, on: :collection
		if v, ok := p.value("0"); ok && v.Kind == outline.ValSymbol && s.resource != "" && s.span.Holds(p.span.Start) {
			a.Names = []string{outline.Camel(outline.Plural(strings.TrimSuffix(s.resource, "s"))) + "Controller." + v.Text}
		}
	}
	for c := p.call; c != nil && a.To == 0 && len(a.Names) == 0; c = c.Inner {
		for i := len(c.Args) - 1; i >= 0 && a.To == 0; i-- {
			e.answeredBy(&a, c.Args[i], method, 0)
		}
	}
	return a
}

// answeredBy adds what an argument says of the function.
func (e *extractor) answeredBy(a *contract.Answer, v outline.Value, method string, depth int) {
	if depth > 3 {
		return
	}
	switch v.Kind {
	case outline.ValLambda:
		a.From, a.To = v.Span.Start, v.Span.End
	case outline.ValName:
		a.Names = append(a.Names, v.Text)
	case outline.ValText, outline.ValSymbol: // 'Controller@index', "articles#index"
		if name, ok := controllerAction(v.Text); ok {
			a.Names = append(a.Names, name)
		}
	case outline.ValList: // [Controller::class, 'index']
		if len(v.Items) == 2 && v.Items[1].Kind == outline.ValText {
			a.Names = append(a.Names, strings.TrimSuffix(v.Items[0].Text, "::class")+"."+v.Items[1].Text)
			return
		}
		for i := len(v.Items) - 1; i >= 0; i-- {
			e.answeredBy(a, v.Items[i], method, depth+1)
		}
	case outline.ValCall:
		if v.Call != nil && strings.HasSuffix(v.Call.Name, ".as_view") && !slices.ContainsFunc(v.Call.Args, isPositional) {
			a.Names = append(a.Names, v.Call.Name) // a class of Django
			return
		}
		for c := v.Call; c != nil; c = c.Inner { // get(a).post(b)
			last := c.Name[strings.LastIndexByte(c.Name, '.')+1:]
			if v.Call.Inner != nil && !strings.EqualFold(last, method) {
				continue
			}
			for i := len(c.Args) - 1; i >= 0; i-- {
				e.answeredBy(a, c.Args[i], method, depth+1)
			}
		}
	default:
		if v.Text != "" && len(v.Text) < 100 {
			a.Names = append(a.Names, strings.TrimPrefix(v.Text, "&"))
		}
	}
}

func isPositional(v outline.Value) bool { return v.Name == "" }

var namedAction = lazy.Regexp(`^([\w\\/]+?)(?:Controller)?(@|#|::)(\w+)$`)

// controllerAction reads the name of a class and method out of a text.
func controllerAction(s string) (string, bool) {
	m := namedAction.Get().FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	name := m[1][strings.LastIndexAny(m[1], `\/`)+1:]
	return outline.Camel(name) + "Controller." + m[3], true
}

// action is the method of a controller that answers a route of a resource.
func (e *extractor) action(p *place, resource, action string) contract.Answer {
	controller := ""
	for _, sel := range []string{"1", ":controller"} {
		if v, ok := p.value(sel); ok && v.Kind != outline.ValObject {
			controller = strings.TrimSuffix(v.Text, "::class")
		}
	}
	if controller == "" || controller == "[]" {
		controller = outline.Camel(outline.Plural(strings.TrimSuffix(resource, "s")))
	}
	controller = controller[strings.LastIndexAny(controller, `\/`)+1:]
	return contract.Answer{Names: []string{outline.Camel(strings.TrimSuffix(controller, "Controller")) + "Controller." + action}}
}

var handedTo = lazy.Regexp(`^(?s:.{0,300}?)=>\s*([\w.]+)|^[^\n]*?\s([\w.]+)\s*(?:\(|$)`)

// thenCalled is the function at the end of a chain of warp's filters.
var thenCalled = lazy.Regexp(`^(?s:.*?)\.(?:and_then|then|map|map_async)\(\s*([\w:]+)\s*[,)]`)

// answerAfter is the function that is named after a route that was found by
// its text.
func (e *extractor) answerAfter(at int) contract.Answer {
	rest := e.o.Source[at:min(len(e.o.Source), at+400)]
	if e.o.Lang == "rust" {
		if m := thenCalled.Get().FindSubmatch(rest); m != nil && !bytes.Contains(rest[:len(m[0])], []byte("path!")) {
			return contract.Answer{Names: []string{strings.ReplaceAll(string(m[1]), "::", ".")}, At: uint32(at)}
		}
		return contract.Answer{}
	}
	if m := handedTo.Get().FindSubmatch(rest); m != nil {
		return contract.Answer{Names: []string{string(m[1]) + string(m[2])}, At: uint32(at)}
	}
	return contract.Answer{}
}

// Replies are the expressions that functions of a file reply with, between two
// places. They follow the framework of the file whose routes they answer, which
// theirs need not import.
func (v *Version) Replies(of *Version, from, to int) []outline.Span {
	e := v.answering(of)
	if e == nil {
		return nil
	}
	return append(append(e.shaped("out", from, to), e.setReplies(from, to)...), e.marked("out", from, to)...)
}

// Takes are the expressions that functions of a file read a request into.
func (v *Version) Takes(of *Version, from, to int) []outline.Span {
	e := v.answering(of)
	if e == nil {
		return nil
	}
	return append(e.shaped("in", from, to), e.marked("in", from, to)...)
}

// answering is the extractor with the rules of another file's frameworks, too.
func (v *Version) answering(of *Version) *extractor {
	e := v.extractor
	if e == nil || of == v || of.extractor == nil || of.extractor.m != e.m {
		return e
	}
	both := *e
	both.active = maps.Clone(e.active)
	for r, is := range of.extractor.active {
		both.active[r] = both.active[r] || is
	}
	return &both
}

// shaped are the arguments that rules name of the calls between two places.
func (e *extractor) shaped(side string, from, to int) (out []outline.Span) {
	for i := range e.o.Calls {
		c := &e.o.Calls[i]
		if int(c.Span.Start) < from || int(c.Span.Start) >= to {
			continue
		}
		for _, r := range e.matching(c, "shape") {
			if r.Contract != "http" || r.Options.Get(side) == "" || r.Options.Get(side) == "named" {
				continue
			}
			q := place{o: e.o, rule: r, call: c}
			if w, ok := q.firstValue(r.Options.Get(side)); ok && w.Span.End > 0 {
				out = append(out, w.Span)
				break
			}
		}
	}
	return out
}

// setReplies are what is assigned to what a framework replies with.
func (e *extractor) setReplies(from, to int) (out []outline.Span) {
	for _, r := range e.m.Rules {
		if len(r.Sets) == 0 || r.Role != "shape" || !e.active[r] {
			continue
		}
		for _, target := range r.Sets {
			for at := from; at < to; {
				i := strings.Index(string(e.o.Source[at:to]), target)
				if i < 0 {
					break
				}
				at += i + len(target)
				rest := strings.TrimLeft(string(e.o.Source[at:to]), " ")
				if strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") {
					out = append(out, outline.Span{Start: uint32(to - len(rest) + 1), End: uint32(to)})
				}
			}
		}
	}
	return out
}

// marked are the types that annotations of a function name.
func (e *extractor) marked(side string, from, to int) (out []outline.Span) {
	for i := range e.o.Marks {
		m := &e.o.Marks[i]
		if m.Target < 0 || m.Target >= len(e.o.Defs) {
			continue
		}
		d := &e.o.Defs[m.Target]
		if int(d.Span.Start) < from || int(d.Span.End) > to {
			continue
		}
		for _, r := range e.m.Marks.Of(m.Name[strings.LastIndexByte(m.Name, '.')+1:]) {
			if r == nil || r.Role != "shape" || r.Contract != "http" || !e.active[r] {
				continue
			}
			q := place{o: e.o, rule: r, mark: m}
			for alt := range strings.SplitSeq(r.Options.Get(side), "|") {
				if v, ok := q.value(alt); ok && v.Span.End > 0 {
					out = append(out, v.Span)
					break
				}
			}
		}
	}
	return out
}
