package rest_test

import (
	"bytes"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// BenchmarkStreams opens 500 streams and reports what each costs in memory
// (heap and stacks of the whole process: the clients are bare sockets) and
// how long one event takes to reach all of them.
func BenchmarkStreams(b *testing.B) {
	const streams = 500
	w := daemontest.Start(b, b.TempDir()+"/svc.db")
	o := w.Org("Acme")
	before := memory()
	conns := make([]net.Conn, streams)
	token := ""
	for i := range conns {
		c, err := net.Dial("tcp", strings.TrimPrefix(w.URL, "http://"))
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		if i%5 == 0 { // as many as a token may have
			owner := o.Users[coord.Owner]
			token = w.Token(o, &owner, coord.Scopes()...)
		}
		fmt.Fprintf(c, "GET /v1/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", token)
		conns[i] = c
	}
	buf := make([]byte, 8192)
	for _, c := range conns {
		readUntil(b, c, buf, "retry: 3000\n\n")
	}
	each := float64(memory()-before) / streams
	b.ResetTimer()
	for range b.N {
		repo(w, o)
		for _, c := range conns {
			readUntil(b, c, buf, "}\n\n")
		}
	}
	b.ReportMetric(each, "B/stream")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/streams, "µs/stream")
}

func memory() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// readUntil reads from c until what it sent ends in the text, give or take
// the end of a chunk.
func readUntil(b *testing.B, c net.Conn, buf []byte, text string) {
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
}
