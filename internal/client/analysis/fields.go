package analysis

import (
	"bytes"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// maxFields bounds the fields of one contract. A use of more is taken for one
// of everything.
const maxFields = 200

// lostFields are the fields whose users a change breaks; nil if it breaks
// others too. old may be nil.
func lostFields(old, new *contract) []coord.ContractField {
	var out []coord.ContractField
	lose := func(name string) { out = append(out, coord.ContractField{Name: name}) }
	was := 0
	if old != nil {
		was = len(old.ops)
		rest := *old
		rest.shape.out = nil
		for _, o := range old.shape.out {
			n, ok := find(new.shape.out, o)
			one, other := *old, *new
			one.shape, other.shape = shape{out: []prop{o}}, shape{}
			if ok {
				other.shape.out = []prop{n}
			}
			if compareShapes(&one, &other).compat == coord.Breaking {
				lose(o.name)
			}
		}
		added := *new
		added.shape.out = slices.DeleteFunc(slices.Clone(new.shape.out), func(n prop) bool {
			_, ok := find(old.shape.out, n)
			return ok
		})
		if compareShapes(&rest, &added).compat == coord.Breaking {
			return nil
		}
	}
	for _, op := range new.ops[min(was, len(new.ops)):] {
		if op.verdict.compat != coord.Breaking {
			continue
		}
		if op.column == "" {
			return nil
		}
		lose(op.column)
	}
	if len(out) > maxFields {
		return nil
	}
	return out
}

var memberName = lazy.Regexp(`\.\s*([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*[:=]`)

// members are all names in a file that may be fields of some message: what is
// taken from a value, and what is given a value. Their types are not known, so
// that they are more than the fields, never fewer. Destructuring may name any,
// so a file that does it has nil.
func (o *outline) members() []coord.ContractField {
	if destructured().Match(o.source) {
		return nil
	}
	seen := map[string]bool{}
	out := []coord.ContractField{}
	head := uint32(0) // what imports name is no field
	for _, im := range o.imports {
		head = max(head, im.line+1)
	}
	line, at := 1, 0
	for _, m := range memberName().FindAllSubmatchIndex(o.source, -1) {
		line += bytes.Count(o.source[at:m[0]], []byte("\n"))
		at = m[0]
		if line <= int(head) {
			continue
		}
		from, to := m[2], m[3]
		if from < 0 {
			from, to = m[4], m[5]
		}
		for _, name := range accessed(string(o.source[from:to])) {
			if key := strings.ToLower(name); !seen[key] {
				seen[key] = true
				out = append(out, coord.ContractField{Name: name, Line: line + bytes.Count(o.source[m[0]:from], []byte("\n"))})
			}
		}
	}
	if len(out) > maxFields {
		return nil
	}
	return out
}

var destructured = lazy.Regexp(`(?m)\{[^{}:;]*\}\s*=[^=>]|\(\s*\{[^{}:;]*\}\s*[:)]`)

// accessed are the fields that an accessor may be of: getTagsList is of tags,
// too.
func accessed(name string) []string {
	out := []string{name}
	for _, verb := range []string{"get", "set", "has", "clear", "add", "Get", "Set", "Has", "Clear", "Add", "get_", "set_", "has_", "clear_", "add_"} {
		field, ok := strings.CutPrefix(name, verb)
		if !ok || field == "" || !strings.HasSuffix(verb, "_") && (field[0] < 'A' || field[0] > 'Z') {
			continue
		}
		out = append(out, field)
		for _, many := range []string{"List", "Map", "Count", "OrBuilder"} {
			if one, ok := strings.CutSuffix(field, many); ok && one != "" {
				out = append(out, one)
			}
		}
	}
	return out
}

// valueSigns stand before a value in SQL, where something filled in is no
// column.
var valueSigns = []string{"=", "<", ">", "(", ",", "like", "ilike", "in", "limit", "offset", "between", "and", "values", "returning", "+", "-"}

// sqlWords are those of the language that nearly every statement has.
var sqlWords = strings.Fields("select distinct from where join left right inner outer cross on as and or not null is in like between exists order group by having limit offset asc desc " +
	"insert into values returning update set delete case when then else end union all with count sum min max avg coalesce")

// columnsIn are the names in a statement, of which columns are some; nil if it
// may name others: all of them, or what is filled in.
func columnsIn(toks []sqlToken, line int) []coord.ContractField {
	out := []coord.ContractField{}
	seen := map[string]bool{}
	from := slices.IndexFunc(toks, func(t sqlToken) bool { return strings.EqualFold(t.text, "from") })
	for i, t := range toks {
		before := ""
		if i > 0 {
			before = strings.ToLower(toks[i-1].text)
		}
		name := strings.ToLower(t.text)
		switch {
		case t.text == "*" && before != "(", strings.HasPrefix(t.text, "{") && (i < from || !slices.Contains(valueSigns, before)):
			return nil
		case name == "into" && i+2 < len(toks) && !slices.ContainsFunc(toks[i+1:min(len(toks), i+5)], func(t sqlToken) bool { return t.text == "(" }):
			return nil // an insert into all columns
		case t.word && !seen[name] && isWord(name) && name[0] > '9' && !slices.Contains(sqlWords, name):
			seen[name] = true
			out = append(out, coord.ContractField{Name: name, Line: line + t.line + 1})
		}
	}
	return out
}
