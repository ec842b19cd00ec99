package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// deciding are the packages in which a list that was cut may decide an edit.
var deciding = []string{"client/hook", "client/lines", "client/attend", "core/engine", "server/ruling", "server/edge", "server/live",
	"server/ops/moments", "server/ops/forge"}

// Every place that cuts a list where edits are decided is in testdata/cuts.tsv,
// with what becomes of the rest: what was cut off is unknown, and unknown is not
// nothing. New ones use package limit, which carries that along.
func TestEveryCutIsAccountedFor(t *testing.T) {
	found := map[string]bool{}
	for _, dir := range deciding {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
				cutsIn(t, path, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile("testdata/cuts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(f) != 3 || f[2] == "" {
			t.Errorf("cuts.tsv: %q does not say what becomes of the rest", line)
			continue
		}
		if key := f[0] + "\t" + f[1]; !found[key] {
			t.Errorf("cuts.tsv: %s is not there any more", key)
		} else {
			delete(found, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		t.Errorf("%s cuts a list; say in testdata/cuts.tsv what becomes of the rest, or use package limit", key)
	}
}

var limitName = regexp.MustCompile(`^(?:[a-z]+\.)?[mM]ax[A-Z]\w*$|^[0-9_]+$`)

// cutsIn notes where a file takes the first items of a list, or stops adding to
// one at a limit.
func cutsIn(t *testing.T, path string, found map[string]bool) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	isLen := func(e ast.Expr) bool {
		call, ok := e.(*ast.CallExpr)
		return ok && types.ExprString(call.Fun) == "len"
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		note := func(e ast.Expr) { found[filepath.ToSlash(path)+" "+fn.Name.Name+"\t"+types.ExprString(e)] = true }
		ast.Inspect(fn, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.SliceExpr:
				if call, ok := x.High.(*ast.CallExpr); ok && types.ExprString(call.Fun) == "min" && slices.ContainsFunc(call.Args, isLen) {
					note(x)
				}
			case *ast.BinaryExpr:
				switch x.Op {
				case token.LSS, token.GEQ, token.GTR, token.EQL, token.LEQ:
					if limit := types.ExprString(x.Y); isLen(x.X) && limitName.MatchString(limit) && len(limit) > 2 {
						note(x)
					}
				}
			}
			return true
		})
	}
}
