package analysis

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/svc-hq/svc/internal/client/grammar"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/gittest"
)

var update = flag.Bool("update", false, "rewrite what the fixtures expect")

// A testRepo is a real repository in a temporary folder.
type testRepo struct {
	t    testing.TB
	root string
}

func newRepo(t testing.TB) *testRepo {
	t.Helper()
	return &testRepo{t, gittest.Init(t)}
}

func (r *testRepo) git(args ...string) string {
	r.t.Helper()
	return gittest.Run(r.t, r.root, args...)
}

func (r *testRepo) write(name, content string) {
	r.t.Helper()
	gittest.Write(r.t, r.root, name, content)
}

func (r *testRepo) commit() string {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "x")
	return r.git("rev-parse", "HEAD")
}

func TestMain(m *testing.M) {
	os.Setenv(patience.Variable, "100") // what is found is asked for, not how soon
	os.Exit(m.Run())
}

// Each fixture holds the files of a base and of a side, and the facts that
// follow. A side without files of its own keeps those of the base.
func TestFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/[a-np-z]*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	// In one repository: git's programs for three hundred took most of the time.
	archives, sets := make([]*txtar.Archive, len(files)), []map[string]string(nil)
	for i, file := range files {
		if archives[i], err = txtar.ParseFile(file); err != nil {
			t.Fatal(err)
		}
		base, side := map[string]string{}, map[string]string{}
		for _, f := range archives[i].Files {
			switch dir, name, _ := strings.Cut(f.Name, "/"); dir {
			case "base":
				base[name] = string(f.Data)
			case "side", "both":
				side[name] = string(f.Data)
			}
		}
		sets = append(sets, base, side)
	}
	root := gittest.Init(t)
	ids := gittest.Commits(t, root, sets...)
	for i, file := range files {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "testdata/"), ".txtar"), func(t *testing.T) {
			t.Parallel()
			testFixture(t, root, ids[2*i], ids[2*i+1], file, archives[i])
		})
	}
}

func testFixture(t *testing.T, root, base, side, file string, ar *txtar.Archive) {
	a, err := Between(t.Context(), root, base, side, Options{Budget: 60e9})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Files {
		if l := rules.LanguageOf(f.Path); l.Grammar != "" && !grammar.Supported(l.Grammar) {
			return // a build without C has line facts alone, which other tests hold
		}
	}
	checkFacts(t, a)
	got := render(a)
	if *update {
		setFile(ar, "want", []byte(got))
		if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	var want []byte
	for _, f := range ar.Files {
		if f.Name == "want" {
			want = f.Data
		}
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
}

func setFile(ar *txtar.Archive, name string, data []byte) {
	for i := range ar.Files {
		if ar.Files[i].Name == name {
			ar.Files[i].Data = data
			return
		}
	}
	ar.Files = append(ar.Files, txtar.File{Name: name, Data: data})
}

// checkFacts holds what is true of all facts.
func checkFacts(t *testing.T, a *coord.Analysis) {
	t.Helper()
	if a.Truncated {
		t.Error("truncated")
	}
	for _, f := range a.Files {
		for _, s := range f.Symbols {
			if s.Change == coord.Same {
				t.Errorf("%s: unchanged symbol %s", f.Path, s.Key)
			}
			if s.Exported && s.Change == coord.Removed && s.Compatibility == coord.Compatible {
				t.Errorf("%s was removed and is %s", s.Key, s.Compatibility)
			}
		}
		for _, c := range f.Contracts {
			if c.Line < 1 {
				t.Errorf("%s has no line", c.Key)
			}
		}
	}
}

// render writes facts for people.
func render(a *coord.Analysis) string {
	var b bytes.Buffer
	for _, f := range a.Files {
		parsed := ""
		if !f.Parsed {
			parsed = " unparsed"
		}
		if f.Generated {
			parsed += " generated"
		}
		fmt.Fprintf(&b, "%s %s %s%s\n", f.Status, f.Path, f.Language, parsed)
		for _, s := range f.Symbols {
			vis := "local"
			if s.Exported {
				vis = "exported"
			}
			key, name, _ := strings.Cut(s.Key, "#")
			if !strings.HasSuffix(key, ":"+f.Path) {
				name = key + "#" + name
			}
			fmt.Fprintf(&b, "  %s %s %s %s (%s)%s\n", name, vis, s.Kind, s.Change, s.Compatibility, said(s.Detail))
			sides(&b, s.PreviousSignature, s.Signature, s.Change)
			for _, params := range s.Takes {
				fmt.Fprintf(&b, "    takes (%s)\n", paramWords(params))
			}
		}
		for _, c := range f.Contracts {
			fmt.Fprintf(&b, "  %s %s line %d %s (%s)%s\n", c.Role, c.Key, c.Line, c.Change, c.Compatibility, said(c.Detail))
			if len(c.Fields) > 0 {
				fmt.Fprintf(&b, "    of it:%s\n", fieldWords(c.Fields))
			}
			_, name, _ := strings.Cut(c.Key, ":")
			if c.Signature != nil && *c.Signature == name && (c.PreviousSignature == nil || *c.PreviousSignature == name) {
				continue
			}
			sides(&b, c.PreviousSignature, c.Signature, c.Change)
		}
		for _, r := range f.References {
			how := ""
			if r.Call != nil {
				how = ", " + r.Call.String()
			}
			if kind, _, _ := strings.Cut(r.Key, ":"); len(r.In) == 0 && (kind == "sym" || kind == "pkg") {
				how += ", no more than before"
			} else if in := strings.TrimSpace(strings.Join(r.In, " ")); in != "" {
				how += " in " + in
			}
			if r.Via != "" {
				how += " by " + r.Via
			}
			if r.Whole {
				how += " with " + strings.Join(append(slices.Clone(r.Has), "no more"), ", ")
			}
			if len(r.Lacks) > 0 {
				how += " without " + strings.Join(r.Lacks, ", ")
			}
			fmt.Fprintf(&b, "  refers %s line %d%s\n", r.Key, r.Line, how)
		}
	}
	return b.String()
}

func fieldWords(fields []coord.ContractField) string {
	var b strings.Builder
	for _, f := range fields {
		fmt.Fprintf(&b, " %s", f.Name)
		if f.Line > 0 {
			fmt.Fprintf(&b, "@%d", f.Line)
		}
	}
	return b.String()
}

func paramWords(params []coord.Param) string {
	var out []string
	for _, p := range params {
		w := p.Name
		if w == "" {
			w = "_"
		}
		for _, x := range []struct {
			is   bool
			word string
		}{{p.Keyword, ":"}, {p.Optional, "?"}, {p.Rest, "..."}, {p.Moved, " moved"}, {p.Changed, " changed"}} {
			if x.is {
				w += x.word
			}
		}
		out = append(out, w)
	}
	return strings.Join(out, ", ")
}

func said(s *string) string {
	if s == nil {
		return ""
	}
	return ": " + *s
}

func sides(b *bytes.Buffer, old, new *string, c coord.Change) {
	if old != nil && c != coord.Modified && c != coord.Same {
		fmt.Fprintf(b, "    - %s\n", *old)
	}
	if new != nil {
		fmt.Fprintf(b, "    + %s\n", *new)
	}
}
