package kept

import (
	"encoding/binary"
	"os"
	"path/filepath"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/plain"
)

// A Sketch tells which words a file cannot have, without the file being read: a
// Bloom filter, which takes one word in two hundred for possible that is not there,
// and never excludes one that is.
type Sketch struct {
	Size  int64
	Marks byte // what else was looked for in it
	bits  []byte
}

const (
	bitsPerWord = 14
	probes      = 4
	maxWords    = 6000 // of a file with more the sketch takes every word for possible
	maxPages    = 4000 // files of which one is kept
)

// May reports whether a name can stand in the file as a word, or as several
// with signs between them.
func (s *Sketch) May(name string) bool {
	if len(s.bits) == 0 {
		return true
	}
	may := true
	words([]byte(name), func(word uint64) {
		for i := range uint64(probes) {
			at := bit(word, i, len(s.bits))
			may = may && s.bits[at/8]&(1<<(at%8)) != 0
		}
	})
	return may
}

// sketch makes the sketch of a text.
func sketch(text []byte, marks byte) Sketch {
	seen := map[uint64]bool{}
	words(text, func(word uint64) { seen[word] = true })
	s := Sketch{Size: int64(len(text)), Marks: marks}
	if len(seen) > maxWords {
		return s
	}
	s.bits = make([]byte, max(16, len(seen)*bitsPerWord/8))
	for word := range seen {
		for i := range uint64(probes) {
			at := bit(word, i, len(s.bits))
			s.bits[at/8] |= 1 << (at % 8)
		}
	}
	return s
}

func bit(word, i uint64, bytes int) uint64 {
	return (word + i*(word>>32|1)) % (uint64(bytes) * 8)
}

// words visits the hashes (FNV-1a) of the words of a text.
func words(text []byte, visit func(uint64)) {
	const offset, prime = 14695981039346656037, 1099511628211
	hash := uint64(offset)
	for _, c := range text {
		switch {
		case outline.IsNameByte(c):
			hash = (hash ^ uint64(c)) * prime
		case hash != offset:
			visit(mix(hash))
			hash = offset
		}
	}
	if hash != offset {
		visit(mix(hash))
	}
}

// mix spreads a hash over all its bits: those of short words that are alike
// differ in few.
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// A page is what is kept of one file, and of which of its states.
type page struct {
	changed, written int64
	Sketch
	holds bool // the file was looked at since the book was opened
}

// Sketch returns the sketch of a file of the working copy, made by reading it if
// none is known that holds. Marks are the reader's. It returns nil for one that
// is not there or no plain file, and where nothing is kept.
func (b *Book) Sketch(file string, read func() (text []byte, marks byte)) *Sketch {
	if b.file == "" {
		return nil
	}
	b.readPages()
	p := b.pages[file]
	if p != nil && p.holds {
		return &p.Sketch
	}
	info, err := os.Lstat(filepath.Join(b.root, filepath.FromSlash(file)))
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	changed, written := plain.ChangedAt(info).UnixNano(), info.ModTime().UnixNano()
	if p != nil && p.changed == changed && p.written == written && p.Size == info.Size() {
		p.holds = true
		return &p.Sketch
	}
	text, marks := read()
	p = &page{changed: changed, written: written, Sketch: sketch(text, marks), holds: true}
	p.Size = info.Size()
	b.pages[file] = p
	if settled(info) && len(text) == int(p.Size) {
		b.newest = p.append(b.newest, file)
	} else {
		p.changed = 0 // it is not kept, and held for no state if it is
	}
	return &p.Sketch
}

// The file of pages is one after the other, a later one of the same file in the
// place of an earlier: how long its name and its sketch are, both times, size,
// marks, name, sketch.
const pageHead = 2 + 2 + 8 + 8 + 8 + 1

func (p *page) append(to []byte, file string) []byte {
	if len(file) > 4096 {
		return to
	}
	to = binary.LittleEndian.AppendUint16(to, uint16(len(file)))
	to = binary.LittleEndian.AppendUint16(to, uint16(len(p.bits)))
	to = binary.LittleEndian.AppendUint64(to, uint64(p.changed))
	to = binary.LittleEndian.AppendUint64(to, uint64(p.written))
	to = binary.LittleEndian.AppendUint64(to, uint64(p.Size))
	to = append(to, p.Marks)
	to = append(to, file...)
	return append(to, p.bits...)
}

func (b *Book) readPages() {
	if b.paged {
		return
	}
	b.paged, b.pages = true, map[string]*page{}
	data, err := plain.ReadHere(b.file+".words", maxFile)
	if err != nil {
		return
	}
	b.size = len(data)
	for len(data) >= pageHead {
		name, bits := int(binary.LittleEndian.Uint16(data)), int(binary.LittleEndian.Uint16(data[2:]))
		end := pageHead + name + bits
		if end > len(data) {
			break // cut short
		}
		b.pages[string(data[pageHead:pageHead+name])] = &page{
			changed: int64(binary.LittleEndian.Uint64(data[4:])), written: int64(binary.LittleEndian.Uint64(data[12:])),
			Sketch: Sketch{Size: int64(binary.LittleEndian.Uint64(data[20:])), Marks: data[28], bits: data[pageHead+name : end]},
		}
		data = data[end:]
	}
	if len(data) > 0 {
		clear(b.pages) // nothing may follow half a page
		b.size = maxFile
	}
}

// keepPages adds the new pages to the file, or writes it anew when it has grown
// to more than twice what it says.
func (b *Book) keepPages() {
	if len(b.newest) == 0 {
		return
	}
	if b.size > 0 && b.size < maxFile {
		room := 0
		for file, p := range b.pages {
			room += pageHead + len(file) + len(p.bits)
		}
		if b.size+len(b.newest) <= 2*room+64<<10 && appendTo(b.file+".words", b.newest) == nil {
			return
		}
	}
	if len(b.pages) > maxPages {
		clear(b.pages)
	}
	var all []byte
	for file, p := range b.pages {
		all = p.append(all, file)
	}
	if len(all) < maxFile {
		b.replace(".words", all)
	}
}

func appendTo(name string, data []byte) error {
	f, err := plain.Handle(name, os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(data)
	return err
}
