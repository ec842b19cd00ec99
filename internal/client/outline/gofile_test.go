package outline

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/client/rules"
)

// Two versions that are parsed together read as each does on its own.
func TestGoPairAgreesWithEachAlone(t *testing.T) {
	var files []string
	fixtures, err := filepath.Glob("../analysis/testdata/go/*.txtar")
	if err != nil || len(fixtures) == 0 {
		t.Fatal(fixtures, err)
	}
	for _, f := range fixtures {
		ar, err := txtar.ParseFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range ar.Files {
			if strings.HasSuffix(x.Name, ".go") {
				files = append(files, string(x.Data))
			}
		}
	}
	for _, f := range []string{"golang.go", "define.go"} {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, string(data))
	}
	m, err := rules.Load("go")
	if err != nil {
		t.Fatal(err)
	}
	shared := 0
	check := func(t interface{ Fatalf(string, ...any) }, old, new string) {
		a, b := ParseGoPair([]byte(old), []byte(new), "a.go")
		if len(a.decls) > 0 && len(b.decls) > 0 && a.decls[0].from == b.decls[0].from {
			shared++
		}
		for text, got := range map[string]*GoFile{old: a, new: b} {
			want := seen(OfGo(ParseGo([]byte(text), "a.go"), []byte(text), "a.go", m))
			if diff := cmp.Diff(want, seen(OfGo(got, []byte(text), "a.go", m))); diff != "" {
				t.Fatalf("alone (-) and as one of two (+) differ:\n%s\nold:\n%s\nnew:\n%s", diff, old, new)
			}
		}
	}
	for _, f := range files { // an edit inside a declaration, and one between two
		if at := strings.LastIndex(f, "\n}\n"); at > 0 {
			check(t, f, f[:at]+"\n\t// more"+f[at:])
			check(t, f, f[:at+3]+"\nfunc addedByTheTest(a, b int) { println(a) }\n"+f[at+3:])
		}
	}
	if shared == 0 {
		t.Error("nothing was ever shared")
	}
	rapid.Check(t, func(t *rapid.T) {
		old := strings.SplitAfter(rapid.SampledFrom(files).Draw(t, "file"), "\n")
		from := rapid.IntRange(0, len(old)).Draw(t, "from")
		to := min(len(old), from+rapid.IntRange(0, 4).Draw(t, "lines"))
		fresh := rapid.SliceOfN(rapid.SampledFrom(append([]string{
			"\n", "}\n", "/*\n", "`\n", "func x() {\n", "var y = z(1)\n", "import \"os\"\n", "}; func q() {}\n", "//line b.go:3\n",
		}, old...)), 0, 4).Draw(t, "fresh")
		check(t, strings.Join(old, ""), strings.Join(old[:from], "")+strings.Join(fresh, "")+strings.Join(old[to:], ""))
	})
}

// seen is an outline with all that anybody asks it.
func seen(o *File) []string {
	out := []string{fmt.Sprint(o.Broken, o.Imports, o.Texts, o.Reads)}
	for _, n := range slices.Sorted(maps.Keys(o.consts)) {
		out = append(out, fmt.Sprint("const ", n, " ", o.consts[n].Text, o.consts[n].Span))
	}
	for i := range o.Defs {
		d := *o.Defs[i].Full()
		d.fill = nil
		out = append(out, fmt.Sprintf("%+v", d))
	}
	for _, n := range slices.Concat(o.Names, o.Ambient) {
		out = append(out, fmt.Sprint(n.Local, ".", n.Member, " ", n.Line, " ", CallKey(n.Call)))
	}
	for _, a := range o.Assigns {
		out = append(out, fmt.Sprint(a.Name, " = ", a.Value.Text, a.Value.Span, a.Def, a.Line))
	}
	for _, c := range o.Calls {
		out = append(out, fmt.Sprint(c.Name, c.Span, len(c.Args), c.Def))
		for _, v := range c.Args {
			out = append(out, fmt.Sprint("\t", v.Text, v.Kind, v.Span))
		}
	}
	return out
}
