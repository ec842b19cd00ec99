package analysis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// table adds what a call says of a table: its definition, a step of a
// migration, or a use.
func (e *extractor) table(p *place) {
	name := p.first(p.rule.options["table"])
	if name == "" || strings.ContainsAny(name, " {}()/") {
		return
	}
	c, ok := newContract("db:"+name, coord.ContractRole(p.rule.role), p.line)
	if !ok {
		return
	}
	if p.rule.role == "uses" {
		e.out = append(e.out, c)
		return
	}
	column := p.first(p.rule.options["column"])
	switch op := p.rule.options["op"]; op {
	case "", "create":
		c.shape.out = e.columns(p)
	case "alter":
		c.ops = e.alterations(p)
	case "drop":
		c.ops = []operation{{text: "drops the table", verdict: verdict{coord.Breaking, "the table is dropped"}, removes: true}}
	default:
		if column != "" || op == "rename" {
			c.ops = []operation{columnOperation(op, column, p.first(p.rule.options["to"]), required(p.call))}
		}
	}
	if c.ops == nil && p.rule.options["op"] != "" && p.rule.options["op"] != "create" {
		return
	}
	e.out = append(e.out, c)
}

// columnOperation judges one step of a migration.
func columnOperation(op, column, to string, required bool) operation {
	switch op {
	case "drop-column":
		return operation{text: "drops " + column, verdict: verdict{coord.Breaking, "column " + column + " is dropped"}, column: column}
	case "rename-column":
		return operation{text: fmt.Sprintf("renames %s to %s", column, to), verdict: verdict{coord.Breaking, fmt.Sprintf("column %s is renamed to %s", column, to)}, column: column}
	case "change-column":
		return operation{text: "changes " + column, verdict: verdict{coord.Unknown, "the type of column " + column + " changes"}}
	case "rename":
		return operation{text: "renames the table to " + to, verdict: verdict{coord.Breaking, "the table is renamed to " + to}, removes: true}
	}
	if required {
		return operation{text: "adds " + column + " not null", verdict: verdict{coord.Breaking, "column " + column + " is added and must be given"}}
	}
	return operation{text: "adds " + column, verdict: verdict{coord.Compatible, "column " + column + " is added"}}
}

// required tells whether a column's call says that it must be given: not null
// and without a default.
func required(c *call) bool {
	if c == nil {
		return false
	}
	notNull, hasDefault := false, false
	var look func(args []value)
	look = func(args []value) {
		for _, a := range args {
			switch {
			case (a.name == "null" || a.name == "nullable") && strings.EqualFold(a.text, "false"):
				notNull = true
			case a.name == "default" || a.name == "server_default":
				hasDefault = true
			}
			if a.call != nil {
				look(a.call.args)
			}
		}
	}
	look(c.args)
	return notNull && !hasDefault
}

// inside yields the calls within a place that say something of columns.
func (e *extractor) inside(p *place) []*call {
	var out []*call
	for i := range e.o.calls {
		c := &e.o.calls[i]
		if c.span.start > p.span.start && c.span.end <= p.span.end && len(e.matching(c, "shape")) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// columns reads a table's columns: from the calls in its block, from an
// object, or from arguments that are calls.
func (e *extractor) columns(p *place) []prop {
	var out []prop
	if v, ok := p.value(p.rule.options["columns"]); ok && p.rule.options["columns"] != "" {
		for _, f := range v.fields {
			out = append(out, columnOf(e.o, f.name, f.value))
		}
	}
	for _, c := range e.inside(p) {
		if names := e.columnNames(c); len(names) > 0 && !isDropping(c) {
			for _, n := range names {
				out = append(out, prop{name: n, typ: c.name[strings.LastIndexByte(c.name, '.')+1:], required: required(c)})
			}
		}
	}
	for _, a := range p.call.args {
		if a.call != nil && strings.HasSuffix(a.call.name, "Column") && len(a.call.args) > 0 {
			if n, ok := a.call.args[0].literal(); ok {
				out = append(out, columnOf(e.o, n, a))
			}
		}
	}
	return unique(out)
}

func (e *extractor) columnNames(c *call) []string {
	var out []string
	for _, a := range c.args {
		if n, ok := a.literal(); ok && a.name == "" {
			out = append(out, n)
			if !strings.Contains(c.name, "drop") && !strings.Contains(c.name, "remove") {
				break
			}
		}
		if a.kind == valList {
			out = append(out, e.o.textsOf(a)...)
		}
	}
	return out
}

func isDropping(c *call) bool {
	last := strings.ToLower(c.name[strings.LastIndexByte(c.name, '.')+1:])
	return strings.HasPrefix(last, "drop") || strings.HasPrefix(last, "remove") || strings.HasPrefix(last, "rename")
}

// alterations reads the steps inside a block that changes a table.
func (e *extractor) alterations(p *place) []operation {
	var out []operation
	for _, c := range e.inside(p) {
		last := strings.ToLower(c.name[strings.LastIndexByte(c.name, '.')+1:])
		names := e.columnNames(c)
		switch {
		case len(names) == 0:
		case strings.HasPrefix(last, "drop"), strings.HasPrefix(last, "remove"):
			for _, n := range names {
				out = append(out, columnOperation("drop-column", n, "", false))
			}
		case strings.HasPrefix(last, "rename"):
			to := ""
			if len(c.args) > 1 {
				to, _ = c.args[1].literal()
			}
			out = append(out, columnOperation("rename-column", names[0], to, false))
		default:
			out = append(out, columnOperation("add-column", names[0], "", required(c)))
		}
	}
	return out
}

// columnOf reads name = Column(Type, nullable=False) and the like.
func columnOf(o *outline, name string, v value) prop {
	p := prop{name: name}
	if v.kind != valCall || v.call == nil {
		return p
	}
	root := v.call
	for c := v.call; c != nil; c = c.inner {
		root = c
		last := c.name[strings.LastIndexByte(c.name, '.')+1:]
		if last == "notNull" || last == "primaryKey" {
			p.required = true
		}
	}
	if len(root.args) > 0 {
		if n, ok := root.args[0].literal(); ok && root.args[0].name == "" && !isDjango(root.name) {
			p.name = n
		}
	}
	p.typ = strings.TrimPrefix(root.name[strings.LastIndexByte(root.name, '.')+1:], "mapped_column")
	for _, a := range root.args {
		switch {
		case a.name == "name" || a.name == "db_column":
			if n, ok := a.literal(); ok {
				p.name = n
			}
		case (a.name == "nullable" || a.name == "null") && strings.EqualFold(a.text, "false"), a.name == "primary_key" && a.text == "True":
			p.required = true
		case a.name == "" && p.typ == "Column" && (a.kind == valName || a.kind == valCall):
			typ, _, _ := strings.Cut(a.text, "(")
			p.typ = typ[strings.LastIndexByte(typ, '.')+1:]
		}
	}
	return p
}

// isDjango tells Django's columns, whose first argument is not their name.
func isDjango(call string) bool {
	return strings.HasSuffix(call, "Field") || strings.HasSuffix(call, "Key")
}

// atClasses finds models: classes with a base or fields that a rule names.
func (e *extractor) atClasses() {
	for i := range e.o.defs {
		d := &e.o.defs[i]
		if !d.contain {
			continue
		}
		for _, r := range e.m.rules {
			if len(r.bases) == 0 || !e.active[r] || !e.isA(r, i) {
				continue
			}
			e.model(&place{o: e.o, rule: r, def: i, span: d.span, line: int(d.span.row) + 1})
			break
		}
	}
}

// isA tells whether a class has one of the rule's bases. "tag:x" asks for a Go
// struct with such a tag.
func (e *extractor) isA(r *rule, i int) bool {
	for _, want := range r.bases {
		if tag, ok := strings.CutPrefix(want, "tag:"); ok {
			for _, f := range e.o.defs {
				if f.parent == i && strings.Contains(f.tag, tag+":") {
					return true
				}
			}
			continue
		}
		if slices.ContainsFunc(e.o.defs[i].bases, func(b string) bool { return matchName(want, b) }) {
			return true
		}
	}
	return false
}

// model adds a table that a class stands for.
func (e *extractor) model(p *place) {
	table := p.first(p.rule.options["table"])
	if table == "" {
		return
	}
	c, ok := newContract("db:"+table, coord.Provides, p.line)
	if !ok {
		return
	}
	how := p.rule.options["columns"]
	switch {
	case how == "":
	case strings.HasPrefix(how, "@"), how == "fields":
		c.shape.out = e.fieldColumns(p, how)
	default:
		c.shape.out = e.assignedColumns(p, strings.Split(how, ","))
	}
	e.out = append(e.out, c)
}

// fieldColumns reads columns from the fields of a class: all, or those with
// one of the annotations.
func (e *extractor) fieldColumns(p *place, how string) []prop {
	var out []prop
	marks := strings.Split(strings.ReplaceAll(how, "@", ""), ",")
	for i := range e.o.defs {
		d := &e.o.defs[i]
		if d.parent != p.def || d.kind != "field" && d.kind != "property" {
			continue
		}
		short := d.name[strings.LastIndexByte(d.name, '.')+1:]
		if strings.Contains(d.before, "static") || strings.Contains(d.tag, `gorm:"-"`) {
			continue
		}
		col := prop{name: short, typ: strings.TrimSuffix(resultOf(d, e.o.traits), ";")}
		if p.rule.options["case"] == "snake" {
			col.name = snake(short)
		}
		marked := how == "fields"
		for j := range e.o.marks {
			m := &e.o.marks[j]
			name := m.name[strings.LastIndexByte(m.name, '.')+1:]
			if m.target != i {
				continue
			}
			if name == "Transient" || name == "OneToMany" || name == "ManyToMany" {
				marked = false
				break
			}
			marked = marked || slices.Contains(marks, name)
			for _, sel := range []string{":name", "0.name", "0"} {
				if v, ok := pick(m.args, sel); ok && (name == "Column" || name == "JoinColumn") {
					if s, ok := v.literal(); ok && (sel != "0" || e.o.lang != "typescript") {
						col.name = s
						break
					}
				}
			}
		}
		if at := strings.Index(d.tag, "column:"); at >= 0 {
			col.name, _, _ = strings.Cut(d.tag[at+7:], ";")
			col.name, _, _ = strings.Cut(col.name, `"`)
		}
		if marked {
			out = append(out, col)
		}
	}
	return out
}

// assignedColumns reads columns from assignments in the class body.
func (e *extractor) assignedColumns(p *place, calls []string) []prop {
	var out []prop
	for _, a := range e.o.assigns {
		if a.def != p.def || a.value.kind != valCall || a.value.call == nil {
			continue
		}
		if slices.ContainsFunc(calls, func(c string) bool { return matchName(c, a.value.call.name) }) {
			col := columnOf(e.o, a.name, a.value)
			if e.o.lang == "python" && strings.HasSuffix(col.typ, "Key") {
				col.name += "_id"
			}
			out = append(out, col)
		}
	}
	return out
}
