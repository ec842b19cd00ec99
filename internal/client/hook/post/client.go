// Package post sends one event of a hook to the service and reads the answer. It
// decides nothing: what is sent and what follows of the answer is the hook's.
package post

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/client/clientcert"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A Client asks for one hook: once, or twice where the service wants to know
// more. It has none of what makes http.Transport quick for hundreds: no pool, no
// goroutines, no HTTP/2. The second question goes over the connection of the
// first, which a server far away makes worth three round trips.
type Client struct {
	Server    string
	Token     string
	Agent     string
	Getenv    func(string) string
	ConfigDir func() (string, error)
	// Edge is the resident process on this machine that answers for the server,
	// and EdgeKey what opens its door. Without one the server is asked.
	Edge, EdgeKey string
	Brief         bool // give a connection little time: nobody was there of late

	mu    sync.Mutex
	idle  *connection
	proxy *http.Transport
}

// connectTimeout bounds the first step of an event that has longer, so that a
// server that is away costs less than one that is slow. It leaves room for a
// lost packet to be sent again. What an agent waits for may use up its time: a
// long way is no outage.
const connectTimeout = 1200 * time.Millisecond

// briefTimeout is what a server gets that was away a moment ago: enough for one
// on another continent that is back.
const briefTimeout = 200 * time.Millisecond

// maxReply bounds what is read of an answer, maxHead what comes before it.
const (
	maxReply = 1 << 20
	maxHead  = 64 << 10
)

var errTooLong = &Fault{Words: "answers without end"}

// Evaluate asks about one event: the edge, and without one the service.
func (c *Client) Evaluate(ctx context.Context, in wire.HookRequest) (wire.HookReply, error) {
	body := encode(in)
	if c.Edge != "" {
		if reply, err := c.askEdge(ctx, body); !errors.Is(err, errNoEdge) {
			return reply, err
		}
		c.Edge = "" // for the rest of this hook
	}
	req, err := c.request(ctx, c.Server, body)
	if err != nil {
		return wire.HookReply{}, err
	}
	data, res, err := c.roundTrip(ctx, req)
	if err != nil {
		return wire.HookReply{}, err
	}
	return read(data, res)
}

// read takes an answer apart. What stands between us and the service may answer
// in its place, with a page to log in at or another address: that is no answer.
func read(data []byte, res *http.Response) (wire.HookReply, error) {
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return wire.HookReply{}, &Fault{
			Words: "redirects to " + excerpt.Text(res.Header.Get("Location"), 200) + "; if it moved, run svc login --server"}
	case res.StatusCode == http.StatusUnauthorized:
		return wire.HookReply{}, &Fault{Words: "no longer accepts this login; run svc login"}
	case res.StatusCode != http.StatusOK:
		return wire.HookReply{}, &Fault{fmt.Sprintf("answered with error %d", res.StatusCode), problemDetail(data)}
	}
	reply, err := decode(data)
	if err != nil {
		return reply, &Fault{Words: "is answered for by somebody else, such as a network's sign-in page"}
	}
	return reply, nil
}

// A Fault is what is wrong with a server that somebody answered for, in words
// that follow its name. What it says itself is for the log: anybody may have
// written it.
type Fault struct{ Words, said string }

func (f *Fault) Error() string {
	if f.said != "" {
		return "the server " + f.Words + ": " + f.said
	}
	return "the server " + f.Words
}

func (c *Client) request(ctx context.Context, server string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(server, "/")+"/v1/hooks/evaluate", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if req.URL.Scheme != "http" && req.URL.Scheme != "https" || req.URL.Host == "" {
		return nil, fmt.Errorf("%q is no address of a server", server)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Svc-Protocol", wire.HookProtocol)
	req.Header.Set("User-Agent", c.Agent)
	return req, nil
}

// A connection to the server, over which one request goes at a time.
type connection struct {
	net.Conn
	in   *bufio.Reader
	left int // bytes that an answer may still have
}

func newConnection(c net.Conn) *connection {
	conn := &connection{Conn: c}
	conn.in = bufio.NewReader(conn)
	return conn
}

// Read ends an answer that is longer than any of ours: a line of its head would
// be read for as long as somebody sends it.
func (c *connection) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errTooLong
	}
	n, err := c.Conn.Read(p[:min(len(p), c.left)])
	c.left -= n
	return n, err
}

// roundTrip sends req, on the connection of the request before if there is one.
func (c *Client) roundTrip(ctx context.Context, req *http.Request) ([]byte, *http.Response, error) {
	if c.needsProxy(req.URL) {
		return c.viaProxy(req)
	}
	if conn := c.take(); conn != nil {
		data, res, err := c.exchange(ctx, conn, req)
		if err == nil || ctx.Err() != nil || errors.Is(err, os.ErrDeadlineExceeded) {
			return data, res, err
		}
		req = req.Clone(ctx) // the server has hung up meanwhile
		if req.Body, err = req.GetBody(); err != nil {
			return nil, nil, err
		}
	}
	conn, err := c.dial(ctx, req.URL)
	if err != nil {
		return nil, nil, err
	}
	return c.exchange(ctx, newConnection(conn), req)
}

// take returns the connection that is free, if there is one.
func (c *Client) take() *connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	conn := c.idle
	c.idle = nil
	return conn
}

// exchange sends req and keeps the connection for the next one.
func (c *Client) exchange(ctx context.Context, conn *connection, req *http.Request) ([]byte, *http.Response, error) {
	conn.left = maxHead + 2*maxReply // in pieces it is longer
	deadline, _ := ctx.Deadline()    // or never
	err := conn.SetDeadline(deadline)
	if err == nil {
		err = req.Write(conn)
	}
	var res *http.Response
	if err == nil {
		res, err = http.ReadResponse(conn.in, req)
	}
	if err != nil {
		conn.Close()
		return nil, nil, err
	}
	data, err := readReply(res)
	if err != nil || res.Close || len(data) == maxReply {
		conn.Close()
		return data, res, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idle != nil {
		conn.Close()
	} else {
		c.idle = conn
	}
	return data, res, nil
}

// Close ends what is open. The end of the process does so, too.
func (c *Client) Close() {
	if conn := c.take(); conn != nil {
		conn.Close()
	}
	if c.proxy != nil {
		c.proxy.CloseIdleConnections()
	}
}

func readReply(res *http.Response) ([]byte, error) {
	defer res.Body.Close()
	return io.ReadAll(io.LimitReader(res.Body, maxReply))
}

// dial connects to the host of u, over TLS if it says so.
func (c *Client) dial(ctx context.Context, u *url.URL) (net.Conn, error) {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	address := net.JoinHostPort(u.Hostname(), port)
	if u.Scheme == "https" {
		return c.dialTLS(ctx, address, u.Hostname())
	}
	return c.dialTCP(ctx, address)
}

// dialTCP connects. Where nobody has answered in time, nothing is known of a
// server: that is another error than an answer that came late.
func (c *Client) dialTCP(ctx context.Context, address string) (net.Conn, error) {
	limit := connectTimeout
	if c.Brief {
		limit = briefTimeout
	}
	d := net.Dialer{Timeout: patience.Of(limit), KeepAlive: -1}
	conn, err := d.DialContext(ctx, "tcp", address)
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("%w to %s: %v", spool.ErrDead, address, err)
	}
	return conn, err
}

// needsProxy reports whether the user's environment names a proxy for u. The
// question is cheap; the answer is rarely yes.
func (c *Client) needsProxy(u *url.URL) bool {
	names := []string{"HTTP_PROXY", "http_proxy"}
	if u.Scheme == "https" {
		names = []string{"HTTPS_PROXY", "https_proxy"}
	}
	for _, n := range names {
		if c.Getenv(n) != "" {
			proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u})
			return err == nil && proxy != nil
		}
	}
	return false
}

// viaProxy leaves tunnels and credentials to the standard library.
func (c *Client) viaProxy(req *http.Request) ([]byte, *http.Response, error) {
	c.mu.Lock()
	if c.proxy == nil {
		c.proxy = clientcert.Transport(c.Getenv)
	}
	t := c.proxy
	c.mu.Unlock()
	res, err := t.RoundTrip(req)
	if err != nil {
		return nil, nil, err
	}
	data, err := readReply(res)
	return data, res, err
}

// problemDetail returns the sentence in an error answer.
func problemDetail(data []byte) string {
	var p struct {
		Detail string `json:"detail"`
	}
	_ = json.Unmarshal(data, &p)
	return excerpt.Text(p.Detail, 200)
}
