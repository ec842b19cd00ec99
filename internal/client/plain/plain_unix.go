//go:build unix

package plain

import "syscall"

const noFollow = syscall.O_NOFOLLOW

// read asks the system itself: package os would set up its poller for every
// file. Nothing is waited for.
func read(name string, limit int64, flags int) ([]byte, error) {
	fd, size, err := open(name, limit, flags)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd)
	data := make([]byte, size)
	done := 0
	for done < len(data) {
		n, err := syscall.Read(fd, data[done:])
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		done += n
	}
	return data[:done], nil
}

func open(name string, limit int64, flags int) (fd int, size int64, err error) {
	for {
		fd, err = syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK|flags, 0)
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
