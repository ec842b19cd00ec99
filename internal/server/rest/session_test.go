package rest_test

import (
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// The audit log must not tell of a colleague's agent what another did.
func TestNobodyActsUnderAnothersSession(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		o := w.Org("Acme")
		name := repo(w, o)
		var hook struct {
			SessionID string `json:"session_id"`
		}
		w.Must(200, daemontest.Request{Method: "POST", Path: "/v1/hooks/evaluate", Token: o.Tokens[coord.Member], Body: map[string]any{
			"event": "session_start", "dedupe_key": "k", "session": map[string]any{"external_id": "x", "tool": "claude-code"},
			"repo": map[string]any{"remote_fingerprints": []string{"github.com/" + name}, "branch": "main"}}}, &hook)
		if hook.SessionID == "" {
			t.Fatal("the hook began no session")
		}
		register := func(token string) daemontest.Request {
			return daemontest.Request{Method: "POST", Path: "/v1/repos", Token: token, Body: map[string]any{"full_name": unique("acme/x")},
				Header: map[string]string{"X-Svc-Session": hook.SessionID}}
		}
		w.Must(404, register(o.Owner()), nil)
		w.Must(404, register(o.Service), nil)
		log := w.Must(200, daemontest.Request{Method: "GET", Path: "/v1/events?type=repo.registered", Token: o.Owner()}, nil)
		if strings.Contains(string(log.Body), `"actor":{"kind":"session"`) {
			t.Errorf("the log says %s", log.Body)
		}
		w.Must(200, daemontest.Request{
			Method: "GET",
			Path:   "/v1/me",
			Token:  o.Tokens[coord.Member],
			Header: map[string]string{"X-Svc-Session": hook.SessionID},
		}, nil)
		w.Must(200, daemontest.Request{Method: "GET", Path: "/healthz", Header: map[string]string{"X-Svc-Session": "x"}}, nil)
	})
}
