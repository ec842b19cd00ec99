//go:build unix

package hook

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// isPrivate reports whether a folder is ours and nobody else can write to it.
func isPrivate(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && int(st.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}

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
