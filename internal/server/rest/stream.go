package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
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

// A follower is what a stream reads from: events, and whether the caller
// asked for each.
type follower interface {
	Woken() <-chan struct{}
	Recent() ([]eventlog.Entry, bool)
	Ready(context.Context) ([]eventlog.Entry, error)
	Close()
	Wants(e *coord.Event) bool
}

// stream serves the event log as Server-Sent Events.
func (s *Server) stream(op *api.Op) http.HandlerFunc {
	type begun struct {
		who   coord.Caller
		leave func()
		f     follower
		err   error
	}
	return func(w http.ResponseWriter, r *http.Request) {
		b := aside(func() (b begun) {
			b.who, b.leave, b.f, b.err = s.begin(w, r, op)
			return b
		})
		if b.err != nil {
			if errors.Is(b.err, api.ErrBusy) {
				w.Header().Set("Connection", "close") // a connection that waits to be tried again takes as much room as a stream
			}
			s.writeProblem(w, r, b.err)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Accel-Buffering", "no")
		if c := s.takeOver(w, r); c != nil {
			go func() {
				defer s.taken.Done()
				defer b.leave()
				defer b.f.Close()
				defer func() { // nobody else would: the HTTP server has let go
					if p := recover(); p != nil {
						s.log.Error("a stream failed", "err", fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
					}
				}()
				c.serve(func(r *http.Request) { s.follow(r, op, b.who.OrgID, b.f, c) })
			}()
			return
		}
		defer b.leave()
		defer b.f.Close()
		c := &sse{w: w, rc: http.NewResponseController(w)}
		// The deadline for reading the request would end the stream as well.
		c.rc.SetReadDeadline(time.Time{})
		s.follow(r, op, b.who.OrgID, b.f, c)
	}
}

// A line is where a stream's frames go.
type line interface {
	send(frame []byte) error
	events(follower, []eventlog.Entry) error
}

// begin makes room for a stream and finds what it is to tell.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, op *api.Op) (who coord.Caller, leave func(), f follower, err error) {
	if err = s.caller(op, r, &who); err != nil {
		return who, nil, nil, err
	}
	if leave, err = s.api.Stream(who); err != nil {
		return who, nil, nil, err
	}
	out, err := s.api.Call(r.Context(), op, &who, api.Given(func(in any) error {
		if err := s.decode(w, r, op, in); err != nil {
			return err
		}
		if id := r.Header.Get("Last-Event-ID"); id != "" {
			in.(*wire.Stream).LastEventID = id
		}
		return nil
	}))
	if err != nil {
		leave()
		return who, nil, nil, err
	}
	return who, leave, out.(follower), nil
}

// standingChanged reports whether events tell that somebody may no longer do
// what they could.
func standingChanged(batch []eventlog.Entry) bool {
	for i := range batch {
		switch batch[i].Type {
		case coord.EventTokenRevoked, coord.EventMemberRemoved, coord.EventMemberUpdated:
			return true
		}
	}
	return false
}

// still reports whether the sender of r may go on.
func (s *Server) still(r *http.Request, op *api.Op) bool {
	var who coord.Caller
	return s.caller(op, r, &who) == nil && api.Check(op, &who) == nil
}

// follow sends events as they come. It waits in one goroutine with a small
// stack, of which there may be thousands: what goes deeper is done aside.
func (s *Server) follow(r *http.Request, op *api.Op, org string, f follower, c line) {
	if c.send(fmt.Appendf(nil, "retry: %d\n\n", retryMS)) != nil {
		return
	}
	// Not a ticker: whoever waits for one among others puts it into the heap of
	// timers and takes it out again, with every event.
	beat := make(chan struct{}, 1)
	next := time.AfterFunc(recheck, func() { beat <- struct{}{} })
	defer next.Stop()
	for beats := 0; ; {
		var err error
		select {
		case <-f.Woken():
			err = s.deliver(r, op, org, f, c)
		case <-beat:
			next.Reset(recheck)
			if !aside(func() bool { return s.still(r, op) }) {
				return
			}
			if beats++; beats%int(keepAlive/recheck) == 0 {
				err = c.send([]byte(": ka\n\n"))
			}
		case <-s.Draining:
			c.send(fmt.Appendf(nil, "event: reconnect\ndata: {\"after_ms\":%d}\n\n", reconnectMS))
			return
		case <-r.Context().Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// errOver ends a stream whose reader may not go on.
var errOver = errors.New("this stream is over")

// deliver sends what there is to send.
func (s *Server) deliver(r *http.Request, op *api.Op, org string, f follower, c line) error {
	batch, ok := f.Recent()
	var err error
	if !ok {
		err = aside(func() (err error) {
			batch, err = f.Ready(r.Context())
			return err
		})
	}
	if err != nil || len(batch) == 0 {
		return err
	}
	if standingChanged(batch) {
		s.auth.Forget(org)
		if !aside(func() bool { return s.still(r, op) }) {
			return errOver
		}
	}
	return c.events(f, batch)
}

// aside runs fn on a stack of its own, which is gone when it returns.
func aside[T any](fn func() T) T {
	type end struct {
		out   T
		panic any
	}
	done := make(chan end, 1)
	go func() {
		var e end
		defer func() {
			e.panic = recover()
			done <- e
		}()
		e.out = fn()
	}()
	e := <-done
	if e.panic != nil {
		panic(e.panic)
	}
	return e.out
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
	if text := wanted(f, batch, func(e *eventlog.Entry) []byte { return e.Frame }); len(text) > 0 {
		return c.send(text)
	}
	return nil
}

// wanted returns the parts of the events that were asked for: of one, as most
// often, without a copy.
func wanted(f follower, batch []eventlog.Entry, part func(*eventlog.Entry) []byte) (out []byte) {
	for i := range batch {
		switch e := &batch[i]; {
		case !f.Wants(&e.Event):
		case out == nil:
			out = slices.Clip(part(e))
		default:
			out = append(out, part(e)...)
		}
	}
	return out
}
