//go:build (lean || apart) && !unix

package grammar

import (
	"io"
	"os"
	"os/exec"
)

// A child is the running program.
type child struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out io.ReadCloser
}

func start(path string) (*child, error) {
	c := &child{cmd: exec.Command(path)}
	c.cmd.Stderr = os.Stderr
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if c.out, err = c.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	return c, c.cmd.Start()
}

func (c *child) write(p []byte) error {
	_, err := c.in.Write(p)
	return err
}

func (c *child) read(p []byte) error {
	_, err := io.ReadFull(c.out, p)
	return err
}

func (c *child) stop() {
	_ = c.in.Close()
	_ = c.cmd.Wait()
}
