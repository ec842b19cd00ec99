package term

import (
	"os"
	"time"

	xterm "golang.org/x/term"
)

// OS returns the Screen of this process.
func OS() Screen {
	isTerminal := func(f *os.File) bool { return xterm.IsTerminal(int(f.Fd())) }
	t := Terminal{In: isTerminal(os.Stdin), Out: isTerminal(os.Stdout), Err: isTerminal(os.Stderr)}
	if t.Out {
		t.Columns, _, _ = xterm.GetSize(int(os.Stdout.Fd()))
	}
	return Screen{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now, Terminal: t}
}
