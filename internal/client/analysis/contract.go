package analysis

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A contract is one place in a file that provides or uses something that
// other code agrees on.
type contract struct {
	key    string // canonical
	role   coord.ContractRole
	line   int // from 1
	shape  shape
	ops    []operation           // changes that a migration makes, when it does not define
	client string                // the variable that a call of a route was made with
	call   *coord.Call           // how a definition of a package is called
	fields []coord.ContractField // of a use: what it may use, if that is known
	fresh  *verdict              // what it means that it is new, when that is not harmless
}

// A shape is what both sides of a contract must agree on.
type shape struct {
	in, out []prop
	note    string // what has no fields, such as a handler's signature
}

// A prop is a field, parameter or column.
type prop struct {
	name     string
	typ      string
	required bool // in: must be given; out: is always there
	number   int  // of a protobuf field
	enum     []string
}

// An operation is a step of a migration that changes a table.
type operation struct {
	text    string
	verdict verdict
	removes bool   // the whole table
	column  string // the one whose users fail
}

// newContract returns a contract, or false when its key is not one.
func newContract(key string, role coord.ContractRole, line int) (contract, bool) {
	if len(key) > scope.MaxSelector {
		return contract{}, false
	}
	canonical, err := scope.ParseContract(key)
	if err != nil {
		return contract{}, false
	}
	return contract{key: canonical, role: role, line: line}, true
}

func (p prop) String() string {
	s := p.name
	if p.number != 0 {
		s = fmt.Sprintf("%d:%s", p.number, p.name)
	}
	if !p.required {
		s += "?"
	}
	if p.typ != "" {
		s += " " + p.typ
	}
	if len(p.enum) > 0 {
		s += " (" + strings.Join(p.enum, "|") + ")"
	}
	return s
}

func props(ps []prop) string {
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i] = p.String()
	}
	sort.Strings(out)
	return strings.Join(out, ", ")
}

// signature is the contract's form as text, the same whatever the order of
// its fields.
func (c *contract) signature() string {
	_, name, _ := strings.Cut(c.key, ":")
	var b strings.Builder
	b.WriteString(name)
	if len(c.shape.in) > 0 {
		fmt.Fprintf(&b, " (%s)", props(c.shape.in))
	}
	if len(c.shape.out) > 0 {
		fmt.Fprintf(&b, " {%s}", props(c.shape.out))
	}
	if c.shape.note != "" {
		b.WriteString(" " + c.shape.note)
	}
	for _, o := range c.ops {
		b.WriteString("; " + o.text)
	}
	return b.String()
}

// merged joins contracts of one key and role: a file may define a route and
// migrate a table in several places.
func merged(cs []contract) (map[string]*contract, []string) {
	by := map[string]*contract{}
	var order []string
	for i := range cs {
		c := cs[i]
		id := string(c.role) + " " + c.key
		if m := by[id]; m != nil {
			m.shape.in = append(slices.Clip(m.shape.in), c.shape.in...)
			m.shape.out = append(slices.Clip(m.shape.out), c.shape.out...)
			m.ops = append(slices.Clip(m.ops), c.ops...)
			if m.fields != nil && c.fields != nil {
				m.fields = append(slices.Clip(m.fields), c.fields...)
			} else {
				m.fields = nil
			}
			if m.shape.note == "" {
				m.shape.note = c.shape.note
			}
			m.shape.in, m.shape.out = unique(m.shape.in), unique(m.shape.out)
			continue
		}
		by[id] = &c
		order = append(order, id)
	}
	return by, order
}

func unique(ps []prop) []prop {
	var out []prop
	for _, p := range ps {
		if !slices.ContainsFunc(out, func(q prop) bool { return q.name == p.name && q.number == p.number }) {
			out = append(out, p)
		}
	}
	return out
}

// contractFacts compares the contracts of two versions of a file. Those that
// did not change are listed too: the index learns from them who uses what.
func contractFacts(old, new *version, opts *Options) []coord.ContractFacts {
	out := []coord.ContractFacts{}
	olds, oldOrder := merged(old.contracts)
	news, newOrder := merged(new.contracts)
	for _, id := range newOrder {
		out = append(out, contractFact(olds[id], news[id]))
	}
	for _, id := range oldOrder {
		if news[id] == nil {
			out = append(out, contractFact(olds[id], nil))
		}
	}
	explainRenames(out)
	for i := range out {
		if new.broken && !old.broken && out[i].Compatibility == coord.Breaking { // in the middle of an edit
			out[i].Compatibility = coord.Unknown
			out[i].Detail = detail(*out[i].Detail + "; the file does not parse at the moment")
		}
		if opts.MetadataOnly {
			out[i].Signature, out[i].PreviousSignature, out[i].Detail = nil, nil, nil
			out[i].Fields = coord.HideFields(out[i].Fields)
		}
	}
	return out
}

// contractFact compares one contract; either side may be nil.
func contractFact(old, new *contract) coord.ContractFacts {
	c := new
	if c == nil {
		c = old
	}
	f := coord.ContractFacts{Key: c.key, Role: c.role, Change: coord.Same, Compatibility: coord.Compatible, Line: c.line}
	if old != nil {
		setSignatures(&f.PreviousSignature, &f.PreviousSignatureHash, old.signature())
	}
	if new != nil {
		setSignatures(&f.Signature, &f.SignatureHash, new.signature())
	}
	var v verdict
	switch {
	case new == nil:
		f.Change = coord.Removed
		if c.role == coord.Provides {
			v = verdict{coord.Breaking, "was removed"}
			if len(c.ops) > 0 {
				v = verdict{coord.Unknown, "a migration was taken back"}
			}
		}
	case old == nil:
		f.Change = coord.Added
		if v = operationVerdict(&f, new, 0); new.fresh != nil {
			v = *new.fresh
		}
	case old.signature() != new.signature():
		f.Change = coord.Signature
		v = compareShapes(old, new)
		if len(new.ops) > len(old.ops) {
			v = worst([]verdict{v, operationVerdict(&f, new, len(old.ops))})
		}
	}
	if v.compat != "" {
		f.Compatibility = v.compat
	}
	switch {
	case c.role == coord.Uses && len(c.fields) <= maxFields:
		f.Fields = c.fields
	case c.role == coord.Provides && v.compat == coord.Breaking && new != nil:
		f.Fields = lostFields(old, new)
	}
	if v.detail != "" {
		f.Detail = detail(v.detail)
	}
	return f
}

// operationVerdict judges the steps of a new migration: they change a table
// that was there before.
func operationVerdict(f *coord.ContractFacts, c *contract, from int) verdict {
	var vs []verdict
	for _, o := range c.ops[min(from, len(c.ops)):] {
		f.Change = coord.Signature
		if o.removes {
			f.Change = coord.Removed
		}
		vs = append(vs, o.verdict)
	}
	return worst(vs)
}

// explainRenames says of a removed route that an added one looks like it.
func explainRenames(fs []coord.ContractFacts) {
	for i := range fs {
		if fs[i].Change != coord.Removed || fs[i].Role != coord.Provides || fs[i].Detail == nil || *fs[i].Detail != "was removed" {
			continue
		}
		var to []string
		for _, g := range fs {
			if g.Change == coord.Added && g.Role == coord.Provides && g.Line == fs[i].Line && strings.SplitN(g.Key, ":", 2)[0] == strings.SplitN(fs[i].Key, ":", 2)[0] {
				to = append(to, g.Key)
			}
		}
		if len(to) == 1 {
			fs[i].Detail = detail("was removed; " + to[0] + " stands in its place")
		}
	}
}

// compareShapes judges a change of what both sides agree on.
func compareShapes(old, new *contract) verdict {
	var vs []verdict
	for _, o := range old.shape.in {
		n, ok := find(new.shape.in, o)
		switch {
		case !ok:
			vs = append(vs, verdict{coord.Unknown, "no longer takes " + o.name})
		case n.required && !o.required:
			vs = append(vs, verdict{coord.Breaking, o.name + " is now required"})
		case n.typ != o.typ:
			vs = append(vs, compareWireTypes(o, n, true))
		case n.name != o.name:
			vs = append(vs, verdict{coord.Breaking, fmt.Sprintf("%s is now called %s", o.name, n.name)})
		}
		if ok {
			vs = append(vs, compareEnums(o, n, true)...)
		}
	}
	for _, n := range new.shape.in {
		if _, ok := find(old.shape.in, n); ok {
			continue
		}
		if n.required {
			vs = append(vs, verdict{coord.Breaking, "now requires " + n.name})
		} else {
			vs = append(vs, verdict{coord.Compatible, "may take " + n.name})
		}
	}
	for _, o := range old.shape.out {
		n, ok := find(new.shape.out, o)
		switch {
		case !ok:
			vs = append(vs, verdict{coord.Breaking, "no longer has " + o.name})
		case n.typ != o.typ:
			vs = append(vs, compareWireTypes(o, n, false))
		case o.required && !n.required:
			vs = append(vs, verdict{coord.Breaking, o.name + " may now be missing"})
		case n.name != o.name:
			vs = append(vs, verdict{coord.Breaking, fmt.Sprintf("%s is now called %s", o.name, n.name)})
		}
		if ok {
			vs = append(vs, compareEnums(o, n, false)...)
		}
	}
	for _, n := range new.shape.out {
		if _, ok := find(old.shape.out, n); !ok {
			vs = append(vs, addedColumn(new.key, n))
		}
	}
	if old.shape.note != new.shape.note {
		vs = append(vs, verdict{coord.Unknown, fmt.Sprintf("was %q, is %q", clip(old.shape.note), clip(new.shape.note))})
	}
	return worst(vs)
}

// compareEnums: an input must still take every value, and a reader of an
// output may not know a new one.
func compareEnums(o, n prop, input bool) []verdict {
	var vs []verdict
	for _, v := range o.enum {
		if len(n.enum) > 0 && !slices.Contains(n.enum, v) {
			c := coord.Compatible
			if input {
				c = coord.Breaking
			}
			vs = append(vs, verdict{c, fmt.Sprintf("%s no longer has the value %s", o.name, v)})
		}
	}
	for _, v := range n.enum {
		if len(o.enum) > 0 && !slices.Contains(o.enum, v) {
			c := coord.Unknown
			if input {
				c = coord.Compatible
			}
			vs = append(vs, verdict{c, fmt.Sprintf("%s may now be %s", o.name, v)})
		}
	}
	if len(o.enum) == 0 && len(n.enum) > 0 && input {
		vs = append(vs, verdict{coord.Breaking, o.name + " now takes only some values"})
	}
	if len(o.enum) > 0 && len(n.enum) == 0 && !input {
		vs = append(vs, verdict{coord.Unknown, o.name + " may now be any value"})
	}
	return vs
}

// addedColumn: a column that every insert must name breaks the inserts that
// do not know it.
func addedColumn(key string, p prop) verdict {
	if strings.HasPrefix(key, "db:") && p.required && strings.HasSuffix(p.typ, "!") {
		return verdict{coord.Breaking, "column " + p.name + " must now be given"}
	}
	return verdict{coord.Compatible, "now has " + p.name}
}

// find looks a prop up by its number when it has one, else by name.
func find(ps []prop, p prop) (prop, bool) {
	for _, q := range ps {
		if p.number != 0 && q.number == p.number || p.number == 0 && q.name == p.name {
			return q, true
		}
	}
	return prop{}, false
}

func compareWireTypes(o, n prop, input bool) verdict {
	said := fmt.Sprintf("%s was %s, is %s", o.name, orNone(o.typ), orNone(n.typ))
	wide := [][2]string{{"integer", "number"}, {"int", "bigint"}, {"int", "long"}, {"integer", "bigint"}, {"varchar", "text"}, {"smallint", "integer"}}
	for _, w := range wide {
		if input && o.typ == w[0] && n.typ == w[1] || !input && o.typ == w[1] && n.typ == w[0] {
			return verdict{coord.Compatible, said}
		}
	}
	was, wasFormat, _ := strings.Cut(o.typ, ":")
	is, isFormat, _ := strings.Cut(n.typ, ":")
	switch {
	case o.typ == "" || n.typ == "":
		return verdict{coord.Unknown, said}
	case was == is && (input && isFormat == "" || !input && wasFormat == ""): // a format more or less
		return verdict{coord.Compatible, said}
	case input && n.typ == "string" && (strings.HasPrefix(o.name, "query ") || strings.HasPrefix(o.name, "header ")):
		return verdict{coord.Compatible, said} // it is sent as text anyway
	}
	return verdict{coord.Breaking, said}
}
