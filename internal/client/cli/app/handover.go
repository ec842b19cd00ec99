package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/companion"
)

// HandedOver runs the whole command line elsewhere: global flags may stand
// before the command.
func HandedOver() error { return &term.Exit{Code: HandOver(os.Args[1:])} }

// HandOver runs a command in the companion as if it were this program.
func HandOver(args []string) int {
	cmd, err := companion.Command(context.Background(), args...)
	if err != nil {
		fmt.Fprintln(os.Stderr, "svc:", err)
		return term.ExitError
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	told := make(chan os.Signal, 4)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM)
	if err = cmd.Start(); err == nil {
		go func() {
			for s := range told {
				if s != os.Interrupt { // of which the terminal tells the companion, too
					cmd.Process.Signal(s)
				}
			}
		}()
		err = cmd.Wait()
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return max(exit.ExitCode(), term.ExitError)
	case err != nil:
		fmt.Fprintln(os.Stderr, "svc:", err)
		return term.ExitError
	}
	return term.ExitOK
}
