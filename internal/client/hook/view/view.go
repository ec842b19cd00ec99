// Package view is what each session has seen of the files of a working copy:
// the lines that it read or wrote itself. With it a hook knows, without asking
// anybody, which lines somebody else changed since, and whether an edit would
// undo them. Of a line only a hash is kept, on this machine.
package view

import (
	"bytes"
	"slices"

	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
)

// A Line stands for the text of a line. Its lowest bit tells, in a File, that
// the session wrote it.
type Line uint64

const mine Line = 1

// text is the line whoever wrote it.
func (l Line) text() Line { return l &^ mine }

// blank is a line without text.
var blank = lineOf([]byte("\n"))

// Lines returns the lines of a text.
func Lines(content []byte) []Line {
	out := make([]Line, 0, bytes.Count(content, []byte{'\n'})+1)
	for len(content) > 0 {
		end := bytes.IndexByte(content, '\n') + 1
		if end == 0 {
			end = len(content)
		}
		out = append(out, lineOf(content[:end]))
		content = content[end:]
	}
	return out
}

// lineOf hashes a line (FNV-1a), white space at its end left out: a file whose
// line ends were changed says the same.
func lineOf(line []byte) Line {
	line = bytes.TrimRight(line, " \t\r\n")
	h := uint64(14695981039346656037)
	for _, b := range line {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return Line(h).text()
}

// A Span is a place in a file as it is now.
type Span struct {
	Start, Count int // lines, from 1; Count is 0 where lines were taken out before Start
	Gone         int // lines that were there before
}

// change is a place at which two versions of a file differ.
type change struct{ old, oldCount, new, newCount int }

// overlaps reports whether an edit takes hold of what changed; both are places in
// the same version: the new one of c, the old one of edit.
func (c change) overlaps(edit change) bool {
	switch {
	case c.newCount > 0 && edit.oldCount > 0:
		return c.new < edit.old+edit.oldCount && edit.old < c.new+c.newCount
	case c.newCount > 0: // put between two lines of it
		return c.new < edit.old && edit.old < c.new+c.newCount
	}
	return edit.old < c.new && c.new < edit.old+edit.oldCount
}

// touches reports whether an edit is at the place of c, or next to it.
func (c change) touches(edit change) bool {
	return c.new <= edit.old+edit.oldCount && edit.old <= c.new+c.newCount
}

// compare returns where two versions differ. Where too much does, it is one
// place: what is not known overlaps.
func compare(before, after []Line) []change {
	a, b := make([]uint64, len(before)), make([]uint64, len(after))
	for i, l := range before {
		a[i] = uint64(l.text())
	}
	for i, l := range after {
		b[i] = uint64(l.text())
	}
	hunks, ok := diff.CompareLines(a, b)
	if !ok {
		start := 0
		for start < min(len(a), len(b)) && a[start] == b[start] {
			start++
		}
		end := 0
		for end < min(len(a), len(b))-start && a[len(a)-1-end] == b[len(b)-1-end] {
			end++
		}
		return []change{{start, len(a) - start - end, start, len(b) - start - end}}
	}
	out := make([]change, len(hunks))
	for i, h := range hunks {
		out[i] = change{h.OldStart - 1, h.OldCount, h.NewStart - 1, h.NewCount}
	}
	return out
}

// A File is what a session has seen of one file.
type File struct {
	Tool, Session string
	Stamp         string // of the file, when nothing in it was unseen; "" if something is
	WroteAt       int64  // when the session last wrote it, in milliseconds; 0 for never
	Lines         []Line
}

// Read tells that the session has read the lines from..to, counted from 1, of
// the file as it is now. Of a file that it sees for the first time, all counts
// as seen: nothing has changed since.
func (f *File) Read(now []Line, from, to int) {
	if f.Lines == nil {
		f.Lines = now
		return
	}
	f.Lines = f.after(now, func(c change) bool { return c.new+c.newCount < from-1 || c.new >= to }, nil, nil)
}

// Wrote tells that the session replaced the file as it was by another version.
// It knows what it wrote; what others had changed elsewhere it still has not seen.
func (f *File) Wrote(was, now []Line) {
	edits := compare(was, now)
	elsewhere := func(c change) bool {
		return !slices.ContainsFunc(edits, c.overlaps)
	}
	f.Lines = f.after(was, elsewhere, edits, now)
}

// after returns what the session knows of a version of the file once it has made
// edits that lead to now. Of what others changed, that which is unseen stays as
// the session knew it.
func (f *File) after(was []Line, unseen func(change) bool, edits []change, now []Line) []Line {
	known := f.Lines
	kept, gone, put := slices.Clone(was), make([]bool, len(was)), make([][]Line, len(was)+1) // put before a line
	i, k := 0, 0
	for _, c := range append(compare(known, was), change{old: len(known), new: len(was)}) {
		k += copy(kept[i:c.new], known[k:c.old])
		i = c.new + c.newCount
		if c.oldCount+c.newCount > 0 && unseen(c) {
			put[c.new] = known[c.old : c.old+c.oldCount]
			fill(gone[c.new:i])
		}
		k = c.old + c.oldCount
	}
	for _, e := range edits {
		written := slices.Clone(put[e.old])
		for _, l := range now[e.new : e.new+e.newCount] {
			written = append(written, l|mine)
		}
		put[e.old] = written
		fill(gone[e.old : e.old+e.oldCount])
	}
	out := make([]Line, 0, max(len(was), len(now)))
	for i, l := range kept {
		out = append(out, put[i]...)
		if !gone[i] {
			out = append(out, l)
		}
	}
	return append(out, put[len(was)]...)
}

func fill(marks []bool) {
	for i := range marks {
		marks[i] = true
	}
}

// Unseen returns what somebody else changed in the file since the session last
// saw it.
func (f *File) Unseen(now []Line) []Span { return spans(compare(f.Lines, now)) }

func spans(changes []change) (out []Span) {
	for _, c := range changes {
		out = append(out, Span{c.new + 1, c.newCount, c.oldCount})
	}
	return out
}

// Lost returns what an edit would undo of that: lines that somebody else wrote
// and that are gone after it, and lines that somebody took out and that are
// back.
func (f *File) Lost(now, after []Line) (out []Span) {
	edits := compare(now, after)
	less := map[Line]int{} // how much more often a line is now than after
	for _, l := range now {
		less[l.text()]++
	}
	for _, l := range after {
		less[l.text()]--
	}
	for _, c := range compare(f.Lines, now) {
		if s, ok := f.lost(c, edits, now, after, less); ok {
			out = append(out, s)
		}
	}
	return out
}

func (f *File) lost(c change, edits []change, now, after []Line, less map[Line]int) (Span, bool) {
	first, last, back := -1, -1, 0
	for _, e := range edits {
		if !c.touches(e) {
			continue
		}
		for i := max(c.new, e.old); i < min(c.new+c.newCount, e.old+e.oldCount); i++ {
			if l := now[i].text(); l == blank || less[l] <= 0 {
				continue
			}
			if first < 0 {
				first = i
			}
			last = i
		}
		returns := map[Line]bool{}
		for _, l := range after[e.new : e.new+e.newCount] {
			returns[l.text()] = true
		}
		for _, l := range f.Lines[c.old : c.old+c.oldCount] {
			if t := l.text(); t != blank && less[t] < 0 && returns[t] {
				back++
			}
		}
	}
	switch {
	case first >= 0:
		return Span{first + 1, last - first + 1, c.oldCount}, true
	case back > 0 && !slices.ContainsFunc(now[c.new:c.new+c.newCount], func(l Line) bool { return l.text() != blank }):
		return Span{c.new + 1, 0, back}, true
	}
	return Span{}, false
}

// written are the lines that the session wrote.
func (f *File) written() map[Line]bool {
	out := map[Line]bool{}
	for _, l := range f.Lines {
		if l&mine != 0 {
			out[l.text()] = true
		}
	}
	return out
}
