package companion

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// partCommand is how the inner svc asks the lean one where a program is. It is
// between the two alone.
const partCommand = "companion-part"

// onlyAsked stands in the place of a cache where nothing is to be unpacked.
const onlyAsked = "-"

// exitNone says that there is no such program.
const exitNone = 3

// ask has the svc that carries this one unpack a program.
func ask(program, cache string) (string, error) {
	self, err := Self()
	if err != nil {
		return "", err
	}
	out, err := exec.Command(self, partCommand, program, cache).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		if exit.ExitCode() == exitNone {
			return "", ErrNone
		}
		return "", errors.New(strings.TrimSpace(strings.TrimPrefix(string(exit.Stderr), "svc: ")))
	}
	return string(out), err
}

// answer tells the inner svc where a program is. It returns the exit code of the
// process.
func answer(p Program, cache string) int {
	if !Carries(p) {
		return exitNone
	}
	if cache == onlyAsked {
		return 0
	}
	path, err := PathIn(cache, p)
	if err != nil {
		fmt.Fprintln(os.Stderr, "svc:", err)
		return 1
	}
	os.Stdout.WriteString(path)
	return 0
}
