package internal_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/doctable"
)

// widest is the longest line of Go that two files beside each other show.
const widest = 140

// structTag ends a line that Go has no way to break.
var structTag = regexp.MustCompile("^\\s*[A-Za-z]\\w*\\s.*`[a-z]+:\".*\"`(?:\\s*//.*)?$")

func TestLinesAreNarrow(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || len(d.Name()) > 2 && d.Name()[0] == '.'):
			return filepath.SkipDir
		case filepath.Ext(path) == ".go" && !generated(path):
			checkWidth(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// generated reports whether a program wrote a file, which nobody reads from top
// to bottom.
func generated(path string) bool { return strings.HasSuffix(path, ".gen.go") }

func checkWidth(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	path = strings.TrimPrefix(filepath.ToSlash(path), "../")
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if columns := utf8.RuneCountInString(line); columns > widest && !structTag.MatchString(line) {
			t.Errorf("%s:%d has %d columns; %d are enough (one field a line)", path, n, columns, widest)
		}
	}
}

// A bound is a word of a sentence that says what a package leaves to others.
var bound = regexp.MustCompile(`(?i)\b(not|no|never|nothing|none|neither|only|cannot|leaves|without|strangers)\b`)

// A package comment says what the package is for, and in another sentence
// what it may not do or leaves to others: the first draws things in, the
// second keeps things out.
func TestPackageCommentsSayWhatAPackageMayNotDo(t *testing.T) {
	for _, p := range packages(t) {
		if _, ok := placeOf(p.path()); !ok {
			continue
		}
		texts := packageComments(t, p)
		if len(texts) != 1 {
			t.Errorf("%s has %d package comments; one is enough", p.path(), len(texts))
			continue
		}
		what, rest, _ := strings.Cut(strings.ReplaceAll(texts[0], "\n", " "), ". ")
		switch {
		case !strings.HasPrefix(what, "Package "+p.Name+" "):
			t.Errorf("%s: the package comment begins with %q", p.path(), excerpt.Chars(what, 40))
		case !bound.MatchString(rest):
			t.Errorf("%s: the package comment does not say what it may not do, or leaves to others", p.path())
		}
	}
}

func packageComments(t *testing.T, p pkg) (texts []string) {
	t.Helper()
	for _, f := range slices.Concat(p.GoFiles, p.CgoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, f), nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if file.Doc != nil {
			texts = append(texts, file.Doc.Text())
		}
	}
	return texts
}

// The drawing names every package that stands on a floor.
func TestTheDrawingNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile("../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, drawing, _ := strings.Cut(string(text), "```\n")
	drawing, _, _ = strings.Cut(drawing, "```\n")
	named := map[string]bool{}
	for _, word := range strings.FieldsFunc(drawing, func(r rune) bool { return r != '/' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		named[word] = true
	}
	for wing, floors := range map[string][][]string{"core": core, "server": server, "client": client} {
		for _, name := range slices.Concat(floors...) {
			if !named[name] {
				t.Errorf("ARCHITECTURE.md leaves out %s/%s", wing, name)
			}
		}
	}
}

// A room holds this much before it is a hall.
const (
	mostFiles = 40
	mostLines = 6000
)

// A package that grows out of what one can have in mind is cut, or
// ARCHITECTURE.md says why it is not.
func TestRoomsAreSmall(t *testing.T) {
	reasons := halls(t)
	for _, p := range packages(t) {
		if _, ok := placeOf(p.path()); !ok {
			continue
		}
		files, total := slices.Concat(p.GoFiles, p.CgoFiles), 0
		for _, f := range files {
			total += lines(t, filepath.Join(p.Dir, f))
		}
		name := strings.TrimPrefix(p.path(), "internal/")
		large := len(files) > mostFiles || total > mostLines
		if _, excused := reasons[name]; large && !excused {
			t.Errorf("%s has %d files and %d lines; cut it, or say in the table of ARCHITECTURE.md why not", name, len(files), total)
		} else if excused && !large {
			t.Errorf("%s has %d files and %d lines: take it out of the table of ARCHITECTURE.md", name, len(files), total)
		}
		delete(reasons, name)
	}
	for name := range reasons {
		t.Errorf("the table of ARCHITECTURE.md names %s, which is no package", name)
	}
}

// halls reads the table of large packages: name and reason.
func halls(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	for row := range strings.Lines(doctable.Read(t, "../ARCHITECTURE.md", "halls").Rows) {
		cells := strings.Split(strings.Trim(row, "| \n"), " | ")
		name, code := strings.CutPrefix(cells[0], "`")
		switch {
		case !code: // the head of the table
		case len(cells) != 2 || len(cells[1]) < 20:
			t.Errorf("the table of large packages has the row %q", row)
		default:
			out[strings.TrimSuffix(name, "`")] = cells[1]
		}
	}
	return out
}
