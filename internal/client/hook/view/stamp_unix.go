//go:build unix

package view

import (
	"io/fs"
	"syscall"
)

// number is the file's own, whatever its name.
func number(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}
