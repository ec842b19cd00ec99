//go:build unix

package hosttest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// TestHostsTeam plays a team of Claude Code's own, which it has in its terminal
// screen only: the lead makes two tasks and starts a teammate, which does the
// first. Both tasks are intents, the first until it is done, and the idle
// teammate reads that the second is free.
func TestHostsTeam(t *testing.T) {
	h, w, ok := withClaudeCode(t)
	if !ok {
		return
	}
	w.write(filepath.Join(w.home, ".claude.json"), `{"hasCompletedOnboarding":true,"theme":"dark",
"customApiKeyResponses":{"approved":["test"],"rejected":[]},"projects":{"`+w.repo+`":{"hasTrustDialogAccepted":true}}}`)
	w.must("svc", "login", "--server", w.team.URL, "--token", w.bob.Token)
	w.must("svc", "init", "--user", "--tools", h.id, "--yes")

	c := cast{lead: newModel(t, h, leadScript(h)), mate: newModel(t, h, mateScript(h))}
	models := httptest.NewServer(&c)
	defer models.Close()
	env := append(slices.Clone(w.env), "TERM=xterm", "SHELL=/bin/bash", "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1")
	for _, v := range h.env {
		env = append(env, strings.ReplaceAll(v, "$MODEL", models.URL))
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	over := make(chan string, 1)
	go func() {
		const screen = `sleep 1000 | script -qec "stty rows 50 cols 150; echo \$\$ > ../pid; exec claude --teammate-mode in-process ` +
			`--permission-mode acceptEdits --allowedTools 'Bash,TaskCreate,TaskUpdate,Agent' -- '` + leadPrompt + `'" /dev/null`
		out, _ := w.runs(ctx, w.repo, env, "/bin/bash", "-c", screen)
		over <- out
	}()
	defer func() {
		w.endsScreen()
		stop()
		if out := <-over; t.Failed() {
			t.Logf("the screen\n%s\nhook.log\n%s\nthe teammate was sent\n%s", tail(out), w.hookLog(), tail(strings.Join(c.mate.log, "\n")))
		}
	}()
	await.True(t, "the idle teammate reads what is free", func() bool { return c.mate.read("nobody has taken task 2 (⟦Write the printer⟧)") })
	var found []string
	await.True(t, "the first task is closed", func() bool {
		found = nil
		list := daemontest.Do[wire.Page[coord.Intent]](w.team.Owner, 200, "GET /v1/intents", nil)
		for _, i := range list.Items {
			if i.ExternalRef != nil {
				found = append(found, i.Title+" "+string(i.Status))
			}
		}
		slices.Sort(found)
		return slices.Equal(found, []string{"Write the parser merged", "Write the printer active"})
	})
}

// endsScreen ends the host in its terminal, so that it writes nothing more.
func (w *world) endsScreen() {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(w.repo), "pid"))
	if err != nil {
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		w.t.Errorf("the host's process is %q", text)
		return
	}
	_ = syscall.Kill(pid, syscall.SIGTERM) // it may be gone
	await.True(w.t, "the host is gone", func() bool { return syscall.Kill(pid, 0) != nil })
}

const (
	leadPrompt = "Lead the team please."
	matePrompt = "You are a mate. Take a task."
)

func leadScript(h row) []turn {
	var s script
	s.then(h.find("TaskCreate"), nil)
	s.then(call{tool: "TaskCreate", args: object{"subject": "Write the parser", "description": "In notes.txt"}}, nil)
	s.then(call{tool: "TaskCreate", args: object{"subject": "Write the printer", "description": "In plan.txt"}}, nil)
	s.then(call{tool: "Agent", args: object{
		"description": "a mate", "prompt": matePrompt, "subagent_type": "general-purpose", "name": "mate",
	}}, nil)
	return s.ends("They are at it.")
}

func mateScript(h row) []turn {
	var s script
	s.then(h.find("TaskUpdate"), nil)
	s.then(call{tool: "TaskUpdate", args: object{"taskId": "1", "owner": "mate", "status": "in_progress"}}, nil)
	s.then(h.shell("echo parsed >> "+free), nil)
	s.then(call{tool: "TaskUpdate", args: object{"taskId": "1", "status": "completed"}}, nil)
	return s.ends("I am through.")
}

// A cast is the models of a team's agents behind one address.
type cast struct{ lead, mate *model }

func newModel(t *testing.T, h row, turns []turn) *model {
	return &model{tb: t, mark: h.editTool(), turns: turns, heard: map[string]int{}}
}

func (c *cast) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if bytes.Contains(body, []byte(matePrompt)) && !bytes.Contains(body, []byte(leadPrompt)) {
		c.mate.ServeHTTP(w, r)
		return
	}
	c.lead.ServeHTTP(w, r)
}

// read reports whether a text was in the model's last request.
func (m *model) read(text string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for heard := range m.heard {
		if strings.Contains(heard, text) {
			return true
		}
	}
	return false
}
