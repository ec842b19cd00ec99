//go:build !unix

package hook

import (
	"io/fs"
	"time"
)

func changedAt(info fs.FileInfo) time.Time { return info.ModTime() }
