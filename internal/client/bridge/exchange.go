package bridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"time"

	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/version"
)

// LoginHint is what an agent is told when nobody is logged in.
const LoginHint = "svc is not logged in on this machine. Ask the user to run `svc login` in a terminal, then try again."

// exchange sends m, as often as it takes and is safe, and passes the answer
// on.
func (b *Bridge) exchange(ctx context.Context, m message) error {
	cred, err := b.credential(false)
	if err != nil || cred.Token == "" {
		return b.hint(m, err)
	}
	for try := 0; ; try++ {
		res, err := b.send(ctx, m, cred)
		if err == nil && res.StatusCode == http.StatusUnauthorized {
			drop(res)
			fresh, err := b.credential(true)
			if err == nil && fresh != cred {
				cred = fresh
				continue
			}
			return b.refused(m, cred)
		}
		sent := err == nil
		if sent && res.StatusCode != http.StatusServiceUnavailable && res.StatusCode != http.StatusBadGateway {
			err = b.receive(m, res)
			if err == nil {
				return nil
			}
		} else if sent {
			drop(res)
			err = fmt.Errorf("%s answered %s", cred.Server, res.Status)
		}
		again := m.repeatable() || !sent && notSent(err)
		if ctx.Err() != nil || !again || try >= len(b.Backoff) {
			return fmt.Errorf("the coordination service does not answer (%w); work on without it and try again later", err)
		}
		b.debug("  %s: %v, trying again", m.Method, err)
		if !pause(ctx, b.Backoff[try]) {
			return ctx.Err()
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// credential returns what to send with; afresh asks the login again.
func (b *Bridge) credential(afresh bool) (Credential, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cred.Token != "" && !afresh {
		return b.cred, nil
	}
	c, err := b.Login()
	if err == nil {
		b.cred = c
	}
	return c, err
}

func (b *Bridge) hint(m message, err error) error {
	text := LoginHint
	if err != nil {
		text = fmt.Sprintf("svc cannot read its login: %v", err)
	}
	b.say("svc mcp: %s", text)
	if m.isRequest() {
		b.reply(m.ID, codeLogin, text)
	}
	return nil
}

func (b *Bridge) refused(m message, c Credential) error {
	return b.hint(m, fmt.Errorf("%s rejected the token. Ask the user to run `svc login` in a terminal", c.Server))
}

func (b *Bridge) send(ctx context.Context, m message, c Credential) (*http.Response, error) {
	b.mu.Lock()
	if name := m.client(); name != "" {
		b.client = name
	}
	settled, client := b.version, b.client
	b.mu.Unlock()
	url := c.Server + "/mcp"
	if forModel(client) {
		url += "?for=model"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(m.raw))
	if err != nil {
		return nil, err
	}
	m.setHeaders(req.Header, settled)
	req.Header.Set("Authorization", "Bearer "+c.Token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("User-Agent", "svc-mcp/"+version.Version)
	if m.Method == "tools/call" && b.Session != nil {
		if id, key := b.Session(c.Server, client, m.Params.Arguments.SessionID, m.Params.Name); id != "" {
			req.Header.Set("X-Svc-Session", id)
			req.Header.Set("X-Svc-Session-Key", key)
		}
	}
	return b.http.Do(req)
}

// notSent reports whether err came before anything went out.
func notSent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// receive passes on the answer to m in whichever form it comes.
func (b *Bridge) receive(m message, res *http.Response) error {
	defer res.Body.Close()
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case res.StatusCode == http.StatusAccepted || res.StatusCode == http.StatusNoContent:
		return nil
	case kind == "text/event-stream":
		return b.receiveStream(m, res.Body)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, 32<<20))
	if err != nil {
		return err
	}
	switch {
	case kind == "application/json" && isRPC(body):
		b.settle(m, body)
		b.emit(body)
		return nil
	case !m.isRequest():
		b.debug("  %s: the service answered %s", m.Method, res.Status)
		return nil
	case kind == "application/problem+json":
		b.reply(m.ID, codeUnavailable, problem.Read(bytes.NewReader(body)).Error())
		return nil
	}
	b.reply(m.ID, codeUnavailable, fmt.Sprintf("%s answered %s with %q, which is not the service; check the address with svc status",
		res.Request.URL.Host, res.Status, kind))
	return nil
}

// receiveStream passes on the messages of an event stream. It ends well once
// the answer to m has come.
func (b *Bridge) receiveStream(m message, body io.Reader) error {
	s := bufio.NewScanner(body)
	s.Buffer(make([]byte, 0, 64<<10), 32<<20)
	var data []byte
	for s.Scan() {
		line := s.Bytes()
		if text, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(append(data, bytes.TrimPrefix(text, []byte(" "))...), '\n')
			continue
		}
		if len(line) > 0 || len(data) == 0 {
			continue
		}
		if isRPC(data) {
			b.settle(m, data)
			b.emit(data)
			if answers(m, data) {
				return nil
			}
		}
		data = nil
	}
	switch {
	case s.Err() != nil:
		return s.Err()
	case m.isRequest():
		return io.ErrUnexpectedEOF
	}
	return nil
}

func isRPC(body []byte) bool {
	var m struct {
		JSONRPC string `json:"jsonrpc"`
	}
	trimmed := bytes.TrimSpace(body)
	if bytes.HasPrefix(trimmed, []byte("[")) {
		return json.Valid(trimmed)
	}
	return json.Unmarshal(trimmed, &m) == nil && m.JSONRPC == "2.0"
}

// answers reports whether body is the answer to m rather than a notification
// sent before it.
func answers(m message, body []byte) bool {
	r := parse(bytes.TrimSpace(body))
	return r.Method == "" && bytes.Equal(r.ID, m.ID)
}

// settle remembers the version that an answer to initialize agreed on.
func (b *Bridge) settle(m message, body []byte) {
	if m.Method != "initialize" {
		return
	}
	var in struct {
		Result struct {
			ProtocolVersion string `json:"protocolVersion"`
		} `json:"result"`
	}
	if json.Unmarshal(body, &in) == nil && in.Result.ProtocolVersion != "" {
		b.mu.Lock()
		b.version = in.Result.ProtocolVersion
		b.mu.Unlock()
	}
}

// drop reads a little of what is left, so that the connection can be used
// again, and closes it.
func drop(res *http.Response) {
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10)
	res.Body.Close()
}
