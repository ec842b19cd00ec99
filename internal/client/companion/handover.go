package companion

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// HandOver has the svc with all commands take the place of this process. Where
// it cannot, since there is no folder to unpack it to, or this system knows no
// such thing, it runs beside this one, whose exit code is returned.
func HandOver(args []string) int {
	if len(args) == 3 && args[0] == partCommand {
		return answer(Program(args[1]), args[2])
	}
	self, err := os.Executable()
	if err == nil {
		var code int
		if code, err = handOver(append([]string{self}, args...)); err == nil {
			return code
		}
	}
	if errors.Is(err, ErrNone) {
		err = errors.New("this is a part of svc alone; build it with make build, or without the tag lean")
	}
	fmt.Fprintln(os.Stderr, "svc:", err)
	return 1
}

func handOver(args []string) (code int, err error) {
	if len(args) > 1 && args[1] == "doctor" { // who asks for it wants to know
		for _, p := range []Program{Reader, Parser} {
			if path, err := Path(p); err == nil {
				Repair(path)
			}
		}
	}
	path, err := Path(Reader)
	if err == nil {
		if code, err = takePlace(path, args); err != nil && Repair(path) {
			if path, err = Path(Reader); err == nil {
				code, err = takePlace(path, args)
			}
		}
	}
	if err == nil || errors.Is(err, ErrNone) {
		return code, err
	}
	// The cache is no place for programs: one that is gone afterwards may be.
	dir, failed := os.MkdirTemp("", "svc-*")
	if failed != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if path, failed = PathIn(dir, Reader); failed != nil {
		return 0, err
	}
	return beside(path, args)
}

// beside runs a program as if it were this one.
func beside(path string, args []string) (code int, err error) {
	cmd := exec.Command(path)
	cmd.Args, cmd.Stdin, cmd.Stdout, cmd.Stderr = args, os.Stdin, os.Stdout, os.Stderr
	told := make(chan os.Signal, 4)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	if err = cmd.Start(); err != nil {
		return 0, err
	}
	go func() {
		for s := range told {
			if s != os.Interrupt { // of which the terminal tells the companion, too
				cmd.Process.Signal(s)
			}
		}
	}()
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return max(exit.ExitCode(), 1), nil
	}
	return 0, err
}
