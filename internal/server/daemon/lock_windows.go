package daemon

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// hold locks a file for as long as this process lives, alone or with others who
// share it.
func hold(path string, shared bool) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if !shared {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	// A client that looks whether we run holds it for a moment.
	for range 20 {
		err = windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped))
		if !errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err != nil {
		f.Close()
		if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
			return nil, errRunning
		}
		return nil, err
	}
	return f, nil
}
