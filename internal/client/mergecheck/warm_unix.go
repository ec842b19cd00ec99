//go:build unix

package mergecheck

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// maxSocketName is how long the name of a socket may be, on any system.
const maxSocketName = 100

// warmPatience is how long a compiler that stayed is waited for. It keeps to a
// limit of processor time by itself; this is for one that hangs.
const warmPatience = 15 * time.Minute

// A warm compiler is one that stayed after a check, with what it has read. It
// ends when nobody asked for a while, when the check that waits for it ends, and
// when its socket is taken away. What it costs while nobody asks is memory: a
// person has one, of the clone that was checked last.
type warm struct {
	socket string
	args   []string // of the program, without those that say to stay
}

// warmName is the socket of a compiler: another version of anything is another
// compiler.
func (c *Check) warmName(parts ...string) string {
	sum := sha256.New()
	for _, p := range parts {
		sum.Write([]byte(p + "\x00"))
		if info, err := os.Stat(p); err == nil {
			sum.Write([]byte(info.ModTime().String() + "\x00"))
		}
	}
	return filepath.Join(c.Dir, "tsc-"+hex.EncodeToString(sum.Sum(nil)[:8])+".sock")
}

// ask asks a warm compiler, and starts one if this check may leave it behind.
// Without one, or if it ended meanwhile, it is not ok.
func (c *Check) ask(ctx context.Context, node string, w warm, question []byte) (a answer, ok bool) {
	if len(w.socket) > maxSocketName {
		return answer{}, false
	}
	conn, err := dial(ctx, w.socket)
	if err != nil && c.Warm > 0 {
		if c.startWarm(ctx, node, w) != nil {
			return answer{}, false
		}
		conn, err = dial(ctx, w.socket)
	}
	if err != nil {
		return answer{}, false
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(ctx, warmPatience)
	defer cancel()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err := conn.Write(append(question, '\n')); err != nil {
		return answer{}, false
	}
	data, err := io.ReadAll(io.LimitReader(conn, 2*maxOutput))
	var said struct {
		Code int    `json:"code"`
		Out  string `json:"out"`
	}
	if err != nil || json.Unmarshal(data, &said) != nil {
		return answer{}, false
	}
	a = answer{out: said.Out, code: said.Code}
	if len(said.Out) > maxOutput {
		a.broken = "it says more than can be read"
	}
	return a, true
}

func dial(ctx context.Context, socket string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", socket)
}

// startWarm starts a compiler that stays. It listens before it runs, so that
// nobody waits for it to begin.
func (c *Check) startWarm(ctx context.Context, node string, w warm) error {
	Cool(filepath.Dir(c.Dir))
	_ = os.Remove(w.socket) // of one that is gone
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: w.socket, Net: "unix"})
	if err != nil {
		return err
	}
	listener.SetUnlinkOnClose(false)
	defer listener.Close()
	file, err := listener.File()
	if err != nil {
		return err
	}
	defer file.Close()
	args := append(w.args, "--serve", w.socket, strconv.FormatInt(c.Warm.Milliseconds(), 10))
	cmd := exec.CommandContext(context.WithoutCancel(ctx), node, args...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = c.Dir, c.env(nil), []*os.File{file}
	gently(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	settle(cmd, c)
	go func() { _ = cmd.Wait() }()
	return nil
}

// Cool ends the compilers that stayed after checks in the folders below dir, if
// they have nothing to do.
func Cool(dir string) {
	sockets, _ := filepath.Glob(filepath.Join(dir, "*", "tsc-*.sock"))
	for _, socket := range sockets {
		conn, err := net.DialTimeout("unix", socket, time.Second)
		if err == nil {
			_ = conn.SetDeadline(time.Now().Add(time.Second))
			_, _ = conn.Write([]byte("stop\n"))
			_, _ = conn.Read(make([]byte, 1)) // until it is gone
			conn.Close()
		}
		_ = os.Remove(socket)
	}
}
