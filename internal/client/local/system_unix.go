//go:build unix

package local

import (
	"os/exec"
	"syscall"
)

// Detach lets a process outlive this one, whose group a host may end.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
