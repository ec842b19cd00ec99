// Package post sends one event of a hook to the service and reads the answer. It
// decides nothing: what is sent and what follows of the answer is the hook's.
package post

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A Client sends one request and is gone, so it has none of what makes
// http.Transport quick for the next one: no pool, no goroutines, no HTTP/2.
type Client struct {
	Server    string
	Token     string
	Agent     string
	Getenv    func(string) string
	ConfigDir func() (string, error)
}

// connectTimeout bounds the first step, so that a server that is away costs an
// agent less than one that is slow.
var connectTimeout = patience.Of(150 * time.Millisecond)

// maxReply bounds what is read of an answer.
const maxReply = 1 << 20

// Evaluate asks the service about one event.
func (c Client) Evaluate(ctx context.Context, in wire.HookRequest) (wire.HookReply, error) {
	var out wire.HookReply
	body, err := encode(in)
	if err != nil {
		return out, err
	}
	req, err := c.request(ctx, body)
	if err != nil {
		return out, err
	}
	data, status, err := c.roundTrip(ctx, req)
	if err != nil {
		return out, err
	}
	if status != http.StatusOK {
		return out, fmt.Errorf("the service answered %d %s", status, problemDetail(data))
	}
	return decode(data)
}

func (c Client) request(ctx context.Context, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(c.Server, "/")+"/v1/hooks/evaluate", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if req.URL.Scheme != "http" && req.URL.Scheme != "https" || req.URL.Host == "" {
		return nil, fmt.Errorf("%q is no address of a server", c.Server)
	}
	req.Header.Set("Authorization", "Bearer "+c.Token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Svc-Protocol", wire.HookProtocol)
	req.Header.Set("User-Agent", c.Agent)
	req.Close = true
	return req, nil
}

// roundTrip sends req on a connection of its own.
func (c Client) roundTrip(ctx context.Context, req *http.Request) ([]byte, int, error) {
	if c.needsProxy(req.URL) {
		return c.viaProxy(req)
	}
	conn, err := c.dial(ctx, req.URL)
	if err != nil {
		return nil, 0, err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(deadline); err != nil {
			return nil, 0, err
		}
	}
	if err := req.Write(conn); err != nil {
		return nil, 0, err
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err != nil {
		return nil, 0, err
	}
	return readReply(res)
}

func readReply(res *http.Response) ([]byte, int, error) {
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	return data, res.StatusCode, err
}

// dial connects to the host of u, over TLS if it says so.
func (c Client) dial(ctx context.Context, u *url.URL) (net.Conn, error) {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	address := net.JoinHostPort(u.Hostname(), port)
	if u.Scheme == "https" {
		return c.dialTLS(ctx, address, u.Hostname())
	}
	return dialTCP(ctx, address)
}

func dialTCP(ctx context.Context, address string) (net.Conn, error) {
	d := net.Dialer{Timeout: connectTimeout, KeepAlive: -1}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) > time.Second {
		d.Timeout = 3 * connectTimeout // nobody waits to type
	}
	return d.DialContext(ctx, "tcp", address)
}

// needsProxy reports whether the user's environment names a proxy for u. The
// question is cheap; the answer is rarely yes.
func (c Client) needsProxy(u *url.URL) bool {
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
func (c Client) viaProxy(req *http.Request) ([]byte, int, error) {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}
	res, err := t.RoundTrip(req)
	if err != nil {
		return nil, 0, err
	}
	return readReply(res)
}

// problemDetail returns the sentence in an error answer.
func problemDetail(data []byte) string {
	var p struct {
		Detail string `json:"detail"`
	}
	_ = json.Unmarshal(data, &p)
	return excerpt.Text(p.Detail, 200)
}
