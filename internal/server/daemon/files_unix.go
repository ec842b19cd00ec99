//go:build unix

package daemon

import "syscall"

// openFiles is how many files and connections this process may have at once. Go
// has raised it as far as the system allows.
func openFiles() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil || l.Cur > 1<<30 {
		return 1 << 30
	}
	return int(l.Cur)
}
