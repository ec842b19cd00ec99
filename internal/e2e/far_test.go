package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	bob := newFar(t, newServer(t, t.TempDir()))
	bob.line.Set(badline.Away(200 * time.Millisecond))
	bob.hook("far", "SessionStart", "")

	await.True(t, "the edge decides", func() bool {
		before := bob.decided()
		bob.edit("PreToolUse", "b.txt")
		return bob.decided() > before
	})
	bob.team.post("/v1/intents", `{"title":"Rewrite a.txt","repo":"github.com/acme/far","mode":"exclusive","scope":{"paths":["a.txt"]}}`, nil)
	before := bob.decided()
	await.True(t, "eight edits are decided on the person's machine", func() bool { // a lease may run out on a slow one
		if out := bob.edit("PreToolUse", "a.txt"); !strings.Contains(out, `"deny"`) || !strings.Contains(out, "Olga Oak") {
			t.Errorf("an edit of a claimed file is answered %q", out)
		}
		return bob.decided()-before >= 8
	})
}

// A far laptop is a person's whose server is behind TLS and a line that can be
// made long.
type far struct {
	*laptop
	team  *server
	line  *badline.Line
	front string // where the line leads
	edits int
}

const farRepo = "github.com/acme/far"

func newFar(t testing.TB, team *server, trusted ...[]byte) *far {
	t.Helper()
	front, err := badline.NewFront(team.URL)
	if err != nil {
		t.Fatal(err)
	}
	return farBehind(t, team, front, func(addr string) string { return addr }, nil, trusted...)
}

// farBehind is newFar with a front of one's own; named returns by what the
// laptop knows the end of the line, with what in its environment.
func farBehind(t testing.TB, team *server, front *badline.Front, named func(addr string) string, env []string, trusted ...[]byte) *far {
	t.Helper()
	t.Cleanup(func() { _ = front.Close() })
	line, err := badline.New(front.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(line.Close)
	return farOn(newLaptop(t), team, front, line, named, env, trusted...)
}

// farOn logs a laptop in at the end of a line.
func farOn(l *laptop, team *server, front *badline.Front, line *badline.Line, named func(addr string) string, env []string,
	trusted ...[]byte) *far {
	t := l.t
	t.Helper()
	roots := filepath.Join(l.home, "roots.pem")
	if err := os.WriteFile(roots, slices.Concat(append(trusted, front.Authority)...), 0o600); err != nil {
		t.Fatal(err)
	}
	l.env = append(append(l.env, "SVC_EDGE=on", "SSL_CERT_FILE="+roots), env...)
	l.run("", "git", "remote", "add", "origin", "https://"+farRepo)
	l.run(team.token("bob@example.com"), "svc", "login", "--server", "https://"+named(line.Addr), "--token", "-")
	l.run("", "svc", "init", "--user", "--tools", "claude_code", "--yes")
	l.run("", "svc", "share", "--yes")
	return &far{l, team, line, front.Addr, 0}
}

// edit plays an event of Claude Code about an edit, each another one.
func (f *far) edit(event, file string) string {
	f.t.Helper()
	f.edits++
	payload, err := json.Marshal(map[string]any{"session_id": "far", "cwd": f.clone, "hook_event_name": event, "tool_name": "Write",
		"tool_use_id": fmt.Sprint(f.edits), "tool_response": map[string]any{},
		"tool_input": map[string]any{"file_path": filepath.Join(f.clone, file), "content": fmt.Sprint(f.edits)}})
	if err != nil {
		f.t.Fatal(err)
	}
	return f.run(string(payload), "svc", "hook", "--tool", "claude_code", "--event", event)
}

// report asks the edge how it fares, if it runs.
func (l *laptop) report() (out wire.EdgeServerReport) {
	var s local.Service
	var ok bool
	if s.LocalService, ok = l.service(); !ok {
		return out
	}
	token, err := os.ReadFile(filepath.Join(l.home, ".local", "share", "svc", "local", wire.LocalToken))
	if err != nil {
		return out
	}
	s.Token = strings.TrimSpace(string(token))
	report, err := s.EdgeReport(l.t.Context())
	if err != nil || len(report.Servers) != 1 {
		return out
	}
	return report.Servers[0]
}

// decided is how many edits were decided on the laptop, without the server.
func (l *laptop) decided() int64 { return l.report().Decided }
