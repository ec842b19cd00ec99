//go:build cgo && !lean

package wasm_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

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

// raw is how nodes lie in memory, which both give.
func raw(nodes []grammar.Node) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, nodes)
	return b.Bytes()
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
