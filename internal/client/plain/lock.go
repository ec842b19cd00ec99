package plain

import (
	"errors"
	"os"
	"time"
)

// Locked reports whether a process holds the lock of a file.
func Locked(path string) bool {
	f, err := Handle(path, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close() // which gives back what was taken
	return lockShared(f) != nil
}

// Lock makes this process the one that holds the lock of a file, until it ends
// or the file is closed. It reports false where another one does. What else
// stands in the file's place is moved aside: it could keep everybody out for
// good.
func Lock(path string) (*os.File, bool) {
	f, err := Handle(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil && InTheWay(err) {
		if _, moved := Aside(path); moved == nil {
			f, err = Handle(path, os.O_CREATE|os.O_RDWR, 0o600)
		}
	}
	if err != nil {
		return nil, false
	}
	if lockAlone(f) != nil {
		f.Close()
		return nil, false
	}
	if gone(f, path) { // its holder removed it when it was done: the lock would keep nobody out
		f.Close()
		return Lock(path)
	}
	return f, true
}

// gone tells whether a file no longer stands under its name.
func gone(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	now, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(mine, now)
}

// LockWithin is Lock that waits for another holder, as long as wait.
func LockWithin(path string, wait time.Duration) (*os.File, bool) {
	for start := time.Now(); ; time.Sleep(time.Millisecond) {
		f, ok := Lock(path)
		if ok || time.Since(start) >= wait {
			return f, ok
		}
	}
}
