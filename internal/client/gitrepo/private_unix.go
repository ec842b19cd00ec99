//go:build unix

package gitrepo

import (
	"io/fs"
	"os"
	"syscall"
)

// Private reports whether a folder is ours and nobody else can write to it.
func Private(info fs.FileInfo) bool {
	return info.IsDir() && Owned(info) && info.Mode().Perm()&0o077 == 0
}

// Owned reports whether a file or folder belongs to this user.
func Owned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}
