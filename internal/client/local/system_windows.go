package local

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// Locked reports whether a process holds the lock of a file.
func Locked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // which gives back what was taken
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped)) != nil
}

// Lock makes this process the one that holds the lock of a file, until it ends
// or the file is closed. It reports false where another one does.
func Lock(path string) (*os.File, bool) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, false
	}
	const alone = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	if windows.LockFileEx(windows.Handle(f.Fd()), alone, 0, 1, 0, new(windows.Overlapped)) != nil {
		f.Close()
		return nil, false
	}
	return f, true
}

// Detach lets a process outlive this one and its console.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}
