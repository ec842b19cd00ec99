//go:build !unix

package mergecheck_test

import "os"

// alive reports whether a process still runs: one that has ended is not found.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	return p.Release() == nil
}
