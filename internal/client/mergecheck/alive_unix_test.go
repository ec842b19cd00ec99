//go:build unix

package mergecheck_test

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// alive reports whether a process still runs; one that nobody has waited for
// yet does not.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(data), ") Z ")
}
