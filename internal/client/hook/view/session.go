package view

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/plain"
)

// MaxFile is the size of the largest file of which is known who saw what.
const MaxFile = 4 << 20

// A Session is one that reads and writes files of a working copy.
type Session struct {
	Tool, ID string
	book     Book
	repo     *gitrepo.Repo
}

// Of returns a session at work in a working copy.
func Of(s *spool.Spool, repo *gitrepo.Repo, tool, id string) Session {
	return Session{tool, id, In(s), repo}
}

// A Content is a file as it is on disk.
type Content struct {
	Text  []byte
	Lines []Line
	Stamp string
}

// Now reads a file of the working copy; one that is not there is empty. It is
// false for what is no text of a sensible size.
func Now(repo *gitrepo.Repo, path string) (c Content, ok bool) {
	name := filepath.Join(repo.Root, filepath.FromSlash(path))
	c.Stamp = stampOf(name)
	if c.Stamp == "" {
		_, err := os.Lstat(name)
		return c, os.IsNotExist(err)
	}
	text, err := plain.ReadHere(name, MaxFile)
	if err != nil || strings.IndexByte(string(text[:min(len(text), 8000)]), 0) >= 0 {
		return c, false
	}
	c.Text, c.Lines = text, Lines(text)
	return c, true
}

// Read notes that the session is shown lines of a file.
func (s Session) Read(path string, from, to int) error {
	f, known := s.book.Load(s.repo.Root, path, s.Tool, s.ID)
	name := filepath.Join(s.repo.Root, filepath.FromSlash(path))
	if known && f.Stamp != "" && f.Stamp == stampOf(name) {
		return nil
	}
	now, ok := Now(s.repo, path)
	if !ok || now.Stamp == "" {
		return nil
	}
	if from < 1 {
		from, to = len(now.Lines)+from, math.MaxInt
	}
	f.Read(now.Lines, from, to)
	return s.save(path, f, now)
}

func (s Session) save(path string, f *File, now Content) error {
	f.Stamp = ""
	if len(compare(f.Lines, now.Lines)) == 0 {
		f.Stamp = now.Stamp
	}
	return s.book.Save(s.repo.Root, path, f)
}

// An Edit is what is about to happen to a file.
type Edit struct {
	Path  string
	Known bool   // After is what it leads to
	After []byte // nothing, if the file is taken away
	Gone  bool
	// Quotes tells that the edit names the text that it replaces: then its
	// author has seen it.
	Quotes bool
	// Blind tells that the edit replaces all of the file by something that is not
	// known: what its author has not seen, it may undo.
	Blind bool
	Many  bool // it is one of many, of which only those are looked at that a session saw
}

// A Verdict is what an edit does to what others changed since the session last
// saw the file.
type Verdict struct {
	Path   string
	Never  bool    // the session never saw the file
	Lost   []Span  // what it would undo
	Near   []Span  // what it leaves alone, in a definition that it changes too
	Unsure []Span  // what it may undo: nobody can tell
	Maybe  bool    // nobody can tell whether it undoes what is Lost
	Text   []byte  // of the file now
	By     []*File // other sessions that wrote lines of it, the last first
	// Unnamed tells that some of it is nobody's whom svc knows: a person's or a
	// program's, or lines that were taken out.
	Unnamed bool
}

// Clear reports that there is nothing to say.
func (v Verdict) Clear() bool { return len(v.Lost)+len(v.Near)+len(v.Unsure) == 0 }

// Check compares an edit with what others changed in the file. It is false
// where nothing can be told of the file at all.
func (s Session) Check(e Edit) (Verdict, bool) {
	v := Verdict{Path: e.Path}
	s.settle(e.Path)
	f, known := s.book.Load(s.repo.Root, e.Path, s.Tool, s.ID)
	name := filepath.Join(s.repo.Root, filepath.FromSlash(e.Path))
	stamp := stampOf(name)
	if stamp == "" || known && f.Stamp == stamp {
		return v, stamp != "" || !known || len(f.Lines) == 0
	}
	if !known && (!e.Known && !e.Blind || e.Quotes || e.Many && !s.others(e.Path)) {
		return v, false
	}
	now, ok := Now(s.repo, e.Path)
	if !ok {
		return v, false
	}
	if !known {
		base, ok := s.committed(e.Path)
		if !ok && !s.others(e.Path) {
			return v, true // new, and no agent's
		}
		v.Never, f.Lines = true, base
	}
	v.Text = now.Text
	s.judge(&v, f, now, e)
	if !v.Clear() {
		s.attribute(&v, now)
	}
	return v, true
}

func (s Session) judge(v *Verdict, f *File, now Content, e Edit) {
	unseen := compare(f.Lines, now.Lines)
	switch {
	case len(unseen) == 0:
	case !e.Known && e.Quotes: // its text is not there any more: the tool says so itself
	case e.Blind:
		v.Lost, v.Maybe = spans(unseen), true
	case !e.Known:
		v.Unsure = spans(unseen)
	default:
		after := Lines(e.After)
		if !e.Quotes {
			v.Lost = f.Lost(now.Lines, after)
		}
		if len(v.Lost) == 0 && !e.Gone {
			v.Near = near(unseen, compare(now.Lines, after), now.Text)
		}
	}
}

// committed returns the lines of a file at the last commit: what a session that
// never saw the file may take for its content.
func (s Session) committed(path string) ([]Line, bool) {
	store := s.repo.Store()
	defer store.Close()
	entry, err := store.Entry(s.repo.Head().SHA, path)
	if err != nil || entry == nil {
		return nil, false
	}
	kind, text, err := store.Read(entry.ID, MaxFile)
	if err != nil || kind != "blob" {
		return nil, false
	}
	return Lines(text), true
}

// others reports whether another session wrote a file.
func (s Session) others(path string) bool {
	for _, o := range s.book.Others(s.repo.Root, path, s.Tool, s.ID) {
		if o.WroteAt > 0 {
			return true
		}
	}
	return false
}

// attribute finds the sessions that wrote the lines in question. For a line that
// none of them wrote, and for lines that are not there any more, nobody is named.
func (s Session) attribute(v *Verdict, now Content) {
	writers := slices.DeleteFunc(s.book.Others(s.repo.Root, v.Path, s.Tool, s.ID), func(o *File) bool { return o.WroteAt == 0 })
	slices.SortFunc(writers, func(a, b *File) int { return cmp.Compare(b.WroteAt, a.WroteAt) })
	named := make([]bool, len(writers))
	lines := make([]map[Line]bool, len(writers))
	for i, o := range writers {
		lines[i] = o.written()
	}
	for _, place := range slices.Concat(v.Lost, v.Near, v.Unsure) {
		v.Unnamed = v.Unnamed || place.Count == 0
		for _, l := range now.Lines[place.Start-1 : place.Start-1+place.Count] {
			i := slices.IndexFunc(lines, func(own map[Line]bool) bool { return own[l.text()] })
			if i >= 0 {
				named[i] = true
			} else if l.text() != blank {
				v.Unnamed = true
			}
		}
	}
	for i, o := range writers {
		if named[i] {
			v.By = append(v.By, o)
		}
	}
	v.Unnamed = v.Unnamed || len(v.By) == 0
}

// Told notes that the session was told of lines, and shown them.
func (s Session) Told(v Verdict) error {
	f, known := s.book.Load(s.repo.Root, v.Path, s.Tool, s.ID)
	if !known {
		f.Lines, _ = s.committed(v.Path)
		if f.Lines == nil {
			f.Lines = []Line{}
		}
	}
	now := Lines(v.Text)
	for _, list := range [][]Span{v.Lost, v.Near, v.Unsure} {
		for _, span := range list {
			f.Read(now, span.Start, span.Start+max(span.Count, 1)-1)
		}
	}
	f.Stamp = ""
	return s.book.Save(s.repo.Root, v.Path, f)
}
