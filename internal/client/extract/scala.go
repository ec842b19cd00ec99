package extract

import (
	"cmp"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/core/lazy"
	"github.com/svc-hq/svc/internal/core/scope"
)

// http4s puts routes under a prefix by pairs: Router("/api" -> routes). What is
// on the right may be made of other values, of other files.

// maxPaired bounds how far values are followed in a file.
const maxPaired = 4

// A pair is a prefix and the text of what lies under it.
type pair struct {
	at     uint32
	span   outline.Span
	prefix string
	routes string
}

// pairs are those of a file.
func (e *extractor) pairs() (out []pair) {
	for i := range e.o.Calls {
		c := &e.o.Calls[i]
		for _, r := range e.m.Calls.Of("Router") {
			if r.Options.Get("path") != "pairs" || c.Name[strings.LastIndexByte(c.Name, '.')+1:] != "Router" {
				continue
			}
			for _, a := range c.Args {
				left, right, ok := strings.Cut(string(e.o.Source[a.Span.Start:a.Span.End]), "->")
				if !ok {
					continue
				}
				out = append(out, pair{c.Span.Start, a.Span, e.pairPrefix(strings.TrimSpace(left), c), right})
			}
		}
	}
	return nested(out)
}

// nested puts before the pairs of a router what those say that it stands in,
// which then have nothing of it themselves.
func nested(pairs []pair) []pair {
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(a.span.Start, b.span.Start) })
	for i := range pairs {
		inner, routes := &pairs[i], pairs[i].routes
		for j := i - 1; j >= 0; j-- {
			if outer := &pairs[j]; outer.span.Holds(inner.at) && outer.at != inner.at {
				inner.prefix = contract.JoinRoute(outer.prefix, inner.prefix)
				break
			}
		}
		for j := range pairs[:i] {
			if pairs[j].span.Holds(inner.at) && pairs[j].at != inner.at {
				pairs[j].routes = strings.Replace(pairs[j].routes, routes, "", 1)
			}
		}
	}
	return pairs
}

// pairPrefix reads what stands on the left: texts and constants.
func (e *extractor) pairPrefix(left string, c *outline.Call) string {
	out := ""
	for part := range strings.SplitSeq(left, "+") {
		part = strings.TrimSpace(part)
		if text, is := strings.CutPrefix(part, `"`); is {
			out += strings.TrimSuffix(text, `"`)
		} else if text, ok := e.o.Const(part); ok {
			out += text
		} else if found := e.known(c)(part); len(found) == 1 {
			out += found[0]
		}
	}
	return out
}

// paired is the prefix that the file itself puts before the routes at a place,
// and the class around them, of which others may say more.
func (e *extractor) paired(at uint32) (string, contract.Handed) {
	prefix, class := "", ""
	held := []string{} // values that hold the place
	for i := range e.o.Defs {
		d := &e.o.Defs[i]
		if !d.Span.Holds(at) {
			continue
		}
		if d.Contain {
			class = shortClass(d)
		} else {
			held = append(held, shortClass(d))
		}
	}
	for _, p := range e.pairs() {
		if p.at != at && slices.ContainsFunc(held, func(name string) bool { return e.reaches(p.routes, name, maxPaired) }) {
			prefix = p.prefix
			if d := e.valueAround(p.at); d != "" && !slices.Contains(held, d) {
				above, _ := e.paired(p.at)
				prefix = contract.JoinRoute(above, prefix)
			}
			break
		}
	}
	if class == "" {
		return prefix, contract.Handed{}
	}
	return prefix, contract.Handed{Func: class, Param: contract.Paired, Of: e.o.Path}
}

// valueAround is the innermost value or function that holds a place.
func (e *extractor) valueAround(at uint32) (name string) {
	for i := range e.o.Defs {
		if d := &e.o.Defs[i]; !d.Contain && d.Span.Holds(at) {
			name = shortClass(d)
		}
	}
	return name
}

// reaches tells whether a text names something, or a value of the file that
// does.
func (e *extractor) reaches(text, name string, depth int) bool {
	if outline.Mentions([]byte(text), name) {
		return true
	}
	if depth == 0 {
		return false
	}
	for bound, value := range e.bindings() {
		if len(bound) > 1 && value != text && outline.Mentions([]byte(text), bound) && e.reaches(value, name, depth-1) {
			return true
		}
	}
	return false
}

var binding = lazy.Regexp(`(?m)^\s*(?:(?:private|protected|lazy|implicit|final|override)(?:\[\w+\])?\s+)*(?:val|def|var)?\s*` +
	`(\w+)(?:\[[^\]\n]*\])?(?:\([^)\n]*\))?\s*(?::[^=\n]+)?(?:=|<-)[^>=]`)

// bindings are the names of a file of Scala and the texts of what they are, up
// to the next name.
func (e *extractor) bindings() map[string]string {
	if e.bound == nil {
		e.bound = map[string]string{}
		all := binding.Get().FindAllSubmatchIndex(e.o.Source, -1)
		for i, m := range all {
			end := len(e.o.Source)
			if i+1 < len(all) {
				end = all[i+1][0]
			}
			e.bound[string(e.o.Source[m[2]:m[3]])] += string(e.o.Source[m[1]-1 : end])
		}
	}
	return e.bound
}

// pairings finds where a file puts a class of another under a prefix.
func (e *extractor) pairings(h contract.Handed) (out []Handing) {
	if e.o.Path == h.Of {
		return nil
	}
	small := strings.ToLower(h.Func[:1]) + h.Func[1:]
	for _, p := range e.pairs() {
		if !e.reaches(p.routes, h.Func, maxPaired) && !outline.Mentions([]byte(p.routes), small) {
			continue
		}
		above, from := e.paired(p.at)
		if from.Func == h.Func {
			from = contract.Handed{}
		}
		out = append(out, Handing{contract.JoinRoute(above, p.prefix), from})
	}
	return out
}

// verbInName is the method of HTTP among the parts of a chain's name:
// endpoint.get.in().out.
func verbInName(name string) []string {
	for part := range strings.SplitSeq(name, ".") {
		if m := strings.ToUpper(part); m != part && slices.Contains(scope.Methods(), m) {
			return []string{m}
		}
	}
	return nil
}

// endpointPath is the path of an endpoint of tapir: that of the one it is made
// of, and what it adds.
func (p *place) endpointPath() []string {
	if p.call == nil {
		return nil
	}
	base := ""
	for part := range strings.SplitSeq(p.call.Name[:max(strings.LastIndexByte(p.call.Name, '.'), 0)], ".") {
		if strings.HasSuffix(part, "()") || verbInName(part) != nil {
			break
		}
		base = part
	}
	above := ""
	if found := p.find; found != nil && base != "endpoint" && base != "" {
		if out := found("&" + base); len(out) > 0 {
			above = out[0]
		}
	}
	own := ""
	for c := p.call; c != nil; c = c.Inner {
		if c.Name[strings.LastIndexByte(c.Name, '.')+1:] == "in" && len(c.Args) > 0 {
			s := c.Args[0].Span
			own = contract.JoinRoute(p.slashed(string(p.o.Source[s.Start:s.End])), own)
		}
	}
	if own != "" {
		return []string{contract.JoinRoute(above, own)}
	}
	if above == "" {
		return nil
	}
	return []string{above}
}

// slashed reads a path that is written "users" / path[Int]("id"); what is none,
// such as a body, is nothing.
func (p *place) slashed(text string) (out string) {
	for i, part := range outline.SplitTop(text, '/') {
		part = strings.TrimSpace(part)
		literal, is := strings.CutPrefix(part, `"`)
		known, named := p.o.Const(part)
		switch {
		case is:
			out += "/" + strings.Trim(strings.TrimSuffix(literal, `"`), "/")
		case named:
			out += "/" + strings.Trim(known, "/")
		case i > 0 || strings.HasPrefix(part, "path["):
			out += "/{}"
		default:
			return ""
		}
	}
	return out
}
