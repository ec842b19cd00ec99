//go:build (lean || apart) && unix

package grammar

import (
	"errors"
	"io"
	"syscall"
)

// A child is the running program. It is started below package os, which before
// the first process finds out by one more what the system can do, and watches
// pipes by a poller: both cost an agent more than the parse of a small file.
type child struct {
	pid     int
	in, out int
}

func start(path string) (*child, error) {
	to, err := pipe()
	if err != nil {
		return nil, err
	}
	from, err := pipe()
	if err != nil {
		return nil, errors.Join(err, syscall.Close(to[0]), syscall.Close(to[1]))
	}
	pid, err := syscall.ForkExec(path, []string{path}, &syscall.ProcAttr{
		Env: []string{}, Files: []uintptr{uintptr(to[0]), uintptr(from[1]), 2},
	})
	_ = syscall.Close(to[0])
	_ = syscall.Close(from[1])
	c := &child{pid: pid, in: to[1], out: from[0]}
	if err != nil {
		_ = syscall.Close(c.in)
		_ = syscall.Close(c.out)
		return nil, err
	}
	return c, nil
}

// pipe makes one that other processes do not get.
func pipe() (p [2]int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err = syscall.Pipe(p[:]); err == nil {
		syscall.CloseOnExec(p[0])
		syscall.CloseOnExec(p[1])
	}
	return p, err
}

func (c *child) write(p []byte) error {
	for len(p) > 0 {
		n, err := syscall.Write(c.in, p)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return err
		}
		p = p[max(n, 0):]
	}
	return nil
}

func (c *child) read(p []byte) error {
	for len(p) > 0 {
		n, err := syscall.Read(c.out, p)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return err
		}
		if n == 0 && err == nil {
			return io.ErrUnexpectedEOF
		}
		p = p[max(n, 0):]
	}
	return nil
}

// stop ends the program by ending its input.
func (c *child) stop() {
	_ = syscall.Close(c.in)
	_ = syscall.Close(c.out)
	for {
		if _, err := syscall.Wait4(c.pid, nil, 0, nil); !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}
