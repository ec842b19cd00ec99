//go:build !unix

package plain

import "io/fs"

// ID names a file or folder by its device and number, whatever its path is, and
// tells how many names it has. It is "" where the system does not say.
func ID(fs.FileInfo) (id string, names uint64) { return "", 1 }
