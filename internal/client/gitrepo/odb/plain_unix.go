//go:build unix

package odb

import (
	"io"
	"syscall"
)

// ReadFile returns what is in a plain file of at most limit bytes. It asks
// the system itself: package os would set up its poller for every file.
func ReadFile(name string, limit int64) ([]byte, error) {
	fd, size, err := openPlain(name, limit)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	data := make([]byte, size)
	n, err := readAt(fd, data, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	return data[:n], nil
}

// openPlain opens a plain file. A pipe is not waited for, a link not followed.
func openPlain(name string, limit int64) (fd int, size int64, err error) {
	for {
		fd, err = syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
		if err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		return -1, 0, err
	}
	var st syscall.Stat_t
	if err = syscall.Fstat(fd, &st); err == nil && (st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Size > limit) {
		err = ErrNotPlain
	}
	if err != nil {
		syscall.Close(fd)
		return -1, 0, err
	}
	return fd, st.Size, nil
}

// readAt fills data from offset on, or as far as the file goes.
func readAt(fd int, data []byte, offset int64) (int, error) {
	done := 0
	for done < len(data) {
		n, err := syscall.Pread(fd, data[done:], offset+int64(done))
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

func closePlain(fd int) { syscall.Close(fd) }
