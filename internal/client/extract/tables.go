package extract

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/client/verdict"
	"github.com/svc-hq/svc/internal/core/coord"
)

// table adds what a call says of a table: its definition, a step of a
// migration, or a use.
func (e *extractor) table(p *place) {
	name := p.first(p.rule.Options.Get("table"))
	if name == "" || strings.ContainsAny(name, " {}()/") {
		return
	}
	c, ok := contract.New("db:"+name, coord.ContractRole(p.rule.Role), p.line)
	if !ok {
		return
	}
	if p.rule.Role == "uses" {
		e.out = append(e.out, c)
		return
	}
	column := p.first(p.rule.Options.Get("column"))
	switch op := p.rule.Options.Get("op"); op {
	case "", "create", "model":
		c.Shape.Out, c.Model = e.columns(p), op == "model"
	case "alter":
		c.Ops = e.alterations(p)
	case "drop":
		c.Ops = []contract.Operation{{
			Text:    "drops the table",
			Verdict: verdict.Verdict{Compat: coord.Breaking, Detail: "the table is dropped"},
			Removes: true,
		}}
	default:
		if column != "" || op == "rename" {
			c.Ops = []contract.Operation{contract.ColumnOperation(op, column, p.first(p.rule.Options.Get("to")), required(p.call))}
		}
	}
	if c.Ops == nil && len(c.Shape.Out) == 0 && !slices.Contains([]string{"", "create", "model"}, p.rule.Options.Get("op")) {
		return
	}
	e.out = append(e.out, c)
}

// required tells whether a column's call says that it must be given: not null
// and without a default.
func required(c *outline.Call) bool {
	if c == nil {
		return false
	}
	notNull, hasDefault := false, false
	var look func(args []outline.Value)
	look = func(args []outline.Value) {
		for _, a := range args {
			switch {
			case (a.Name == "null" || a.Name == "nullable") && strings.EqualFold(a.Text, "false"):
				notNull = true
			case a.Name == "default" || a.Name == "server_default":
				hasDefault = true
			}
			if a.Call != nil {
				look(a.Call.Args)
			}
		}
	}
	look(c.Args)
	return notNull && !hasDefault
}

// inside yields the calls within a place that say something of columns.
func (e *extractor) inside(p *place) []*outline.Call {
	var out []*outline.Call
	for i := range e.o.Calls {
		c := &e.o.Calls[i]
		if c.Span.Start > p.span.Start && c.Span.End <= p.span.End && len(e.matching(c, "shape")) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// columns reads a table's columns: from the calls in its block, from an
// object, or from arguments that are calls.
func (e *extractor) columns(p *place) []contract.Prop {
	var out []contract.Prop
	if v, ok := p.value(p.rule.Options.Get("columns")); ok && p.rule.Options.Get("columns") != "" {
		for _, f := range v.Fields {
			out = append(out, columnOf(e.o, f.Name, f.Value))
		}
	}
	for _, c := range e.inside(p) {
		if names := e.columnNames(c); len(names) > 0 && !isDropping(c) {
			for _, n := range names {
				out = append(out, contract.Prop{Name: n, Typ: c.Name[strings.LastIndexByte(c.Name, '.')+1:], Required: required(c)})
			}
		}
	}
	for _, a := range p.call.Args {
		if a.Call != nil && strings.HasSuffix(a.Call.Name, "Column") && len(a.Call.Args) > 0 {
			if n, ok := a.Call.Args[0].Literal(); ok {
				out = append(out, columnOf(e.o, n, a))
			}
		}
	}
	return contract.Unique(out)
}

func (e *extractor) columnNames(c *outline.Call) []string {
	var out []string
	for _, a := range c.Args {
		if n, ok := a.Literal(); ok && a.Name == "" {
			out = append(out, n)
			if !strings.Contains(c.Name, "drop") && !strings.Contains(c.Name, "remove") {
				break
			}
		}
		if a.Kind == outline.ValList {
			out = append(out, e.o.TextsOf(a)...)
		}
	}
	return out
}

func isDropping(c *outline.Call) bool {
	last := strings.ToLower(c.Name[strings.LastIndexByte(c.Name, '.')+1:])
	return strings.HasPrefix(last, "drop") || strings.HasPrefix(last, "remove") || strings.HasPrefix(last, "rename")
}

// alterations reads the steps inside a block that changes a table.
func (e *extractor) alterations(p *place) []contract.Operation {
	var out []contract.Operation
	for _, c := range e.inside(p) {
		last := strings.ToLower(c.Name[strings.LastIndexByte(c.Name, '.')+1:])
		names := e.columnNames(c)
		switch {
		case len(names) == 0:
		case strings.HasPrefix(last, "drop"), strings.HasPrefix(last, "remove"):
			for _, n := range names {
				out = append(out, contract.ColumnOperation("drop-column", n, "", false))
			}
		case strings.HasPrefix(last, "rename"):
			to := ""
			if len(c.Args) > 1 {
				to, _ = c.Args[1].Literal()
			}
			out = append(out, contract.ColumnOperation("rename-column", names[0], to, false))
		default:
			out = append(out, contract.ColumnOperation("add-column", names[0], "", required(c)))
		}
	}
	return out
}

// columnOf reads name = Column(Type, nullable=False) and the like.
func columnOf(o *outline.File, name string, v outline.Value) contract.Prop {
	p := contract.Prop{Name: name}
	if v.Kind != outline.ValCall || v.Call == nil {
		return p
	}
	root := v.Call
	for c := v.Call; c != nil; c = c.Inner {
		root = c
		last := c.Name[strings.LastIndexByte(c.Name, '.')+1:]
		if last == "notNull" || last == "primaryKey" {
			p.Required = true
		}
	}
	if len(root.Args) > 0 {
		if n, ok := root.Args[0].Literal(); ok && root.Args[0].Name == "" && !isDjango(root.Name) {
			p.Name = n
		}
	}
	p.Typ = strings.TrimPrefix(root.Name[strings.LastIndexByte(root.Name, '.')+1:], "mapped_column")
	for _, a := range root.Args {
		switch {
		case a.Name == "name" || a.Name == "db_column":
			if n, ok := a.Literal(); ok {
				p.Name = n
			}
		case (a.Name == "nullable" || a.Name == "null") && strings.EqualFold(a.Text, "false"), a.Name == "primary_key" && a.Text == "True":
			p.Required = true
		case a.Name == "" && p.Typ == "Column" && (a.Kind == outline.ValName || a.Kind == outline.ValCall):
			typ, _, _ := strings.Cut(a.Text, "(")
			p.Typ = typ[strings.LastIndexByte(typ, '.')+1:]
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
	for i := range e.o.Defs {
		d := &e.o.Defs[i]
		if !d.Contain {
			continue
		}
		for _, r := range e.m.Rules {
			if len(r.Bases) == 0 || !e.active[r] || !e.isA(r, i) {
				continue
			}
			e.model(&place{o: e.o, rule: r, def: i, span: d.Span, line: int(d.Span.Row) + 1})
			break
		}
	}
}

// isA tells whether a class has one of the rule's bases. "tag:x" asks for a Go
// struct with such a tag.
func (e *extractor) isA(r *rules.Rule, i int) bool {
	for _, want := range r.Bases {
		if tag, ok := strings.CutPrefix(want, "tag:"); ok {
			for _, f := range e.o.Defs {
				if f.Parent == i && strings.Contains(f.Tag, tag+":") {
					return true
				}
			}
			continue
		}
		if slices.ContainsFunc(e.o.Defs[i].Bases, func(b string) bool { return rules.MatchName(want, b) }) {
			return true
		}
	}
	return false
}

// model adds a table that a class stands for.
func (e *extractor) model(p *place) {
	table := p.first(p.rule.Options.Get("table"))
	if table == "" {
		return
	}
	c, ok := contract.New("db:"+table, coord.Provides, p.line)
	if !ok {
		return
	}
	how := p.rule.Options.Get("columns")
	switch {
	case how == "":
	case strings.HasPrefix(how, "@"), how == "fields":
		c.Shape.Out = e.fieldColumns(p, how)
	default:
		c.Shape.Out = e.assignedColumns(p, strings.Split(how, ","))
	}
	c.Model, c.Rule = true, e.rule
	e.out = append(e.out, c)
}

// fieldColumns reads columns from the fields of a class: all, or those with
// one of the annotations.
func (e *extractor) fieldColumns(p *place, how string) []contract.Prop {
	var out []contract.Prop
	marks := strings.Split(strings.ReplaceAll(how, "@", ""), ",")
	for i := range e.o.Defs {
		d := &e.o.Defs[i]
		if d.Parent != p.def || d.Kind != "field" && d.Kind != "property" {
			continue
		}
		short := d.Name[strings.LastIndexByte(d.Name, '.')+1:]
		if strings.Contains(d.Before, "static") || strings.Contains(d.Tag, `gorm:"-"`) {
			continue
		}
		col := contract.Prop{Name: short, Typ: strings.TrimSuffix(outline.ResultOf(d, e.o.Traits), ";")}
		if p.rule.Options.Get("case") == "snake" {
			col.Name = outline.Snake(short)
		}
		marked := how == "fields"
		for j := range e.o.Marks {
			m := &e.o.Marks[j]
			name := m.Name[strings.LastIndexByte(m.Name, '.')+1:]
			if m.Target != i {
				continue
			}
			if name == "Transient" || name == "OneToMany" || name == "ManyToMany" {
				marked = false
				break
			}
			marked = marked || slices.Contains(marks, name)
			for _, sel := range []string{":name", "0.name", "0"} {
				if v, ok := pick(m.Args, sel); ok && (name == "Column" || name == "JoinColumn") {
					if s, ok := v.Literal(); ok && (sel != "0" || e.o.Lang != "typescript") {
						col.Name = s
						break
					}
				}
			}
		}
		if at := strings.Index(d.Tag, "column:"); at >= 0 {
			col.Name, _, _ = strings.Cut(d.Tag[at+7:], ";")
			col.Name, _, _ = strings.Cut(col.Name, `"`)
		}
		if marked {
			out = append(out, col)
		}
	}
	return out
}

// assignedColumns reads columns from assignments in the class body.
func (e *extractor) assignedColumns(p *place, calls []string) []contract.Prop {
	var out []contract.Prop
	for _, a := range e.o.Assigns {
		if a.Def != p.def || a.Value.Kind != outline.ValCall || a.Value.Call == nil {
			continue
		}
		if slices.ContainsFunc(calls, func(c string) bool { return rules.MatchName(c, a.Value.Call.Name) }) {
			col := columnOf(e.o, a.Name, a.Value)
			if e.o.Lang == "python" && strings.HasSuffix(col.Typ, "Key") {
				col.Name += "_id"
			}
			out = append(out, col)
		}
	}
	return out
}
