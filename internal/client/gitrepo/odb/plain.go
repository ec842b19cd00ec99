package odb

import (
	"errors"
	"math"
	"strings"
)

// ErrNotPlain is returned for a file that is not an ordinary one, or larger
// than it can sensibly be. Whoever made a working copy chose what lies in its
// .git folder: a pipe there would keep us waiting, a link lead us elsewhere,
// a huge file fill our memory.
var ErrNotPlain = errors.New("not a plain file of a sensible size")

// Limits of what is read of a git folder.
const (
	maxLine  = 4096      // HEAD, a reference, where a worktree's folder is
	MaxText  = 1 << 20   // config, exclude, attributes
	maxRefs  = 64 << 20  // packed-refs
	MaxIndex = 512 << 20 // about five million files
)

// ReadLine returns the first line of a small file, or "".
func ReadLine(name string) string {
	data, err := ReadFile(name, maxLine)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return strings.TrimSpace(line)
}

// ReadEnd returns the last bytes of a file, at most limit.
func ReadEnd(name string, limit int64) ([]byte, error) {
	fd, size, err := openPlain(name, math.MaxInt64)
	if err != nil {
		return nil, err
	}
	defer closePlain(fd)
	data := make([]byte, min(size, limit))
	_, err = readAt(fd, data, size-int64(len(data)))
	return data, err
}
