// Pgrun starts a throw-away PostgreSQL, on the same port each time if it is
// free, runs a command with
// SVC_TEST_POSTGRES pointing at it, and stops it again:
//
//	go run ./internal/tools/pgrun -- go test ./...
//
// With -durable it keeps what it acknowledges on the disk, as a real one does,
// for benchmarks of writing; otherwise it is in memory where there is room.
//
// It uses the binaries installed on the machine and a folder of its own, and
// touches no other server.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/svc-hq/svc/internal/tools/drill"
)

func main() {
	args := os.Args[1:]
	durable := len(args) > 0 && args[0] == "-durable"
	if durable {
		args = args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(os.Stderr, "usage: pgrun [-durable] -- command [argument...]")
		os.Exit(2)
	}
	code, err := run(args, durable)
	if err != nil {
		fmt.Fprintln(os.Stderr, "pgrun:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(args []string, durable bool) (int, error) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	dir, err := folder(durable)
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	var more []string
	if !durable { // nothing here outlives the tests
		more = []string{"-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off"}
	}
	here, err := os.Getwd()
	if err != nil {
		return 1, err
	}
	addr, err := drill.SteadyAddr(here)
	if err != nil {
		return 1, err
	}
	pg, err := drill.NewPostgres(ctx, dir, addr, more...)
	if err != nil {
		return 1, err
	}
	defer pg.Stop()
	dsn := pg.DSN(pg.Addr)
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "SVC_TEST_POSTGRES="+dsn)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// folder makes a place for the cluster. Tests make hundreds of databases, each a
// copy of a few hundred files: on a disk that takes longer than what they do.
func folder(durable bool) (string, error) {
	const memory, enough = "/dev/shm", 4 << 30
	var fs syscall.Statfs_t
	if !durable && syscall.Statfs(memory, &fs) == nil && uint64(fs.Bavail)*uint64(fs.Bsize) > enough {
		if dir, err := os.MkdirTemp(memory, "svc-pg-"); err == nil {
			return dir, nil
		}
	}
	return os.MkdirTemp("", "svc-pg-")
}
