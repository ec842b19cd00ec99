package db

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
)

// The format of SQLite's log: https://www.sqlite.org/fileformat2.html#walformat
const (
	walHeader   = 32
	frameHeader = 24
	walMagic    = 0x377f0682 // its last bit says in which order the checksums read words
)

// A Position is a place in SQLite's log, behind a commit. The salts are of one
// log, from where it began anew to where it does the next time; the sum is of all
// in it so far, so that no other log has the same position.
type Position struct {
	Salt  [2]uint32 `json:"salt"`
	Frame int       `json:"frame"`
	Sum   [2]uint32 `json:"sum"`
}

// Changes are the pages that commits have left behind.
type Changes struct {
	Pages    map[uint32][]byte
	PageSize int
	Size     uint32 // of the database after them, in pages
	At       Position
}

// errLost says that SQLite's log does not go on where it was read last.
var errLost = errors.New("the log of SQLite does not go on where it was read last")

// A wal is SQLite's log, opened to be read. SQLite's locks are on other files, so
// it may be opened and closed beside it.
type wal struct {
	*os.File
	order    binary.ByteOrder // of checksums
	pageSize int
	salt     [2]uint32
	sum      [2]uint32 // of its header
}

func openWAL(database string) (*wal, error) {
	f, err := os.Open(database + "-wal")
	if err != nil {
		return nil, err
	}
	w := &wal{File: f}
	if err := w.begin(); err != nil {
		f.Close()
		return nil, err
	}
	return w, nil
}

func (w *wal) begin() error {
	head := make([]byte, walHeader)
	if _, err := w.ReadAt(head, 0); err != nil {
		return fmt.Errorf("read the header of SQLite's log: %w", err)
	}
	magic := binary.BigEndian.Uint32(head)
	w.order = binary.LittleEndian
	if magic&1 == 1 {
		w.order = binary.BigEndian
	}
	w.pageSize = int(binary.BigEndian.Uint32(head[8:]))
	w.salt, w.sum = pair(head[16:]), pair(head[24:])
	if magic&^1 != walMagic || w.pageSize < 512 || w.pageSize > 65536 || bits.OnesCount(uint(w.pageSize)) != 1 ||
		w.add([2]uint32{}, head[:24]) != w.sum {
		return errLost
	}
	return nil
}

func pair(b []byte) [2]uint32 {
	return [2]uint32{binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])}
}

// add goes on with a checksum over some more bytes.
func (w *wal) add(sum [2]uint32, b []byte) [2]uint32 {
	for ; len(b) >= 8; b = b[8:] {
		sum[0] += w.order.Uint32(b) + sum[1]
		sum[1] += w.order.Uint32(b[4:]) + sum[0]
	}
	return sum
}

func (w *wal) offset(frame int) int64 {
	return walHeader + int64(frame)*int64(frameHeader+w.pageSize)
}

// start is where the log begins.
func (w *wal) start() Position { return Position{Salt: w.salt, Sum: w.sum} }

// has reports whether the log comes by a position. What was read there before it
// was committed, and never was, is found out by this.
func (w *wal) has(p Position) bool {
	if p.Salt != w.salt {
		return false
	}
	if p.Frame == 0 {
		return p.Sum == w.sum
	}
	head := make([]byte, frameHeader)
	_, err := w.ReadAt(head, w.offset(p.Frame-1))
	return err == nil && pair(head[8:]) == w.salt && pair(head[16:]) == p.Sum
}

// manyPages is after how many frames no further commit is read into the same
// changes.
const manyPages = 2000

// read returns what was committed after a position, up to a frame that ends a
// commit.
func (w *wal) read(from Position, upto int) (c Changes, err error) {
	c = Changes{Pages: map[uint32][]byte{}, PageSize: w.pageSize, At: from}
	at := from
	frames := io.NewSectionReader(w, w.offset(from.Frame), w.offset(upto)-w.offset(from.Frame))
	head, pending := make([]byte, frameHeader), map[uint32][]byte{}
	for at.Frame < upto && at.Frame-from.Frame < manyPages || at != c.At {
		page := make([]byte, w.pageSize)
		if _, err := io.ReadFull(frames, head); err != nil {
			return c, fmt.Errorf("read SQLite's log: %w", err)
		}
		if _, err := io.ReadFull(frames, page); err != nil {
			return c, fmt.Errorf("read SQLite's log: %w", err)
		}
		at.Sum = w.add(w.add(at.Sum, head[:8]), page)
		if at.Frame++; pair(head[8:]) != w.salt || pair(head[16:]) != at.Sum {
			return c, errLost
		}
		pending[binary.BigEndian.Uint32(head)] = page
		if size := binary.BigEndian.Uint32(head[4:]); size > 0 {
			for n, page := range pending {
				c.Pages[n] = page
			}
			clear(pending)
			c.Size, c.At = size, at
		}
	}
	c.trim()
	return c, nil
}

// trim leaves out what the database does not have any more.
func (c *Changes) trim() {
	for n := range c.Pages {
		if n > c.Size {
			delete(c.Pages, n)
		}
	}
}
