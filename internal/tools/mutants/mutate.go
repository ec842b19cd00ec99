package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/core/excerpt"
)

// A mutant is a file with one small mistake.
type mutant struct {
	file string // within the module
	line int
	in   string // the function
	what string // before -> after
	text []byte // the whole file, unformatted
}

// name tells mutants apart across edits elsewhere in the file.
func (m mutant) name() string { return m.file + " " + m.in + ": " + m.what }

// An edit replaces a stretch of a file.
type edit struct {
	at, end token.Pos
	text    string
}

// mutate returns every mutant of a file that is worth a try: conditions turned
// round, limits shifted by one, "and" for "or", answers reversed, and calls
// left out whose result nobody takes.
func mutate(file string, src []byte) ([]mutant, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var out []mutant
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			for _, e := range edits(src, fset, n) {
				if m, ok := e.apply(fset, src, file, nameOf(fn)); ok {
					out = append(out, m)
				}
			}
			return true
		})
	}
	return out, nil
}

func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if id, ok := t.(*ast.Ident); ok {
		return id.Name + "." + fn.Name.Name
	}
	return fn.Name.Name
}

var swapped = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

func edits(src []byte, fset *token.FileSet, n ast.Node) []edit {
	part := func(n ast.Node) string {
		return string(src[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset])
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		if to, ok := swapped[n.Op]; ok && !isText(n) {
			return []edit{{n.OpPos, n.OpPos + token.Pos(len(n.Op.String())), to.String()}}
		}
	case *ast.IfStmt:
		if b, ok := n.Cond.(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
			return nil // the comparison is turned round already
		}
		return []edit{{n.Cond.Pos(), n.Cond.End(), "!(" + part(n.Cond) + ")"}}
	case *ast.ReturnStmt:
		if len(n.Results) == 1 {
			switch part(n.Results[0]) {
			case "true":
				return []edit{{n.Results[0].Pos(), n.Results[0].End(), "false"}}
			case "false":
				return []edit{{n.Results[0].Pos(), n.Results[0].End(), "true"}}
			}
		}
	case *ast.ExprStmt:
		if _, ok := n.X.(*ast.CallExpr); ok && !strings.Contains(part(n), "Lock()") {
			return []edit{{n.Pos(), n.End(), ""}}
		}
	case *ast.BranchStmt:
		if n.Tok == token.CONTINUE && n.Label == nil {
			return []edit{{n.Pos(), n.End(), "break"}}
		}
	case *ast.BasicLit:
		if v, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil && v > 1 {
			return []edit{{n.Pos(), n.End(), strconv.Itoa(v + 1)}}
		}
	}
	return nil
}

// isText tells a concatenation by a string in it: those do not build with a
// minus.
func isText(b *ast.BinaryExpr) bool {
	if b.Op != token.ADD && b.Op != token.SUB {
		return false
	}
	found := false
	ast.Inspect(b, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			found = true
		}
		return !found
	})
	return found
}

func (e edit) apply(fset *token.FileSet, src []byte, file, in string) (mutant, bool) {
	from, to := fset.Position(e.at), fset.Position(e.end)
	text := joined(src[:from.Offset], []byte(e.text), src[to.Offset:])
	if bytes.Equal(text, src) {
		return mutant{}, false
	}
	line, after := lineAt(src, from.Offset), lineAt(text, from.Offset)
	what := fmt.Sprintf("%s -> %s", excerpt.Dots(line, 100), excerpt.Dots(after, 100))
	if e.text == "" {
		what = excerpt.Dots(line, 100) + " -> left out"
	}
	return mutant{file: file, line: from.Line, in: in, what: what, text: text}, true
}

func joined(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// lineAt is the line around an offset, trimmed.
func lineAt(src []byte, at int) string {
	from := bytes.LastIndexByte(src[:at], '\n') + 1
	to := bytes.IndexByte(src[at:], '\n')
	if to < 0 {
		to = len(src) - at
	}
	return strings.TrimSpace(string(src[from : at+to]))
}
