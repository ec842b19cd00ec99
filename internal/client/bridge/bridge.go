// Package bridge joins an agent host that speaks MCP over standard input and
// output to the service's MCP endpoint. It forwards every message as it is,
// with the token of the login, and knows no tool. Standard output carries
// protocol messages only.
package bridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	maxMessage  = 4 << 20          // more than the endpoint takes (1 MiB), so that its own refusal reaches the host
	maxInFlight = 32               // hosts ask for a handful at once
	drain       = 10 * time.Second // for answers still on their way when the input ends
)

// A Credential is what a request is sent with.
type Credential struct {
	Server string
	Token  string // empty when nobody is logged in
}

// A Bridge forwards messages. Its fields are set before Run.
type Bridge struct {
	In  io.Reader
	Out io.Writer
	Log io.Writer // for people
	// Login is asked whenever a message goes out without a token or was
	// refused, so that a login in another terminal takes effect at once.
	Login func() (Credential, error)
	// Session names the session of the agent that calls, as far as the
	// processes above tell, for a server and a host that calls itself client,
	// and the key that proves it. The call may have named one of the sessions of
	// its host, which may have several. It is asked for every call of a tool: a
	// host may begin another conversation. Nil names none.
	Session func(server, client, named, tool string) (id, key string)
	// Transport carries requests; nil for one that heeds the proxy variables.
	Transport http.RoundTripper
	Debug     bool
	// Backoff are the pauses between tries to connect; nil for a few seconds
	// in all, which a restarting server needs.
	Backoff []time.Duration

	http    *http.Client
	mu      sync.Mutex // guards what follows and writes to Out and Log
	cred    Credential
	version string // of the protocol, as initialize settled it
	client  string // how the host calls itself
	flights map[string]context.CancelFunc
}

// Run forwards until the input ends, then waits a moment for answers that are
// still on their way.
func (b *Bridge) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	b.flights = map[string]context.CancelFunc{}
	if b.Backoff == nil {
		b.Backoff = []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, time.Second, 2 * time.Second}
	}
	b.http = &http.Client{Transport: b.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	lines, failed := readLines(ctx, b.In)
	slots := make(chan struct{}, maxInFlight)
	var busy sync.WaitGroup
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case line, ok := <-lines:
			if !ok {
				waitFor(&busy, drain, stop)
				return <-failed
			}
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
			m := parse(line)
			flight, done := b.take(ctx, m)
			busy.Go(func() {
				defer func() { <-slots }()
				defer done()
				b.forward(flight, m)
			})
		}
	}
}

// readLines sends each line of r, and at the end the error that ended it.
func readLines(ctx context.Context, r io.Reader) (<-chan []byte, <-chan error) {
	lines, failed := make(chan []byte), make(chan error, 1)
	go func() {
		defer close(lines)
		s := bufio.NewScanner(r)
		s.Buffer(make([]byte, 0, 64<<10), maxMessage)
		for s.Scan() {
			line := bytes.TrimSpace(s.Bytes())
			if len(line) == 0 {
				continue
			}
			select {
			case lines <- bytes.Clone(line):
			case <-ctx.Done():
				return
			}
		}
		err := s.Err()
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("the host sent a message of more than %d bytes", maxMessage)
		}
		failed <- err
	}()
	return lines, failed
}

func waitFor(busy *sync.WaitGroup, atMost time.Duration, stop func()) {
	late := time.AfterFunc(atMost, stop)
	busy.Wait()
	late.Stop()
}

// take notes a request as on its way, so that it can be cancelled, and acts
// on a cancellation.
func (b *Bridge) take(ctx context.Context, m message) (context.Context, func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if id := m.cancels(); id != "" {
		if cancel, ok := b.flights[id]; ok {
			cancel()
		}
	}
	if !m.isRequest() {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	id := string(m.ID)
	b.flights[id] = cancel
	return ctx, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.flights, id)
		cancel()
	}
}

// forward sends one message and passes on what comes back. A request is
// always answered, by the service or by us, unless the host cancelled it.
func (b *Bridge) forward(ctx context.Context, m message) {
	b.debug("> %s", m.raw)
	if m.bad {
		b.reply(nil, codeParse, "this is not a JSON-RPC message")
		return
	}
	err := b.exchange(ctx, m)
	switch {
	case err == nil, ctx.Err() != nil:
	case m.isRequest():
		b.reply(m.ID, codeUnavailable, err.Error())
		fallthrough
	default:
		b.say("svc mcp: %s: %v", m.Method, err)
	}
}

// emit writes one message to the host.
func (b *Bridge) emit(data []byte) {
	var line bytes.Buffer
	if json.Compact(&line, data) != nil {
		b.say("svc mcp: the service sent something that is not JSON; left out")
		return
	}
	line.WriteByte('\n')
	b.mu.Lock()
	_, err := b.Out.Write(line.Bytes())
	b.mu.Unlock()
	if err == nil {
		b.debug("< %s", bytes.TrimSpace(line.Bytes()))
	}
}

func (b *Bridge) debug(format string, args ...any) {
	if b.Debug {
		b.say("svc mcp "+format, args...)
	}
}

func (b *Bridge) say(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fmt.Fprintf(b.Log, format+"\n", args...)
}
