package outline

import (
	"go/ast"
	"go/token"
	"strings"
)

// A Kept value is one that a field or a variable of the package is given.
type Kept struct {
	Name  string // as it is written: s.Base.Users, .Users in a literal
	Value Value
	Def   int
	Local bool // it is declared there, in a function
}

// Kept returns what a file of Go gives to fields and variables of a name. It is
// looked for when somebody asks: few names are routers.
func (o *File) Kept(last string) []Kept {
	if o.kept == nil {
		return nil
	}
	return o.kept(last)
}

func (g *goReader) keeps(f *GoFile, at []int) func(last string) []Kept {
	return func(last string) (out []Kept) {
		for i, d := range f.decls {
			g.here = d.from
			def := -1
			if _, is := d.Decl.(*ast.FuncDecl); is {
				def = at[i]
			}
			add := func(name string, e ast.Expr, local bool) {
				if name[strings.LastIndexByte(name, '.')+1:] == last {
					out = append(out, Kept{name, g.expr(e, 0), def, local})
				}
			}
			ast.Inspect(d.Decl, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					for k := range min(len(n.Lhs), len(n.Rhs)) {
						add(fieldName(n.Lhs[k]), n.Rhs[k], n.Tok == token.DEFINE)
					}
				case *ast.KeyValueExpr:
					add("."+fieldName(n.Key), n.Value, false)
				case *ast.ValueSpec:
					for k := range min(len(n.Names), len(n.Values)) {
						add(n.Names[k].Name, n.Values[k], def >= 0)
					}
				}
				return true
			})
		}
		return out
	}
}

// fieldName is a variable or a field of one, however deep; "" for all else.
func fieldName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if of := fieldName(e.X); of != "" {
			return of + "." + e.Sel.Name
		}
	}
	return ""
}

// findLoops finds the loops of a file of Go.
func (g *goReader) findLoops(f *GoFile) (out []Loop) {
	for _, d := range f.decls {
		g.here = d.from
		ast.Inspect(d.Decl, func(n ast.Node) bool {
			r, ok := n.(*ast.RangeStmt)
			if !ok {
				return true
			}
			l := Loop{Span: g.span(r), Over: g.expr(r.X, 0), index: true}
			for _, e := range []ast.Expr{r.Key, r.Value} {
				if id, ok := e.(*ast.Ident); ok {
					l.names = append(l.names, id.Name)
				}
			}
			out = append(out, l)
			return true
		})
	}
	return out
}
