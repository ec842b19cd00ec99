//go:build !unix

package plain

import (
	"io"
	"os"
)

const noFollow = 1

func read(name string, limit int64, flags int) ([]byte, error) {
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
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
