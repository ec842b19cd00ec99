package plain

import (
	"os"

	"golang.org/x/sys/windows"
)

func lockShared(f *os.File) error { return lock(f, windows.LOCKFILE_FAIL_IMMEDIATELY) }

func lockAlone(f *os.File) error {
	return lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
}

func lock(f *os.File, how uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, new(windows.Overlapped))
}
