package lsp

import (
	"crypto/sha256"
	"net/url"
	"path/filepath"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/client/marks"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A document is a file that is open in the editor.
type document struct {
	uri  string
	file string // on disk
	path string // in the repository
	repo *repo
	text string

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

// change applies what the editor says was typed.
func (d *document) change(changes []contentChange) {
	for _, c := range changes {
		if c.Range == nil {
			d.text = c.Text
			continue
		}
		start := offset(d.text, 0, c.Range.Start)
		end := max(start, offset(d.text, 0, c.Range.End))
		d.text = d.text[:start] + c.Text + d.text[end:]
	}
}

// offset returns where a position is in a text, of which line counts from from.
func offset(text string, from int, p position) int {
	at := from
	for range p.Line {
		n := strings.IndexByte(text[at:], '\n')
		if n < 0 {
			return len(text)
		}
		at += n + 1
	}
	for units := 0; units < p.Character && at < len(text) && text[at] != '\n'; {
		r, n := utf8.DecodeRuneInString(text[at:])
		units += max(1, utf16.RuneLen(r))
		at += n
	}
	return at
}

// width is how long a line of a text is, as the protocol counts.
func width(text string, line int) (n int) {
	at := offset(text, 0, position{Line: line})
	end := strings.IndexByte(text[at:], '\n')
	if end < 0 {
		end = len(text) - at
	}
	for _, r := range strings.TrimSuffix(text[at:at+end], "\r") {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}
