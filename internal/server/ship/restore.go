package ship

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A State is one that was made again.
type State struct {
	Time time.Time // of the newest commit in it, at most
	Note string    // what to know of it; may be empty
}

// Restore writes the newest state of a moment, of a zero one the newest of all,
// into a new file.
func Restore(dir string, at time.Time, into string) (s State, err error) {
	l, err := list(dir)
	if err != nil {
		return s, err
	}
	if at.IsZero() {
		at = forever
	}
	w, err := l.way(at)
	if err != nil {
		return s, err
	}
	f, err := os.OpenFile(into, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return s, err
	}
	err = errors.Join(w.write(dir, f), f.Close())
	s.Time = w.end().Time
	for _, f := range l.flaws {
		if n := len(w.changes); f.torn && n > 0 && w.changes[n-1].file == f.file {
			s.Note = fmt.Sprintf("%s %s, as after a crash: what was written last may not be in it", filepath.Join(dir, f.file), f.err)
		}
	}
	return s, err
}

func (w way) write(dir string, to *os.File) error {
	put := func(p part) error {
		return p.each(func(n uint32, page []byte) error {
			_, err := to.WriteAt(page, int64(n-1)*int64(p.PageSize))
			return err
		})
	}
	if _, err := parts(filepath.Join(dir, w.file), 0, func(p part, _ int64) error { return put(p) }); err != nil {
		return err
	}
	for _, c := range w.changes {
		p, err := c.again(dir)
		if err == nil {
			err = put(p)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(dir, c.file), err)
		}
	}
	end := w.end()
	return to.Truncate(int64(end.Size) * int64(end.PageSize))
}

// again reads a part that was read before.
func (p place) again(dir string) (part, error) {
	f, err := os.Open(filepath.Join(dir, p.file))
	if err != nil {
		return part{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return part{}, err
	}
	return readPart(f, p.at, info.Size())
}

// A Span is a time of which each state can be restored.
type Span struct {
	From, To       time.Time
	Bases, Changes int
}

// Verify reads all of a directory: of which times states can be restored, what is
// torn, which is no more than a crash leaves behind, and in the error what is
// damaged or missing.
func Verify(dir string) (spans []Span, torn []string, err error) {
	l, err := list(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range l.flaws {
		if f.torn {
			torn = append(torn, fmt.Sprintf("%s %s", filepath.Join(dir, f.file), f.err))
		}
	}
	var wrong []error
	var last *way
	for _, b := range l.bases {
		if b.err != nil {
			wrong = append(wrong, fmt.Errorf("%s %w", filepath.Join(dir, b.file), b.err))
			continue
		}
		w := l.follow(b, forever)
		if last != nil && b.Chain == last.Chain && last.end().Number >= b.number { // it is on the way already
			spans[len(spans)-1].Bases++
			continue
		}
		if what := l.missing(w, w.end().Time); what != "" {
			wrong = append(wrong, errors.New(what))
		}
		last = &w
		spans = append(spans, Span{From: b.Time, To: w.end().Time, Bases: 1, Changes: len(w.changes)})
	}
	if len(spans) == 0 {
		wrong = append(wrong, fmt.Errorf("there is no whole base in %s", dir))
	}
	return spans, torn, errors.Join(wrong...)
}
