//go:build cgo

package grammar

// #cgo darwin LDFLAGS: -Wl,-undefined,dynamic_lookup
// #include <stdlib.h>
// #include "arena.h"
// #include "flatten.h"
import "C"

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	// These carry the C of the parser and of its grammars.
	_ "github.com/smacker/go-tree-sitter"
	_ "github.com/smacker/go-tree-sitter/c"
	_ "github.com/smacker/go-tree-sitter/cpp"
	_ "github.com/smacker/go-tree-sitter/csharp"
	_ "github.com/smacker/go-tree-sitter/golang"
	_ "github.com/smacker/go-tree-sitter/java"
	_ "github.com/smacker/go-tree-sitter/javascript"
	_ "github.com/smacker/go-tree-sitter/kotlin"
	_ "github.com/smacker/go-tree-sitter/php"
	_ "github.com/smacker/go-tree-sitter/python"
	_ "github.com/smacker/go-tree-sitter/ruby"
	_ "github.com/smacker/go-tree-sitter/rust"
	_ "github.com/smacker/go-tree-sitter/scala"
	_ "github.com/smacker/go-tree-sitter/swift"
	_ "github.com/smacker/go-tree-sitter/typescript/tsx"
	_ "github.com/smacker/go-tree-sitter/typescript/typescript"
)

// names are the languages in the order of the table in flatten.c.
var names = [...]string{"c", "cpp", "csharp", "go", "java", "javascript", "kotlin", "php", "python",
	"ruby", "rust", "scala", "swift", "tsx", "typescript"}

// loaded holds the languages that were used, by number.
var loaded [len(names)]struct {
	once sync.Once
	lang *Language
}

// Supported tells whether this build can parse a language.
func Supported(lang string) bool { return number(lang) >= 0 }

func number(lang string) int {
	for i, n := range names {
		if n == lang {
			return i
		}
	}
	return -1
}

// installed makes the parser take its memory as arena.c has it, once.
var installed = sync.OnceFunc(func() { C.svc_arena_install() })

// Load returns a language's tables.
func Load(lang string) (*Language, error) {
	n := number(lang)
	if n < 0 {
		return nil, fmt.Errorf("%s: %w", lang, ErrUnsupported)
	}
	l := &loaded[n]
	installed()
	l.once.Do(func() { l.lang = &Language{Name: lang, kinds: list(n, false), fields: list(n, true)} })
	return l.lang, nil
}

func list(n int, fields bool) []string {
	buf := make([]byte, 32<<10)
	for {
		used := int(C.svc_names(C.int(n), C.bool(fields), (*C.char)(unsafe.Pointer(&buf[0])), C.uint32_t(len(buf))))
		if used <= len(buf) {
			out := strings.Split(strings.TrimSuffix(string(buf[:used]), "\n"), "\n")
			return out
		}
		buf = make([]byte, used)
	}
}

// Parse parses source as lang. Text that does not parse gives Broken nodes,
// never an error. Zero limit means no limit.
func Parse(lang string, source []byte, limit time.Duration) (*Tree, error) {
	l, err := Load(lang)
	if err != nil {
		return nil, err
	}
	if len(source) > math.MaxInt32 {
		return nil, fmt.Errorf("%s of %d bytes: %w", lang, len(source), ErrTimeout)
	}
	old, _, err := parse(lang, source, nil, nil, limit)
	if err != nil {
		return nil, err
	}
	return newTree(l, source, old), nil
}

// parse parses a text and, if an edit is given, what it made of it.
func parse(lang string, old, new []byte, edit *C.svc_edit, limit time.Duration) (before, after []Node, err error) {
	var oldOut, newOut C.svc_nodes
	result := C.svc_parse(C.int(number(lang)), text(old), C.uint32_t(len(old)), text(new), C.uint32_t(len(new)),
		edit, C.uint64_t(limit.Microseconds()), &oldOut, &newOut)
	before, after = take(oldOut), take(newOut)
	switch {
	case result == -1:
		return nil, nil, ErrTimeout
	case result < 0:
		return nil, nil, fmt.Errorf("%s: %w", lang, ErrUnsupported)
	}
	return before, after, nil
}

// take copies nodes from C and frees them there.
func take(out C.svc_nodes) []Node {
	defer C.free(unsafe.Pointer(out.nodes))
	return slices.Clone(unsafe.Slice((*Node)(unsafe.Pointer(out.nodes)), int(out.count)))
}

// ParsePair parses two versions of a text. What they share is parsed once, so
// that it costs little more than one Parse when they differ in one place.
func ParsePair(lang string, old, new []byte, limit time.Duration) (*Tree, *Tree, error) {
	l, err := Load(lang)
	if err != nil {
		return nil, nil, err
	}
	if len(old) > math.MaxInt32 || len(new) > math.MaxInt32 {
		return nil, nil, fmt.Errorf("%s of %d bytes: %w", lang, len(new), ErrTimeout)
	}
	d := difference(old, new)
	edit := C.svc_edit{
		start: C.uint32_t(d.start.offset), old_end: C.uint32_t(d.old.offset), new_end: C.uint32_t(d.new.offset),
		start_row: C.uint32_t(d.start.row), start_column: C.uint32_t(d.start.column),
		old_row: C.uint32_t(d.old.row), old_column: C.uint32_t(d.old.column),
		new_row: C.uint32_t(d.new.row), new_column: C.uint32_t(d.new.column),
	}
	oldNodes, newNodes, err := parse(lang, old, new, &edit, limit)
	if err != nil {
		return nil, nil, err
	}
	return newTree(l, old, oldNodes), newTree(l, new, newNodes), nil
}

func text(source []byte) *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(source))) }
