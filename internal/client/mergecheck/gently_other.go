//go:build !unix

package mergecheck

import "os/exec"

func gently(*exec.Cmd) {}

func settle(*exec.Cmd) {}

// Yield does nothing where priorities are not known.
func Yield() {}
