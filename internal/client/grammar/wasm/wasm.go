// Package wasm runs the C of package grammar where no compiler for the system
// was at hand: compiled once to WebAssembly (.ci/build-grammars), one module
// per language, so that every build reads every language and makes the same
// trees. It takes three to five times as long as native code.
//
// What wazero makes of a module is kept in the user's cache: a second start
// takes a tenth of the first. A system for which wazero has no compiler
// interprets the modules, which is slow but gives the same trees.
package wasm

import (
	"compress/gzip"
	"context"
	"crypto/rand"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

//go:embed all:modules
var modules embed.FS

// Has tells whether this build carries the module of a language.
func Has(lang string) bool {
	f, err := modules.Open("modules/" + lang + ".wasm.gz")
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// ctx is not one that ends: a parse ends by its own limit, which the C minds.
var ctx = context.Background()

// start makes the runtime when the first module is wanted.
var start = sync.OnceValues(func() (wazero.Runtime, error) {
	config := wazero.NewRuntimeConfig()
	if cache, err := cache(); err == nil { // without one it takes longer
		config = config.WithCompilationCache(cache)
	}
	r := wazero.NewRuntimeWithConfig(ctx, config)
	_, err := wasi_snapshot_preview1.Instantiate(ctx, r)
	return r, err
})

// cache returns the folder for what is made of these modules, and removes
// what was made of others.
func cache() (wazero.CompilationCache, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	id, err := modules.ReadFile("modules/id")
	if err != nil {
		return nil, err
	}
	folder, mine := filepath.Join(base, "svc", "grammars"), strings.TrimSpace(string(id))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	if entries, err := os.ReadDir(folder); err == nil {
		for _, e := range entries {
			if e.Name() != mine {
				os.RemoveAll(filepath.Join(folder, e.Name()))
			}
		}
	}
	return wazero.NewCompilationCacheWithDir(filepath.Join(folder, mine))
}

// A language is a compiled module, and instances of it that nobody uses now.
type language struct {
	once sync.Once
	code wazero.CompiledModule
	err  error
	mu   sync.Mutex
	idle []api.Module
}

var (
	mu   sync.Mutex
	byID = map[string]*language{}
)

// borrow returns an instance that is the caller's until it is given back.
func borrow(lang string) (*language, api.Module, error) {
	mu.Lock()
	l := byID[lang]
	if l == nil {
		l = &language{}
		byID[lang] = l
	}
	mu.Unlock()
	r, err := start()
	if err != nil {
		return nil, nil, err
	}
	l.once.Do(func() {
		var text []byte
		if text, l.err = unpack(lang); l.err == nil {
			l.code, l.err = r.CompileModule(ctx, text)
		}
	})
	if l.err != nil {
		return nil, nil, l.err
	}
	l.mu.Lock()
	if n := len(l.idle); n > 0 {
		m := l.idle[n-1]
		l.idle = l.idle[:n-1]
		l.mu.Unlock()
		return l, m, nil
	}
	l.mu.Unlock()
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").
		WithSysNanotime().WithSysWalltime().WithRandSource(rand.Reader) // no stderr: a pipe of Windows is none that it can look at
	m, err := r.InstantiateModule(ctx, l.code, config)
	if err != nil {
		return nil, nil, err
	}
	_, err = m.ExportedFunction("svc_arena_install").Call(ctx)
	return l, m, err
}

func (l *language) giveBack(m api.Module) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = append(l.idle, m)
}

func unpack(lang string) ([]byte, error) {
	f, err := modules.Open("modules/" + lang + ".wasm.gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// A guest is an instance at work. The first error stays; an instance that
// had one is thrown away.
type guest struct {
	m   api.Module
	err error
}

func (g *guest) call(name string, args ...uint64) uint64 {
	if g.err != nil {
		return 0
	}
	var out []uint64
	if out, g.err = g.m.ExportedFunction(name).Call(ctx, args...); g.err != nil || len(out) == 0 {
		return 0
	}
	return out[0]
}

// place copies data into the instance's memory.
func (g *guest) place(data []byte) uint64 {
	at := g.call("malloc", uint64(max(1, len(data))))
	if g.err == nil && (at == 0 || !g.m.Memory().Write(uint32(at), data)) {
		g.err = errors.New("no memory left for the parser")
	}
	return at
}

func (g *guest) view(at, size uint32) []byte {
	if g.err != nil || size == 0 {
		return nil
	}
	data, ok := g.m.Memory().Read(at, size)
	if !ok {
		g.err = errors.New("the parser's answer lies outside of its memory")
	}
	return data
}

func (g *guest) free(places ...uint64) {
	for _, p := range places {
		g.call("free", p)
	}
}

func with(lang string, do func(g *guest)) error {
	l, m, err := borrow(lang)
	if err != nil {
		return fmt.Errorf("the grammar of %s: %w", lang, err)
	}
	g := &guest{m: m}
	do(g)
	if g.err != nil {
		m.Close(ctx)
		return fmt.Errorf("the grammar of %s: %w", lang, g.err)
	}
	l.giveBack(m)
	return nil
}

// List returns the names of a language's kinds, or of its fields.
func List(lang string, fields bool) (names []string, err error) {
	err = with(lang, func(g *guest) {
		const size = 256 << 10
		buf := g.place(make([]byte, size))
		var what uint64
		if fields {
			what = 1
		}
		used := g.call("svc_names", 0, what, buf, size)
		if used > size {
			g.err = errors.New("more names than expected")
		}
		names = strings.Split(strings.TrimSuffix(string(g.view(uint32(buf), uint32(used))), "\n"), "\n")
		g.free(buf)
	})
	return names, err
}

// nodeSize is that of an svc_node in flatten.h.
const nodeSize = 28

// Parse calls svc_parse (flatten.h). The nodes of both texts are given to take
// as they lie in memory, and may not be kept.
func Parse(lang string, old, new []byte, edit []uint32, limit time.Duration, take func(old, new []byte)) (result int32, err error) {
	err = with(lang, func(g *guest) {
		a, b := g.place(old), g.place(new)
		var e uint64
		if edit != nil {
			raw := make([]byte, 0, 4*len(edit))
			for _, v := range edit {
				raw = binary.LittleEndian.AppendUint32(raw, v)
			}
			e = g.place(raw)
		}
		out := g.place(make([]byte, 16)) // two svc_nodes
		result = int32(g.call("svc_parse", 0, a, uint64(len(old)), b, uint64(len(new)), e, uint64(limit.Microseconds()), out, out+8))
		answer := g.view(uint32(out), 16)
		if g.err != nil {
			return
		}
		var at [4]uint32 // place and number of both
		for i := range at {
			at[i] = binary.LittleEndian.Uint32(answer[4*i:])
		}
		take(g.view(at[0], at[1]*nodeSize), g.view(at[2], at[3]*nodeSize))
		g.free(uint64(at[0]), uint64(at[2]), out, e, b, a)
	})
	return result, err
}
