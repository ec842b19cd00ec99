//go:build lean || apart

package grammar

import (
	"embed"
	"errors"
	"math"
	"strings"
	"sync"
	"time"
	"unsafe"
)

// How says in what form this build has the grammars.
const How = "native"

// A Program says where the program is that has the grammars (program/main.c).
type Program struct {
	Path func() (string, error)
	// Repair makes a damaged program anew, and reports whether it was.
	Repair func(path string) bool
}

var (
	program Program
	mu      sync.Mutex
	idle    []*child // each answers one request after the other, so several work at once
)

// Use tells where the program is. Without one no language is supported.
func Use(p Program) { program = p }

// Stop ends the programs that run and waits for their end. Nobody may be
// parsing.
func Stop() {
	mu.Lock()
	defer mu.Unlock()
	for _, c := range idle {
		c.stop()
	}
	idle = nil
}

// Supported tells whether this build can parse a language.
func Supported(lang string) bool { return number(lang) >= 0 && program.Path != nil }

// Words of a request and of an answer, as main.c has them.
const (
	inLanguage, inOld, inNew, inEdited, inEdit, inMicros, inWords = 0, 1, 2, 3, 4, 13, 14
	outResult, outBefore, outAfter, outWords                      = 0, 1, 2, 3
)

// maxAnswer bounds what is believed of an answer's length: a node for each byte
// of the longest text is more than any parse gives.
const maxAnswer = math.MaxInt32

// tables has the names of each language's kinds and fields, a name in a line:
// to ask the program for them costs more than a small edit's parse.
//
//go:embed tables
var tables embed.FS

func list(n int, fields bool) ([]string, error) {
	end := ".kinds"
	if fields {
		end = ".fields"
	}
	text, err := tables.ReadFile("tables/" + names[n] + end)
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), err
}

// parse parses a text and, if an edit is given, what it made of it.
func parse(n int, old, new []byte, d *edit, limit time.Duration) (before, after []Node, err error) {
	in := [inWords]uint32{inLanguage: uint32(n), inOld: uint32(len(old)), inNew: uint32(len(new)),
		inMicros: uint32(min(limit.Microseconds(), math.MaxUint32))}
	if d != nil {
		in[inEdited] = 1
		copy(in[inEdit:], d.words())
	}
	result := int32(0)
	err = ask(in, old, new, func(out [outWords]uint32, read func([]byte) error) error {
		result = int32(out[outResult])
		before, after = make([]Node, out[outBefore]), make([]Node, out[outAfter])
		return errors.Join(read(raw(before)), read(raw(after)))
	})
	switch {
	case err != nil:
		return nil, nil, err
	case result != 0:
		return nil, nil, failure(result)
	}
	return before, after, nil
}

// raw is the memory of nodes, which is laid out as flatten.h has it.
func raw(nodes []Node) []byte {
	if len(nodes) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&nodes[0])), len(nodes)*int(unsafe.Sizeof(Node{})))
}

// ask sends a request and has the answer read, by a new copy of the program if
// the one on disk is damaged.
func ask(in [inWords]uint32, old, new []byte, answer func([outWords]uint32, func([]byte) error) error) error {
	for again := false; ; again = true {
		path, err := program.Path()
		if err != nil {
			return err
		}
		c := take()
		if c == nil {
			c, err = start(path)
		}
		if err == nil {
			if err = c.exchange(in, old, new, answer); err == nil {
				give(c)
				return nil
			}
			c.stop()
		}
		if again || !program.Repair(path) {
			return err
		}
	}
}

// take returns a program that runs and has nothing to do, if there is one.
func take() (c *child) {
	mu.Lock()
	defer mu.Unlock()
	if n := len(idle); n > 0 {
		c, idle = idle[n-1], idle[:n-1]
	}
	return c
}

func give(c *child) {
	mu.Lock()
	defer mu.Unlock()
	idle = append(idle, c)
}

func (c *child) exchange(in [inWords]uint32, old, new []byte, answer func([outWords]uint32, func([]byte) error) error) error {
	const word = int(unsafe.Sizeof(in[0]))
	request := make([]byte, 0, len(in)*word+len(old)+len(new))
	request = append(request, unsafe.Slice((*byte)(unsafe.Pointer(&in[0])), len(in)*word)...)
	request = append(append(request, old...), new...)
	if err := c.write(request); err != nil {
		return err
	}
	var out [outWords]uint32
	if err := c.read(unsafe.Slice((*byte)(unsafe.Pointer(&out[0])), len(out)*word)); err != nil {
		return err
	}
	if uint64(out[outBefore])+uint64(out[outAfter]) > maxAnswer/32 {
		return errors.New("the answer of the grammars makes no sense")
	}
	return answer(out, c.read)
}
