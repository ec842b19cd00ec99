package drill

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// A Postgres is a PostgreSQL of our own, in a folder, on a port of its own. It uses
// the binaries installed on the machine and touches no other server.
type Postgres struct {
	Addr string
	dir  string
	bin  string
	who  *syscall.Credential
	more []string
	cmd  *exec.Cmd
	gone chan struct{}
}

// NewPostgres makes a database cluster in a folder and starts it at an address.
// more are settings for its command line.
func NewPostgres(ctx context.Context, dir, addr string, more ...string) (*Postgres, error) {
	p := &Postgres{Addr: addr, dir: dir, more: more}
	var err error
	if p.bin, err = findBinaries(); err != nil {
		return nil, err
	}
	if p.who, err = servant(dir); err != nil {
		return nil, err
	}
	init := exec.CommandContext(ctx, filepath.Join(p.bin, "initdb"), "-D", p.data(), "-U", "svc", "-A", "trust", "-E", "UTF8", "--locale=C",
		"--no-sync")
	init.SysProcAttr = &syscall.SysProcAttr{Credential: p.who}
	init.Dir = dir
	if out, err := init.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	if err := p.Start(ctx); err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

// At is another one, stopped, on a cluster that was made in another folder's
// "data".
func (p *Postgres) At(dir, addr string) *Postgres {
	other := *p
	other.dir, other.Addr, other.cmd, other.gone = dir, addr, nil, nil
	return &other
}

// Shell returns a script to be run as whom it runs as, on its machine.
func (p *Postgres) Shell(script string) *exec.Cmd {
	host, port, _ := net.SplitHostPort(p.Addr)
	cmd := exec.Command("/bin/sh", "-euc", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.who}
	cmd.Dir = p.dir
	cmd.Env = []string{"PATH=" + p.bin + ":" + os.Getenv("PATH"), "PGHOST=" + host, "PGPORT=" + port, "PGUSER=svc", "PGDATABASE=postgres"}
	return cmd
}

func (p *Postgres) data() string { return filepath.Join(p.dir, "data") }

// DSN returns the address of its database, by way of an address that leads
// there.
func (p *Postgres) DSN(by string) string {
	return "postgres://svc@" + by + "/postgres?sslmode=disable"
}

// Start starts it and waits until it takes queries. The processes of one that
// was killed may be there for a while: then it is tried again.
func (p *Postgres) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 60*time.Second)
	defer cancel()
	_, port, _ := net.SplitHostPort(p.Addr)
	settings := append([]string{"-D", p.data(), "-p", port, "-k", p.dir, "-c", "listen_addresses=127.0.0.1", "-c", "max_connections=400",
		"-c", "shared_buffers=64MB", "-c", "log_min_messages=panic"}, p.more...)
	var err error
	for {
		p.cmd = exec.Command(filepath.Join(p.bin, "postgres"), settings...)
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.who}
		p.cmd.Dir, p.cmd.Stderr = p.dir, os.Stderr
		if err := p.cmd.Start(); err != nil {
			return err
		}
		gone := make(chan struct{})
		p.gone = gone
		go func(c *exec.Cmd) { c.Wait(); close(gone) }(p.cmd)
		for ctx.Err() == nil && !p.ended() {
			var c *pgx.Conn
			if c, err = pgx.Connect(ctx, p.DSN(p.Addr)); err == nil {
				return c.Close(ctx)
			}
			pause(ctx, 50*time.Millisecond)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("PostgreSQL did not come up: %w", err)
		}
		pause(ctx, 100*time.Millisecond)
	}
}

func (p *Postgres) ended() bool {
	if p.gone == nil {
		return true
	}
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// Kill ends it without a warning; its processes notice by themselves.
func (p *Postgres) Kill() { p.stop(syscall.SIGKILL) }

// Stop ends its sessions and then itself.
func (p *Postgres) Stop() { p.stop(syscall.SIGINT) }

func (p *Postgres) stop(sig syscall.Signal) {
	if !p.ended() {
		p.cmd.Process.Signal(sig)
		<-p.gone
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// findBinaries returns the folder of initdb and postgres, the newest version
// there is.
func findBinaries() (string, error) {
	if p, err := exec.LookPath("initdb"); err == nil {
		if p, err = filepath.EvalSymlinks(p); err == nil { // of some, links may be elsewhere
			return filepath.Dir(p), nil
		}
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

// AwaitUp waits until it takes queries, and starts it if it has given up.
func (p *Postgres) AwaitUp(ctx context.Context) error {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && !p.ended(); pause(ctx, 50*time.Millisecond) {
		if c, err := pgx.Connect(ctx, p.DSN(p.Addr)); err == nil {
			return c.Close(ctx)
		}
	}
	if p.ended() {
		return p.Start(ctx)
	}
	return errors.New("PostgreSQL did not come back")
}
