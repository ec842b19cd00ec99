package outline

import (
	"go/ast"
	"go/token"
	"maps"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// GoTraits are what Go's callers depend on.
var GoTraits = Traits{exportedName: "upper", Typed: true}

// A goReader makes an outline with Go's own parser: it needs no C and is
// several times faster than a general one.
type goReader struct {
	*File
	here  piece // where the declaration at hand comes from
	want  *rules.Matcher
	whole string // the source, which definitions are parts of
	local map[string]bool
	form  map[token.Pos]*coord.Call // of calls by name
	// Resolving every name costs a third of a parse. Names that are declared
	// anywhere in the file are taken for that, the others for the package's.
	idents   []foundIdent
	members  []goMember
	receiver string // of the method at hand
	rest     []unreadGo
	declared map[string]bool // in functions, by imports and by the language
	defined  map[string]bool // at the top
}

// An unreadGo is a call that no rule wants, kept until somebody asks for it.
type unreadGo struct {
	call *ast.CallExpr
	last string
	def  int
	from piece
}

// A foundIdent is a name that may be the package's.
type foundIdent struct {
	*ast.Ident
	line uint32
}

// OfGo reads a Go file. A file that does not parse gives what the
// parser could make of it.
func OfGo(f *GoFile, source []byte, path string, want *rules.Matcher) *File {
	o := &File{Lang: "go", Path: path, Source: source, Traits: &GoTraits, Broken: f.broken, consts: map[string]Value{}}
	if len(f.decls) == 0 {
		return o
	}
	g := &goReader{
		File:     o,
		here:     f.decls[0].from,
		want:     want,
		whole:    string(source),
		local:    map[string]bool{},
		form:     map[token.Pos]*coord.Call{},
		declared: maps.Clone(goPredeclared.Get()),
		defined:  map[string]bool{},
	}
	g.own = g.ownUses
	for _, im := range f.imports {
		g.imported(im)
	}
	g.Defs = make([]Def, 0, 2*len(f.decls))
	at := make([]int, len(f.decls)) // where each declaration's first definition is
	for i, d := range f.decls {
		at[i] = len(g.Defs)
		g.here = d.from
		g.decl(d.Decl)
	}
	for i := range g.Defs {
		g.defined[g.Defs[i].Name] = true
	}
	for n := range g.local {
		g.declared[n] = true
	}
	for i, d := range f.decls {
		g.here = d.from
		g.events(d.Decl, at[i])
	}
	g.kept, g.loops = g.keeps(f, at), func() []Loop { return g.findLoops(f) }
	g.others = func(wanted func(string) bool) (out []Call) {
		for _, u := range g.rest {
			if wanted(u.last) {
				g.here = u.from
				c := g.call(u.call, 0)
				c.Def = u.def
				out = append(out, *c)
			}
		}
		return out
	}
	for _, id := range g.idents {
		if !g.declared[id.Name] && !g.defined[id.Name] {
			g.Ambient = append(g.Ambient, Name{Local: id.Name, Line: id.line, Call: g.form[id.Pos()]})
		}
	}
	return o
}

func (g *goReader) offset(p token.Pos) uint32 {
	if !p.IsValid() {
		return 0
	}
	return uint32(min(max(g.here.file.Offset(p), 0)+g.here.bytes, len(g.Source)))
}

func (g *goReader) span(n ast.Node) Span {
	from, to := n.Pos(), n.End()
	end := token.Pos(g.here.file.Base() + g.here.file.Size())
	return Span{Start: g.offset(from), End: g.offset(to), Row: g.line(from), Last: g.line(min(to, end))}
}

func (g *goReader) text(from, to token.Pos) string {
	a, b := g.offset(from), g.offset(to)
	if a >= b {
		return ""
	}
	return oneLine(g.whole[a:b])
}

func (g *goReader) line(p token.Pos) uint32 { return uint32(g.here.file.Line(p) - 1 + g.here.rows) }

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
	g.Imports = append(g.Imports, Imported{Module: path, Local: local, Line: g.line(im.Pos())})
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
	f := Def{
		Name:     d.Name.Name,
		Kind:     "function",
		Parent:   -1,
		Span:     g.span(d),
		nameAt:   g.offset(d.Name.Pos()),
		HasCall:  true,
		Exported: d.Name.IsExported(),
	}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		recv := cleanName(g.text(d.Recv.List[0].Type.Pos(), d.Recv.List[0].Type.End()))
		f.Name, f.Kind = recv+"."+f.Name, "method"
		f.Exported = f.Exported && ast.IsExported(recv)
	}
	end := d.Type.End()
	if d.Body != nil {
		f.body = g.span(d.Body)
	}
	here := g.here
	f.fill = func(f *Def) {
		g.here = here
		f.Params = g.params(d.Type.Params)
		f.after = g.results(d.Type.Results)
		f.Head = g.text(d.Pos(), end)
	}
	f.Before = "func"
	if d.Recv != nil && len(d.Recv.List) > 0 {
		f.Before += " (" + g.text(d.Recv.List[0].Type.Pos(), d.Recv.List[0].Type.End()) + ")"
	}
	if d.Type.TypeParams != nil {
		f.Before += g.text(d.Type.TypeParams.Pos(), d.Type.TypeParams.End())
	}
	f.Own = g.whole[f.Span.Start:f.Span.End]
	g.Defs = append(g.Defs, f)
}

// oneAny writes Go's two names of one type alike.
func oneAny(typ string) string { return strings.ReplaceAll(typ, "interface{}", "any") }

// results are the types that come back. Callers cannot use a result's name.
func (g *goReader) results(list *ast.FieldList) string {
	var types []string
	for _, p := range g.params(list) {
		types = append(types, p.Typ)
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
func (g *goReader) params(list *ast.FieldList) []Param {
	var out []Param
	if list == nil {
		return nil
	}
	for _, f := range list.List {
		p := Param{Typ: oneAny(g.text(f.Type.Pos(), f.Type.End()))}
		_, p.Rest = f.Type.(*ast.Ellipsis)
		if len(f.Names) == 0 {
			out = append(out, p)
		}
		for _, n := range f.Names {
			p.Name = n.Name
			out = append(out, p)
		}
	}
	return out
}

func (g *goReader) typ(d *ast.GenDecl, s *ast.TypeSpec) {
	f := Def{Name: s.Name.Name, Kind: "type", Parent: -1, Span: g.span(s), nameAt: g.offset(s.Name.Pos()), Exported: s.Name.IsExported()}
	if len(d.Specs) == 1 {
		f.Span = g.span(d)
	}
	f.Before, f.Head = "type", "type "+g.text(s.Pos(), s.End())
	f.after = g.text(s.Name.End(), s.End())
	f.Own = g.whole[f.Span.Start:f.Span.End]
	self := len(g.Defs)
	var fields *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		f.Kind, f.Contain, fields = "struct", true, t.Fields
	case *ast.InterfaceType:
		f.Kind, f.Contain, fields = "interface", true, t.Methods
	}
	if fields == nil {
		g.Defs = append(g.Defs, f)
		return
	}
	f.after = g.text(s.Name.End(), fields.Opening)
	f.Head = "type " + g.text(s.Pos(), fields.Opening)
	f.body = g.span(fields)
	g.Defs = append(g.Defs, f)
	own := f.Head
	for _, m := range fields.List {
		if len(m.Names) == 0 {
			g.Defs[self].Bases = append(g.Defs[self].Bases, g.text(m.Type.Pos(), m.Type.End()))
			own += "\n" + g.text(m.Pos(), m.End())
		}
		for _, n := range m.Names {
			g.Defs = append(g.Defs, g.member(f, self, m, n))
		}
	}
	if len(g.Defs[self].Bases) > 0 {
		g.Defs[self].after += " " + strings.Join(g.Defs[self].Bases, ", ")
		g.Defs[self].Head += " " + strings.Join(g.Defs[self].Bases, ", ")
	}
	g.Defs[self].Own = own
}

// member is a field of a struct or a method of an interface.
func (g *goReader) member(of Def, parent int, m *ast.Field, n *ast.Ident) Def {
	f := Def{
		Name:     of.Name + "." + n.Name,
		Kind:     "field",
		Parent:   parent,
		Span:     g.span(m),
		nameAt:   g.offset(n.Pos()),
		Exported: of.Exported && n.IsExported(),
	}
	f.after = g.text(m.Type.Pos(), m.Type.End())
	f.Head = n.Name + " " + f.after
	if ft, ok := m.Type.(*ast.FuncType); ok && of.Kind == "interface" {
		f.Kind, f.HasCall, f.Params = "method", true, g.params(ft.Params)
		f.after = g.results(ft.Results)
		f.Head = g.text(m.Pos(), m.End())
	}
	if m.Tag != nil {
		f.Tag, _ = strconv.Unquote(m.Tag.Value)
		f.Head += " `" + f.Tag + "`"
	}
	f.Own = g.whole[f.Span.Start:f.Span.End]
	return f
}

func (g *goReader) value(d *ast.GenDecl, s *ast.ValueSpec) {
	kind := "variable"
	if d.Tok == token.CONST {
		kind = "constant"
	}
	for i, n := range s.Names {
		f := Def{
			Name:     n.Name,
			Kind:     kind,
			Parent:   -1,
			Span:     g.span(s),
			nameAt:   g.offset(n.Pos()),
			Exported: n.IsExported(),
			Before:   d.Tok.String(),
		}
		if s.Type != nil {
			f.after = g.text(s.Type.Pos(), s.Type.End())
		}
		f.Head = strings.TrimSpace(d.Tok.String() + " " + n.Name + " " + f.after)
		f.Own = g.whole[f.Span.Start:f.Span.End]
		if n.Name != "_" {
			g.Defs = append(g.Defs, f)
		}
		if i < len(s.Values) {
			if v := g.expr(s.Values[i], 0); v.Kind == ValText || v.Kind == ValName && d.Tok == token.CONST {
				g.consts[n.Name] = v
			}
		}
	}
}

// events walks a declaration for calls, texts, uses of imports and assignments.
// def is the definition that a function makes.
func (g *goReader) events(d ast.Decl, def int) {
	current, of := -1, ""
	g.receiver = ""
	if f, ok := d.(*ast.FuncDecl); ok {
		current = def
		if f.Recv != nil && len(f.Recv.List) > 0 && len(f.Recv.List[0].Names) > 0 {
			g.receiver = f.Recv.List[0].Names[0].Name
			of, _, _ = strings.Cut(g.Defs[def].Name, ".")
		}
	}
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if !g.declared[n.Name] {
				g.idents = append(g.idents, foundIdent{n, g.line(n.Pos())})
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
			if g.want.WantsCall(last) {
				c := g.call(n, 0)
				c.Def = current
				g.Calls = append(g.Calls, *c)
			} else if g.want != nil && last != "" {
				g.rest = append(g.rest, unreadGo{n, last, current, g.here})
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && len(n.Value) > 12 {
				if s, err := strconv.Unquote(n.Value); err == nil && startsQuery(strings.TrimLeft(s, " \t\r\n(")) {
					g.Texts = append(g.Texts, Text{Value: s, Line: g.line(n.Pos()), at: g.offset(n.Pos())})
				}
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && g.local[x.Name] {
				g.Names = append(g.Names, Name{Local: x.Name, Member: n.Sel.Name, Line: g.line(n.Sel.Pos()), Call: g.form[n.Pos()]})
				return false
			}
			if x, ok := n.X.(*ast.Ident); ok && g.receiver != "" && x.Name == g.receiver {
				g.members = append(g.members, goMember{n.Sel, of, g.line(n.Sel.Pos()), g.form[n.Sel.Pos()]})
			}
			ast.Inspect(n.X, visit)
			return false
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				g.declareExprs(n.Lhs...)
			}
			for i := range min(len(n.Lhs), len(n.Rhs)) {
				if name := assignedName(n.Lhs[i]); name != "" {
					v := g.expr(n.Rhs[i], 0)
					if v.Kind == ValCall || v.Kind == ValText || len(v.Parts) > 0 {
						g.Assigns = append(g.Assigns, assign{Name: name, Value: v, Def: current, Line: g.line(n.Pos())})
					}
				}
			}
		}
		return true
	}
	withoutNames(d, visit)
}

// assignedName is the variable, or the field of one, that is assigned to.
func assignedName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if of, ok := e.X.(*ast.Ident); ok {
			return of.Name + "." + e.Sel.Name
		}
	}
	return ""
}

// withoutNames visits a declaration but for the names that it gives to the file.
func withoutNames(d ast.Decl, visit func(ast.Node) bool) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			ast.Inspect(d.Recv, visit)
		}
		ast.Inspect(d.Type, visit)
		if d.Body != nil {
			ast.Inspect(d.Body, visit)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.TypeParams != nil {
					ast.Inspect(s.TypeParams, visit)
				}
				ast.Inspect(s.Type, visit)
			case *ast.ValueSpec:
				if s.Type != nil {
					ast.Inspect(s.Type, visit)
				}
				for _, v := range s.Values {
					ast.Inspect(v, visit)
				}
			}
		}
	}
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
var goPredeclared = lazy.Words(`any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32
	int64 rune string uint uint8 uint16 uint32 uint64 uintptr
	true false iota nil append cap clear close complex copy delete imag len make max min new panic print println real recover _`)
