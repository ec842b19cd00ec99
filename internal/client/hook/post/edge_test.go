package post

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/badline"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A counted server counts connections and keeps the requests.
type counted struct {
	*httptest.Server
	mu    sync.Mutex
	conns int
	asked []*http.Request
}

func newCounted(t *testing.T, answer http.HandlerFunc) *counted {
	c := &counted{}
	c.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.asked = append(c.asked, r)
		c.mu.Unlock()
		_, _ = io.Copy(io.Discard, r.Body)
		answer(w, r)
	}))
	c.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			c.mu.Lock()
			c.conns++
			c.mu.Unlock()
		}
	}
	c.Start()
	t.Cleanup(c.Close)
	return c
}

func (c *counted) seen() (conns int, asked []*http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conns, c.asked
}

func allow(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"decision":"allow"}`) }

func none(string) string { return "" }

// The questions of one hook share a connection, and one that the server has
// closed in between is made anew.
func TestTheQuestionsOfAHookShareAConnection(t *testing.T) {
	s := newCounted(t, allow)
	c := &Client{Server: s.URL, Token: "t", Getenv: none}
	defer c.Close()
	ask := func() {
		t.Helper()
		if _, err := c.Evaluate(t.Context(), wire.HookRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	ask()
	if conns, asked := s.seen(); conns != 1 || len(asked) != 2 {
		t.Errorf("%d questions over %d connections", len(asked), conns)
	}
	s.CloseClientConnections()
	ask()
	if conns, asked := s.seen(); conns != 2 || len(asked) != 3 {
		t.Errorf("after a hang-up %d questions over %d connections", len(asked), conns)
	}
}

// The edge is asked in the server's place, over one connection and with the key
// of its door; where nobody or somebody else is in its place, the server is.
func TestTheEdgeIsAskedFirst(t *testing.T) {
	server := newCounted(t, allow)
	edge := newCounted(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(wire.EdgeAnswer, string(wire.EdgeDecided))
		_, _ = io.WriteString(w, `{"decision":"block","reason":"taken"}`)
	})
	ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
	defer cancel()
	c := &Client{Server: server.URL, Token: "t", Getenv: none, Edge: edge.URL, EdgeKey: "k"}
	defer c.Close()
	for range 2 {
		if reply, err := c.Evaluate(ctx, wire.HookRequest{}); err != nil || reply.Decision != wire.Block {
			t.Fatalf("answered %+v: %v", reply, err)
		}
	}
	conns, asked := edge.seen()
	if conns != 1 || len(asked) != 2 {
		t.Fatalf("%d questions over %d connections", len(asked), conns)
	}
	h := asked[0].Header
	if asked[0].URL.Path != wire.EdgePath+"/v1/hooks/evaluate" || h.Get(wire.EdgeKey) != "k" || h.Get(wire.EdgeServer) != server.URL ||
		h.Get("Authorization") != "Bearer t" || h.Get(wire.EdgeBudget) == "" {
		t.Errorf("asked %s with %v", asked[0].URL, h)
	}
	if _, asked := server.seen(); len(asked) != 0 {
		t.Error("the server was asked as well")
	}
	older := newCounted(t, http.NotFound)
	gone := newCounted(t, allow)
	gone.Close()
	for name, at := range map[string]string{"older": older.URL, "gone": gone.URL} {
		c := &Client{Server: server.URL, Token: "t", Getenv: none, Edge: at, EdgeKey: "k"}
		if reply, err := c.Evaluate(ctx, wire.HookRequest{}); err != nil || reply.Decision != wire.Allow {
			t.Errorf("with an edge that is %s: %+v, %v", name, reply, err)
		}
		c.Close()
	}
	if _, asked := server.seen(); len(asked) != 2 || asked[0].Header.Get(wire.EdgeKey) != "" {
		t.Errorf("the server was asked %d times, want twice without the key", len(asked))
	}
}

// What answers in the place of the service is no answer, and a line on which
// nothing comes back in time is a slow one, not an outage.
func TestWhatIsNoAnswer(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"a page": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "<html>Log in to the network</html>")
		},
		"another address": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example.com/", http.StatusPermanentRedirect)
		},
		"another program": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"status":"ok"}`) },
	} {
		s := newCounted(t, answer)
		c := &Client{Server: s.URL, Token: "t", Getenv: none}
		if reply, err := c.Evaluate(t.Context(), wire.HookRequest{}); err == nil || spool.Slow(err) {
			t.Errorf("%s is taken for an answer: %+v, %v", name, reply, err)
		}
		c.Close()
	}
}

// Over TLS to a server with a private authority, a silent line ends with the
// hook's time, and is not taken for a server that is gone.
func TestASilentLineIsSlow(t *testing.T) {
	s := newCounted(t, allow)
	front, err := badline.NewFront(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	line, err := badline.New(front.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer line.Close()
	config := t.TempDir()
	c := &Client{Server: "https://" + line.Addr, Token: "t", Getenv: none, ConfigDir: func() (string, error) { return config, nil }}
	if err := os.WriteFile(c.authorityFile(line.Addr), front.Authority, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Evaluate(t.Context(), wire.HookRequest{}); err != nil {
		t.Fatal(err)
	}
	line.Silence(true)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.Evaluate(ctx, wire.HookRequest{}); !spool.Slow(err) {
		t.Errorf("a silent line is %v", err)
	}
	line.Silence(false)
	line.Cut()
	line.Close()
	if _, err := c.Evaluate(t.Context(), wire.HookRequest{}); err == nil || spool.Slow(err) {
		t.Errorf("a server that is gone is %v", err)
	}
}
