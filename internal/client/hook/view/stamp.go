package view

import (
	"os"
	"strconv"
)

// stampOf tells one state of a file from another, "" where there is none. A file
// that was put in place of another is another.
func stampOf(name string) string {
	info, err := os.Lstat(name)
	if err != nil {
		return ""
	}
	when := strconv.FormatInt(info.ModTime().UnixNano(), 36)
	return strconv.FormatUint(number(info), 36) + "." + strconv.FormatInt(info.Size(), 36) + "." + when
}
