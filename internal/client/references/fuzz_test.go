package references

import (
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/kept"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/client/symbols"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// seeds adds the files of the fixtures.
func seeds(f *testing.F) {
	files, err := filepath.Glob("../analysis/testdata/[a-np-z]*/*.txtar")
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

func (e echo) Has(string) bool          { return true }
func (e echo) List(string) []string     { return []string{"a.go", "b.pb.go"} }
func (e echo) Read(string) []byte       { return e }
func (e echo) Ending(s string) []string { return []string{"lib/a" + s} }
func (e echo) Named(b string) []string  { return []string{"lib/" + b} }

func (e echo) Listed(_ string, find func() []string) []string { return find() }

func (e echo) Lately(_ string, find func() bool) bool { return find() }

func (e echo) Anew() {}

func (e echo) Sketch(string, func([]byte) byte) *kept.Sketch { return nil }

// Whatever a file holds, reading it ends without a panic, and comparing it
// with itself tells of no change.
func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, file string, source []byte) {
		lang := rules.LanguageOf(file)
		if len(source) > 1<<16 || lang.Name == "" || path.IsAbs(file) { // no repository has such a file
			return
		}
		a, b := &extract.Side{File: file, Lang: lang, Source: source}, &extract.Side{File: file, Lang: lang, Source: source}
		if err := extract.ReadSides(a, b, time.Second); err != nil {
			return
		}
		r := Open(echo(source), false)
		for _, v := range []*extract.Version{a.Version, b.Version} {
			r.protoUses(v)
			r.packageUses(v)
		}
		facts := coord.FileFacts{Contracts: contract.Facts(a.Version.Contracts, b.Version.Contracts, false, false)}
		for _, ref := range r.References(&facts, a.Version, b.Version) {
			t.Errorf("%s is newly used against itself", ref.Key)
		}
		for _, ref := range r.References(&facts, extract.Nothing(lang.Name), b.Version) {
			if ref.Key == "" || ref.Call != nil && (ref.Call.Args < 0 || ref.Call.Args > len(source)) {
				t.Errorf("an odd reference: %+v", ref)
			}
		}
		own := map[string]bool{}
		for i := range b.Version.Outline.Defs {
			own[b.Version.Outline.Defs[i].Name] = true
		}
		for _, n := range b.Version.Outline.Own(own) {
			if !own[n.Local] || int(n.Line) > len(source) {
				t.Errorf("an odd use of its own: %+v", n)
			}
		}
		for _, s := range symbols.Facts("f", a.Version.Outline, b.Version.Outline, false) {
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
