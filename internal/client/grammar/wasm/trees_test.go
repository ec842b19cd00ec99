//go:build cgo && !lean && !race

package wasm_test

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/svc-hq/svc/internal/client/grammar"
	"github.com/svc-hq/svc/internal/client/grammar/wasm"
)

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

// Native code and WebAssembly make the same trees: of whole files, of broken
// ones, of letters outside of ASCII, and of two versions.
func TestTreesAreTheSame(t *testing.T) {
	if !ready(t) {
		return
	}
	seen := map[string]bool{}
	for _, f := range fixtures(t) {
		seen[f.lang] = true
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
		if !seen[lang] {
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
