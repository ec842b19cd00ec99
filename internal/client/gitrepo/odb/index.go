package odb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/svc-hq/svc/internal/client/plain"
)

// errIndex means that only git can read an index: it is damaged, of a version
// that is not known here, or has its entries elsewhere.
var errIndex = errors.New("an index that only git reads")

// Index returns the paths in an index, each once, in git's order. Ids in it have
// width bytes.
func Index(file string, width int) ([]string, error) {
	data, err := plain.ReadHere(file, MaxIndex)
	if err != nil {
		return nil, err
	}
	if len(data) < 12 || string(data[:4]) != "DIRC" {
		return nil, errIndex
	}
	in := indexReader{data: data, text: string(data), at: 12, version: binary.BigEndian.Uint32(data[4:]), width: width}
	count := binary.BigEndian.Uint32(data[8:])
	if in.version < 2 || in.version > 4 || int64(count)*62 > int64(len(data)) && in.version < 4 {
		return nil, errIndex
	}
	out := make([]string, 0, min(int(count), len(data)/40))
	for range count {
		name, ok := in.entry()
		if !ok {
			return nil, errIndex
		}
		if len(out) == 0 || out[len(out)-1] != name { // a conflict has up to three entries
			out = append(out, name)
		}
	}
	if in.elsewhere() {
		return nil, errIndex
	}
	return out, nil
}

// elsewhere looks through the extensions that follow the entries. Those in
// small letters change what the entries mean: that others are in a second
// file, or that some stand for whole folders.
func (in *indexReader) elsewhere() bool {
	for at := in.at; at+8 <= len(in.data)-in.width; {
		if c := in.data[at]; c < 'A' || c > 'Z' {
			return true
		}
		at += 8 + int(binary.BigEndian.Uint32(in.data[at+4:]))
	}
	return false
}

// An indexReader goes through the entries.
type indexReader struct {
	data    []byte
	text    string // the same: names are parts of it, not copies
	at      int
	version uint32
	width   int
	last    []byte // the name before: version 4 tells what differs from it
}

func (in *indexReader) entry() (string, bool) {
	start := in.at
	flags := start + 40 + in.width
	if flags+4 > len(in.data) {
		return "", false
	}
	at := flags + 2
	if in.data[flags]&0x40 != 0 { // more flags
		at += 2
	}
	if in.version == 4 {
		return in.compressed(at)
	}
	end := strings.IndexByte(in.text[min(at, len(in.text)):], 0)
	if end <= 0 {
		return "", false
	}
	name := in.text[at : at+end]
	in.at = start + (at+end-start+8)&^7 // one to eight zeros fill it up
	return name, in.at <= len(in.data)
}

// compressed reads a name that says how much of the one before to drop.
func (in *indexReader) compressed(at int) (string, bool) {
	drop, more := 0, true
	for i := 0; more; i++ {
		if at >= len(in.data) || i > 4 {
			return "", false
		}
		c := in.data[at]
		at++
		more = c&0x80 != 0
		if i > 0 {
			drop++
		}
		drop = drop<<7 | int(c&0x7f)
	}
	end := bytes.IndexByte(in.data[at:], 0)
	if end < 0 || drop > len(in.last) {
		return "", false
	}
	in.last = append(in.last[:len(in.last)-drop:len(in.last)-drop], in.data[at:at+end]...)
	in.at = at + end + 1
	return string(in.last), len(in.last) > 0
}
