package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/badline"
	"github.com/svc-hq/svc/internal/client/local"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A server behind TLS and 200 ms away: an agent's edits of what a teammate has
// claimed are refused on its own machine, by the process that hooks start
// there, and the server is not asked for them.
func TestAFarServerRefusesAtOnce(t *testing.T) {
	team := newServer(t, t.TempDir())
	front, err := badline.NewFront(team.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = front.Close() })
	line, err := badline.New(front.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(line.Close)
	bob := newLaptop(t)
	roots := filepath.Join(bob.home, "roots.pem")
	if err := os.WriteFile(roots, front.Authority, 0o600); err != nil {
		t.Fatal(err)
	}
	bob.env = append(bob.env, "SVC_EDGE=on", "SSL_CERT_FILE="+roots)
	bob.run("", "git", "remote", "add", "origin", "https://github.com/acme/far")
	bob.run(team.token("bob@example.com"), "svc", "login", "--server", "https://"+line.Addr, "--token", "-")
	bob.run("", "svc", "init", "--user", "--tools", "claude_code", "--yes")
	bob.run("", "svc", "share", "--yes")
	line.Set(badline.Away(200 * time.Millisecond))
	bob.hook("far", "SessionStart", "")

	edits := 0
	edit := func(file string) string {
		edits++
		input := map[string]any{"file_path": filepath.Join(bob.clone, file), "content": fmt.Sprint(edits)}
		payload, err := json.Marshal(map[string]any{"session_id": "far", "cwd": bob.clone, "hook_event_name": "PreToolUse", "tool_name": "Write",
			"tool_use_id": fmt.Sprint(edits), "tool_input": input})
		if err != nil {
			t.Fatal(err)
		}
		return bob.run(string(payload), "svc", "hook", "--tool", "claude_code", "--event", "PreToolUse")
	}
	await.True(t, "the edge decides", func() bool {
		before := bob.decided()
		edit("b.txt")
		return bob.decided() > before
	})
	team.post("/v1/intents", `{"title":"Rewrite a.txt","repo":"github.com/acme/far","mode":"exclusive","scope":{"paths":["a.txt"]}}`, nil)
	before := bob.decided()
	await.True(t, "eight edits are decided on the person's machine", func() bool { // a lease may run out on a slow one
		if out := edit("a.txt"); !strings.Contains(out, `"deny"`) || !strings.Contains(out, "Olga Oak") {
			t.Errorf("an edit of a claimed file is answered %q", out)
		}
		return bob.decided()-before >= 8
	})
}

// decided is how many edits were decided on the laptop, without the server.
func (l *laptop) decided() (n int64) {
	var s local.Service
	var ok bool
	if s.LocalService, ok = l.service(); !ok {
		return 0
	}
	token, err := os.ReadFile(filepath.Join(l.home, ".local", "share", "svc", "local", wire.LocalToken))
	if err != nil {
		return 0
	}
	s.Token = strings.TrimSpace(string(token))
	report, err := s.EdgeReport(l.t.Context())
	if err != nil {
		return 0
	}
	for _, server := range report.Servers {
		n += server.Decided
	}
	return n
}
