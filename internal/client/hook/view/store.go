package view

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/plain"
)

// A Book is where the views of all sessions of this machine lie: a folder for
// each file of a working copy, with a file for each session. They outlive the
// session: who left uncommitted lines behind is known as long as they are fresh.
type Book struct{ dir string }

const (
	age     = 48 * time.Hour
	maxView = 16 << 20 // bytes of one
	maxSeen = 200      // sessions of one file that are looked at
)

// In returns the book that lies with a spool; the zero Book keeps nothing.
func In(s *spool.Spool) Book {
	if !s.Remembers() {
		return Book{}
	}
	return Book{s.SharedFile("views")}
}

func (b Book) of(root, path string) string {
	return filepath.Join(b.dir, spool.Hash(root, path)[:24])
}

func (b Book) file(root, path, tool, session string) string {
	return filepath.Join(b.of(root, path), spool.Hash(tool, session)[:24])
}

// Load returns what a session has seen of a file, and false if it never saw it.
func (b Book) Load(root, path, tool, session string) (*File, bool) {
	f := &File{Tool: tool, Session: session}
	if b.dir == "" {
		return f, false
	}
	read, ok := load(b.file(root, path, tool, session))
	if !ok {
		return f, false
	}
	return read, true
}

func load(name string) (*File, bool) {
	data, err := plain.ReadHere(name, maxView)
	if err != nil {
		return nil, false
	}
	end := len(data) - 4
	if end < 0 || binary.LittleEndian.Uint32(data[end:]) != sum(data[:end]) {
		return nil, false
	}
	head, rest, ok := strings.Cut(string(data[:end]), "\n")
	parts := strings.Split(head, "\t")
	if !ok || len(parts) != 4 || len(rest)%8 != 0 {
		return nil, false
	}
	f := &File{Tool: parts[0], Session: parts[1], Stamp: parts[2], Lines: make([]Line, len(rest)/8)}
	f.WroteAt, _ = strconv.ParseInt(parts[3], 10, 64)
	for i := range f.Lines {
		f.Lines[i] = Line(binary.LittleEndian.Uint64([]byte(rest[8*i : 8*i+8])))
	}
	return f, true
}

// sum is the CRC-32 of IEEE. The standard library makes more tables for it first,
// which takes longer than to do with the one that is there for most notes.
func sum(data []byte) uint32 {
	if len(data) > 16<<10 {
		return crc32.ChecksumIEEE(data)
	}
	crc := ^uint32(0)
	for _, b := range data {
		crc = crc32.IEEETable[byte(crc)^b] ^ crc>>8
	}
	return ^crc
}

// Save keeps what a session has seen of a file.
func (b Book) Save(root, path string, f *File) error {
	if b.dir == "" {
		return nil
	}
	return b.keep(b.file(root, path, f.Tool, f.Session), f)
}

// keep writes what was seen over what was there: to make a file and put it in
// the place of another costs more than all else that a hook does with it. Half
// of one has another sum, and counts as none.
func (b Book) keep(name string, f *File) error {
	if strings.ContainsAny(f.Tool+f.Session+f.Stamp, "\t\n") || 8*len(f.Lines) > maxView {
		return nil
	}
	data := []byte(f.Tool + "\t" + f.Session + "\t" + f.Stamp + "\t" + strconv.FormatInt(f.WroteAt, 10) + "\n")
	for _, l := range f.Lines {
		data = binary.LittleEndian.AppendUint64(data, uint64(l))
	}
	data = binary.LittleEndian.AppendUint32(data, sum(data))
	err := plain.Overwrite(name, data)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(name), 0o700); err == nil {
			err = plain.Overwrite(name, data)
		}
	}
	return err
}

// Others returns what other sessions have seen of a file.
func (b Book) Others(root, path, tool, session string) (out []*File) {
	if b.dir == "" {
		return nil
	}
	list, err := plain.List(b.of(root, path))
	if err != nil {
		return nil
	}
	for _, e := range list[:min(len(list), maxSeen)] {
		if strings.HasSuffix(e.Name(), pendingEnd) {
			continue
		}
		f, ok := load(filepath.Join(b.of(root, path), e.Name()))
		if ok && (f.Tool != tool || f.Session != session) {
			out = append(out, f)
		}
	}
	return out
}

// Prune forgets what nobody has looked at for two days.
func (b Book) Prune() {
	if b.dir == "" {
		return
	}
	list, _ := plain.List(b.dir)
	for _, e := range list {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > age {
			_ = os.RemoveAll(filepath.Join(b.dir, e.Name()))
		}
	}
}
