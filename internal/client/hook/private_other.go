//go:build !unix

package hook

import (
	"io/fs"
	"time"
)

// isPrivate trusts the temp folder, which is the user's own here.
func isPrivate(info fs.FileInfo) bool { return info.IsDir() }

func changedAt(info fs.FileInfo) time.Time { return info.ModTime() }
