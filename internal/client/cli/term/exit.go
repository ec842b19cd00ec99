package term

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// Exit codes, the same for every command. docs/commands.md has them for people.
const (
	ExitOK          = 0
	ExitError       = 1   // no: blocked, not free, refused, or it failed
	ExitUsage       = 2   // the command was typed wrongly
	ExitNotLoggedIn = 3   // nobody is logged in, or the token is not taken
	ExitUnreachable = 4   // the service did not answer
	ExitCancelled   = 130 // Ctrl-C, or the person said no
)

// An Exit ends a command with a code; Err, if any, is told.
type Exit struct {
	Code int
	Err  error
}

func (e *Exit) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit %d", e.Code)
	}
	return e.Err.Error()
}

// Usagef is an error in how a command was typed.
func Usagef(format string, args ...any) error {
	return &Exit{ExitUsage, fmt.Errorf(format, args...)}
}

// ErrCancelled means that the user said no.
var ErrCancelled = &Exit{ExitCancelled, errors.New("cancelled; nothing was changed")}

// Unknown is the error for a command that is not there.
func Unknown(cmd *cobra.Command, name string) error {
	if near := nearest(name, cmd.Commands()); near != "" {
		return Usagef("unknown command %q; did you mean '%s %s'?", name, cmd.CommandPath(), near)
	}
	return Usagef("unknown command %q", name)
}

// Exactly checks the number of arguments as a usage error.
func Exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return Usagef("expected %s, got %d arguments", what, len(args))
		}
		return nil
	}
}

// AtLeast checks that there are enough arguments.
func AtLeast(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < n {
			return Usagef("expected %s", what)
		}
		return nil
	}
}

// NoArgs checks that there are none.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 && cmd.HasSubCommands() {
		return Unknown(cmd, args[0])
	}
	if len(args) > 0 {
		return Usagef("unexpected argument %q", args[0])
	}
	return nil
}
