package local

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// Detach lets a process outlive this one and its console.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}
