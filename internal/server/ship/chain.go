package ship

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Names say where a file's first part stands: a base has the state of its
// number, and changes go on from it.
var named = regexp.MustCompile(`^([0-9]{12})\.(base|changes)$`)

// numberOf reads a name; of one that is not ours it returns 0.
func numberOf(name string) (n int64, isBase bool) {
	m := named.FindStringSubmatch(name)
	if m == nil {
		return 0, false
	}
	n, _ = strconv.ParseInt(m[1], 10, 64) // twelve digits
	return n, m[2] == "base"
}

const unfinished = ".partial"

func baseName(n int64) string    { return fmt.Sprintf("%012d.base", n) }
func changesName(n int64) string { return fmt.Sprintf("%012d.changes", n) }

// A place is where a part stands.
type place struct {
	head
	sum  string
	file string
	at   int64
}

// A base is a file with the whole database.
type base struct {
	file   string
	number int64
	place  // its last part
	before string
	err    error // why it is of no use
}

// A flaw is a part of a file that cannot be read.
type flaw struct {
	file string
	err  error
	torn bool // at the end of a file, behind which nothing comes: whoever wrote it was killed
}

// A listing is all that a directory has.
type listing struct {
	dir     string
	bases   []base
	changes []place
	flaws   []flaw
	highest int64 // number in use
}

// list reads a directory, and all in it.
func list(dir string) (*listing, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	l := &listing{dir: dir}
	for _, e := range entries { // by name, and so by number
		n, isBase := numberOf(e.Name())
		if n == 0 {
			continue
		}
		l.highest = max(l.highest, n)
		if isBase {
			b := base{file: e.Name(), number: n}
			if b.err = b.read(dir); b.err != nil {
				l.flaws = append(l.flaws, flaw{e.Name(), b.err, false})
			}
			l.bases = append(l.bases, b)
			continue
		}
		if err := l.read(e.Name()); err != nil {
			return nil, err
		}
	}
	for _, c := range l.changes {
		l.highest = max(l.highest, c.Number)
	}
	slices.SortStableFunc(l.bases, func(a, b base) int { return cmp.Compare(a.number, b.number) })
	return l, nil
}

// parts calls fn with the parts of a file, as long as they can be read.
func parts(file string, from int64, fn func(p part, at int64) error) (end int64, err error) {
	f, err := os.Open(file)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	for end = from; end < info.Size(); {
		p, err := readPart(f, end, info.Size())
		if err == nil {
			err = fn(p, end)
		}
		if err != nil {
			return end, err
		}
		end += p.size
	}
	return end, nil
}

func (b *base) read(dir string) error {
	sum, whole := "", false
	_, err := parts(filepath.Join(dir, b.file), 0, func(p part, _ int64) error {
		b.place = place{p.head, p.sum, b.file, 0}
		if p.Base == 1 {
			b.before = p.Before
		} else if p.Before != sum || whole {
			return errDamaged
		}
		if p.Number != b.number {
			return errDamaged
		}
		sum, whole = p.sum, p.Last
		return nil
	})
	if err == nil && !whole {
		err = errTorn
	}
	return err
}

// read notes a file of changes, and goes on behind what cannot be read.
func (l *listing) read(name string) error {
	file, from := filepath.Join(l.dir, name), int64(0)
	for {
		at, err := parts(file, from, func(p part, at int64) error {
			l.changes = append(l.changes, place{p.head, p.sum, name, at})
			return nil
		})
		switch {
		case err == nil:
			return nil
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission):
			return err
		}
		next, found := nextPart(file, at+1)
		l.flaws = append(l.flaws, flaw{name, err, !found})
		if !found {
			return nil
		}
		from = next
	}
}

// nextPart finds where the next part begins that can be read.
func nextPart(file string, from int64) (at int64, found bool) {
	f, err := os.Open(file)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	rest, err := io.ReadAll(io.NewSectionReader(f, from, 1<<62))
	if err != nil {
		return 0, false
	}
	for at := 0; ; at++ {
		next := bytes.Index(rest[at:], []byte(magic))
		if next < 0 {
			return 0, false
		}
		at += next
		if _, err := readPart(bytes.NewReader(rest), int64(at), int64(len(rest))); err == nil {
			return from + int64(at), true
		}
	}
}

// A way leads from a base to a state.
type way struct {
	base
	changes []place
}

// end is the state that a way leads to.
func (w way) end() head {
	if n := len(w.changes); n > 0 {
		return w.changes[n-1].head
	}
	return w.base.head
}

// link is what the part behind a way has to name as the one before it.
func (w way) link() string {
	if n := len(w.changes); n > 0 {
		return w.changes[n-1].sum
	}
	return w.base.before
}

// follow returns the way from a base up to a moment.
func (l *listing) follow(b base, until time.Time) way {
	w := way{base: b}
	for _, c := range l.changes {
		if c.Chain == b.Chain && c.Number == w.end().Number+1 && c.Before == w.link() && !c.Time.After(until) {
			w.changes = append(w.changes, c)
		}
	}
	return w
}

// A GapError says up to when a directory is whole.
type GapError struct {
	What string
	To   time.Time
}

func (e *GapError) Error() string { return e.What }

// forever is later than anything.
var forever = time.Unix(1<<40, 0)

// way returns the shortest way to the newest state of a moment. It refuses one
// that leaves out what was shipped before that moment.
func (l *listing) way(until time.Time) (found way, err error) {
	var oldest time.Time
	for _, b := range l.bases {
		if b.err != nil {
			continue
		}
		if oldest.IsZero() {
			oldest = b.Time
		}
		if b.Time.After(until) {
			break
		}
		if w := l.follow(b, until); found.file == "" || w.end().Number >= found.end().Number {
			found = w
		}
	}
	switch {
	case oldest.IsZero():
		return found, errors.Join(fmt.Errorf("there is no whole base in %s", l.dir), l.flawed())
	case found.file == "":
		return found, fmt.Errorf("the oldest state in %s is of %s", l.dir, Stamp(oldest))
	case found.end().Time.Equal(until):
		return found, nil
	}
	if what := l.missing(found, until); what != "" {
		to := found.end().Time
		return found, &GapError{To: to, What: fmt.Sprintf("%s: what was shipped after %s is not whole; --at %s restores what is",
			what, Stamp(to), Stamp(to))}
	}
	return found, nil
}

// missing tells what of the time up to a moment a way leaves out.
func (l *listing) missing(w way, until time.Time) string {
	end := w.end()
	for _, c := range l.changes {
		goesOn := c.Chain == end.Chain && c.Number == end.Number+1 && c.Before == w.link() // and is of later
		if c.Number > end.Number && !goesOn && (c.Chain == end.Chain || !c.Time.After(until)) {
			if f := l.flawOf(c.Number); f != nil {
				return fmt.Sprintf("%s %s", filepath.Join(l.dir, f.file), f.err)
			}
			return fmt.Sprintf("%s is missing", filepath.Join(l.dir, changesName(end.Number+1)))
		}
		if goesOn {
			return ""
		}
	}
	for _, b := range l.bases {
		if b.number > end.Number && b.err != nil && !b.Time.After(until) { // where nothing can be read, time is zero
			return fmt.Sprintf("%s %s", filepath.Join(l.dir, b.file), b.err)
		}
	}
	return ""
}

// flawOf returns what cannot be read before a number.
func (l *listing) flawOf(to int64) *flaw {
	for i := len(l.flaws) - 1; i >= 0; i-- {
		f := l.flaws[i]
		if n, _ := numberOf(f.file); n <= to && !f.torn {
			return &f
		}
	}
	return nil
}

func (l *listing) flawed() error {
	var out []error
	for _, f := range l.flaws {
		out = append(out, fmt.Errorf("%s %w", filepath.Join(l.dir, f.file), f.err))
	}
	return errors.Join(out...)
}

// Stamp writes a moment as commands read it.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
