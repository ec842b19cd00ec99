//go:build !unix

package plain

import "os"

const (
	noFollow  = 1 // a mark of ours: the system has no such flag
	openFlags = 0
	onlyDir   = 0
)

// A File is one that is open for reading.
type File struct {
	*os.File
	Size int64 // when it was opened
}

func open(name string, limit int64, flags int) (*File, error) {
	look := os.Stat
	if flags == noFollow {
		look = os.Lstat
	}
	info, err := look(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, ErrNotPlain
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return &File{f, info.Size()}, nil
}
