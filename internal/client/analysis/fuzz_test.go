package analysis

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// seeds adds the files of the fixtures.
func seeds(f *testing.F) {
	files, err := filepath.Glob("testdata/[a-np-z]*/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, part := range ar.Files {
			if _, name, ok := strings.Cut(part.Name, "/"); ok && part.Name != "want" {
				f.Add(name, part.Data)
			}
		}
	}
}

// An echo is a tree in which every file has the same text, so that whatever a
// file imports is there to be looked into.
type echo []byte

func (e echo) has(string) bool         { return true }
func (e echo) list(string) []string    { return []string{"a.go", "b.pb.go"} }
func (e echo) read(string) []byte      { return e }
func (e echo) named(b string) []string { return []string{"lib/" + b} }

// Whatever a file holds, reading it ends without a panic, and comparing it
// with itself tells of no change.
func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, file string, source []byte) {
		lang := languageOf(file)
		if len(source) > 1<<16 || lang.name == "" {
			return
		}
		a, b := &side{file: file, lang: lang, source: source}, &side{file: file, lang: lang, source: source}
		if err := readSides(a, b, time.Second); err != nil {
			return
		}
		r := &run{tree: echo(source)}
		for _, v := range []*version{a.version, b.version} {
			r.protoUses(v)
			r.packageUses(v)
		}
		facts := coord.FileFacts{Contracts: contractFacts(a.version, b.version, &Options{})}
		for _, ref := range r.references(&facts, a.version, b.version) {
			t.Errorf("%s is newly used against itself", ref.Key)
		}
		for _, ref := range r.references(&facts, nothing(lang.name), b.version) {
			if ref.Key == "" || ref.Call != nil && (ref.Call.Args < 0 || ref.Call.Args > len(source)) {
				t.Errorf("an odd reference: %+v", ref)
			}
		}
		for _, s := range symbolFacts("f", a.version.outline, b.version.outline, &Options{}) {
			t.Errorf("%s changed against itself: %+v", s.Key, s)
		}
		for _, c := range facts.Contracts {
			if c.Change != coord.Same {
				t.Errorf("%s changed against itself", c.Key)
			}
			if key, err := scope.ParseContract(c.Key); err != nil || key != c.Key {
				t.Errorf("key %q is not canonical: %q, %v", c.Key, key, err)
			}
		}
	})
}

func FuzzParams(f *testing.F) {
	for _, s := range []string{"(a: number, b = 2)", "(int a, const char *b)", "a, *rest, key:, opt: 2, &blk", "(x: &'a [i32], f: F)", "({ a, b }, ...c)", "(Map<String, List<Int>> m)"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, nameFirst bool) {
		tr := &traits{nameFirst: nameFirst}
		ps := parseParams(s, tr)
		if vs := compareParams(ps, ps, tr); len(vs) > 0 && worst(vs).compat == coord.Breaking {
			for _, p := range ps {
				if p.rest {
					return
				}
			}
			t.Errorf("%q breaks against itself: %v", s, vs)
		}
	})
}
