// Package ship keeps a copy of SQLite's database in a directory, on another disk
// or a share: whole bases from time to time, and between them what each second
// changed, so that the state of any moment can be made again. It decides nothing
// about the database that it follows, and what goes wrong with the directory is
// told and never holds up the service.
package ship

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/server/store/db"
)

// A file is parts, one after the other, each
//
//	magic | length of head | length of body | head (JSON) | body | SHA-256 of all before
//
// The body is pages, each behind its number, compressed.
const (
	magic    = "svcship1"
	lengths  = len(magic) + 8
	maxHead  = 4 << 10
	maxBody  = 1 << 30
	pageHead = 4
)

// A head says what a part is.
type head struct {
	Database string    `json:"database"` // whose: an id that stays with its content
	Chain    string    `json:"chain"`    // of parts without a gap
	Number   int64     `json:"number"`   // of the state that it leads to
	Before   string    `json:"before"`   // the checksum of the part before it; of the first, the chain
	Time     time.Time `json:"time"`     // what it has was committed by then
	PageSize int       `json:"page_size"`
	Size     uint32    `json:"size"` // of the database, in pages
	Pages    int       `json:"pages"`
	// At is where SQLite's log goes on behind it.
	At db.Position `json:"at"`
	// Base is the place of a part in a base, from 1; 0 for one of changes.
	Base int  `json:"base,omitempty"`
	Last bool `json:"last,omitempty"` // of its base
}

var (
	errTorn    = errors.New("ends in the middle")
	errDamaged = errors.New("does not fit its checksum")
)

// A part is read, and its checksum fits.
type part struct {
	head
	body []byte
	sum  string
	size int64 // in its file
}

// A pack puts a part together.
type pack struct {
	pages bytes.Buffer
	to    *flate.Writer
	count int
}

func newPack() *pack {
	p := &pack{}
	p.to, _ = flate.NewWriter(&p.pages, flate.BestSpeed) // the level is one
	return p
}

func (p *pack) add(n uint32, page []byte) {
	p.to.Write(binary.BigEndian.AppendUint32(nil, n)) // to memory
	p.to.Write(page)
	p.count++
}

// sealed returns the part and its checksum.
func (p *pack) sealed(h head) (text []byte, sum string, err error) {
	h.Pages = p.count
	about, err := json.Marshal(h)
	if err = errors.Join(err, p.to.Close()); err != nil {
		return nil, "", err
	}
	text = append(text, magic...)
	text = binary.BigEndian.AppendUint32(text, uint32(len(about)))
	text = binary.BigEndian.AppendUint32(text, uint32(p.pages.Len()))
	text = append(append(text, about...), p.pages.Bytes()...)
	s := sha256.Sum256(text)
	return append(text, s[:]...), hex.EncodeToString(s[:]), nil
}

// readPart reads the part that begins at a place of a file of some size.
func readPart(from io.ReaderAt, at, size int64) (p part, err error) {
	begin := make([]byte, lengths)
	if size-at < int64(lengths) {
		return p, errTorn
	}
	if _, err := from.ReadAt(begin, at); err != nil {
		return p, err
	}
	if string(begin[:len(magic)]) != magic {
		return p, errDamaged
	}
	about, body := binary.BigEndian.Uint32(begin[len(magic):]), binary.BigEndian.Uint32(begin[len(magic)+4:])
	if about > maxHead || body > maxBody {
		return p, errDamaged
	}
	p.size = int64(lengths) + int64(about) + int64(body) + sha256.Size
	if size-at < p.size {
		return p, errTorn
	}
	text := make([]byte, p.size)
	if _, err := from.ReadAt(text, at); err != nil {
		return p, err
	}
	end := len(text) - sha256.Size
	s := sha256.Sum256(text[:end])
	if !bytes.Equal(s[:], text[end:]) {
		return p, errDamaged
	}
	p.sum, p.body = hex.EncodeToString(s[:]), text[lengths+int(about):end]
	if err := json.Unmarshal(text[lengths:lengths+int(about)], &p.head); err != nil || !p.sensible() {
		return p, errDamaged
	}
	return p, nil
}

// sensible reports whether what a part says of itself can be. A checksum fits
// whatever was written.
func (h head) sensible() bool {
	return h.PageSize >= 512 && h.PageSize <= 65536 && bits.OnesCount(uint(h.PageSize)) == 1 && h.Pages >= 0 && h.Number > 0 &&
		h.Base >= 0 && h.Chain != "" && !h.Time.IsZero()
}

// each calls fn with the pages of a part.
func (p part) each(fn func(n uint32, page []byte) error) error {
	from := flate.NewReader(bytes.NewReader(p.body))
	defer from.Close()
	one := make([]byte, pageHead+p.PageSize)
	for range p.Pages {
		if _, err := io.ReadFull(from, one); err != nil {
			return fmt.Errorf("%w: %w", errDamaged, err)
		}
		n := binary.BigEndian.Uint32(one)
		if n == 0 || n > p.Size {
			return errDamaged
		}
		if err := fn(n, one[pageHead:]); err != nil {
			return err
		}
	}
	return nil
}

// packed is a part of changes.
func packed(c db.Changes) *pack {
	p := newPack()
	numbers := make([]uint32, 0, len(c.Pages))
	for n := range c.Pages {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		p.add(n, c.Pages[n])
	}
	return p
}
