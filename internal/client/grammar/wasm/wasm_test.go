//go:build cgo && !lean

package wasm_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/svc-hq/svc/internal/client/grammar"
	"github.com/svc-hq/svc/internal/client/grammar/wasm"
)

// ready reports whether the modules were built. make test builds them; a plain
// go test on a machine without clang has nothing to compare.
func ready(t *testing.T) bool {
	t.Helper()
	missing := slices.DeleteFunc(slices.Clone(grammar.Names()), wasm.Has)
	if len(missing) > 0 && os.Getenv("SVC_TEST_GRAMMARS") != "" {
		t.Fatalf("no modules of %v; run .ci/build-grammars", missing)
	}
	return len(missing) == 0
}

// endings say which grammar reads a file of the fixtures.
var endings = map[string]string{".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".hpp": "cpp", ".cs": "csharp", ".ex": "elixir",
	".go": "go", ".java": "java", ".js": "javascript", ".jsx": "javascript", ".kt": "kotlin", ".php": "php", ".py": "python",
	".rb": "ruby", ".rs": "rust", ".scala": "scala", ".swift": "swift", ".tsx": "tsx", ".ts": "typescript"}

// A text is a file of the analysis package's fixtures.
type text struct {
	lang, name string
	source     []byte
}

func fixtures(t *testing.T) (all []text) {
	t.Helper()
	files, err := filepath.Glob("../../analysis/testdata/*/*.txtar")
	if err != nil || len(files) < 100 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range ar.Files {
			if lang := endings[filepath.Ext(f.Name)]; lang != "" {
				all = append(all, text{lang, file + ":" + f.Name, f.Data})
			}
		}
	}
	return all
}

// raw is how nodes lie in memory, which both give.
func raw(nodes []grammar.Node) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, nodes)
	return b.Bytes()
}

// Native code and WebAssembly make the same trees: of whole files, of broken
// ones, of letters outside of ASCII, and of two versions.
func TestTreesAreTheSame(t *testing.T) {
	if !ready(t) {
		return
	}
	every := os.Getenv("SVC_TEST_GRAMMARS") != "" // once in make test, not under the race detector again
	seen := map[string]int{}
	for _, f := range fixtures(t) {
		if seen[f.lang]++; seen[f.lang] > 3 && !every {
			continue
		}
		half := f.source[:len(f.source)*2/3]
		foreign := []byte(strings.ReplaceAll(string(f.source), "e", "é"))
		for _, source := range [][]byte{f.source, half, foreign, nil} {
			want, err := grammar.Parse(f.lang, source, 0)
			if err != nil {
				t.Fatal(err)
			}
			result, err := wasm.Parse(f.lang, source, nil, nil, 0, func(got, _ []byte) {
				if !bytes.Equal(raw(want.Nodes), got) {
					t.Errorf("%s: the trees of %d bytes differ: %d nodes native, %d in WebAssembly", f.name, len(source), len(want.Nodes), len(got)/28)
				}
			})
			if err != nil || result != 0 {
				t.Fatalf("%s: %v, %d", f.name, err, result)
			}
		}
	}
	for _, lang := range grammar.Names() {
		if seen[lang] == 0 {
			t.Errorf("no fixture of %s", lang)
		}
	}
}

func TestNamesAreTheSame(t *testing.T) {
	if !ready(t) {
		return
	}
	for _, lang := range grammar.Names() {
		l, err := grammar.Load(lang)
		if err != nil {
			t.Fatal(err)
		}
		kinds, err := wasm.List(lang, false)
		if err != nil || len(kinds) != l.Kinds() {
			t.Fatalf("%s: %d kinds, native has %d: %v", lang, len(kinds), l.Kinds(), err)
		}
		for i, k := range kinds {
			if ids := l.KindIDs(k); !slices.Contains(ids, uint16(i)) {
				t.Errorf("%s: kind %d is %q, native has %v for it", lang, i, k, ids)
			}
		}
	}
}

// Several goroutines parse at once, and one that is out of time is no harm to
// the others.
func TestManyParseAtOnce(t *testing.T) {
	if !ready(t) {
		return
	}
	source := []byte(strings.Repeat("x = [1, 2, {3: (4, 5)}]\n", 2000))
	long := bytes.Repeat(source, 50)
	want, err := grammar.Parse("python", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if result, err := wasm.Parse("python", long, nil, nil, time.Millisecond, func(_, _ []byte) {}); err != nil || result != -1 {
				t.Errorf("a parse without time: %d, %v", result, err)
			}
			result, err := wasm.Parse("python", source, nil, nil, 0, func(got, _ []byte) {
				if !bytes.Equal(raw(want.Nodes), got) {
					t.Error("the trees differ")
				}
			})
			if err != nil || result != 0 {
				t.Errorf("%d, %v", result, err)
			}
		})
	}
	all.Wait()
}
