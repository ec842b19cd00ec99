//go:build unix

// Package childtest judges the programs that tests start.
package childtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// measures names the file into which a test program, started anew by Run,
// writes what its own child took.
const measures = "SVC_CHILDTEST"

// The kernel counts a program in its parent's memory until it has replaced it:
// the figure of a child of a large test would be the test's own. A test program
// that has just begun is small.
func init() {
	file := os.Getenv(measures)
	if file == "" {
		return
	}
	os.Unsetenv(measures)
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		os.Exit(127)
	}
	used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if os.WriteFile(file, strconv.AppendInt(nil, int64(used.Maxrss), 10), 0o600) != nil {
		os.Exit(126)
	}
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		os.Exit(code)
	}
	os.Exit(128)
}

// Run runs cmd to its end and returns the most memory that it had at once, in
// KiB. A program that a signal ended has the exit code 128.
func Run(t testing.TB, cmd *exec.Cmd) (most int64, err error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "maxrss")
	cmd.Args = append([]string{self, cmd.Path}, cmd.Args[1:]...)
	cmd.Path, cmd.Env, cmd.WaitDelay = self, append(cmd.Environ(), measures+"="+file), 10*time.Second
	err = cmd.Run()
	text, readErr := os.ReadFile(file)
	if readErr != nil {
		return 0, errors.Join(err, readErr)
	}
	if most, readErr = strconv.ParseInt(string(text), 10, 64); readErr != nil {
		t.Fatal(readErr)
	}
	return most, err
}
