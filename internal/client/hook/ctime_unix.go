//go:build unix

package hook

import (
	"io/fs"
	"syscall"
	"time"
)

// changedAt returns when a file last changed in any way. Moving a file in keeps
// its modification time, but not this.
func changedAt(info fs.FileInfo) time.Time {
	t := info.ModTime()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		if c := statusChange(st); c.After(t) {
			return c
		}
	}
	return t
}
