package attend

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// opened are the places where a hook opens a file by itself, and why they need
// no bound. All others go through package plain.
var opened = map[string]string{
	"client/plain":                     "is what bounds the others",
	"client/presence/process_linux.go": "reads /proc, which the system writes",
	"client/companion/companion.go":    "unpacks programs, which no hook waits for",
}

// opens are the functions that wait for whatever is at the other end, or read
// without a bound.
var opens = []string{"Open", "OpenFile", "ReadFile", "ReadDir", "DirFS", "Create"}

// Everything that svc hook opens is bounded: nothing that it links opens files
// but by package plain.
func TestHooksOpenPlainFilesOnly(t *testing.T) {
	seen := map[string]bool{}
	var visit func(pkg string)
	visit = func(pkg string) {
		if seen[pkg] {
			return
		}
		seen[pkg] = true
		files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(pkg), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no files: %v", pkg, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range f.Imports {
				if rest, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "github.com/svc-hq/svc/internal/"); ours {
					visit(rest)
				}
			}
			_, byPackage := opened[pkg]
			if _, byFile := opened[pkg+"/"+filepath.Base(file)]; !byPackage && !byFile {
				noOpening(t, pkg+"/"+filepath.Base(file), f)
			}
		}
	}
	visit("client/attend")
	if len(seen) < 20 {
		t.Errorf("a hook links %d packages of ours only: %v", len(seen), slices.Sorted(maps.Keys(seen)))
	}
	for name := range opened {
		if _, err := os.Stat(filepath.Join("..", "..", name)); err != nil {
			t.Errorf("%s is not there any more", name)
		}
	}
}

func noOpening(t *testing.T, name string, f *ast.File) {
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if pkg, ok := s.X.(*ast.Ident); ok && (pkg.Name == "os" || pkg.Name == "syscall") && slices.Contains(opens, s.Sel.Name) {
				t.Errorf("%s calls %s.%s; a hook opens files by package plain, which waits for nobody", name, pkg.Name, s.Sel.Name)
			}
		}
		return true
	})
}
