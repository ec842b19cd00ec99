//go:build unix

package plain

import (
	"io"
	"syscall"
)

const (
	noFollow  = syscall.O_NOFOLLOW
	openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	onlyDir   = syscall.O_DIRECTORY | syscall.O_NONBLOCK
)

// A File is one that is open for reading. It asks the system itself: package os
// would set up its poller for every file.
type File struct {
	Size int64 // when it was opened
	fd   int
}

func open(name string, limit int64, flags int) (*File, error) {
	var fd int
	var err error
	for {
		fd, err = syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK|flags, 0)
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	var st syscall.Stat_t
	if err = syscall.Fstat(fd, &st); err == nil && (st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Size > limit) {
		err = ErrNotPlain
	}
	if err != nil {
		syscall.Close(fd)
		return nil, err
	}
	return &File{Size: st.Size, fd: fd}, nil
}

// ReadAt fills data from offset on, or as far as the file goes.
func (f *File) ReadAt(data []byte, offset int64) (int, error) {
	done := 0
	for done < len(data) {
		n, err := syscall.Pread(f.fd, data[done:], offset+int64(done))
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return done, err
		case n == 0:
			return done, io.EOF
		}
		done += n
	}
	return done, nil
}

// Close gives it back.
func (f *File) Close() error { return syscall.Close(f.fd) }
