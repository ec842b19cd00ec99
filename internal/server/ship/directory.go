package ship

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/svc-hq/svc/internal/server/store/db"
)

const (
	// A file of changes ends when it has become this large or old.
	fullFile = 8 << 20
	oldFile  = time.Hour
	// basePages is how many pages of a base are one part.
	basePages = 256
)

// A directory is what one server ships into, while it holds the lock.
type directory struct {
	path     string
	database string
	lock     io.Closer
	now      func() time.Time

	last  head   // of the newest part of changes, or the state of the base that the chain begins with
	sum   string // what the next part names as the one before it
	file  *os.File
	size  int64
	since time.Time // of file
}

// An OccupiedError says that a directory belongs to another server.
type OccupiedError struct{ Why string }

func (e *OccupiedError) Error() string { return e.Why }

// occupy takes a directory, and reads what is there.
func occupy(path, database string, lock func(string) (io.Closer, error), now func() time.Time) (*directory, *listing, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil, nil, firstOf(err, fmt.Errorf("%s is no directory", path))
	}
	held, err := lock(filepath.Join(path, lockName))
	if err != nil {
		return nil, nil, err
	}
	d := &directory{path: path, database: database, lock: held, now: now}
	l, err := list(path)
	if err == nil {
		err = l.of(database)
	}
	if err != nil {
		held.Close()
		return nil, nil, err
	}
	d.last.Number = l.highest
	d.tidy()
	return d, l, nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// of refuses a directory with another database in it.
func (l *listing) of(database string) error {
	heads := make([]head, 0, len(l.bases)+len(l.changes))
	for _, b := range l.bases {
		heads = append(heads, b.head)
	}
	for _, c := range l.changes {
		heads = append(heads, c.head)
	}
	for _, h := range heads {
		if h.Database != "" && h.Database != database {
			return &OccupiedError{fmt.Sprintf("%s has what the server of another database shipped: name another directory with --ship-to",
				l.dir)}
		}
	}
	return nil
}

// goOn takes up a chain where the newest part of all ends it, and returns where
// that is in SQLite's log.
func (d *directory) goOn(l *listing) (at db.Position, ok bool) {
	w, err := l.way(forever)
	if err != nil || len(l.flaws) > 0 || w.end().Number != l.highest {
		return at, false
	}
	d.last, d.sum = w.end(), w.link()
	return d.last.At, true
}

const lockName = "lock"

// there returns an error if the directory is gone: a file that was removed takes
// what is written all the same.
func (d *directory) there() error {
	_, err := os.Lstat(filepath.Join(d.path, lockName))
	if err == nil && d.file != nil {
		_, err = os.Lstat(d.file.Name())
	}
	return err
}

// close gives the directory back.
func (d *directory) close() {
	if d.file != nil {
		d.file.Close()
	}
	d.lock.Close()
}

// moment is what a part is stamped with: nothing in it was committed later.
func (d *directory) moment() time.Time {
	t := d.now().UTC().Truncate(time.Millisecond).Add(time.Millisecond)
	if t.Before(d.last.Time) {
		return d.last.Time // the clock was put back
	}
	return t
}

// add writes changes behind the newest, and returns once the disk has them.
func (d *directory) add(c db.Changes) error {
	if len(c.Pages) == 0 {
		return nil
	}
	h := head{Database: d.database, Chain: d.last.Chain, Number: d.last.Number + 1, Before: d.sum, Time: d.moment(), PageSize: c.PageSize,
		Size: c.Size, At: c.At}
	text, sum, err := packed(c).sealed(h)
	if err != nil {
		return err
	}
	if d.file == nil || d.size > fullFile || d.now().Sub(d.since) > oldFile {
		if err := d.begin(changesName(h.Number)); err != nil {
			return err
		}
	}
	if _, err = d.file.Write(text); err == nil {
		err = d.file.Sync()
	}
	if err == nil {
		err = d.there()
	}
	if err != nil {
		d.file.Truncate(d.size) // as far as the disk lets us
		return err
	}
	d.size += int64(len(text))
	d.last, d.sum = h, sum
	return nil
}

// begin begins a file of changes.
func (d *directory) begin(name string) error {
	if d.file != nil {
		d.file.Close()
	}
	f, err := os.OpenFile(filepath.Join(d.path, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return &OccupiedError{fmt.Sprintf("another server ships into %s, too: give each its own directory with --ship-to", d.path)}
	}
	if err != nil {
		return err
	}
	d.file, d.size, d.since = f, 0, d.now()
	return syncFolder(d.path)
}

// start begins a chain of its own, behind all that there is.
func (d *directory) start() {
	d.sum = rand.Text()
	d.last = head{Database: d.database, Chain: d.sum, Number: d.last.Number + 1, Time: d.moment()}
}

// base returns what writes the database as it is now: a moment's work, after
// which changes can go on behind it.
func (d *directory) base(at db.Position) func(read func(func(uint32, []byte) error) error) error {
	h, before := d.last, d.sum
	h.At, h.Base, h.Last = at, 0, false
	if d.file != nil { // what is older than the base is in files that are wholly so
		d.file.Close()
		d.file = nil
	}
	return func(read func(func(uint32, []byte) error) error) error {
		name := filepath.Join(d.path, baseName(h.Number))
		err := writeBase(name+unfinished, h, before, read)
		if err == nil {
			err = os.Rename(name+unfinished, name)
		}
		if err == nil {
			err = syncFolder(d.path)
		}
		if err != nil {
			os.Remove(name + unfinished) // it may be what filled the disk
		}
		return err
	}
}

func writeBase(file string, h head, before string, read func(func(uint32, []byte) error) error) (err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	p, h2 := newPack(), h
	flush := func(last bool) error {
		h2.Base, h2.Before, h2.Last = h2.Base+1, before, last
		text, sum, err := p.sealed(h2)
		if err == nil {
			_, err = f.Write(text)
		}
		before, p = sum, newPack()
		return err
	}
	err = read(func(n uint32, page []byte) error {
		h2.PageSize, h2.Size = len(page), max(h2.Size, n)
		p.add(n, page)
		if p.count < basePages {
			return nil
		}
		return flush(false)
	})
	if err == nil {
		err = flush(true)
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return err
	}
	b := base{file: filepath.Base(file), number: h.Number} // a disk that wrote something else is found out now
	return b.read(filepath.Dir(file))
}

// syncFolder has the disk keep a folder's names. Windows keeps them by itself.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// forget removes what is not needed for any state since a moment.
func (d *directory) forget(since time.Time) error {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return err
	}
	keep := int64(0)
	for _, e := range entries {
		if n, isBase := numberOf(e.Name()); isBase {
			if t, err := timeOf(filepath.Join(d.path, e.Name())); err == nil && !t.After(since) {
				keep = n
			}
		}
	}
	for _, e := range entries { // a base ends the file of changes before it
		if n, isBase := numberOf(e.Name()); n > 0 && (n < keep || n == keep && !isBase) {
			err = errors.Join(err, os.Remove(filepath.Join(d.path, e.Name())))
		}
	}
	return err
}

// timeOf returns of when a base is.
func timeOf(file string) (t time.Time, err error) {
	f, err := os.Open(file)
	if err != nil {
		return t, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return t, err
	}
	p, err := readPart(f, 0, info.Size())
	return p.Time, err
}

// tidy removes what was begun and never ended.
func (d *directory) tidy() {
	begun, _ := filepath.Glob(filepath.Join(d.path, "*.base"+unfinished)) // the pattern is well formed
	for _, file := range begun {
		os.Remove(file)
	}
}
