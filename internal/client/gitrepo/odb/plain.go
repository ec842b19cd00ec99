package odb

import (
	"strings"

	"github.com/svc-hq/svc/internal/client/plain"
)

// Whoever made a working copy chose what lies in its .git folder: a pipe there
// would keep us waiting, a link lead us elsewhere, a huge file fill our memory.

// Limits of what is read of a git folder.
const (
	maxLine  = 4096      // HEAD, a reference, where a worktree's folder is
	MaxText  = 1 << 20   // config, exclude, attributes
	maxRefs  = 64 << 20  // packed-refs
	MaxIndex = 512 << 20 // about five million files
	maxFan   = 64 << 20  // names of a pack that begin with the same byte
)

// ReadLine returns the first line of a small file, or "".
func ReadLine(name string) string {
	data, err := plain.ReadHere(name, maxLine)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}
