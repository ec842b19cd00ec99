package rest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/eventlog"
)

const (
	keepAlive     = 15 * time.Second
	recheck       = 5 * time.Second  // how long a revoked token's stream may live on
	writeDeadline = 10 * time.Second // a reader that takes longer is dropped; it can resume
	retryMS       = 3000
	reconnectMS   = 1000
)

// maxStreams is how many streams a token may have open on one replica. Cookies
// are people's, who have tabs.
const maxStreams = 5

// streams count what each token has open.
type streams struct {
	mu   sync.Mutex
	open map[string]int
}

// enter counts one more of a token, and returns what ends it.
func (s *streams) enter(token string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token == "" {
		return func() {}, nil
	}
	if s.open[token] >= maxStreams {
		return nil, problem.Later(5*time.Second, "this token has %d streams open already; close one, or use a token for each program", maxStreams)
	}
	if s.open == nil {
		s.open = map[string]int{}
	}
	s.open[token]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[token]--; s.open[token] == 0 {
			delete(s.open, token)
		}
	}, nil
}

// A follower is what a stream reads from: events, and whether the caller
// asked for each.
type follower interface {
	Next(context.Context) ([]eventlog.Entry, error)
	Close()
	Wants(e eventlog.Entry) bool
}

// stream serves the event log as Server-Sent Events.
func (s *Server) stream(op api.Op) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, err := s.caller(op, r)
		if err != nil {
			s.writeProblem(w, r, err)
			return
		}
		leave, err := s.streams.enter(who.TokenID)
		if err != nil {
			s.writeProblem(w, r, err)
			return
		}
		defer leave()
		out, err := s.api.Call(r.Context(), op, who, func(in any) error {
			if err := s.decode(w, r, op, in); err != nil {
				return err
			}
			if id := r.Header.Get("Last-Event-ID"); id != "" {
				in.(*wire.Stream).LastEventID = id
			}
			return nil
		})
		if err != nil {
			s.writeProblem(w, r, err)
			return
		}
		f := out.(follower)
		defer f.Close()
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Accel-Buffering", "no")
		c := &sse{w: w, rc: http.NewResponseController(w)}
		// The deadline for reading the request would end the stream as well.
		c.rc.SetReadDeadline(time.Time{})
		if c.send(fmt.Appendf(nil, "retry: %d\n\n", retryMS)) != nil {
			return
		}
		s.follow(r, op, who, f, c)
	}
}

// standingChanged reports whether events tell that somebody may no longer do
// what they could.
func standingChanged(batch []eventlog.Entry) bool {
	return slices.ContainsFunc(batch, func(e eventlog.Entry) bool {
		return e.Type == coord.EventTokenRevoked || e.Type == coord.EventMemberRemoved || e.Type == coord.EventMemberUpdated
	})
}

// still reports whether the sender of r may go on.
func (s *Server) still(r *http.Request, op api.Op) bool {
	who, err := s.caller(op, r)
	return err == nil && api.Check(op, who) == nil
}

func (s *Server) follow(r *http.Request, op api.Op, who coord.Caller, f follower, c *sse) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	batches := make(chan []eventlog.Entry)
	go func() {
		defer close(batches)
		for {
			b, err := f.Next(ctx)
			if err != nil {
				return
			}
			select {
			case batches <- b:
			case <-ctx.Done():
				return
			}
		}
	}()
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	check := time.NewTicker(recheck)
	defer check.Stop()
	for {
		var err error
		select {
		case b, ok := <-batches:
			if !ok {
				return
			}
			if standingChanged(b) {
				s.auth.Forget(who.OrgID)
				if !s.still(r, op) {
					return
				}
			}
			err = c.events(f, b)
		case <-alive.C:
			err = c.send([]byte(": ka\n\n"))
		case <-check.C:
			if !s.still(r, op) {
				return
			}
		case <-s.Draining:
			c.send(fmt.Appendf(nil, "event: reconnect\ndata: {\"after_ms\":%d}\n\n", reconnectMS))
			return
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// An sse writes frames, each within a deadline.
type sse struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

func (c *sse) send(b []byte) error {
	c.rc.SetWriteDeadline(time.Now().Add(writeDeadline))
	if _, err := c.w.Write(b); err != nil {
		return err
	}
	return c.rc.Flush()
}

func (c *sse) events(f follower, batch []eventlog.Entry) error {
	var b bytes.Buffer
	for _, e := range batch {
		if !f.Wants(e) {
			continue
		}
		// JSON has no raw newline, so a frame cannot be broken from inside.
		fmt.Fprintf(&b, "id: %s\nevent: %s\ndata: %s\n\n", e.ID, e.Type, e.JSON)
	}
	if b.Len() == 0 {
		return nil
	}
	return c.send(b.Bytes())
}
