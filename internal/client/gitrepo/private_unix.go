//go:build unix

package gitrepo

import (
	"io/fs"
	"os"
	"syscall"
)

// Private reports whether a folder is ours and nobody else can write to it.
func Private(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.IsDir() && int(st.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
