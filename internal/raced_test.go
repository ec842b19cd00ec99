package internal_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The race detector watches only the packages that the Makefile lists: each in
// which work goes on side by side has to be there, as far as it has tests.
func TestTheRaceDetectorWatchesConcurrency(t *testing.T) {
	raced := listOf(t, `(?ms)^RACED\s*:= \$\(addprefix ./internal/,(.*?)\)$`)
	for _, folder := range raced {
		if _, err := os.Stat(strings.TrimSuffix(folder, "/...")); err != nil {
			t.Errorf("RACED in the Makefile: %v", err)
		}
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if d.Name() == "testdata" || path == "tools" { // tools are for the workshop
			return fs.SkipDir
		}
		for _, folder := range raced {
			if within := strings.TrimSuffix(folder, "/..."); path == within || strings.HasPrefix(path, within+"/") {
				return nil
			}
		}
		checkCalm(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What the race detector need not watch is left to a run without it: walks on
// PostgreSQL, and files for !race alone. Nobody would notice if a package that
// has such were not run without it.
func TestWhatIsNotWatchedRunsWithoutTheRaceDetector(t *testing.T) {
	listed, found := map[string]bool{}, map[string]bool{}
	for _, folder := range listOf(t, `(?m)^TWICE\s*:= (.*)$`) {
		listed[strings.TrimPrefix(folder, "./internal/")] = true
	}
	test := regexp.MustCompile(`(?m)^func Test`)
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		unwatched := bytes.HasPrefix(source, []byte("//go:build !race\n")) && test.Match(source)
		if unwatched || bytes.Contains(source, []byte("storetest."+"EachWalk(")) {
			found[filepath.ToSlash(filepath.Dir(path))] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(listed, found) {
		t.Errorf("TWICE in the Makefile lists %v, what is not watched is in %v", listed, found)
	}
}

// listOf returns the folders of a list in the Makefile.
func listOf(t *testing.T, pattern string) []string {
	t.Helper()
	text, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(pattern).FindSubmatch(text)
	if list == nil {
		t.Fatalf("the Makefile has no list %s", pattern)
	}
	return strings.Fields(strings.ReplaceAll(string(list[1]), "\\", ""))
}

// checkCalm checks that nothing in a package with tests starts a goroutine or
// takes a lock.
func checkCalm(t *testing.T, dir string) {
	t.Helper()
	tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	if len(tests) == 0 {
		return
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if sideBySide(n) {
				t.Errorf("%s: work goes on side by side in internal/%s, which RACED in the Makefile does not list", set.Position(n.Pos()), dir)
				return false
			}
			return true
		})
	}
}

// sideBySide reports whether a node starts a goroutine or names a lock. What is
// made once, and counters, are safe by themselves.
func sideBySide(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.SelectorExpr:
		pkg, ok := n.X.(*ast.Ident)
		return ok && pkg.Name == "sync" && !strings.HasPrefix(n.Sel.Name, "Once")
	}
	return false
}
