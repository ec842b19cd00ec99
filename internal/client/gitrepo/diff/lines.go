package diff

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
)

// A Turn is a range of lines that became another.
type Turn struct {
	Hunk
	Was string // hash of the old lines
}

// Turns adds the hashes of the lines of before that hunks replace.
func Turns(before []byte, hunks []Hunk) []Turn {
	lines := bytes.SplitAfter(before, []byte{'\n'})
	out := make([]Turn, len(hunks))
	for i, h := range hunks {
		out[i] = Turn{h, hashOf(lines[min(h.OldStart-1, len(lines)):min(h.OldStart-1+h.OldCount, len(lines))])}
	}
	return out
}

// Whole is the hunk that inserts all of r into nothing.
func Whole(r io.Reader) Hunk {
	h := Hunk{OldStart: 1, NewStart: 1}
	sum := newLineHash()
	last := byte('\n')
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			sum.write(buf[:n])
			h.NewCount += bytes.Count(buf[:n], []byte{'\n'})
			last = buf[n-1]
		}
		if err != nil {
			break
		}
	}
	if last != '\n' {
		h.NewCount++
		sum.write([]byte{'\n'})
		sum.missingNewline()
	}
	h.Hash = sum.String()
	return h
}

// IsBinary tells as git does, by the first 8,000 bytes.
func IsBinary(content []byte) bool { return bytes.IndexByte(content[:min(len(content), 8000)], 0) >= 0 }

// hashOf returns the hash of lines as hunks have it.
func hashOf(lines [][]byte) string {
	sum := newLineHash()
	for _, l := range lines {
		sum.write(l)
		if !bytes.HasSuffix(l, []byte{'\n'}) {
			sum.write([]byte{'\n'})
			sum.missingNewline()
		}
	}
	return sum.String()
}

// A lineHash is the hash of some lines. A missing newline at the end counts.
type lineHash struct{ h hash.Hash }

func newLineHash() *lineHash { return &lineHash{sha256.New()} }

func (s *lineHash) write(b []byte) {
	if s != nil {
		s.h.Write(b)
	}
}

func (s *lineHash) missingNewline() { s.h.Write([]byte{0}) }

func (s *lineHash) String() string { return hex.EncodeToString(s.h.Sum(nil)[:16]) }
