//go:build unix

package local

import (
	"os"
	"os/exec"
	"syscall"
)

// locked reports whether a process holds the lock of a file.
func locked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() // which gives back what was taken
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) != nil
}

// Detach lets a process outlive this one, whose group a host may end.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
