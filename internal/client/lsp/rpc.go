package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"sync"
)

// A message is a request, a notification or an answer of JSON-RPC 2.0.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

// Codes of JSON-RPC and of the protocol.
const (
	badParams = -32602
	noMethod  = -32601
	failed    = -32803
)

// maxMessage bounds a message; an editor sends a whole file in one.
const maxMessage = 64 << 20

// A conn reads and writes messages with their length before them.
type conn struct {
	in  *bufio.Reader
	mu  sync.Mutex
	out io.Writer
	ids int
}

func (c *conn) read() (m message, err error) {
	head, err := textproto.NewReader(c.in).ReadMIMEHeader()
	if err != nil {
		return m, err
	}
	n, err := strconv.Atoi(head.Get("Content-Length"))
	if err != nil || n < 0 || n > maxMessage {
		return m, fmt.Errorf("a message of %.20q bytes", head.Get("Content-Length"))
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(c.in, body); err != nil {
		return m, err
	}
	return m, json.Unmarshal(body, &m)
}

func (c *conn) write(m message) error {
	m.Version = "2.0"
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = fmt.Fprintf(c.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// notify tells the editor something that it does not answer.
func (c *conn) notify(method string, params any) error {
	p, err := json.Marshal(params)
	if err != nil {
		return err
	}
	return c.write(message{Method: method, Params: p})
}

// ask asks the editor for something; what it answers is not waited for.
func (c *conn) ask(method string, params any) error {
	p, err := json.Marshal(params)
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.ids++
	id := strconv.Itoa(c.ids)
	c.mu.Unlock()
	return c.write(message{ID: json.RawMessage(`"svc-` + id + `"`), Method: method, Params: p})
}

// answer answers a request.
func (c *conn) answer(id json.RawMessage, result any, err error) error {
	m := message{ID: id}
	if err != nil {
		var e *rpcError
		if !errors.As(err, &e) {
			e = &rpcError{failed, err.Error()}
		}
		m.Error = e
		return c.write(m)
	}
	if m.Result, err = json.Marshal(result); err != nil {
		return err
	}
	return c.write(m)
}
