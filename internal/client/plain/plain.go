// Package plain opens files that somebody else may have put where a hook looks:
// ordinary files only, of a sensible size. A pipe there would keep an agent
// waiting, a device fill the machine's memory. It knows nothing of what is in
// them.
package plain

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ErrNotPlain is returned for a file that is not an ordinary one, or larger than
// it can sensibly be.
var ErrNotPlain = errors.New("not a plain file of a sensible size")

// ErrDamaged is part of the error of a file that svc needs and cannot
// understand. What depends on it says so: no protection ends in silence.
var ErrDamaged = errors.New("damaged")

// Sizes that no file has in which svc keeps something.
const (
	State   = 4 << 20  // small facts
	Record  = 64 << 20 // a line for each file of a working copy
	Entries = 20_000   // files in a folder of svc's own
)

// Read returns what is in a plain file of at most limit bytes. Links are
// followed: people keep their configuration elsewhere and link to it.
func Read(name string, limit int64) ([]byte, error) { return read(name, limit, 0) }

// ReadHere is Read for a file that must not be a link.
func ReadHere(name string, limit int64) ([]byte, error) { return read(name, limit, noFollow) }

// ReadEnd returns the last bytes of a plain file, at most limit.
func ReadEnd(name string, limit int64) ([]byte, error) { return readEnd(name, limit, 0) }

// ReadEndHere is ReadEnd for a file that must not be a link.
func ReadEndHere(name string, limit int64) ([]byte, error) { return readEnd(name, limit, noFollow) }

func read(name string, limit int64, flags int) ([]byte, error) {
	f, err := open(name, limit, flags)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, f.Size)
	n, err := f.ReadAt(data, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	return data[:n], nil
}

func readEnd(name string, limit int64, flags int) ([]byte, error) {
	f, err := open(name, math.MaxInt64, flags)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, min(f.Size, limit))
	n, err := f.ReadAt(data, f.Size-int64(len(data)))
	if err != nil && err != io.EOF {
		return nil, err
	}
	return data[:n], nil
}

// Open opens a plain file of at most limit bytes that is not a link.
func Open(name string, limit int64) (*File, error) { return open(name, limit, noFollow) }

// Handle is os.OpenFile for a plain file that is not a link. It waits for
// nobody: not for the other end of a pipe.
func Handle(name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, flag|openFlags, perm)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotPlain
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// List returns at most Entries names of a folder, in order.
func List(dir string) ([]fs.DirEntry, error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|onlyDir, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(Entries)
	if err != nil && err != io.EOF {
		return nil, err
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// Aside moves what stands in the place of a file out of the way, so that the
// file can be made anew, and returns where it is now. It opens nothing.
func Aside(name string) (string, error) {
	to := name + ".damaged-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	return to, os.Rename(name, to)
}

// InTheWay reports whether err says that something else than a file of ours
// stands in its place.
func InTheWay(err error) bool {
	if errors.Is(err, ErrNotPlain) || errors.Is(err, fs.ErrPermission) {
		return true
	}
	obstacles := []error{syscall.EISDIR, syscall.ENOTDIR, syscall.ELOOP, syscall.ENXIO, syscall.ENODEV, fs.ErrExist, syscall.ENOTEMPTY}
	return slices.ContainsFunc(obstacles, func(e error) bool { return errors.Is(err, e) })
}

// Append adds text to a file that only its owner can read. What else stands in
// its place is moved aside.
func Append(name, text string) error {
	err := appendTo(name, text)
	if err != nil && InTheWay(err) {
		if _, moved := Aside(name); moved == nil {
			err = appendTo(name, text)
		}
	}
	return err
}

func appendTo(name, text string) error {
	f, err := Handle(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// Overwrite puts content in a file where it is: the cheapest way, for notes that a
// reader can tell from half of one. A file that is cut to nothing first, or put
// in another's place, has file systems write it out at once.
func Overwrite(name string, content []byte) error {
	f, err := Handle(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		if InTheWay(err) {
			return Write(name, content)
		}
		return err
	}
	_, err = f.WriteAt(content, 0)
	if info, no := f.Stat(); err == nil && (no != nil || info.Size() > int64(len(content))) {
		err = f.Truncate(int64(len(content))) // which costs more than all of the rest
	}
	return errors.Join(err, f.Close())
}

// Replace puts a file in place that was written under another name in the same
// folder. What else stands in its place is moved aside.
func Replace(temp, name string) error {
	err := os.Rename(temp, name)
	if err != nil && InTheWay(err) {
		if info, e := os.Lstat(name); e == nil && info.IsDir() {
			if _, e := Aside(name); e == nil {
				err = os.Rename(temp, name)
			}
		}
	}
	if err != nil {
		os.Remove(temp)
	}
	return err
}

// Write puts content in a file that only its owner can read, all at once: a
// reader sees what was there before or all of what is there now.
func Write(name string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*") // O_EXCL, 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(f.Name())
		return err
	}
	return Replace(f.Name(), name)
}
