package view

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Between the moments before and after a tool runs, a pending edit lies beside
// the session's view: what the file was, and what it is to become. What else is
// in the file afterwards somebody wrote in between.

const pendingEnd = ".pending"

// pendingAge is how long after a session was about to write a file its edit may
// still happen: a person may be asked first.
const pendingAge = 10 * time.Minute

func (b Book) pending(root, path, tool, session string) string {
	return b.file(root, path, tool, session) + pendingEnd
}

// Begin notes that the session is about to edit a file.
func (s Session) Begin(e Edit) error {
	if s.book.dir == "" {
		return nil
	}
	now, ok := Now(s.repo, e.Path)
	if !ok {
		return nil
	}
	f := &File{Tool: s.Tool, Session: s.ID, Stamp: "unknown", WroteAt: int64(len(now.Lines)), Lines: now.Lines}
	if e.Known {
		f.Stamp, f.Lines = "known", append(f.Lines, Lines(e.After)...)
	}
	return s.book.keep(s.book.pending(s.repo.Root, e.Path, s.Tool, s.ID), f)
}

// Wrote notes that the session has edited a file: as it told before, or, where
// it could not, as the file is now. since is when the tool began, if nothing
// was noted before it.
func (s Session) Wrote(path string, since time.Time) error {
	if s.book.dir == "" {
		return nil
	}
	now, ok := Now(s.repo, path)
	f, known := s.book.Load(s.repo.Root, path, s.Tool, s.ID)
	name := s.book.pending(s.repo.Root, path, s.Tool, s.ID)
	info, err := os.Lstat(name)
	p, begun := load(name)
	_ = os.Remove(name)
	if !ok {
		return nil
	}
	if err == nil && begun {
		since = info.ModTime()
	}
	alone := !s.busy(path, since)
	switch {
	case begun && p.Stamp == "known" && p.WroteAt >= 0 && int(p.WroteAt) <= len(p.Lines):
		was, after := p.Lines[:p.WroteAt], p.Lines[p.WroteAt:]
		s.knows(f, known, path, was)
		f.Wrote(was, after)
		if alone { // a formatter of the host, say
			f.Wrote(after, now.Lines)
		}
	case begun && alone:
		s.knows(f, known, path, p.Lines)
		f.Wrote(p.Lines, now.Lines)
	case alone && (known || !s.others(path)):
		if !known {
			f.Lines, _ = s.committed(path)
		}
		f.Wrote(f.Lines, now.Lines)
	default:
		return nil // whose lines they are cannot be told
	}
	f.WroteAt = time.Now().UnixMilli()
	return s.save(path, f, now)
}

// settle takes in an edit of which no event told that it was made.
func (s Session) settle(path string) {
	if s.book.dir == "" {
		return
	}
	name := s.book.pending(s.repo.Root, path, s.Tool, s.ID)
	if _, err := os.Lstat(name); err != nil {
		return
	}
	p, ok := load(name)
	now, there := Now(s.repo, path)
	if ok && there && p.Stamp == "known" && int(p.WroteAt) <= len(p.Lines) && slices.Equal(now.Lines, p.Lines[p.WroteAt:]) {
		_ = s.Wrote(path, time.Time{})
		return
	}
	_ = os.Remove(name) // it was not made
}

// knows has a session that never saw a file know it as it was committed, or as
// it was if nobody else wrote it.
func (s Session) knows(f *File, known bool, path string, was []Line) {
	if known {
		return
	}
	if f.Lines = was; s.others(path) {
		f.Lines, _ = s.committed(path)
	}
	if f.Lines == nil {
		f.Lines = []Line{}
	}
}

// busy reports whether another session wrote a file since a moment, or is about
// to.
func (s Session) busy(path string, since time.Time) bool {
	folder := s.book.of(s.repo.Root, path)
	list, _ := os.ReadDir(folder)
	own := filepath.Base(s.book.file(s.repo.Root, path, s.Tool, s.ID))
	for _, e := range list {
		if strings.HasPrefix(e.Name(), own) {
			continue
		}
		if strings.HasSuffix(e.Name(), pendingEnd) {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) < pendingAge {
				return true
			}
			continue
		}
		if f, ok := load(filepath.Join(folder, e.Name())); ok && f.WroteAt >= since.UnixMilli() {
			return true
		}
	}
	return false
}

// Refused forgets an edit that was about to be made.
func (s Session) Refused(path string) {
	if s.book.dir != "" {
		_ = os.Remove(s.book.pending(s.repo.Root, path, s.Tool, s.ID))
	}
}
