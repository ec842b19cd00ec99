package mergecheck

import (
	"context"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/windows"
)

func gently(*exec.Cmd) {}

func settle(*exec.Cmd, *Check) {}

func finish(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// groupTime is not known here.
func groupTime(int) (used time.Duration, runs, ok bool) { return 0, false, false }

// Yield does nothing where priorities are not known.
func Yield() {}

// takeLock takes a lock on a file, unless another process has it.
func takeLock(f *os.File) bool {
	const mine = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	return windows.LockFileEx(windows.Handle(f.Fd()), mine, 0, 1, 0, new(windows.Overlapped)) == nil
}

// A warm compiler would stay after a check. Here none does.
type warm struct {
	socket string
	args   []string
}

func (c *Check) warmName(...string) string { return "" }

func (c *Check) ask(context.Context, string, warm, []byte) (answer, bool) { return answer{}, false }

// Cool has nothing to end.
func Cool(string) {}
