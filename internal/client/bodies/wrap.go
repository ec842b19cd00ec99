package bodies

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// passed is what a call gives that nobody knows: mostly it wraps what it is
// handed, as json(x) and Ok(x) do.
func (e *Eval) passed(n *node, sc *scope) *Shape {
	pairs := len(n.args) > 0
	for _, a := range n.args {
		if a.key == nil && !a.spread && (a.name == "" || isUpper(lastOf(n.x.name))) {
			pairs = false
		}
	}
	if pairs {
		return e.object(n.args, sc)
	}
	if n.x.name == "of" && len(n.args)%2 == 0 && len(n.args) > 0 && n.args[0].val != nil && n.args[0].val.kind == text { // Map.of("a", x)
		out := &Shape{}
		for i := 0; i+1 < len(n.args); i += 2 {
			if k := n.args[i].val; k != nil && k.kind == text && isKey(k.name) {
				out.set(Field{Name: k.name, Shape: e.part(n.args[i+1].val, sc)})
			}
		}
		return out
	}
	if !wraps(n) {
		return nil
	}
	isList := strings.HasSuffix(n.x.name, "listOf") || n.x.name == "vec" || n.x.name == "asList" || n.x.name == "arrayOf" || n.x.name == "List"
	var merged *Shape
	for _, a := range n.args {
		s := e.expr(a.val, sc)
		if a.name == "many" && merged.holds() {
			return e.dumped(merged, true)
		}
		if !s.holds() {
			continue
		}
		switch n.x.name {
		case "assign", "merge", "array_merge", "extend":
			merged = merge(merged, s)
			continue
		case "pick", "omit":
			return e.chosen(s, n, n.x.name == "pick")
		}
		if isList || n.x.name == "List" && sc.o.Lang == "python" {
			return &Shape{Elem: e.written(s, 0)}
		}
		if merged == nil {
			merged = s
		}
	}
	if merged == nil && isList {
		return &Shape{Elem: &Shape{}}
	}
	if merged != nil && n.x.name == "List" {
		return &Shape{Elem: merged}
	}
	return merged
}

// wrappers are calls that give what they are handed, in an envelope or as
// another kind of value.
var wrappers = lazy.Words("json jsonify ok send respond reply body status just of ofnullable from resolve success created accepted " +
	"tojson tojsonstring writevalueasstring some right pure wrap data result response toresponse valueof serialize asjson stringify dumps " +
	"modelvalidate fromorm parseobj dict save saveandflush merge clone freeze assign arraymerge extend pick omit collect list sorted " +
	"reversed arrayvalues tolist plaintoclass plaintoinstance instancetoplain classtoplain encode all listof mutablelistof arrayof vec " +
	"aslist collection resource make new item into array indentedjson render unwrap seq jsonapi success responddata " +
	"completedfuture fromresult task encodetojson totypedresponse runtransactionally run await future toresponseentity entity sendjson " +
	"respondwith writejson writejsonbody okjson camelizekeys decamelizekeys snakecasekeys camelcasekeys okresponse jsonresponse")

func wraps(n *node) bool {
	last := n.x.name
	return isUpper(last) || wrappers.Has(plain(last))
}

// chosen are the fields of an object that a list names, or the others.
func (e *Eval) chosen(s *Shape, n *node, keep bool) *Shape {
	names := map[string]bool{}
	for _, a := range n.args[1:] {
		if a.val == nil {
			continue
		}
		if a.val.kind == text {
			names[a.val.name] = true
		}
		for _, b := range a.val.args {
			if b.val != nil && b.val.kind == text {
				names[b.val.name] = true
			}
		}
	}
	out := &Shape{Open: s.Open}
	for _, f := range s.Fields {
		if names[f.Name] == keep {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}
