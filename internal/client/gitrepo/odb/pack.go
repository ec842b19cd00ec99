package odb

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/client/plain"
)

// A pack is a file of many objects and the index beside it.
type pack struct {
	name  string // without .idx and .pack
	width int
	index *plain.File // nil before they are opened
	data  *plain.File
	bad   bool
	fan   [256]uint32
}

// Kinds of objects in packs.
const (
	kindOffset = 6 // a difference to an object further up in the pack
	kindRef    = 7 // a difference to an object by its id
)

var objectKinds = map[int]string{1: "commit", 2: "tree", 3: "blob", 4: "tag"}

// maxChain is how many differences may lie on top of each other; git makes 50.
const maxChain = 4096

// list finds the packs, the newest first.
func (s *Store) list() {
	if s.listed {
		return
	}
	s.listed = true
	type found struct {
		*pack
		at int64
	}
	var all []found
	for _, dir := range s.dirs {
		entries, err := plain.List(filepath.Join(dir, "pack"))
		if err != nil {
			continue
		}
		for _, e := range entries {
			base, ok := strings.CutSuffix(e.Name(), ".idx")
			if !ok || !e.Type().IsRegular() {
				continue
			}
			f := found{pack: &pack{name: filepath.Join(dir, "pack", base), width: s.width}}
			if info, err := e.Info(); err == nil {
				f.at = info.ModTime().UnixNano()
			}
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Compare(b.at, a.at) })
	for _, f := range all {
		s.packs = append(s.packs, f.pack)
	}
}

// open gets the index ready.
func (p *pack) open() bool {
	if p.bad || p.index != nil {
		return !p.bad
	}
	p.bad = true
	index, err := plain.Open(p.name+".idx", math.MaxInt64)
	if err != nil {
		return false
	}
	head := make([]byte, 8+256*4)
	if _, err := index.ReadAt(head, 0); err != nil || string(head[:8]) != "\xfftOc\x00\x00\x00\x02" {
		index.Close()
		return false
	}
	for i := range p.fan {
		p.fan[i] = binary.BigEndian.Uint32(head[8+4*i:])
		if i > 0 && p.fan[i] < p.fan[i-1] {
			index.Close()
			return false
		}
	}
	p.index, p.bad = index, false
	return true
}

func (p *pack) close() {
	if p.index != nil {
		p.index.Close()
	}
	if p.data != nil {
		p.data.Close()
	}
}

// find returns where in the pack an object begins.
func (p *pack) find(name []byte) (int64, bool) {
	if !p.open() {
		return 0, false
	}
	lo := uint32(0)
	if name[0] > 0 {
		lo = p.fan[name[0]-1]
	}
	hi, all := p.fan[name[0]], int64(p.fan[255])
	width := int64(p.width)
	const table = 8 + 256*4
	if lo >= hi || table+all*(width+8) > p.index.Size || int64(hi-lo)*width > maxFan {
		return 0, false
	}
	names := make([]byte, int64(hi-lo)*width)
	if _, err := p.index.ReadAt(names, table+int64(lo)*width); err != nil {
		return 0, false
	}
	i, found := search(names, name, p.width)
	if !found {
		return 0, false
	}
	var word [8]byte
	offsets := table + all*(width+4) // after names and checksums
	if _, err := p.index.ReadAt(word[:4], offsets+4*(int64(lo)+int64(i))); err != nil {
		return 0, false
	}
	small := binary.BigEndian.Uint32(word[:4])
	if small&0x80000000 == 0 {
		return int64(small), true
	}
	if _, err := p.index.ReadAt(word[:], offsets+4*all+8*int64(small&0x7fffffff)); err != nil {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(word[:])), true
}

// search finds name in sorted names of the given width.
func search(names, name []byte, width int) (int, bool) {
	lo, hi := 0, len(names)/width
	for lo < hi {
		mid := (lo + hi) / 2
		switch c := bytes.Compare(names[mid*width:(mid+1)*width], name); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}

// packed reads the object at an offset of a pack.
func (s *Store) packed(p *pack, offset, limit int64, depth int) (kind int, data []byte, err error) {
	if depth > maxChain {
		return 0, nil, fmt.Errorf("%s: %w", p.name, errObject)
	}
	if p.data == nil {
		if p.data, err = plain.Open(p.name+".pack", math.MaxInt64); err != nil {
			return 0, nil, err
		}
	}
	in := &packReader{in: p.data, at: offset}
	kind, size, err := in.header()
	if err != nil {
		return 0, nil, fmt.Errorf("%s: %w", p.name, errObject)
	}
	if size > limit {
		return kind, nil, fmt.Errorf("%s: %w", p.name, ErrTooLarge)
	}
	var base []byte
	switch kind {
	case kindOffset:
		back, err := in.distance()
		if err != nil || back <= 0 || back >= offset {
			return 0, nil, fmt.Errorf("%s: %w", p.name, errObject)
		}
		if kind, base, err = s.packed(p, offset-back, limit, depth+1); err != nil {
			return 0, nil, err
		}
	case kindRef:
		id := make([]byte, p.width)
		if _, err := io.ReadFull(in, id); err != nil {
			return 0, nil, fmt.Errorf("%s: %w", p.name, errObject)
		}
		name, content, err := s.read(hex.EncodeToString(id), limit, depth+1)
		if err != nil {
			return 0, nil, err
		}
		base = content
		for k, n := range objectKinds {
			if n == name {
				kind = k
			}
		}
	case 1, 2, 3, 4:
		data, err = inflate(in, size)
		return kind, data, err
	default:
		return 0, nil, fmt.Errorf("%s: %w", p.name, errObject)
	}
	delta, err := inflate(in, size)
	if err != nil {
		return 0, nil, err
	}
	data, err = applyDelta(base, delta, limit)
	return kind, data, err
}

// inflaters are ready to be used again: to make one takes longer than to read a
// small object.
var inflaters sync.Pool

// inflater returns a reader of what was deflated, and what gives it back.
func inflater(in io.Reader) (z io.ReadCloser, done func(), err error) {
	z, again := inflaters.Get().(io.ReadCloser)
	if again {
		err = z.(zlib.Resetter).Reset(in, nil)
	} else {
		z, err = zlib.NewReader(in)
	}
	if err != nil {
		return nil, nil, err
	}
	return z, func() {
		z.Close()
		inflaters.Put(z)
	}, nil
}

func inflate(in io.Reader, size int64) ([]byte, error) {
	z, done, err := inflater(in)
	if err != nil {
		return nil, errors.Join(errObject, err)
	}
	defer done()
	data := make([]byte, size)
	if _, err := io.ReadFull(z, data); err != nil {
		return nil, errors.Join(errObject, err)
	}
	return data, nil
}

// applyDelta makes an object of another one: pieces copied from it and pieces
// that are new.
func applyDelta(base, delta []byte, limit int64) ([]byte, error) {
	from, n := binary.Uvarint(delta)
	if n <= 0 || from != uint64(len(base)) {
		return nil, errObject
	}
	delta = delta[n:]
	to, n := binary.Uvarint(delta)
	if n <= 0 || to > uint64(limit) {
		return nil, errors.Join(ErrTooLarge, errObject)
	}
	delta = delta[n:]
	out := make([]byte, 0, to)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 {
			if op == 0 || int(op) > len(delta) {
				return nil, errObject
			}
			out = append(out, delta[:op]...)
			delta = delta[op:]
			continue
		}
		var at, count int
		for bit := range 7 {
			if op&(1<<bit) == 0 {
				continue
			}
			if len(delta) == 0 {
				return nil, errObject
			}
			if bit < 4 {
				at |= int(delta[0]) << (8 * bit)
			} else {
				count |= int(delta[0]) << (8 * (bit - 4))
			}
			delta = delta[1:]
		}
		if count == 0 {
			count = 0x10000
		}
		if at+count > len(base) || len(out)+count > int(to) {
			return nil, errObject
		}
		out = append(out, base[at:at+count]...)
	}
	if uint64(len(out)) != to {
		return nil, errObject
	}
	return out, nil
}

// A packReader reads a pack from an offset on.
type packReader struct {
	in  *plain.File
	at  int64 // of what is after buf
	buf []byte
	mem [4096]byte
}

func (r *packReader) fill() error {
	if len(r.buf) > 0 {
		return nil
	}
	n, err := r.in.ReadAt(r.mem[:], r.at)
	if n == 0 {
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return err
	}
	r.buf = r.mem[:n]
	r.at += int64(n)
	return nil
}

func (r *packReader) Read(p []byte) (int, error) {
	if err := r.fill(); err != nil {
		return 0, err
	}
	n := copy(p, r.buf)
	r.buf = r.buf[n:]
	return n, nil
}

// ReadByte lets zlib take no more than it needs.
func (r *packReader) ReadByte() (byte, error) {
	if err := r.fill(); err != nil {
		return 0, err
	}
	b := r.buf[0]
	r.buf = r.buf[1:]
	return b, nil
}

// header reads an object's type and size.
func (r *packReader) header() (kind int, size int64, err error) {
	b, err := r.ReadByte()
	if err != nil {
		return 0, 0, err
	}
	kind, size = int(b>>4&7), int64(b&15)
	for shift := 4; b&0x80 != 0; shift += 7 {
		if b, err = r.ReadByte(); err != nil || shift > 56 {
			return 0, 0, errors.Join(errObject, err)
		}
		size |= int64(b&0x7f) << shift
	}
	return kind, size, nil
}

// distance reads how far up the object lies that this one differs from.
func (r *packReader) distance() (int64, error) {
	b, err := r.ReadByte()
	if err != nil {
		return 0, err
	}
	n := int64(b & 0x7f)
	for i := 0; b&0x80 != 0; i++ {
		if b, err = r.ReadByte(); err != nil || i > 8 {
			return 0, errors.Join(errObject, err)
		}
		n = (n+1)<<7 | int64(b&0x7f)
	}
	return n, nil
}
