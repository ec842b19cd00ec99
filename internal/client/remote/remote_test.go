package remote_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
)

const token = "svc_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

func TestPlainHTTPStaysOnThisMachine(t *testing.T) {
	for server, ok := range map[string]bool{
		"http://127.0.0.1:7780": true, "http://localhost:1": true, "http://[::1]:1": true, "http://svc.localhost": true,
		"http://127.8.9.1": true, "http://[::ffff:127.0.0.1]": true, "https://svc.example": true,
		"http://svc.example": false, "http://10.0.0.1": false, "http://localhost.evil.example": false,
		"http://127.0.0.1.evil.example": false, "http://0.0.0.0:7780": false,
	} {
		_, err := remote.New(server, token, remote.Options{})
		if (err == nil) != ok {
			t.Errorf("%s: %v, want allowed = %v", server, err, ok)
		}
		if _, err := remote.New(server, token, remote.Options{Insecure: true}); err != nil {
			t.Errorf("%s with --insecure: %v", server, err)
		}
	}
}

func TestWhatWentWrongIsTold(t *testing.T) {
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(tls.Close)
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	answer := func(status int, kind, body string, header ...string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	for _, tt := range []struct{ name, server, want string }{
		{"nobody listens", closed.URL, "connection refused; is the server running?"},
		{"an unknown certificate", tls.URL, "does not trust"},
		{"a host that is not there", "https://svc.invalid", "no such host svc.invalid"},
		{"TLS on a plain port", strings.Replace(answer(200, "text/plain", ""), "http:", "https:", 1), "does not speak TLS"},
		{"a proxy's page", answer(502, "text/html", "<html>"), "502 Bad Gateway with text/html, which is not the service"},
		{"a page instead of JSON", answer(200, "text/html", "<html>"), "is the address right"},
		{"half a reply", answer(200, "application/json", `{"user":`), "cannot be read"},
		{
			"a redirect",
			answer(302, "text/plain", "", "Location", "https://elsewhere.example/v1/me"),
			"sends us on to https://elsewhere.example/v1/me",
		},
		{"a rejected token", answer(401, "application/problem+json",
			`{"type":"urn:svc:problem:unauthorized","status":401,"detail":"the token was revoked"}`),
			"rejected the token (the token was revoked); run svc login"},
		{"a missing scope", answer(403, "application/problem+json",
			`{"type":"urn:svc:problem:forbidden","status":403,"detail":"this needs a token with scope intents:read"}`),
			"this needs a token with scope intents:read"},
		{"an unreadable problem", answer(500, "application/problem+json", `no`), "cannot be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := client(t, tt.server).Me(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v\nwant %s", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), token) {
				t.Error("the token is in the message")
			}
		})
	}
}

func TestRetryAfterIsRead(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(429)
		fmt.Fprint(w, `{"type":"urn:svc:problem:rate-limited","detail":"slow"}`)
	})
	_, err := client(t, s).Me(t.Context())
	if problem.RetryAfter(err) != 7 || problem.KindOf(err) != problem.RateLimited {
		t.Errorf("err = %#v", err)
	}
}

func TestTheTokenIsSentToItsServerOnly(t *testing.T) {
	var got []string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.URL.Path+" "+r.Header.Get("Authorization"))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"status":"ok"}`)
	})
	c := client(t, s)
	if _, err := c.Me(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Fetch(t.Context(), "/cli/latest.json", 100); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"/v1/me Bearer " + token, "/cli/latest.json "}, got); d != "" {
		t.Error(d)
	}
}

func TestMembersReadsEveryPage(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		n, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		next := "null"
		if n < 2 {
			next = strconv.Quote(strconv.Itoa(n + 1))
		}
		fmt.Fprintf(w, `{"items":[{"email":"u%d@example.com"}],"next_cursor":%s}`, n, next)
	})
	ms, err := client(t, s).Members(t.Context())
	if err != nil || len(ms) != 3 || ms[2].Email != "u2@example.com" {
		t.Errorf("members = %v, %v", ms, err)
	}
}

// The server ends the stream in every way it can; the reader sees each event
// once, in order.
func TestFollowResumesWhereItWasCutOff(t *testing.T) {
	const events = 20
	connects := 0
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		connects++
		if connects == 3 { // a restart: the proxy answers for a moment
			http.Error(w, "gateway", http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "retry: 1\n\n: ka\n\n")
		last, _ := strconv.Atoi(r.Header.Get("Last-Event-ID"))
		for id := last + 1; id <= min(last+3, events); id++ {
			fmt.Fprintf(w, "id: %d\r\nevent: intent.declared\r\ndata: {\"id\":\"%d\",\ndata: \"type\":\"intent.declared\"}\n\n", id, id)
		}
		switch connects % 3 {
		case 0:
			fmt.Fprint(w, "id: 99\nevent: intent.declared\nda") // cut in the middle
		case 1:
			fmt.Fprint(w, "event: reconnect\ndata: {\"after_ms\":1}\n\n")
		}
	})
	var got []string
	downs := 0
	done := errors.New("enough")
	err := client(t, s).Follow(t.Context(), remote.Feed{Down: func(error, time.Duration) { downs++ }}, func(e coord.Event) error {
		if got = append(got, e.ID); len(got) == events {
			return done
		}
		return nil
	})
	if !errors.Is(err, done) {
		t.Fatal(err)
	}
	for i, id := range got {
		if id != strconv.Itoa(i+1) {
			t.Fatalf("events = %v", got)
		}
	}
	if downs != connects-1 {
		t.Errorf("%d connections, %d losses told", connects, downs)
	}
}

func TestFollowEndsWhenTheTokenIsRefused(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(401)
		fmt.Fprint(w, `{"type":"urn:svc:problem:unauthorized","detail":"revoked"}`)
	})
	err := client(t, s).Follow(t.Context(), remote.Feed{}, nil)
	if !remote.Rejected(err) {
		t.Errorf("err = %v", err)
	}
}

func TestFollowEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "retry: 1\n\n")
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	})
	if err := client(t, s).Follow(ctx, remote.Feed{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}

func serve(t *testing.T, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func client(t *testing.T, server string) *remote.Client {
	t.Helper()
	c, err := remote.New(server, token, remote.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
