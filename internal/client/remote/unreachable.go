package remote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"syscall"
)

// An Unreachable error means that the service did not answer: something
// between here and there did, or nothing.
type Unreachable struct {
	Server string
	Detail string // a sentence with the next step
	Err    error
}

func (e *Unreachable) Error() string { return e.Detail }
func (e *Unreachable) Unwrap() error { return e.Err }

// unreachable turns an error of the transport into one to act on.
func (c *Client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return &Unreachable{Server: c.server, Detail: fmt.Sprintf("cannot reach %s%s: %s", c.server, c.proxyNote(), cause(err)), Err: err}
}

// cause says in a few words why, and what to try.
func cause(err error) string {
	var (
		dns     *net.DNSError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		cert    *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		timeout interface{ Timeout() bool }
		urlErr  *url.Error
	)
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return fmt.Sprintf("no such host %s; check the address", dns.Name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused; is the server running?"
	case errors.As(err, &unknown):
		return "its certificate is signed by an authority this machine does not trust; add it to the system, or name its file in SSL_CERT_FILE"
	case errors.As(err, &host):
		return "its certificate is for another host: " + host.Error() + "; use the name that it is for"
	case errors.As(err, &cert):
		return "its certificate is not valid: " + cert.Err.Error() + "; if it has expired, the server's administrator must renew it"
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return "it does not speak TLS; is it a plain http server?"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case errors.As(err, &urlErr):
		return urlErr.Err.Error()
	}
	return err.Error()
}

// proxyNote names the proxy that the environment puts between us and the
// server, which people forget.
func (c *Client) proxyNote() string {
	way := c.http.Transport
	if edge, ok := way.(*edgeTransport); ok {
		way = edge.direct
	}
	direct, ok := way.(*http.Transport)
	if !ok || direct.Proxy == nil {
		return ""
	}
	req, err := http.NewRequest(http.MethodGet, c.server, nil)
	if err != nil {
		return ""
	}
	if p, err := direct.Proxy(req); err == nil && p != nil {
		return " through the proxy " + p.Redacted()
	}
	return ""
}
