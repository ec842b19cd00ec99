package rest_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// BenchmarkStreams opens 500 streams to a service in a process of its own and
// reports what each adds to that process's memory (RSS), and how long one event
// takes to reach all of them. Above 40 KB each it fails.
func BenchmarkStreams(b *testing.B) {
	const streams, most = 500, 40 << 10
	dsn := b.TempDir() + "/svc.db"
	w := daemontest.Start(b, dsn)
	o := w.Org("Acme")
	var tokens []string
	for range streams / 5 { // as many as a token may have
		owner := o.Users[coord.Owner]
		tokens = append(tokens, w.Token(o, &owner, coord.Scopes()...))
	}
	w.Stop()
	w, pid := inProcess(b, w, dsn)
	open := func(token string) net.Conn {
		c, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
		if err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(c, "GET /v1/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", token)
		readUntil(b, c, make([]byte, 8192), "retry: 3000\n\n")
		return c
	}
	for range 50 { // what the first ones cost is the service's own
		open(o.Owner()).Close()
	}
	before := resident(b, pid)
	conns := make([]net.Conn, streams)
	for i := range conns {
		conns[i] = open(tokens[i/5])
		defer conns[i].Close()
	}
	each := float64(resident(b, pid)-before) / streams
	buf := make([]byte, 8192)
	b.ResetTimer()
	for range b.N {
		repo(w, o)
		for _, c := range conns {
			readUntil(b, c, buf, "}\n\n")
		}
	}
	b.ReportMetric(each, "B/stream")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/streams, "µs/stream")
	if each > most {
		b.Errorf("a stream takes %.0f bytes of memory, %d are the most", each, most)
	}
}

// inProcess starts the service on a database in a process of its own: this test
// program, which finds in its environment what to do instead of tests.
func inProcess(b *testing.B, w *daemontest.World, dsn string) (*daemontest.World, int) {
	cmd := exec.Command(os.Args[0], "-test.run=^TestServeForABenchmark$")
	cmd.Env = append(os.Environ(), "SVC_TEST_SERVE="+dsn)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); cmd.Wait() })
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return w.At(strings.TrimSpace(url)), cmd.Process.Pid
}

// TestServeForABenchmark serves until its input ends, in a process that a
// benchmark started. On its own it has nothing to do.
func TestServeForABenchmark(t *testing.T) {
	dsn := os.Getenv("SVC_TEST_SERVE")
	if dsn == "" {
		return
	}
	if frame, bare := strings.CutPrefix(dsn, bareStreams); bare {
		serveBareStreams(t, frame)
		return
	}
	const addr = "127.0.0.1:0"
	cfg := daemon.Config{Addr: addr, PublicURL: "http://" + addr, Database: dsn, Data: t.TempDir(), SecretKey: daemontest.SecretKey}
	d, err := daemon.Start(t.Context(), cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(d.URL)
	io.Copy(io.Discard, os.Stdin)
	if err := d.Stop(); err != nil {
		t.Error(err)
	}
}

// resident returns the memory that a process takes of the machine once it has
// come to rest: the least of some seconds, in which it may collect garbage.
func resident(b *testing.B, pid int) int64 {
	least := int64(math.MaxInt64)
	for range 20 {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if err != nil {
			b.Skip("what a process takes of the machine is read from /proc")
		}
		var size, pages int64
		fmt.Sscan(string(text), &size, &pages)
		least = min(least, pages*int64(os.Getpagesize()))
		time.Sleep(100 * time.Millisecond)
	}
	return least
}

func memory() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// readUntil reads from c until what it sent ends in the text, give or take
// the end of a chunk, and returns it.
func readUntil(b *testing.B, c net.Conn, buf []byte, text string) []byte {
	b.Helper()
	c.SetReadDeadline(time.Now().Add(10 * time.Second))
	var got []byte
	for !bytes.Contains(got, []byte(text)) {
		n, err := c.Read(buf)
		if err != nil {
			b.Fatalf("after %q: %v", got, err)
		}
		got = append(got, buf[:n]...)
	}
	return got
}
