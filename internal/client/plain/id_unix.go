//go:build unix

package plain

import (
	"io/fs"
	"strconv"
	"syscall"
)

// ID names a file or folder by its device and number, whatever its path is, and
// tells how many names it has. It is "" where the system does not say.
func ID(info fs.FileInfo) (id string, names uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", 1
	}
	return strconv.FormatUint(uint64(st.Dev), 36) + ":" + strconv.FormatUint(st.Ino, 36), uint64(st.Nlink)
}
