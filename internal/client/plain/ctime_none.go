//go:build !unix

package plain

import (
	"io/fs"
	"time"
)

// ChangedAt returns when a file last changed.
func ChangedAt(info fs.FileInfo) time.Time { return info.ModTime() }
