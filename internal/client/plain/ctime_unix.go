//go:build unix

package plain

import (
	"io/fs"
	"syscall"
	"time"
)

// ChangedAt returns when a file last changed in any way. Moving a file in keeps
// its modification time, but not this.
func ChangedAt(info fs.FileInfo) time.Time {
	t := info.ModTime()
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		if c := statusChange(st); c.After(t) {
			return c
		}
	}
	return t
}
