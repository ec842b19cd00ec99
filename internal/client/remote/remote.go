// Package remote calls the service's REST API. Every failure comes back as an
// error that a person can act on: a problem of the service as *problem.Error,
// everything that kept the service from answering as *Unreachable. It prints
// nothing, keeps nothing and repeats no request that may have been done.
package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/clientcert"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/version"
)

// maxReply is how much of a reply is read: a page of 200 records with plans
// fits many times over.
const maxReply = 32 << 20

// A Client calls one server with one token.
type Client struct {
	server  string
	token   string
	session [2]string // the id and the key of the session that speaks, if one does
	renew   string    // what to run when the token is rejected
	http    *http.Client
}

// Options are what New may be told.
type Options struct {
	Insecure  bool              // allow plain http beyond this machine
	Transport http.RoundTripper // nil for one that heeds the proxy variables
	Timeout   time.Duration     // of one call; 0 for 30 seconds
	Renew     string            // what to run when the token is rejected; "" for svc login
}

// New returns a client of server. An empty token makes one that can only log
// in. It refuses to send a token in the clear to another machine.
func New(server, token string, opt Options) (*Client, error) {
	if err := CheckAddress(server, opt.Insecure); err != nil {
		return nil, err
	}
	if opt.Timeout == 0 {
		opt.Timeout = 30 * time.Second
	}
	if opt.Transport == nil {
		opt.Transport = clientcert.Transport(os.Getenv)
	}
	return &Client{
		renew:  cmp.Or(opt.Renew, "svc login"),
		server: strings.TrimRight(server, "/"),
		token:  token,
		http:   &http.Client{Transport: opt.Transport, Timeout: opt.Timeout, CheckRedirect: stay},
	}, nil
}

// CheckAddress refuses an address to which a token must not be sent: plain
// http to another machine, unless that was accepted.
func CheckAddress(server string, insecure bool) error {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" {
		return fmt.Errorf("%q is not a server address such as https://svc.example.com", server)
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) && !insecure {
		return fmt.Errorf("%s is plain http: the token would travel in the clear; use https, or --insecure if you trust the network", server)
	}
	return nil
}

// As returns a client that speaks as a session of this machine's, which its key
// proves.
func (c *Client) As(session, key string) *Client {
	as := *c
	as.session = [2]string{session, key}
	return &as
}

// Server returns the address of the service.
func (c *Client) Server() string { return c.server }

// stay refuses redirects: they would carry the token to a place nobody named.
func stay(req *http.Request, _ []*http.Request) error {
	return fmt.Errorf("the server sends us on to %s; log in there with svc login --server", req.URL.Redacted())
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// get and post are the two shapes of nearly every call.
func get[Out any](ctx context.Context, c *Client, path string, q url.Values) (out Out, err error) {
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	err = c.call(ctx, http.MethodGet, path, nil, nil, &out)
	return out, err
}

func post[Out any](ctx context.Context, c *Client, path string, in any) (out Out, err error) {
	err = c.call(ctx, http.MethodPost, path, nil, in, &out)
	return out, err
}

// call sends in, if any, and decodes the reply into out, if any.
func (c *Client) call(ctx context.Context, method, path string, header http.Header, in, out any) error {
	return c.exchange(ctx, method, path, header, in, out, func(*http.Response) {})
}

// exchange is call that lets seen look at the reply's headers.
func (c *Client) exchange(ctx context.Context, method, path string, header http.Header, in, out any, seen func(*http.Response)) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	req, err := c.request(ctx, method, path, body)
	if err != nil {
		return err
	}
	for k, v := range header {
		req.Header[k] = v
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := c.http.Do(req)
	if err != nil {
		return c.unreachable(ctx, err)
	}
	defer res.Body.Close()
	seen(res)
	return c.decode(res, out)
}

func (c *Client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.server+path, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "svc/"+version.Version)
	req.Header.Set("Accept", "application/json, application/problem+json")
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	if id, key := c.session[0], c.session[1]; id != "" {
		req.Header.Set("X-Svc-Session", id)
		req.Header.Set("X-Svc-Session-Key", key)
	}
	return req, nil
}

// decode reads a reply of the service, or the error in it.
func (c *Client) decode(res *http.Response, out any) error {
	body := io.LimitReader(res.Body, maxReply)
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	switch {
	case res.StatusCode >= 400 && kind == "application/problem+json":
		return c.problemOf(res, problem.Read(body))
	case res.StatusCode == http.StatusNoContent:
		return nil
	case res.StatusCode >= 400, out != nil && kind != "application/json":
		return &Unreachable{
			Server: c.server,
			Detail: fmt.Sprintf("%s answered %s with %s, which is not the service; is the address right, or is a proxy in between?",
				c.server, res.Status, orNothing(kind)),
		}
	case out == nil:
		_, err := io.Copy(io.Discard, body)
		return err
	}
	if err := json.NewDecoder(body).Decode(out); err != nil {
		return &Unreachable{Server: c.server, Detail: fmt.Sprintf("%s sent a reply that cannot be read: %v", c.server, err), Err: err}
	}
	return nil
}

// problemOf adds what the headers and the client know to a problem.
func (c *Client) problemOf(res *http.Response, err error) error {
	var e *problem.Error
	if !errors.As(err, &e) {
		return &Unreachable{
			Server: c.server,
			Detail: fmt.Sprintf("%s answered %s with an error that cannot be read", c.server, res.Status),
			Err:    err,
		}
	}
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(s) * time.Second
	}
	if e.Kind == problem.Unauthorized && res.Request.Header.Get("Authorization") != "" {
		why, _, _ := strings.Cut(e.Detail, ";") // what to do next is ours to say
		e.Detail = fmt.Sprintf("%s rejected the token (%s); run %s", c.server, strings.TrimSuffix(why, "."), c.renew)
	}
	return e
}

func orNothing(kind string) string {
	if kind == "" {
		return "no content type"
	}
	return kind
}

// Rejected reports whether err says that the server does not take the token.
func Rejected(err error) bool { return problem.KindOf(err) == problem.Unauthorized }
