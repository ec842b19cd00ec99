//go:build unix

package mergecheck

import (
	"os"
	"os/exec"
	"syscall"
)

// gently makes a checker a group of its own, so that all that it starts ends
// with it.
func gently(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// settle puts a checker that runs behind everything else, and within limits.
func settle(cmd *exec.Cmd, c *Check) {
	behind := 10
	if c.Waiting {
		behind = 5
	}
	_ = syscall.Setpriority(syscall.PRIO_PGRP, cmd.Process.Pid, behind)
	limit(cmd.Process.Pid, c.Memory, c.Budget)
}

// finish ends what a checker left behind.
func finish(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// Yield puts this process behind everything else.
func Yield() { _ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10) }

// takeLock takes a lock on a file, unless another process has it.
func takeLock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
