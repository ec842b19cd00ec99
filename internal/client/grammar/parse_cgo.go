//go:build cgo && !lean && !apart

package grammar

// #cgo darwin LDFLAGS: -Wl,-undefined,dynamic_lookup
// #include <stdlib.h>
// #include "arena.h"
// #include "flatten.h"
import "C"

import (
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// How says in what form this build has the grammars.
const How = "native"

// Supported tells whether this build can parse a language.
func Supported(lang string) bool { return number(lang) >= 0 }

// installed makes the parser take its memory as arena.c has it, once.
var installed = sync.OnceFunc(func() { C.svc_arena_install() })

func list(n int, fields bool) ([]string, error) {
	installed()
	buf := make([]byte, 32<<10)
	for {
		used := int(C.svc_names(C.int(n), C.bool(fields), (*C.char)(unsafe.Pointer(&buf[0])), C.uint32_t(len(buf))))
		if used <= len(buf) {
			return strings.Split(strings.TrimSuffix(string(buf[:used]), "\n"), "\n"), nil
		}
		buf = make([]byte, used)
	}
}

// parse parses a text and, if an edit is given, what it made of it.
func parse(n int, old, new []byte, d *edit, limit time.Duration) (before, after []Node, err error) {
	var e *C.svc_edit
	if d != nil {
		e = &C.svc_edit{
			start: C.uint32_t(d.start.offset), old_end: C.uint32_t(d.old.offset), new_end: C.uint32_t(d.new.offset),
			start_row: C.uint32_t(d.start.row), start_column: C.uint32_t(d.start.column),
			old_row: C.uint32_t(d.old.row), old_column: C.uint32_t(d.old.column),
			new_row: C.uint32_t(d.new.row), new_column: C.uint32_t(d.new.column),
		}
	}
	var oldOut, newOut C.svc_nodes
	result := C.svc_parse(C.int(n), text(old), C.uint32_t(len(old)), text(new), C.uint32_t(len(new)),
		e, C.uint64_t(limit.Microseconds()), &oldOut, &newOut)
	before, after = take(oldOut), take(newOut)
	if result != 0 {
		return nil, nil, failure(int32(result))
	}
	return before, after, nil
}

// take copies nodes from C and frees them there.
func take(out C.svc_nodes) []Node {
	defer C.free(unsafe.Pointer(out.nodes))
	return slices.Clone(unsafe.Slice((*Node)(unsafe.Pointer(out.nodes)), int(out.count)))
}

func text(source []byte) *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(source))) }
