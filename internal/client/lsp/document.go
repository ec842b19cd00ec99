package lsp

import (
	"bytes"
	"crypto/sha256"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/client/marks"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A document is a file that is open in the editor.
type document struct {
	uri  string
	file string // on disk
	path string // in the repository
	repo *repo
	text []byte // edited in place: who keeps it takes a copy

	live   wire.LiveFile
	base   string // blob id of the version that this clone's work started from
	marks  []marks.Mark
	inlays []inlayHint
	shown  [sha256.Size]byte // hash of the diagnostics that the editor has
	dirty  bool              // it was edited since it was opened or saved
	wanted bool              // it is in the queue of what to ask about
	waits  []waiting         // for whom somebody waits to leave it
}

// A waiting is a person's wish to hear that somebody is done with a file.
type waiting struct{ session, who string }

// fileOf returns the path of a document on this machine, or "".
func fileOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return ""
	}
	p := u.Path
	if len(p) > 2 && p[0] == '/' && p[2] == ':' { // a drive of Windows
		p = p[1:]
	}
	if real, err := filepath.EvalSymlinks(filepath.FromSlash(p)); err == nil {
		return real
	}
	return filepath.FromSlash(p)
}

// change applies what the editor says was typed, and moves the marks by the lines
// that came and went. It reports whether any moved.
func (d *document) change(changes []contentChange) (moved bool) {
	for _, c := range changes {
		if c.Range == nil {
			d.text = []byte(c.Text)
			continue
		}
		start := offset(d.text, c.Range.Start)
		end := max(start, offset(d.text, c.Range.End))
		if by := shiftOf(d.text, start, end, c.Text); by.FromCount != by.ToCount {
			moved = d.shift(by) || moved
		}
		d.text = slices.Replace(d.text, start, end, []byte(c.Text)...)
	}
	return moved
}

// shiftOf tells which lines of a text an edit replaces by how many. Of whole lines
// these are they; else the line that it begins in is one of them.
func shiftOf(text []byte, start, end int, with string) coord.LineShift {
	first := 1 + bytes.Count(text[:start], []byte{'\n'})
	gone, came := bytes.Count(text[start:end], []byte{'\n'}), strings.Count(with, "\n")
	begins := func(at int) bool { return at == 0 || text[at-1] == '\n' }
	ends := func(at int) bool { return at == len(text) || text[at] == '\n' }
	switch {
	case begins(start) && begins(end) && (with == "" || strings.HasSuffix(with, "\n")):
	case ends(start) && ends(end) && (with == "" || strings.HasPrefix(with, "\n")):
		first++
	default:
		gone, came = gone+1, came+1
	}
	return coord.LineShift{FromStart: first, FromCount: gone, ToStart: first, ToCount: came}
}

// shift moves what is marked by what was typed.
func (d *document) shift(by coord.LineShift) (moved bool) {
	for i := range d.marks {
		moved = d.marks[i].Shift(by) || moved
	}
	for i := range d.inlays {
		at := &d.inlays[i].Position
		now := engine.MoveLines(coord.LineCount{Start: at.Line + 1, Count: 1}, []coord.LineShift{by}).Start - 1
		moved = moved || now != at.Line
		at.Line = now
	}
	return moved
}

// offset returns where a position is in a text.
func offset(text []byte, p position) (at int) {
	for range p.Line {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			return len(text)
		}
		at += n + 1
	}
	for units := 0; units < p.Character && at < len(text) && text[at] != '\n'; {
		r, n := utf8.DecodeRune(text[at:])
		units += max(1, utf16.RuneLen(r))
		at += n
	}
	return at
}

// width is how long a line of a text is, as the protocol counts.
func width(text []byte, line int) (n int) {
	text = text[offset(text, position{Line: line}):]
	if end := bytes.IndexByte(text, '\n'); end >= 0 {
		text = text[:end]
	}
	for _, r := range string(bytes.TrimSuffix(text, []byte{'\r'})) {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}
