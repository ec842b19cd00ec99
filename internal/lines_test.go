package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// widest is the longest line of Go that two files beside each other show.
const widest = 140

// wide lists the folders that still have longer lines. Take a folder out once
// it is clean; nothing is ever put in.
var wide = []string{
	"internal/server",
	"internal/client/analysis",
}

// structTag ends a line that Go has no way to break.
var structTag = regexp.MustCompile("^\\s*[A-Za-z]\\w*\\s.*`[a-z]+:\".*\"`(?:\\s*//.*)?$")

func TestLinesAreNarrow(t *testing.T) {
	stillWide := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case filepath.Ext(path) == ".go":
			checkWidth(t, path, stillWide)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range wide {
		if !stillWide[folder] {
			t.Errorf("%s has no line over %d columns any more: take it off the list in internal/lines_test.go", folder, widest)
		}
	}
}

func checkWidth(t *testing.T, path string, stillWide map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	path = strings.TrimPrefix(filepath.ToSlash(path), "../")
	at := slices.IndexFunc(wide, func(folder string) bool { return strings.HasPrefix(path, folder+"/") })
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		switch columns := utf8.RuneCountInString(line); {
		case columns <= widest || structTag.MatchString(line):
		case at >= 0:
			stillWide[wide[at]] = true
		default:
			t.Errorf("%s:%d has %d columns; %d are enough (one field a line)", path, n, columns, widest)
		}
	}
}
