package formats

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/verdict"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// readGraphQL reads a file of a schema or of operations.
func readGraphQL(source []byte, _ string) ([]contract.Contract, bool) {
	if _, err := parser.ParseSchema(&ast.Source{Input: string(source)}); err == nil {
		return schemaContracts(string(source), 0), true
	}
	_, err := parser.ParseQuery(&ast.Source{Input: string(source)})
	return operationContracts(string(source), 0), err == nil
}

// schemaContracts reads type definitions: each field is a contract.
func schemaContracts(s string, offset int) []contract.Contract {
	doc, err := parser.ParseSchema(&ast.Source{Input: s})
	if err != nil {
		return nil
	}
	var out []contract.Contract
	for _, def := range append(doc.Definitions, doc.Extensions...) {
		for _, f := range def.Fields {
			c, ok := contract.New("gql:"+def.Name+"."+f.Name, coord.Provides, offset+f.Position.Line)
			if !ok {
				continue
			}
			required := f.Type.NonNull && f.DefaultValue == nil
			if def.Kind == ast.InputObject {
				c.Shape.In = []contract.Prop{{Name: f.Name, Typ: nullable(f.Type), Required: required}}
				if required {
					c.Fresh = &verdict.Verdict{Compat: coord.Breaking, Detail: "inputs must now give " + f.Name}
				}
			} else {
				c.Shape.Out = []contract.Prop{{Name: f.Name, Typ: nullable(f.Type), Required: f.Type.NonNull}}
				for _, a := range f.Arguments {
					c.Shape.In = append(c.Shape.In, contract.Prop{Name: a.Name, Typ: nullable(a.Type), Required: a.Type.NonNull && a.DefaultValue == nil})
				}
			}
			out = append(out, c)
		}
		for _, v := range def.EnumValues {
			if c, ok := contract.New("gql:"+def.Name+"."+v.Name, coord.Provides, offset+v.Position.Line); ok {
				out = append(out, c)
			}
		}
	}
	return out
}

// nullable is a type without the mark that it is never null: that is told by
// required.
func nullable(t *ast.Type) string {
	u := *t
	u.NonNull = false
	return u.String()
}

var operationTypes = lazy.Table[map[ast.Operation]string]{Make: func() map[ast.Operation]string {
	return map[ast.Operation]string{ast.Query: "Query", ast.Mutation: "Mutation", ast.Subscription: "Subscription"}
}}

// operationContracts reads queries. Without the schema only the fields at the
// root and those under a named type are known.
func operationContracts(s string, offset int) []contract.Contract {
	doc, err := parser.ParseQuery(&ast.Source{Input: s})
	if err != nil {
		return nil
	}
	var out []contract.Contract
	var walk func(typ string, set ast.SelectionSet)
	walk = func(typ string, set ast.SelectionSet) {
		for _, sel := range set {
			switch sel := sel.(type) {
			case *ast.Field:
				if typ != "" && sel.Name != "__typename" {
					if c, ok := contract.New("gql:"+typ+"."+sel.Name, coord.Uses, offset+sel.Position.Line); ok {
						out = append(out, c)
					}
				}
				walk("", sel.SelectionSet)
			case *ast.InlineFragment:
				walk(sel.TypeCondition, sel.SelectionSet)
			}
		}
	}
	for _, op := range doc.Operations {
		walk(operationTypes.Get()[op.Operation], op.SelectionSet)
	}
	for _, f := range doc.Fragments {
		walk(f.TypeCondition, f.SelectionSet)
	}
	return out
}
