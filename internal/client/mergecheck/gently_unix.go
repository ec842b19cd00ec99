//go:build unix

package mergecheck

import (
	"os/exec"
	"syscall"
)

// gently makes a checker a group of its own, so that all that it starts ends
// with it.
func gently(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// settle puts a checker that runs behind everything else.
func settle(cmd *exec.Cmd) { _ = syscall.Setpriority(syscall.PRIO_PGRP, cmd.Process.Pid, 19) }

// Yield puts this process behind everything else.
func Yield() { _ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10) }
