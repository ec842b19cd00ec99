// Package contract is what two programs agree on (a route, a table, an event)
// as one file tells it, and what it means to the others when that changes. It
// reads no source: formats and extract make contracts.
package contract

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/svc-hq/svc/internal/client/verdict"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A Contract is one place in a file that provides or uses something that
// other code agrees on.
type Contract struct {
	Key    string // canonical
	Role   coord.ContractRole
	Line   int // from 1
	Shape  Shape
	Ops    []Operation           // changes that a migration makes, when it does not define
	Rule   string                // the framework whose rule found it
	Router Handed                // of a route: the parameter that its router is
	Model  bool                  // of a table: a class that an ORM maps to it
	Of     string                // of a route: the variable of another file that its router is
	Answer Answer                // of a route: the function that answers it
	Client string                // the variable that a call of a route was made with
	Call   *coord.Call           // how a definition of a package is called
	Fields []coord.ContractField // of a use: what it may use, if that is known
	Fresh  *verdict.Verdict      // what it means that it is new, when that is not harmless
}

// A Handed router is a parameter of a function, or what it gives: whoever calls
// the function says where its routes lie.
type Handed struct {
	Func  string // the last part of its name; "" for none
	Param int    // Given for its result, Receiver for what it extends
	Of    string // of a result: what the function is of
	Only  bool   // it has no routes unless somebody mounts it
}

// Places of a router that is none of the parameters.
const (
	Given     = -1 // the result
	Receiver  = -2 // what the function extends
	Paired    = -4 // none: who names the object or class, beside a prefix, says where its routes lie
	Inherited = -3 // none: the classes that extend the one that it names say where its routes lie
	Mounted   = -6 // none: who mounts Func by its name says where its routes lie
	Kept      = -5 // none: Func is a field or a variable of the package Of, and who gives it a router says where its routes lie
)

// An Answer is the function that answers a route: it stands in the file, or
// is only named there.
type Answer struct {
	From, To uint32
	Names    []string
	At       uint32 // where it is named
}

// A Shape is what both sides of a contract must agree on.
type Shape struct {
	In, Out []Prop
	Open    bool   // what it gives may hold more than is known
	Note    string // what has no fields, such as a handler's signature
}

// A Prop is a field, parameter or column.
type Prop struct {
	Name     string
	Typ      string
	Required bool // in: must be given; out: is always there
	Number   int  // of a protobuf field
	Enum     []string
	Cut      bool // it holds more than is known
}

// An Operation is a step of a migration that changes a table.
type Operation struct {
	Text    string
	Verdict verdict.Verdict
	Removes bool   // the whole table
	column  string // the one whose users fail
}

// MaxPerFile is how many contracts, and how many references, the wire takes of
// one file.
const MaxPerFile = 5000

// New returns a contract, or false when its key is not one.
func New(key string, role coord.ContractRole, line int) (Contract, bool) {
	if len(key) > scope.MaxSelector {
		return Contract{}, false
	}
	canonical, err := scope.ParseContract(key)
	if err != nil {
		return Contract{}, false
	}
	return Contract{Key: canonical, Role: role, Line: line}, true
}

func (p Prop) String() string {
	s := p.Name
	if p.Number != 0 {
		s = fmt.Sprintf("%d:%s", p.Number, p.Name)
	}
	if !p.Required {
		s += "?"
	}
	if p.Typ != "" {
		s += " " + p.Typ
	}
	if len(p.Enum) > 0 {
		s += " (" + strings.Join(p.Enum, "|") + ")"
	}
	return s
}

// Same tells whether two fields are written alike.
func (p Prop) Same(q Prop) bool { return p.String() == q.String() }

func props(ps []Prop) string {
	out := make([]string, len(ps))
	for i, p := range ps {
		out[i] = p.String()
	}
	sort.Strings(out)
	return strings.Join(out, ", ")
}

// signature is the contract's form as text, the same whatever the order of
// its fields.
func (c *Contract) signature() string {
	_, name, _ := strings.Cut(c.Key, ":")
	var b strings.Builder
	b.WriteString(name)
	if len(c.Shape.In) > 0 {
		fmt.Fprintf(&b, " (%s)", props(c.Shape.In))
	}
	if len(c.Shape.Out) > 0 {
		fmt.Fprintf(&b, " {%s}", props(c.Shape.Out))
	}
	if c.Shape.Note != "" {
		b.WriteString(" " + c.Shape.Note)
	}
	for _, o := range c.Ops {
		b.WriteString("; " + o.Text)
	}
	return b.String()
}

// merged joins contracts of one key and role: a file may define a route and
// migrate a table in several places.
func merged(cs []Contract) (map[string]*Contract, []string) {
	by := map[string]*Contract{}
	var order []string
	for i := range cs {
		c := cs[i]
		id := string(c.Role) + " " + c.Key
		if m := by[id]; m != nil {
			m.Shape.In = append(slices.Clip(m.Shape.In), c.Shape.In...)
			m.Shape.Out = append(slices.Clip(m.Shape.Out), c.Shape.Out...)
			m.Ops = append(slices.Clip(m.Ops), c.Ops...)
			if m.Fields != nil && c.Fields != nil {
				m.Fields = append(slices.Clip(m.Fields), c.Fields...)
			} else {
				m.Fields = nil
			}
			if m.Shape.Note == "" {
				m.Shape.Note = c.Shape.Note
			}
			m.Shape.In, m.Shape.Out = Unique(m.Shape.In), Unique(m.Shape.Out)
			continue
		}
		by[id] = &c
		order = append(order, id)
	}
	return by, order
}

func Unique(ps []Prop) []Prop {
	var out []Prop
	for _, p := range ps {
		if !slices.ContainsFunc(out, func(q Prop) bool { return q.Name == p.Name && q.Number == p.Number }) {
			out = append(out, p)
		}
	}
	return out
}

// Facts compares the contracts of two versions of a file. Those that
// did not change are listed too: the index learns from them who uses what.
// halfWritten tells that the new one does not parse, and the old one did.
func Facts(old, new []Contract, halfWritten, metadataOnly bool) []coord.ContractFacts {
	out := []coord.ContractFacts{}
	olds, oldOrder := merged(old)
	news, newOrder := merged(new)
	for _, id := range newOrder {
		out = append(out, fact(olds[id], news[id]))
	}
	for _, id := range oldOrder {
		if news[id] == nil {
			out = append(out, fact(olds[id], nil))
		}
	}
	explainRenames(out)
	for i := range out {
		if halfWritten && out[i].Compatibility == coord.Breaking { // in the middle of an edit
			out[i].Compatibility = coord.Unknown
			out[i].Detail = verdict.Detail(*out[i].Detail + "; the file does not parse at the moment")
		}
		if metadataOnly {
			out[i].Signature, out[i].PreviousSignature, out[i].Detail = nil, nil, nil
			out[i].Fields = coord.HideFields(out[i].Fields)
		}
	}
	return out
}

// fact compares one contract; either side may be nil.
func fact(old, new *Contract) coord.ContractFacts {
	c := new
	if c == nil {
		c = old
	}
	f := coord.ContractFacts{Key: c.Key, Role: c.Role, Change: coord.Same, Compatibility: coord.Compatible, Line: c.Line}
	if old != nil {
		verdict.SetSignatures(&f.PreviousSignature, &f.PreviousSignatureHash, old.signature())
	}
	if new != nil {
		verdict.SetSignatures(&f.Signature, &f.SignatureHash, new.signature())
	}
	var v verdict.Verdict
	switch {
	case new == nil:
		f.Change = coord.Removed
		if c.Role == coord.Provides {
			v = verdict.Verdict{Compat: coord.Breaking, Detail: "was removed"}
			if len(c.Ops) > 0 {
				v = verdict.Verdict{Compat: coord.Unknown, Detail: "a migration was taken back"}
			}
		}
	case old == nil:
		f.Change = coord.Added
		if v = operationVerdict(&f, new, 0); new.Fresh != nil {
			v = *new.Fresh
		}
	case old.signature() != new.signature():
		f.Change = coord.Signature
		v = compareShapes(old, new)
		if len(new.Ops) > len(old.Ops) {
			v = verdict.Worst([]verdict.Verdict{v, operationVerdict(&f, new, len(old.Ops))})
		}
	}
	if v.Compat != "" {
		f.Compatibility = v.Compat
	}
	switch {
	case c.Role == coord.Uses && len(c.Fields) <= MaxFields:
		f.Fields = c.Fields
	case c.Role == coord.Provides && v.Compat == coord.Breaking && new != nil:
		f.Fields = lostFields(old, new)
	}
	if v.Detail != "" {
		f.Detail = verdict.Detail(v.Detail)
	}
	return f
}

// operationVerdict judges the steps of a new migration: they change a table
// that was there before.
func operationVerdict(f *coord.ContractFacts, c *Contract, from int) verdict.Verdict {
	var vs []verdict.Verdict
	for _, o := range c.Ops[min(from, len(c.Ops)):] {
		f.Change = coord.Signature
		if o.Removes {
			f.Change = coord.Removed
		}
		vs = append(vs, o.Verdict)
	}
	return verdict.Worst(vs)
}

// explainRenames says of a removed route that an added one looks like it.
func explainRenames(fs []coord.ContractFacts) {
	for i := range fs {
		if fs[i].Change != coord.Removed || fs[i].Role != coord.Provides || fs[i].Detail == nil || *fs[i].Detail != "was removed" {
			continue
		}
		var to []string
		for _, g := range fs {
			if g.Change == coord.Added && g.Role == coord.Provides && g.Line == fs[i].Line &&
				strings.SplitN(g.Key, ":", 2)[0] == strings.SplitN(fs[i].Key, ":", 2)[0] {
				to = append(to, g.Key)
			}
		}
		if len(to) == 1 {
			fs[i].Detail = verdict.Detail("was removed; " + to[0] + " stands in its place")
		}
	}
}

// JoinRoute joins two parts of a route by one slash.
func JoinRoute(a, b string) string {
	if a == "" {
		return b
	}
	return strings.TrimRight(a, "/") + "/" + strings.TrimLeft(b, "/")
}

// ColumnOperation judges one step of a migration.
func ColumnOperation(op, column, to string, required bool) Operation {
	switch op {
	case "drop-column":
		return Operation{
			Text:    "drops " + column,
			Verdict: verdict.Verdict{Compat: coord.Breaking, Detail: "column " + column + " is dropped"},
			column:  column,
		}
	case "rename-column":
		return Operation{
			Text:    fmt.Sprintf("renames %s to %s", column, to),
			Verdict: verdict.Verdict{Compat: coord.Breaking, Detail: fmt.Sprintf("column %s is renamed to %s", column, to)},
			column:  column,
		}
	case "change-column":
		return Operation{
			Text:    "changes " + column,
			Verdict: verdict.Verdict{Compat: coord.Unknown, Detail: "the type of column " + column + " changes"},
		}
	case "rename":
		return Operation{
			Text:    "renames the table to " + to,
			Verdict: verdict.Verdict{Compat: coord.Breaking, Detail: "the table is renamed to " + to},
			Removes: true,
		}
	}
	if required {
		return Operation{
			Text:    "adds " + column + " not null",
			Verdict: verdict.Verdict{Compat: coord.Breaking, Detail: "column " + column + " is added and must be given"},
		}
	}
	return Operation{Text: "adds " + column, Verdict: verdict.Verdict{Compat: coord.Compatible, Detail: "column " + column + " is added"}}
}
