package post

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/wire"
)

// A proxy is used when the environment names one for the server, and not for
// a server on this machine.
func TestProxy(t *testing.T) {
	asked := ""
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.String()
		_, _ = w.Write([]byte(`{"decision":"allow"}`))
	}))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("NO_PROXY", "")
	ask := func(server string) error {
		c := &Client{Server: server, Token: "t", Getenv: os.Getenv, ConfigDir: func() (string, error) { return "", nil }}
		_, err := c.Evaluate(t.Context(), wire.HookRequest{})
		return err
	}
	if err := ask("http://svc.example.com"); err != nil || asked != "http://svc.example.com/v1/hooks/evaluate" {
		t.Errorf("the proxy was asked for %q: %v", asked, err)
	}
	asked = ""
	local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"decision":"allow"}`))
	}))
	defer local.Close()
	if err := ask(local.URL); err != nil || asked != "" {
		t.Errorf("a local server was asked through the proxy (%q): %v", asked, err)
	}
}

// Servers answer in all the ways that HTTP allows.
func TestAnswersOverTheWire(t *testing.T) {
	long := `{"decision":"warn","reason":"` + strings.Repeat("x", 100_000) + `"}`
	for name, answer := range map[string]http.HandlerFunc{
		"with a length": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"decision":"allow"}`) },
		"in chunks": func(w http.ResponseWriter, _ *http.Request) {
			for _, part := range []string{`{"decision"`, `:"allow"`, `}`} {
				_, _ = io.WriteString(w, part)
				w.(http.Flusher).Flush()
			}
		},
		"at length": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, long) },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(answer)
			defer server.Close()
			// A path before ours, as behind a reverse proxy, is kept.
			c := &Client{Server: server.URL + "/base/", Token: "t", Getenv: func(string) string { return "" }}
			if _, err := c.Evaluate(t.Context(), wire.HookRequest{}); err != nil {
				t.Error(err)
			}
		})
	}
}
