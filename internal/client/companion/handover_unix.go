//go:build unix

package companion

import (
	"os"
	"syscall"
)

// takePlace runs a program in this process: signals, files and exit code are
// its own. It returns only if it cannot.
func takePlace(path string, args []string) (int, error) {
	return 0, &os.PathError{Op: "exec", Path: path, Err: syscall.Exec(path, args, os.Environ())}
}
