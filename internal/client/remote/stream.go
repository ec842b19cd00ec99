package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
)

// A Feed says which events to follow.
type Feed struct {
	Types  []string
	Repos  []string
	LastID string // resume after this event
	// Down is called when the connection is lost, with when it is tried again.
	Down func(err error, retry time.Duration)
	// Up is called when the connection stands.
	Up func()
}

const (
	silence  = 45 * time.Second // three keep-alives missed: the line is dead
	maxRetry = 30 * time.Second
	maxLine  = 1 << 20
)

// Follow calls each for every event until ctx ends, each returns an error, or
// the server refuses the token. A lost connection is taken up again after the
// last event seen, so nothing is missed.
func (c *Client) Follow(ctx context.Context, f Feed, each func(coord.Event) error) error {
	wait := retryDelay{base: 3 * time.Second}
	for {
		err := c.follow(ctx, &f, &wait, each)
		var stop *stopError
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &stop):
			return stop.err
		case final(err):
			return err
		}
		d := wait.next()
		if f.Down != nil {
			f.Down(err, d)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
		}
	}
}

// A stopError carries the caller's own wish to stop through the loop.
type stopError struct{ err error }

func (e *stopError) Error() string { return e.err.Error() }

// final reports whether trying again cannot help.
func final(err error) bool {
	var p *problem.Error
	return errors.As(err, &p) && p.Kind.Status() >= 400 && p.Kind.Status() < 500 && p.Kind != problem.RateLimited &&
		p.Kind != problem.RequestTimeout
}

// A retryDelay doubles with each failure and adds chance, so that clients of
// a restarted server do not all come at once.
type retryDelay struct {
	base   time.Duration
	failed int
	asked  time.Duration // what a reconnect frame asked for, used once
}

func (r *retryDelay) next() time.Duration {
	if d := r.asked; d > 0 {
		r.asked = 0
		return d + rand.N(d)
	}
	d := min(r.base<<min(r.failed, 10), maxRetry)
	r.failed++
	return d/2 + rand.N(d/2+1)
}

func (c *Client) follow(ctx context.Context, f *Feed, wait *retryDelay, each func(coord.Event) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	res, err := c.openStream(ctx, f)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if f.Up != nil {
		f.Up()
	}
	quiet := time.AfterFunc(silence, func() { cancel(errors.New("the stream went silent")) })
	defer quiet.Stop()
	wait.failed = 0
	frames := newFrames(res.Body)
	for {
		fr, err := frames.next(func() { quiet.Reset(silence) })
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return fmt.Errorf("the event stream ended: %w", err)
		}
		if fr.retry > 0 {
			wait.base = fr.retry
		}
		if err := f.handle(fr, wait, each); err != nil {
			return err
		}
	}
}

// openStream asks for the stream and returns it once the server agreed.
func (c *Client) openStream(ctx context.Context, f *Feed) (*http.Response, error) {
	q := url.Values{}
	for k, v := range map[string][]string{"types": f.Types, "repos": f.Repos} {
		if len(v) > 0 {
			q.Set(k, strings.Join(v, ","))
		}
	}
	path := "/v1/stream"
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	req, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream, application/problem+json")
	if f.LastID != "" {
		req.Header.Set("Last-Event-ID", f.LastID)
	}
	open := *c.http
	open.Timeout = 0 // a stream lasts; silence ends it instead
	res, err := open.Do(req)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if res.StatusCode == http.StatusOK && strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		return res, nil
	}
	defer res.Body.Close()
	if err := c.decode(res, nil); err != nil {
		return nil, err
	}
	return nil, &Unreachable{Server: c.server, Detail: c.server + "/v1/stream is not an event stream; is a proxy in between?"}
}

// handle passes on one frame and remembers its id.
func (f *Feed) handle(fr frame, wait *retryDelay, each func(coord.Event) error) error {
	switch {
	case fr.event == "reconnect":
		var in struct {
			AfterMS int `json:"after_ms"`
		}
		_ = json.Unmarshal([]byte(fr.data), &in) // without it the usual delay is taken
		wait.asked = time.Duration(in.AfterMS) * time.Millisecond
		return nil
	case fr.data == "":
		return nil
	}
	var ev coord.Event
	if err := json.Unmarshal([]byte(fr.data), &ev); err != nil {
		return fmt.Errorf("event %s cannot be read: %w", fr.id, err)
	}
	if err := each(ev); err != nil {
		return &stopError{err}
	}
	if fr.id != "" {
		f.LastID = fr.id
	}
	return nil
}

// A frame is one message of a stream of server-sent events.
type frame struct {
	id, event, data string
	retry           time.Duration
}

type frames struct{ lines *bufio.Scanner }

func newFrames(r io.Reader) *frames {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 4096), maxLine)
	return &frames{s}
}

// next reads up to the empty line that ends a frame. alive is called on every
// line, comments included.
func (f *frames) next(alive func()) (frame, error) {
	var fr frame
	var data []string
	seen := false
	for f.lines.Scan() {
		alive()
		line := strings.TrimSuffix(f.lines.Text(), "\r")
		if line == "" {
			if seen {
				fr.data = strings.Join(data, "\n")
				return fr, nil
			}
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		seen = seen || field != ""
		switch field {
		case "id":
			fr.id = value
		case "event":
			fr.event = value
		case "data":
			data = append(data, value)
		case "retry":
			if ms, err := strconv.Atoi(value); err == nil && ms > 0 {
				fr.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
	if err := f.lines.Err(); err != nil {
		return fr, err
	}
	return fr, io.EOF
}
