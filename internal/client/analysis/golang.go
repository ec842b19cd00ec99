package analysis

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// goTraits are what Go's callers depend on.
var goTraits = traits{exportedName: "upper", typed: true}

// A goReader makes an outline with Go's own parser: it needs no C and is
// several times faster than a general one.
type goReader struct {
	*outline
	fset  *token.FileSet
	file  *token.File
	want  *matcher
	whole string // the source, which definitions are parts of
	local map[string]bool
	form  map[token.Pos]*coord.Call // of calls by name
	// Resolving every name costs a third of a parse. Names that are declared
	// anywhere in the file are taken for that, the others for the package's.
	idents   []*ast.Ident
	declared map[string]bool
}

// outlineOfGo reads a Go file. A file that does not parse gives what the
// parser could make of it.
func outlineOfGo(source []byte, path string, want *matcher) *outline {
	fset, f, err := parseGo(source, path)
	o := &outline{lang: "go", path: path, source: source, traits: &goTraits, broken: err != nil, consts: map[string]value{}}
	if f == nil {
		return o
	}
	g := &goReader{outline: o, fset: fset, file: fset.File(f.FileStart), want: want, whole: string(source), local: map[string]bool{}, form: map[token.Pos]*coord.Call{}, declared: maps.Clone(goPredeclared)}
	if g.file == nil {
		return o
	}
	for _, im := range f.Imports {
		g.imported(im)
	}
	g.defs = make([]def, 0, 2*len(f.Decls))
	at := make([]int, len(f.Decls)) // where each declaration's first definition is
	for i, d := range f.Decls {
		at[i] = len(g.defs)
		g.decl(d)
	}
	for i := range g.defs {
		g.declared[g.defs[i].name] = true
	}
	for n := range g.local {
		g.declared[n] = true
	}
	for i, d := range f.Decls {
		g.events(d, at[i])
	}
	for _, id := range g.idents {
		if !g.declared[id.Name] {
			g.ambient = append(g.ambient, name{local: id.Name, line: g.line(id.Pos()), call: g.form[id.Pos()]})
		}
	}
	return o
}

// parseGo is the bare parse.
func parseGo(source []byte, path string) (*token.FileSet, *ast.File, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, source, parser.SkipObjectResolution)
	return fset, f, err
}

func (g *goReader) offset(p token.Pos) uint32 {
	if !p.IsValid() {
		return 0
	}
	return uint32(min(max(g.file.Offset(p), 0), len(g.source)))
}

func (g *goReader) span(n ast.Node) span {
	from, to := n.Pos(), n.End()
	s := span{start: g.offset(from), end: g.offset(to)}
	s.row, s.last = uint32(g.file.Line(from)-1), uint32(g.file.Line(min(to, token.Pos(g.file.Base()+g.file.Size())))-1)
	return s
}

func (g *goReader) text(from, to token.Pos) string {
	a, b := g.offset(from), g.offset(to)
	if a >= b {
		return ""
	}
	return oneLine(g.whole[a:b])
}

func (g *goReader) line(p token.Pos) uint32 { return uint32(g.file.Line(p) - 1) }

func (g *goReader) imported(im *ast.ImportSpec) {
	path, err := strconv.Unquote(im.Path.Value)
	if err != nil {
		return
	}
	local := path[strings.LastIndexByte(path, '/')+1:]
	if strings.HasPrefix(local, "v") && len(local) < 4 && strings.Trim(local[1:], "0123456789") == "" { // a major version
		parts := strings.Split(path, "/")
		local = parts[max(0, len(parts)-2)]
	}
	local = strings.TrimPrefix(strings.TrimSuffix(local, ".go"), "go-")
	if im.Name != nil {
		local = im.Name.Name
	}
	g.imports = append(g.imports, imported{module: path, local: local, line: g.line(im.Pos())})
	g.local[local] = true
}

func (g *goReader) decl(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		g.function(d)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				g.typ(d, s)
			case *ast.ValueSpec:
				g.value(d, s)
			}
		}
	}
}

func (g *goReader) function(d *ast.FuncDecl) {
	f := def{name: d.Name.Name, kind: "function", parent: -1, span: g.span(d), nameAt: g.offset(d.Name.Pos()), hasCall: true, exported: d.Name.IsExported()}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		recv := cleanName(g.text(d.Recv.List[0].Type.Pos(), d.Recv.List[0].Type.End()))
		f.name, f.kind = recv+"."+f.name, "method"
		f.exported = f.exported && ast.IsExported(recv)
	}
	end := d.Type.End()
	if d.Body != nil {
		f.body = g.span(d.Body)
	}
	f.fill = func(f *def) {
		f.params = g.params(d.Type.Params)
		f.after = g.results(d.Type.Results)
		f.head = g.text(d.Pos(), end)
	}
	f.before = "func"
	if d.Recv != nil && len(d.Recv.List) > 0 {
		f.before += " (" + g.text(d.Recv.List[0].Type.Pos(), d.Recv.List[0].Type.End()) + ")"
	}
	if d.Type.TypeParams != nil {
		f.before += g.text(d.Type.TypeParams.Pos(), d.Type.TypeParams.End())
	}
	f.own = g.whole[f.span.start:f.span.end]
	g.defs = append(g.defs, f)
}

// oneAny writes Go's two names of one type alike.
func oneAny(typ string) string { return strings.ReplaceAll(typ, "interface{}", "any") }

// results are the types that come back. Callers cannot use a result's name.
func (g *goReader) results(list *ast.FieldList) string {
	var types []string
	for _, p := range g.params(list) {
		types = append(types, p.typ)
	}
	if len(types) == 1 {
		return types[0]
	}
	if len(types) == 0 {
		return ""
	}
	return "(" + strings.Join(types, ", ") + ")"
}

// params spreads "a, b int" over two parameters.
func (g *goReader) params(list *ast.FieldList) []param {
	var out []param
	if list == nil {
		return nil
	}
	for _, f := range list.List {
		p := param{typ: oneAny(g.text(f.Type.Pos(), f.Type.End()))}
		_, p.rest = f.Type.(*ast.Ellipsis)
		if len(f.Names) == 0 {
			out = append(out, p)
		}
		for _, n := range f.Names {
			p.name = n.Name
			out = append(out, p)
		}
	}
	return out
}

func (g *goReader) typ(d *ast.GenDecl, s *ast.TypeSpec) {
	f := def{name: s.Name.Name, kind: "type", parent: -1, span: g.span(s), nameAt: g.offset(s.Name.Pos()), exported: s.Name.IsExported()}
	if len(d.Specs) == 1 {
		f.span = g.span(d)
	}
	f.before, f.head = "type", "type "+g.text(s.Pos(), s.End())
	f.after = g.text(s.Name.End(), s.End())
	f.own = g.whole[f.span.start:f.span.end]
	self := len(g.defs)
	var fields *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		f.kind, f.contain, fields = "struct", true, t.Fields
	case *ast.InterfaceType:
		f.kind, f.contain, fields = "interface", true, t.Methods
	}
	if fields == nil {
		g.defs = append(g.defs, f)
		return
	}
	f.after = g.text(s.Name.End(), fields.Opening)
	f.head = "type " + g.text(s.Pos(), fields.Opening)
	f.body = g.span(fields)
	g.defs = append(g.defs, f)
	own := f.head
	for _, m := range fields.List {
		if len(m.Names) == 0 {
			g.defs[self].bases = append(g.defs[self].bases, g.text(m.Type.Pos(), m.Type.End()))
			own += "\n" + g.text(m.Pos(), m.End())
		}
		for _, n := range m.Names {
			g.defs = append(g.defs, g.member(f, self, m, n))
		}
	}
	if len(g.defs[self].bases) > 0 {
		g.defs[self].after += " " + strings.Join(g.defs[self].bases, ", ")
		g.defs[self].head += " " + strings.Join(g.defs[self].bases, ", ")
	}
	g.defs[self].own = own
}

// member is a field of a struct or a method of an interface.
func (g *goReader) member(of def, parent int, m *ast.Field, n *ast.Ident) def {
	f := def{name: of.name + "." + n.Name, kind: "field", parent: parent, span: g.span(m), nameAt: g.offset(n.Pos()), exported: of.exported && n.IsExported()}
	f.after = g.text(m.Type.Pos(), m.Type.End())
	f.head = n.Name + " " + f.after
	if ft, ok := m.Type.(*ast.FuncType); ok && of.kind == "interface" {
		f.kind, f.hasCall, f.params = "method", true, g.params(ft.Params)
		f.after = g.results(ft.Results)
		f.head = g.text(m.Pos(), m.End())
	}
	if m.Tag != nil {
		f.tag, _ = strconv.Unquote(m.Tag.Value)
		f.head += " `" + f.tag + "`"
	}
	f.own = g.whole[f.span.start:f.span.end]
	return f
}

func (g *goReader) value(d *ast.GenDecl, s *ast.ValueSpec) {
	kind := "variable"
	if d.Tok == token.CONST {
		kind = "constant"
	}
	for i, n := range s.Names {
		f := def{name: n.Name, kind: kind, parent: -1, span: g.span(s), nameAt: g.offset(n.Pos()), exported: n.IsExported(), before: d.Tok.String()}
		if s.Type != nil {
			f.after = g.text(s.Type.Pos(), s.Type.End())
		}
		f.head = strings.TrimSpace(d.Tok.String() + " " + n.Name + " " + f.after)
		f.own = g.whole[f.span.start:f.span.end]
		if n.Name != "_" {
			g.defs = append(g.defs, f)
		}
		if i < len(s.Values) {
			if v := g.expr(s.Values[i], 0); v.kind == valText {
				g.consts[n.Name] = v
			}
		}
	}
}

// events walks a declaration for calls, texts, uses of imports and assignments.
// def is the definition that a function makes.
func (g *goReader) events(d ast.Decl, def int) {
	current := -1
	if _, ok := d.(*ast.FuncDecl); ok {
		current = def
	}
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if !g.declared[n.Name] {
				g.idents = append(g.idents, n)
			}
		case *ast.Field:
			g.declare(n.Names...)
			ast.Inspect(n.Type, visit)
			return false
		case *ast.KeyValueExpr: // a key is mostly a field
			if _, ok := n.Key.(*ast.Ident); ok {
				ast.Inspect(n.Value, visit)
				return false
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				g.declareExprs(n.Key, n.Value)
			}
		case *ast.ValueSpec:
			g.declare(n.Names...)
		case *ast.TypeSpec:
			g.declare(n.Name)
		case *ast.LabeledStmt:
			g.declare(n.Label)
		case *ast.CallExpr:
			last := ""
			switch f := n.Fun.(type) {
			case *ast.SelectorExpr:
				last = f.Sel.Name
			case *ast.Ident:
				last = f.Name
			}
			g.called(n)
			if g.want.wantsCall(last) {
				c := g.call(n, 0)
				c.def = current
				g.calls = append(g.calls, *c)
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && len(n.Value) > 12 {
				if s, err := strconv.Unquote(n.Value); err == nil && startsQuery(strings.TrimLeft(s, " \t\r\n(")) {
					g.texts = append(g.texts, text{value: s, line: g.line(n.Pos()), at: g.offset(n.Pos())})
				}
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && g.local[x.Name] {
				g.names = append(g.names, name{local: x.Name, member: n.Sel.Name, line: g.line(n.Sel.Pos()), call: g.form[n.Pos()]})
				return false
			}
			ast.Inspect(n.X, visit)
			return false
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				g.declareExprs(n.Lhs...)
			}
			for i := range min(len(n.Lhs), len(n.Rhs)) {
				if x, ok := n.Lhs[i].(*ast.Ident); ok {
					v := g.expr(n.Rhs[i], 0)
					if v.kind == valCall || v.kind == valText {
						g.assigns = append(g.assigns, assign{x.Name, v, current, g.line(n.Pos())})
					}
				}
			}
		case *ast.ImportSpec:
			return false
		}
		return true
	}
	ast.Inspect(d, visit)
}

func (g *goReader) declare(names ...*ast.Ident) {
	for _, n := range names {
		g.declared[n.Name] = true
	}
}

func (g *goReader) declareExprs(exprs ...ast.Expr) {
	for _, e := range exprs {
		if n, ok := e.(*ast.Ident); ok {
			g.declared[n.Name] = true
		}
	}
}

// goPredeclared are the names of the language itself.
var goPredeclared = func() map[string]bool {
	out := map[string]bool{}
	for _, n := range strings.Fields("any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr " +
		"true false iota nil append cap clear close complex copy delete imag len make max min new panic print println real recover _") {
		out[n] = true
	}
	return out
}()

// called notes the form of a call for the name in it, which comes later.
func (g *goReader) called(n *ast.CallExpr) {
	fun := n.Fun
	switch f := fun.(type) {
	case *ast.IndexExpr:
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	at := fun.Pos()
	switch f := fun.(type) {
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); !ok || !g.local[x.Name] {
			return
		}
	case *ast.Ident:
		if goPredeclared[f.Name] {
			return
		}
	default:
		return
	}
	g.form[at] = &coord.Call{Args: len(n.Args), Spread: n.Ellipsis.IsValid()}
}

func (g *goReader) call(n *ast.CallExpr, depth int) *call {
	c := &call{name: dotted(g.text(n.Fun.Pos(), n.Fun.End())), span: g.span(n), def: -1}
	if s, ok := n.Fun.(*ast.SelectorExpr); ok && strings.Contains(c.name, "()") {
		if inner, ok := s.X.(*ast.CallExpr); ok && depth < 8 {
			c.inner = g.call(inner, depth+1)
		}
	}
	for _, a := range n.Args {
		c.args = append(c.args, g.expr(a, depth+1))
	}
	return c
}

func (g *goReader) expr(e ast.Expr, depth int) value {
	v := value{span: g.span(e)}
	if depth > 8 {
		return v
	}
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			if s, err := strconv.Unquote(e.Value); err == nil {
				v.kind, v.text = valText, s
			}
		} else {
			v.text = e.Value
		}
	case *ast.BinaryExpr:
		a, b := g.expr(e.X, depth+1), g.expr(e.Y, depth+1)
		if e.Op == token.ADD && (a.kind == valText || b.kind == valText) {
			v.kind, v.text = valText, a.asText(g.consts)+b.asText(g.consts)
		}
	case *ast.CallExpr:
		v.kind, v.call = valCall, g.call(e, depth+1)
		v.text = short(g.text(e.Pos(), e.End()))
	case *ast.FuncLit:
		v.kind = valLambda
	case *ast.CompositeLit:
		g.composite(&v, e, depth)
	case *ast.UnaryExpr:
		return g.expr(e.X, depth+1)
	case *ast.ParenExpr:
		return g.expr(e.X, depth+1)
	default:
		v.text = short(g.text(e.Pos(), e.End()))
		if isWord(v.text) {
			v.kind = valName
		}
	}
	return v
}

func (g *goReader) composite(v *value, e *ast.CompositeLit, depth int) {
	v.kind = valList
	for _, el := range e.Elts {
		kv, ok := el.(*ast.KeyValueExpr)
		if !ok {
			v.items = append(v.items, g.expr(el, depth+1))
			continue
		}
		v.kind = valObject
		key := g.expr(kv.Key, depth+1)
		v.fields = append(v.fields, field{key.text, g.expr(kv.Value, depth+1)})
	}
}
