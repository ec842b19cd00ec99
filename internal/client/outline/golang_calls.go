package outline

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

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
		x, ok := f.X.(*ast.Ident)
		switch {
		case ok && g.local[x.Name]:
		case ok && g.receiver != "" && x.Name == g.receiver:
			at = f.Sel.Pos()
		default:
			return
		}
	case *ast.Ident:
		if goPredeclared.Has(f.Name) {
			return
		}
	default:
		return
	}
	g.form[at] = &coord.Call{Args: len(n.Args), Spread: n.Ellipsis.IsValid()}
}

func (g *goReader) call(n *ast.CallExpr, depth int) *Call {
	c := &Call{Name: dotted(g.text(n.Fun.Pos(), n.Fun.End())), Span: g.span(n), Def: -1}
	if s, ok := n.Fun.(*ast.SelectorExpr); ok && strings.Contains(c.Name, "()") {
		if inner, ok := s.X.(*ast.CallExpr); ok && depth < 8 {
			c.Inner = g.call(inner, depth+1)
		}
	}
	for _, a := range n.Args {
		c.Args = append(c.Args, g.expr(a, depth+1))
	}
	return c
}

func (g *goReader) expr(e ast.Expr, depth int) Value {
	v := Value{Span: g.span(e)}
	if depth > 8 {
		return v
	}
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			if s, err := strconv.Unquote(e.Value); err == nil {
				v.Kind, v.Text = ValText, s
			}
		} else {
			v.Text = e.Value
		}
	case *ast.BinaryExpr:
		a, b := g.expr(e.X, depth+1), g.expr(e.Y, depth+1)
		if e.Op == token.ADD {
			v.Parts = []Value{a, b}
			if a.Kind == ValText || b.Kind == ValText {
				v.Kind, v.Text = ValText, a.asText(g.consts)+b.asText(g.consts)
			}
		}
	case *ast.CallExpr:
		v.Kind, v.Call = ValCall, g.call(e, depth+1)
		v.Text = short(g.text(e.Pos(), e.End()))
	case *ast.FuncLit:
		v.Kind = ValLambda
	case *ast.CompositeLit:
		g.composite(&v, e, depth)
	case *ast.UnaryExpr:
		return g.expr(e.X, depth+1)
	case *ast.ParenExpr:
		return g.expr(e.X, depth+1)
	default:
		v.Text = short(g.text(e.Pos(), e.End()))
		if IsWord(v.Text) {
			v.Kind = ValName
		}
	}
	return v
}

func (g *goReader) composite(v *Value, e *ast.CompositeLit, depth int) {
	v.Kind = ValList
	for _, el := range e.Elts {
		kv, ok := el.(*ast.KeyValueExpr)
		if !ok {
			v.Items = append(v.Items, g.expr(el, depth+1))
			continue
		}
		v.Kind = ValObject
		key := g.expr(kv.Key, depth+1)
		v.Fields = append(v.Fields, field{key.Text, g.expr(kv.Value, depth+1)})
	}
}
