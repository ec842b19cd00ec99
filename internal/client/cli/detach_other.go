//go:build !unix

package cli

import "os/exec"

// detach does nothing here: a process outlives its parent by itself.
func detach(*exec.Cmd) {}
