//go:build !unix

package attend

import "os/exec"

// Detach does nothing here: a process outlives its parent by itself.
func Detach(*exec.Cmd) {}
