// Pgrun starts a throw-away PostgreSQL on a free port, runs a command with
// SVC_TEST_POSTGRES pointing at it, and stops it again:
//
//	go run ./internal/tools/pgrun -- go test ./...
//
// With -durable it keeps what it acknowledges, as a real one does, for
// benchmarks of writing.
//
// It uses the binaries installed on the machine and a folder of its own, and
// touches no other server.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
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
	bin, err := findBinaries()
	if err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "svc-pg-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	who, err := servant(dir)
	if err != nil {
		return 1, err
	}
	dsn, stop, err := start(ctx, bin, dir, who, durable)
	if err != nil {
		return 1, err
	}
	defer stop()
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

// findBinaries returns the folder of initdb and postgres, the newest version
// there is.
func findBinaries() (string, error) {
	if p, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(p), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", errors.New("PostgreSQL is not installed; on Debian or Ubuntu: apt-get install postgresql")
	}
	slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
	return filepath.Dir(found[0]), nil
}

func version(initdb string) int {
	n, _ := strconv.Atoi(strings.Split(initdb, "/")[4])
	return n
}

// servant returns as whom to run: PostgreSQL refuses root, so root lends the
// folder to the user called postgres, or nobody.
func servant(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, uid, gid)
	}
	return nil, errors.New("PostgreSQL does not run as root, and there is no user postgres or nobody")
}

func start(ctx context.Context, bin, dir string, who *syscall.Credential, durable bool) (dsn string, stop func(), err error) {
	data := filepath.Join(dir, "data")
	init := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data, "-U", "svc", "-A", "trust", "-E", "UTF8", "--locale=C",
		"--no-sync")
	init.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	init.Dir = dir
	if out, err := init.CombinedOutput(); err != nil {
		return "", nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	port, err := freePort()
	if err != nil {
		return "", nil, err
	}
	settings := []string{"-D", data, "-p", strconv.Itoa(port), "-k", dir, "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=400",
		"-c", "shared_buffers=64MB", "-c", "log_min_messages=panic"}
	if !durable { // nothing here outlives the tests
		settings = append(settings, "-c", "fsync=off", "-c", "full_page_writes=off", "-c", "synchronous_commit=off")
	}
	srv := exec.Command(filepath.Join(bin, "postgres"), settings...)
	srv.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	srv.Dir = dir
	srv.Stderr = os.Stderr
	if err := srv.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		srv.Process.Signal(syscall.SIGINT) // fast shutdown: end sessions, stop
		srv.Wait()
	}
	dsn = fmt.Sprintf("postgres://svc@127.0.0.1:%d/postgres?sslmode=disable", port)
	if err := await(ctx, dsn); err != nil {
		stop()
		return "", nil, err
	}
	return dsn, stop, nil
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// await waits until PostgreSQL takes queries: it listens before that.
func await(ctx context.Context, dsn string) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := pgx.Connect(ctx, dsn)
		if err == nil {
			return c.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL did not come up: %w", err)
		case <-tick.C:
		}
	}
}
