package rest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/svc-hq/svc/internal/server/eventlog"
)

// A conn is a connection that a stream has taken over from the HTTP server,
// whose buffers and stack are free then: there may be thousands that wait.
type conn struct {
	net.Conn
	request *http.Request // what is needed of it to ask again who sent it
	head    []byte        // of the answer, until it is sent
}

// takeOver takes the connection of a request, or returns nil if it cannot be
// had. It counts among those taken before the HTTP server lets go of it, which
// waits for its own when it stops: so Wait misses none. The one who
// serves the connection takes it off the count.
func (s *Server) takeOver(w http.ResponseWriter, r *http.Request) *conn {
	if s.KeepStreams || r.Method != http.MethodGet || !r.ProtoAtLeast(1, 1) {
		return nil
	}
	s.taken.Add(1)
	taken, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		s.taken.Done()
		return nil
	}
	h := w.Header().Clone()
	h.Set("Transfer-Encoding", "chunked")
	h.Set("Connection", "close")
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	var head bytes.Buffer
	head.WriteString("HTTP/1.1 200 OK\r\n")
	h.Write(&head)
	head.WriteString("\r\n")
	return &conn{taken, &http.Request{Method: r.Method, URL: r.URL, Host: r.Host, Header: r.Header, RemoteAddr: r.RemoteAddr}, head.Bytes()}
}

// serve runs a stream on the connection until it ends or the client goes. A
// client has nothing more to say: if it does, it is gone, too.
func (c *conn) serve(stream func(*http.Request)) {
	defer c.Close()
	c.SetDeadline(time.Time{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		c.Read(make([]byte, 1))
		cancel()
	}()
	stream(c.request.WithContext(ctx))
	c.SetWriteDeadline(time.Now().Add(writeDeadline))
	c.Write([]byte("0\r\n\r\n"))
}

// send writes a chunk, the first one after the head.
func (c *conn) send(frame []byte) error {
	out := fmt.Appendf(c.head, "%x\r\n%s\r\n", len(frame), frame)
	c.head = nil
	return c.write(out)
}

func (c *conn) events(f follower, batch []eventlog.Entry) error {
	if chunks := wanted(f, batch, func(e *eventlog.Entry) []byte { return e.Chunk }); len(chunks) > 0 {
		return c.write(chunks)
	}
	return nil
}

func (c *conn) write(chunks []byte) error {
	c.SetWriteDeadline(time.Now().Add(writeDeadline))
	_, err := c.Write(chunks)
	return err
}

// Wait waits until no stream is open any more, or ctx ends.
func (s *Server) Wait(ctx context.Context) {
	done := make(chan struct{})
	go func() { s.taken.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
