//go:build unix

package hook

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// bounded reads a file of the system until a moment, without a second thread
// to wait in. It is false for other readers.
func bounded(in io.Reader, until time.Time) (io.Reader, bool) {
	f, ok := in.(*os.File)
	if !ok {
		return nil, false
	}
	return boundedFile{int(f.Fd()), until}, true
}

type boundedFile struct {
	fd    int
	until time.Time
}

func (b boundedFile) Read(p []byte) (int, error) {
	for {
		fds := []unix.PollFd{{Fd: int32(b.fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(max(time.Until(b.until), 0).Milliseconds()))
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, os.ErrDeadlineExceeded
		}
		if n, err = unix.Read(b.fd, p); errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN) {
			continue
		}
		if n == 0 && err == nil {
			return 0, io.EOF
		}
		return max(n, 0), err
	}
}
