//go:build !unix

package odb

import (
	"io"
	"os"
	"sync"
)

// ReadFile returns what is in a plain file of at most limit bytes.
func ReadFile(name string, limit int64) ([]byte, error) {
	info, err := os.Lstat(name)
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

// Open files by number, as the other systems have them.
var (
	openMu    sync.Mutex
	openFiles = map[int]*os.File{}
	openNext  int
)

func openPlain(name string, limit int64) (fd int, size int64, err error) {
	info, err := os.Lstat(name)
	if err != nil {
		return -1, 0, err
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return -1, 0, ErrNotPlain
	}
	f, err := os.Open(name)
	if err != nil {
		return -1, 0, err
	}
	openMu.Lock()
	defer openMu.Unlock()
	openNext++
	openFiles[openNext] = f
	return openNext, info.Size(), nil
}

func readAt(fd int, data []byte, offset int64) (int, error) {
	openMu.Lock()
	f := openFiles[fd]
	openMu.Unlock()
	return f.ReadAt(data, offset)
}

func closePlain(fd int) {
	openMu.Lock()
	defer openMu.Unlock()
	openFiles[fd].Close()
	delete(openFiles, fd)
}
