// Package outbound is the only way by which the service sends requests to
// addresses that its users chose: webhooks, chat, git hosts. It reaches the
// public internet and nothing else, unless the operator allows a range.
//
// The check is made on the address that is really dialled, after name
// resolution, at every connection: a name that was harmless when it was saved
// may point elsewhere now.
package outbound

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/svc-hq/svc/internal/server/trail"
)

const (
	connectTimeout = 5 * time.Second
	totalTimeout   = 15 * time.Second
	maxHeader      = 16 << 10
	maxBody        = 64 << 10 // read of an answer, so that the connection can be used again
	keepBody       = 1 << 10  // kept of it
	maxURL         = 2000
)

// A Policy says where requests may go beyond the public internet.
type Policy struct {
	Allow    []netip.Prefix // private ranges; http and any port are fine there
	RootCAs  *x509.CertPool // the system's if nil
	Resolver *net.Resolver  // the system's if nil
	Timeout  time.Duration  // of a request; 15 seconds if 0
}

// ParseAllow reads ranges such as 10.0.0.0/8 or 192.168.1.5, separated by
// commas.
func ParseAllow(text string) (out []netip.Prefix, err error) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		p, err := netip.ParsePrefix(part)
		if err != nil {
			a, err := netip.ParseAddr(part)
			if err != nil {
				return nil, fmt.Errorf("%q is not an address range such as 10.0.0.0/8", part)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// A Client sends requests as its policy allows.
type Client struct {
	policy Policy
	secure *http.Client
	plain  *http.Client // http://, for allowed ranges only
}

// New returns a Client.
func New(p Policy) *Client {
	return &Client{policy: p, secure: p.client(p.mayReach), plain: p.client(func(a netip.AddrPort) bool { return p.allowed(a.Addr()) })}
}

func (p Policy) client(may func(netip.AddrPort) bool) *http.Client {
	d := &net.Dialer{Timeout: connectTimeout, Resolver: p.Resolver, Control: func(network, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil || network != "tcp4" && network != "tcp6" || !may(ap) {
			return ErrRefused
		}
		return nil
	}}
	return &http.Client{
		Timeout:       cmp.Or(p.Timeout, totalTimeout),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			Proxy:                  nil, // a proxy would dial for us, unchecked
			DialContext:            d.DialContext,
			TLSClientConfig:        &tls.Config{RootCAs: p.RootCAs, MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    connectTimeout,
			ResponseHeaderTimeout:  totalTimeout,
			MaxResponseHeaderBytes: maxHeader,
			DisableCompression:     true,
			MaxIdleConns:           200,
			MaxIdleConnsPerHost:    4,
			IdleConnTimeout:        30 * time.Second,
			ForceAttemptHTTP2:      true,
		},
	}
}

// AllowsPrivate reports whether the operator allowed a private range.
func (c *Client) AllowsPrivate() bool { return len(c.policy.Allow) > 0 }

// ErrRefused says that a request was not sent because of where it would go.
var ErrRefused = errors.New("this address is not on the public internet; the operator can allow a range with SVC_OUTBOUND_ALLOW")

// CheckURL reports why a URL cannot be used, as far as its text tells: the
// message completes "the url ...". What it names is checked when it is dialled.
func (c *Client) CheckURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "" || len(text) > maxURL:
		return errors.New("must be a web address such as https://example.com/hook")
	case u.User != nil:
		return errors.New("must not hold a user name or password")
	case u.Fragment != "":
		return errors.New("must not have a fragment (#...)")
	case u.Scheme == "http" && len(c.policy.Allow) == 0:
		return errors.New("must begin with https://")
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("must begin with https://")
	}
	return c.policy.checkHost(u.Hostname(), u.Port())
}

func (p Policy) checkHost(host, port string) error {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if a, err := netip.ParseAddr(host); err == nil {
		if p.allowed(a) {
			return nil
		}
		if !Public(a) {
			return ErrRefused
		}
	} else if err := p.checkName(host); err != nil {
		return err
	}
	if port != "" && port != "443" && port != "8443" && len(p.Allow) == 0 {
		return errors.New("must use port 443 or 8443")
	}
	return nil
}

// privateNames never name anything public.
var privateNames = []string{"localhost", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa"}

func (p Policy) checkName(host string) error {
	for _, r := range host {
		if r > 127 {
			return errors.New("must have its host name in ASCII (punycode)")
		}
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" || strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x") {
		return errors.New("must have a host name, or an address written in the usual way") // 127.1, 2130706433, 0x7f000001
	}
	if len(p.Allow) > 0 {
		return nil // names inside the operator's network; dialling decides
	}
	if !strings.Contains(host, ".") {
		return ErrRefused
	}
	for _, n := range privateNames {
		if strings.HasSuffix(host, "."+n) {
			return ErrRefused
		}
	}
	return nil
}

func (p Policy) mayReach(a netip.AddrPort) bool {
	return p.allowed(a.Addr()) || Public(a.Addr()) && (a.Port() == 443 || a.Port() == 8443)
}

// allowed reports whether the operator allowed an address. Link-local
// addresses, where clouds hand out credentials, cannot be allowed.
func (p Policy) allowed(a netip.Addr) bool {
	if a.Zone() != "" || a.Is4In6() {
		return false
	}
	for _, n := range never {
		if n.Contains(a) {
			return false
		}
	}
	for _, n := range p.Allow {
		if n.Contains(a) {
			return true
		}
	}
	return false
}

// An Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   string // its beginning
	Took   time.Duration
}

// Post sends body and returns the answer, whatever its status. Redirects are
// not followed: they are answers like any other.
func (c *Client) Post(ctx context.Context, to string, header http.Header, body []byte) (Answer, error) {
	start := time.Now()
	ctx, step := trail.In(ctx, trail.Outgoing)
	defer step.End()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return Answer{}, errors.New("the address cannot be read")
	}
	if err := c.CheckURL(to); errors.Is(err, ErrRefused) {
		return Answer{}, ErrRefused
	} else if err != nil {
		return Answer{}, fmt.Errorf("the url %w", err)
	}
	step.To(req.URL.Hostname())
	req.Header = header
	req.GetBody = nil // never sent twice by the transport: an attempt is one request
	use := c.secure
	if req.URL.Scheme == "http" {
		use = c.plain
	}
	resp, err := use.Do(req)
	if err != nil {
		return Answer{Took: time.Since(start)}, plainly(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return Answer{Took: time.Since(start)}, plainly(err)
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(text[:min(len(text), keepBody)]), Took: time.Since(start)}, nil
}

// Transport returns the way out for libraries that make their own requests. As
// everywhere, redirects are theirs to follow or not, and each is checked.
func (c *Client) Transport() http.RoundTripper { return transport{c} }

type transport struct{ c *Client }

// RoundTrip sends a request as the client's policy allows.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.c.CheckURL(r.URL.Scheme + "://" + r.URL.Host + "/"); err != nil {
		return nil, err
	}
	use := t.c.secure
	if r.URL.Scheme == "http" {
		use = t.c.plain
	}
	ctx, step := trail.In(r.Context(), trail.Outgoing)
	defer step.To(r.URL.Hostname()).End()
	resp, err := use.Transport.RoundTrip(r.WithContext(ctx))
	if err != nil {
		return nil, plainly(err)
	}
	return resp, nil
}

// plainly says in a few words why no answer came, without the address: it may
// hold a secret.
func plainly(err error) error {
	var dns *net.DNSError
	var timeout interface{ Timeout() bool }
	var cert *tls.CertificateVerificationError
	switch {
	case errors.Is(err, ErrRefused):
		return ErrRefused
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &dns):
		return errors.New("the host name does not resolve")
	case errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("no answer in time")
	case errors.As(err, &cert):
		return errors.New("its certificate is not valid")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("the connection was refused")
	}
	return errors.New("the connection broke")
}
