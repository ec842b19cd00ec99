package scope_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/core/scope"
)

func glob(t testing.TB, s string) scope.Glob {
	t.Helper()
	g, err := scope.ParseGlob(s)
	if err != nil {
		t.Fatalf("ParseGlob(%q): %v", s, err)
	}
	return g
}

func TestGlobCanonicalForm(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"src/a.go", "src/a.go"},
		{"./src//a.go", "src/a.go"},
		{`src\auth\*.go`, "src/auth/*.go"},
		{"src/", "src/**"},
		{"src/**/**/x", "src/**/x"},
		{"a***b/***", "a*b/**"},
		{"{a,b}/./c", "{a,b}/c"},
		{" src/** ", "src/**"},
		{"app/[id]/page.tsx", "app/[id]/page.tsx"},
	} {
		if got := glob(t, tt.in).String(); got != tt.want {
			t.Errorf("ParseGlob(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestGlobErrorsSayWhatIsWrong(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", "is empty"},
		{"   ", "is empty"},
		{"/etc/passwd", "absolute"},
		{`C:\x`, "absolute"},
		{"../x", "may lead out of the repository"},
		{"a/../b", "may lead out of the repository"},
		{"a/{..,b}/c", "contains .."},
		{"{/a,b}", "is absolute"},
		{".", "names no file"},
		{"a/[bc", "[ that is not closed"},
		{"a/{b,c", "{ that is not closed"},
		{"a}b", "} without {"},
		{"a\x00b", "control character"},
		{strings.Repeat("a/", 600), "longer than"},
		{strings.Repeat("{a,b}", 8), "too many alternatives (at most 64)"},
		{"{a,b}{a,b}{a,b}{a,b}" + strings.Repeat("*x", 300), "too many alternatives"},
		{strings.Repeat("a/", 61), "more than 60 folders deep"},
		{"a\xffb", "not valid UTF-8"},
	} {
		if _, err := scope.ParseGlob(tt.in); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ParseGlob(%.40q) = %v, want an error with %q", tt.in, err, tt.want)
		}
	}
}

func TestGlobMatch(t *testing.T) {
	for _, tt := range []struct {
		glob, path string
		want       bool
	}{
		{"src/**", "src/a/b.go", true},
		{"src/**", "srcfoo/x", false},
		{"src/**", "src", true},
		{"**/x.go", "x.go", true},
		{"a/**/z", "a/z", true},
		{"*.go", "a/b.go", false},
		{"a?c", "abc", true},
		{"a?c", "a/c", false},
		{"src/{auth,billing,catalog,checkout,orders,search,users}/**/*.{go,ts,tsx,py,sql}", "src/orders/x/y.tsx", true},
		{"[!a]b", "cb", true},
		{"[!a]b", "ab", false},
		{"app/[id]/page.tsx", "app/[id]/page.tsx", true},
		{"app/[id]/page.tsx", "app/i/page.tsx", true},
		{"app/[post-id]/*", "app/[post-id]/x", true},
		{"{{cookiecutter.name}}/setup.py", "{{cookiecutter.name}}/setup.py", true},
		{"{src/a,lib}/*.go", "src/a/x.go", true},
		{"{src/a,lib}/*.go", "lib/x.go", true},
		{"ü?.go", "üö.go", true},
		{"*a*b*c", "xaybzc", true},
		{"*", "..", false},
	} {
		if got := glob(t, tt.glob).Match(tt.path); got != tt.want {
			t.Errorf("%s matches %s: %v, want %v", tt.glob, tt.path, got, tt.want)
		}
	}
}

// Nobody may stall the service with a selector: this would take longer than
// the universe if each ** were tried with each of the others.
func TestManyDoubleStarsAreCheap(t *testing.T) {
	stars := strings.Repeat("**/a/", 29) + "b"
	deep := strings.Repeat("a/", 500) + "c"
	if glob(t, stars).Match(deep) {
		t.Error("matched")
	}
	if !glob(t, stars).Overlaps(glob(t, strings.Repeat("**/?/", 29)+"b")) {
		t.Error("no overlap")
	}
	if glob(t, strings.Repeat("a*", 200)+"b").Match(strings.Repeat("a", 900) + "c") {
		t.Error("matched")
	}
}

func TestGlobOverlap(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"src/**", "srcfoo/x", false},
		{"src/*.go", "src/a*", true},
		{"a*b", "b*a", false},
		{"a/**/b", "a/c/**", true},
		{"**/a/**/b", "**/b/**/a/c", false},
		{"**/a", "b/**", true},
		{"[a-m]x", "[n-z]x", false},
		{"[a-m]x", "[m-z]x", true},
		{"[!a-y]", "[!z]", true},
		{"[!b]", "b", false},
		{"[z-a]x", "[z-a]*", true}, // the literal text
		{".?", "?.", false},        // only .. would match both
		{"[.]", "?", false},
		{"**", "**", true},
		{"*", "*/*", false},
		{"**/*", "a", true},
	} {
		a, b := glob(t, tt.a), glob(t, tt.b)
		if a.Overlaps(b) != tt.want || b.Overlaps(a) != tt.want {
			t.Errorf("%s and %s overlap: %v and %v, want %v", tt.a, tt.b, a.Overlaps(b), b.Overlaps(a), tt.want)
		}
	}
}

// smallGlobs draws globs over the letters a and b, whose meaning can be
// enumerated.
func smallGlobs() *rapid.Generator[string] {
	elem := rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", "?", "[ab]", "[b-c]", "{a,b}", "{a,bb,*b}"}), 1, 3).Draw(t, "parts")
		return strings.Join(parts, "")
	})
	return rapid.Custom(func(t *rapid.T) string {
		elems := rapid.SliceOfN(rapid.OneOf(elem, elem, rapid.Just("**"), rapid.Just("{a,b/a}")), 1, 4).Draw(t, "elems")
		return strings.Join(elems, "/")
	}).Filter(func(s string) bool { return strings.Count(s, "{") <= 3 })
}

// smallPaths lists every path of at most four elements of at most three
// letters out of a, b and c (c so that negated sets have something to match).
var smallPaths = func() []string {
	var names []string
	for _, n := range []int{1, 2, 3} {
		names = append(names, words("abc", n)...)
	}
	paths := slices.Clone(names)
	last := names
	for range 3 {
		var next []string
		for i, p := range last {
			for j, n := range names {
				// All pairs of short names and a sample of the rest.
				if len(p)+len(n) <= 6 || (i+j)%97 == 0 {
					next = append(next, p+"/"+n)
				}
			}
		}
		if len(next) > 60000 {
			next = next[:60000]
		}
		paths, last = append(paths, next...), next
	}
	return paths
}()

func words(letters string, n int) []string {
	if n == 0 {
		return []string{""}
	}
	var out []string
	for _, w := range words(letters, n-1) {
		for _, l := range letters {
			out = append(out, w+string(l))
		}
	}
	return out
}

func TestGlobMatchAgreesWithAnotherImplementation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := smallGlobs().Draw(t, "glob")
		g, err := scope.ParseGlob(text)
		if err != nil {
			t.Fatal(err)
		}
		for i := rapid.IntRange(0, 300).Draw(t, "from"); i < len(smallPaths); i += 301 {
			want, err := doublestar.Match(g.String(), smallPaths[i])
			if err != nil {
				t.Fatal(err)
			}
			// It lets a/** match a, but not a*/**: for us both mean all below
			// and the folder itself.
			if folder, ok := strings.CutSuffix(g.String(), "/**"); ok && !want {
				want, _ = doublestar.Match(folder, smallPaths[i])
			}
			if got := g.Match(smallPaths[i]); got != want {
				t.Fatalf("%s matches %s: %v, want %v", g, smallPaths[i], got, want)
			}
		}
	})
}

// Overlap is exact: there is a path that both match if and only if it says so.
func TestGlobOverlapAgreesWithEnumeration(t *testing.T) {
	elem := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", "?", "[ab]", "[!a]", "{a,b}"}), 1, 2).Draw(t, "parts"), "")
	})
	gen := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.OneOf(elem, rapid.Just("**"), rapid.Just("{a,b/a}")), 1, 3).Draw(t, "elems"), "/")
	})
	// Two globs of up to two characters an element and five elements have a
	// common path of at most three characters an element and six elements.
	rapid.Check(t, func(t *rapid.T) {
		a, errA := scope.ParseGlob(gen.Draw(t, "a"))
		b, errB := scope.ParseGlob(gen.Draw(t, "b"))
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		got := a.Overlaps(b)
		if back := b.Overlaps(a); back != got {
			t.Fatalf("%s and %s: %v, the other way round %v", a, b, got, back)
		}
		if want := enumerated(a, b); got != want {
			t.Fatalf("%s and %s overlap: %v, want %v", a, b, got, want)
		}
	})
}

// enumerated looks for a path that both match, element by element, through
// MatchPattern alone. Of the prefixes that the heads of all patterns treat
// alike it goes on with one.
func enumerated(a, b scope.Glob) bool {
	names := slices.Concat(words("abc", 1), words("abc", 2), words("abc", 3), words("abc", 4))
	prefixes := []string{""}
	for range 6 {
		seen := map[string]string{}
		for _, prefix := range prefixes {
			for _, n := range names {
				if a.Match(prefix+n) && b.Match(prefix+n) {
					return true
				}
				seen[behaviour(prefix+n, a, b)] = prefix + n + "/"
			}
		}
		prefixes = prefixes[:0]
		for _, p := range seen {
			prefixes = append(prefixes, p)
		}
	}
	return false
}

func behaviour(prefix string, globs ...scope.Glob) string {
	var b strings.Builder
	for _, g := range globs {
		for _, p := range g.Patterns() {
			elems := strings.Split(p, "/")
			for n := range elems {
				if scope.MatchPattern(strings.Join(elems[:n+1], "/"), prefix) {
					b.WriteByte('1')
				} else {
					b.WriteByte('0')
				}
			}
		}
	}
	return b.String()
}

func FuzzParseGlob(f *testing.F) {
	for _, s := range []string{"src/**", "{a,b}/[!c]?", "app/[...slug]/x", "a\\b", "{{x}}", "[]]", "***"} {
		f.Add(s, "src/a.go")
	}
	f.Fuzz(func(t *testing.T, s, path string) {
		g, err := scope.ParseGlob(s)
		if err != nil {
			return
		}
		again, err := scope.ParseGlob(g.String())
		if err != nil || again.String() != g.String() {
			t.Fatalf("ParseGlob(%q) = %q, and again %q, %v", s, g, again, err)
		}
		if !g.Overlaps(g) && g.Match(path) {
			t.Fatalf("%q matches %q but does not overlap itself", s, path)
		}
		clean, err := scope.CleanPath(path)
		if err != nil || strings.ContainsAny(clean, `*?[{}\`) || strings.TrimSpace(clean) != clean {
			return
		}
		if g.Match(clean) != g.Overlaps(glob(t, clean)) {
			t.Fatalf("%q and the path %q: match %v, overlap %v", s, clean, g.Match(clean), g.Overlaps(glob(t, clean)))
		}
	})
}
