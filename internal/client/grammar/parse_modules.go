//go:build !cgo && !lean && !apart

package grammar

import (
	"encoding/binary"
	"time"
	"unsafe"

	"github.com/svc-hq/svc/internal/client/grammar/wasm"
)

// How says in what form this build has the grammars.
const How = "webassembly"

// Supported tells whether this build can parse a language.
func Supported(lang string) bool { return number(lang) >= 0 && wasm.Has(lang) }

func list(n int, fields bool) ([]string, error) { return wasm.List(names[n], fields) }

// parse parses a text and, if an edit is given, what it made of it.
func parse(n int, old, new []byte, d *edit, limit time.Duration) (before, after []Node, err error) {
	var e []uint32
	if d != nil {
		e = d.words()
	}
	result, err := wasm.Parse(names[n], old, new, e, limit, func(oldRaw, newRaw []byte) { before, after = nodes(oldRaw), nodes(newRaw) })
	switch {
	case err != nil:
		return nil, nil, err
	case result != 0:
		return nil, nil, failure(result)
	}
	return before, after, nil
}

// nodes reads an array of svc_node, as flatten.h has it.
func nodes(raw []byte) []Node {
	const size = int(unsafe.Sizeof(Node{}))
	out := make([]Node, len(raw)/size)
	little := binary.LittleEndian
	for i := range out {
		r := raw[i*size : (i+1)*size]
		out[i] = Node{
			Kind: little.Uint16(r), Field: little.Uint16(r[2:]), Depth: little.Uint16(r[4:]), Flags: Flags(little.Uint16(r[6:])),
			Start: little.Uint32(r[8:]), End: little.Uint32(r[12:]), Row: little.Uint32(r[16:]), EndRow: little.Uint32(r[20:]),
			Next: little.Uint32(r[24:]),
		}
	}
	return out
}
