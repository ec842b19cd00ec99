package internal_test

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Docs, help, dashboard and messages are written as people speak. The phrases
// that are not, with what to write instead, are in testdata/phrases.tsv; a
// review that finds another one adds it there.
func TestTheWordsArePlain(t *testing.T) {
	banned := phrases(t)
	checked := 0
	look := func(where, text string) {
		checked++
		for _, b := range banned {
			if at := b.phrase.FindStringIndex(text); at != nil {
				line := 1 + strings.Count(text[:at[0]], "\n")
				t.Errorf("%s:%d: %q; plainer: %s", where, line, text[at[0]:at[1]], b.instead)
			}
		}
	}
	for _, root := range []string{"..", "../internal", "../cmd", "../web/src", "../docs"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (root == ".." && path != ".." || d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == "lab"):
				return filepath.SkipDir
			case d.IsDir() || d.Name() == "CHANGELOG.md": // what was released is told as it was said
				return nil
			}
			switch filepath.Ext(path) {
			case ".md":
				text, err := os.ReadFile(path)
				look(path, string(text))
				return err
			case ".ts", ".tsx":
				text, err := os.ReadFile(path)
				look(path, uncommented(string(text)))
				return err
			case ".go":
				if !strings.HasSuffix(path, "_test.go") && !strings.Contains(filepath.ToSlash(path), "/tools/") {
					look(path, literals(t, path))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if checked < 500 {
		t.Errorf("only %d files were read", checked)
	}
}

type banned struct {
	phrase  *regexp.Regexp
	instead string
}

func phrases(t *testing.T) (all []banned) {
	t.Helper()
	f, err := os.Open("testdata/phrases.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if phrase, instead, ok := strings.Cut(lines.Text(), "\t"); ok {
			all = append(all, banned{regexp.MustCompile(`(?i)` + phrase), instead})
		}
	}
	if len(all) < 20 {
		t.Fatalf("only %d phrases", len(all))
	}
	return all
}

// literals are the texts of a Go file, each in its line.
func literals(t *testing.T, path string) string {
	t.Helper()
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	line := 1
	ast.Inspect(f, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			for at := files.Position(l.Pos()).Line; line < at; line++ {
				b.WriteByte('\n')
			}
			b.WriteString(l.Value + " ")
			line += strings.Count(l.Value, "\n")
		}
		return true
	})
	return b.String()
}

var comment = regexp.MustCompile(`(?m)^\s*(//|/?\*).*$|\s// .*$`)

func uncommented(text string) string { return comment.ReplaceAllString(text, "") }
