package badline

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"
)

// echo answers with what it is sent.
func echo(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); _, _ = io.Copy(c, c) }()
		}
	}()
	return l.Addr().String()
}

func line(t *testing.T, to string) *Line {
	l, err := New(to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// A line carries everything, in order, and takes its time: a connection costs a
// round trip, and what is said on it another.
func TestALineTakesItsTime(t *testing.T) {
	l := line(t, echo(t))
	l.Set(Quality{There: 20 * time.Millisecond, Back: 30 * time.Millisecond, Loss: 0.01})
	began := time.Now()
	conn, err := net.Dial("tcp", l.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sent := bytes.Repeat([]byte("far away "), 50_000)
	go func() { _, _ = conn.Write(sent); _ = conn.(*net.TCPConn).CloseWrite() }()
	one := make([]byte, 1)
	if _, err := io.ReadFull(conn, one); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 100*time.Millisecond {
		t.Errorf("the first byte came back after %v", took)
	}
	rest, err := io.ReadAll(conn)
	if err != nil || !bytes.Equal(append(one, rest...), sent) {
		t.Errorf("%d of %d bytes came back: %v", len(rest)+1, len(sent), err)
	}
}

// Silence holds everything back and loses nothing; a cut ends it.
func TestASilentLineAndACutOne(t *testing.T) {
	l := line(t, echo(t))
	conn, err := net.Dial("tcp", l.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	l.Silence(true)
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a silent line let something pass: %v", err)
	}
	_ = conn.SetReadDeadline(time.Time{})
	l.Silence(false)
	if _, err := io.ReadFull(conn, make([]byte, 1)); err != nil {
		t.Errorf("a line that speaks again lost what was sent: %v", err)
	}
	l.Cut()
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a cut line is open: %v", err)
	}
}

// The TLS proxy vouches for itself by its own authority alone, and speaks
// HTTP/2.
func TestFront(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	defer server.Close()
	front, err := NewFront(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	ask := func(roots *x509.CertPool) (*http.Response, error) {
		c := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, "https://"+front.Addr, nil)
		if err != nil {
			return nil, err
		}
		return c.Do(req)
	}
	if _, err := ask(x509.NewCertPool()); err == nil {
		t.Error("somebody else vouches for it")
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(front.Authority)
	res, err := ask(roots)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err != nil || string(text) != "hello" || res.ProtoMajor != 2 {
		t.Errorf("answered %q over HTTP/%d: %v", text, res.ProtoMajor, err)
	}
}
