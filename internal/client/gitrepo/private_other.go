//go:build !unix

package gitrepo

import "io/fs"

// Private reports whether a folder is ours: elsewhere than on Unix the
// temporary folder is the user's own.
func Private(info fs.FileInfo) bool { return info.IsDir() }

// Owned is not known here.
func Owned(fs.FileInfo) bool { return true }
