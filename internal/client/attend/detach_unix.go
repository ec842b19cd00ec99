//go:build unix

package attend

import (
	"os/exec"
	"syscall"
)

// Detach lets a process outlive this one: hosts end a hook's whole group.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
