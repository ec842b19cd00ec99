package view

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/plain"
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
	f := &File{Tool: s.Tool, Session: s.ID, Stamp: unknown, WroteAt: int64(len(now.Lines)), Lines: now.Lines}
	if e.Known {
		after := Lines(e.After)
		f.Stamp, f.Lines = foreseen+strconv.Itoa(len(after)), append(f.Lines, after...)
	}
	return s.book.keep(s.book.pending(s.repo.Root, e.Path, s.Tool, s.ID), f)
}

// What is known of a pending edit; of one that is known, how many lines the file
// then has. A note that was written in part counts as none.
const (
	unknown  = "unknown"
	foreseen = "foreseen."
)

// begun returns what the session was about to do to a file: the lines before it
// and, if it is known, those after it.
func begun(name string) (was, after []Line, sure, ok bool) {
	p, ok := load(name)
	if !ok || p.WroteAt < 0 || int(p.WroteAt) > len(p.Lines) {
		return nil, nil, false, false
	}
	was, after = p.Lines[:p.WroteAt], p.Lines[p.WroteAt:]
	n, sure := strings.CutPrefix(p.Stamp, foreseen)
	return was, after, sure, p.Stamp == unknown && len(after) == 0 || sure && n == strconv.Itoa(len(after))
}

// forget ends a pending edit. The file stays, for the next edit: to make one and
// take it away costs more than all the rest that is done here before an edit.
func forget(name string, info fs.FileInfo) {
	if !info.Mode().IsRegular() || os.Truncate(name, int64(len(over))) != nil {
		_ = plain.Overwrite(name, []byte(over))
	}
}

// over is as long as the file of an edit that is no longer pending.
const over = "-"

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
	was, after, sure, noted := begun(name)
	if err == nil && info.Size() != int64(len(over)) {
		forget(name, info)
	}
	if !ok {
		return nil
	}
	if err == nil && noted {
		since = info.ModTime()
	}
	alone := !s.busy(path, since)
	switch {
	case noted && sure:
		s.knows(f, known, path, was)
		f.Wrote(was, after)
		if alone { // a formatter of the host, say
			f.Wrote(after, now.Lines)
		}
	case noted && alone:
		s.knows(f, known, path, was)
		f.Wrote(was, now.Lines)
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
	info, err := os.Lstat(name)
	if err != nil || info.Size() == int64(len(over)) {
		return
	}
	_, after, sure, noted := begun(name)
	now, there := Now(s.repo, path)
	if noted && there && sure && slices.Equal(now.Lines, after) {
		_ = s.Wrote(path, time.Time{})
		return
	}
	forget(name, info) // it was not made
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
	list, _ := plain.List(folder)
	own := filepath.Base(s.book.file(s.repo.Root, path, s.Tool, s.ID))
	for _, e := range list {
		if strings.HasPrefix(e.Name(), own) {
			continue
		}
		if strings.HasSuffix(e.Name(), pendingEnd) {
			if info, err := e.Info(); err == nil && info.Size() != int64(len(over)) && time.Since(info.ModTime()) < pendingAge {
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
