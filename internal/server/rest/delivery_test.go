package rest_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// BenchmarkDeliveries: what the service's process takes of the processor to bring
// an event to a stream, against a program that only writes the same bytes to as
// many connections, each with a goroutine of its own. What it takes to make the
// event is measured in an org that nobody follows, and does not count. Above 1.5
// times the floor it fails.
func BenchmarkDeliveries(b *testing.B) {
	const streams, most = 500, 1.5
	dsn := b.TempDir() + "/svc.db"
	w := daemontest.Start(b, dsn)
	loud, quiet := w.Org("Loud"), w.Org("Quiet")
	var tokens []string
	for range streams / 5 { // as many as a token may have
		owner := loud.Users[coord.Owner]
		tokens = append(tokens, w.Token(loud, &owner, coord.Scopes()...))
	}
	w.Stop()
	w, ours := inProcess(b, w, dsn)
	var there []net.Conn
	for i := range streams {
		there = append(there, follow(b, w.URL, "/v1/stream", tokens[i/5]))
	}
	frame := event(b, there, func() { repo(w, loud) })
	bare, floor := inProcess(b, &daemontest.World{}, bareStreams+string(frame))
	var here []net.Conn
	for range streams {
		here = append(here, follow(b, bare.URL, "/", "nobody"))
	}
	write := func() {
		if _, err := http.Post(bare.URL, "", nil); err != nil {
			b.Fatal(err)
		}
	}
	event(b, here, write)
	for range 20 { // what is done once does not count
		repo(w, quiet)
	}
	var made, told, least time.Duration
	deliveries := 0
	for b.Loop() {
		const events = 100
		for range events {
			made += taken(b, ours, func() { repo(w, quiet) })
			told += taken(b, ours, func() { event(b, there, func() { repo(w, loud) }) })
			least += taken(b, floor, func() { event(b, here, write) })
		}
		deliveries += events * streams
	}
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / float64(deliveries) }
	ratio := float64(told-made) / float64(least)
	b.ReportMetric(each(told-made), "µs/delivery")
	b.ReportMetric(each(least), "µs/floor")
	b.ReportMetric(ratio, "ratio")
	b.ReportMetric(0, "ns/op")
	if ratio > most {
		b.Errorf("a delivery to a stream takes %.2f times the floor, %.1f are the most", ratio, most)
	}
}

// follow opens a stream.
func follow(b *testing.B, url, path, token string) net.Conn {
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path, token)
	readUntil(b, c, make([]byte, 8192), "retry: 3000\n\n")
	return c
}

// event makes one and waits until every stream has it. It returns what arrived
// on the last.
func event(b *testing.B, streams []net.Conn, happen func()) []byte {
	happen()
	buf := make([]byte, 8192)
	var got []byte
	for _, c := range streams {
		got = readUntil(b, c, buf, "}\n\n")
	}
	return got
}

// taken returns the processor time that a process spends while fn runs.
func taken(b *testing.B, pid int, fn func()) time.Duration {
	before := schedTime(b, pid)
	fn()
	return schedTime(b, pid) - before
}

// schedTime returns the processor time of all threads of a process so far, to
// the nanosecond, as the scheduler counts it.
func schedTime(b *testing.B, pid int) (sum time.Duration) {
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		b.Skip("what a thread has taken of the processor is read from /proc")
	}
	for _, t := range threads {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/schedstat", pid, t.Name()))
		if err != nil {
			continue // it ended
		}
		n, err := strconv.ParseInt(string(bytes.Fields(text)[0]), 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(n)
	}
	return sum
}

// bareStreams before a frame asks a process for the floor instead of a service.
const bareStreams = "bare streams of "

// serveBareStreams keeps connections open and writes a frame to all of them
// whenever it is asked to: what nobody who tells many can do without.
func serveBareStreams(t *testing.T, frame string) {
	var open []chan bool
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			for _, wake := range open {
				wake <- true
			}
			return
		}
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		wake := make(chan bool, 1)
		open = append(open, wake)
		io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\nretry: 3000\n\n")
		go func() {
			for range wake {
				c.SetWriteDeadline(time.Now().Add(time.Minute))
				io.WriteString(c, frame)
			}
		}()
	}))
	defer s.Close()
	fmt.Println(s.URL)
	io.Copy(io.Discard, os.Stdin)
}
