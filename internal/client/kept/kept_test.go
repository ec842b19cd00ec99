package kept

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
)

// A sketch excludes no word that stands in the text, whatever the text is.
func TestASketchExcludesNothingThatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-zA-Z_$][\w$é]{0,12}`), 1, 80).Draw(t, "words")
		s := sketch([]byte(strings.Join(words, rapid.SampledFrom([]string{" ", ".", "\n", "("}).Draw(t, "between"))), 0)
		for _, w := range words {
			if !s.May(w) {
				t.Fatalf("%q is excluded", w)
			}
		}
		if a, b := words[0], words[len(words)-1]; !s.May(a + "." + b) {
			t.Fatalf("%s.%s is excluded", a, b)
		}
	})
}

// It would be of no use if it excluded little.
func TestASketchExcludesMostOthers(t *testing.T) {
	s, may := sketch([]byte("export function g5(x: number) { return g6(x) + 5 }"), 0), 0
	for i := range 1000 {
		if s.May("f" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + string(rune('a'+i/26%26))) {
			may++
		}
	}
	if may > 50 {
		t.Errorf("%d of 1000 words that are not there may be", may)
	}
}

// Whatever lies where a book was kept, reading it ends without a panic, and what
// it cannot make out is found again.
func FuzzBook(f *testing.F) {
	f.Add([]byte("1.2.3\nnamed a\t2\na\n"), (&page{Sketch: sketch([]byte("a b"), 1)}).append(nil, "a.go"))
	f.Fuzz(func(t *testing.T, lists, words []byte) {
		dir := t.TempDir()
		file := filepath.Join(dir, "a.go")
		if err := os.WriteFile(file, []byte("package a"), 0o600); err != nil {
			t.Fatal(err)
		}
		b := Open(filepath.Join(dir, "kept"), "p", dir, file)
		if err := os.MkdirAll(filepath.Dir(b.file), 0o700); err != nil {
			t.Fatal(err)
		}
		if os.WriteFile(b.file+".lists", lists, 0o600) != nil || os.WriteFile(b.file+".words", words, 0o600) != nil {
			t.Fatal("cannot write")
		}
		b.head = strings.SplitN(string(lists), "\n", 2)[0]
		b.List("some", func() []string { return []string{"a.go"} })
		if s := b.Sketch("a.go", func() ([]byte, byte) { return []byte("package a"), 0 }); s == nil || !s.May("package") {
			t.Error("a word that is there is excluded")
		}
		b.Close()
	})
}
