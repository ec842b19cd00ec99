package hook

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// What Claude Code 2.1.325 tells of a team, as it was seen: the lead's events do
// not name the team, those of teammates do.
func TestATeamOfTheHost(t *testing.T) {
	w := newWorld(t)
	repo := newRepo(t, filepath.Join(w.home, "app"))
	const session, team = "a45c2f18-9e3d-4287-8eb7-b9ce878571d4", "session-a45c2f18"
	lead := func(event string, more m) m {
		p := claude(repo, event, more)
		p["session_id"], p["prompt_id"] = session, "3884ef67-ce05-460c-baf5-f5e1c58745d3"
		return p
	}
	made := lead("TaskCreated", m{"task_id": "1", "task_subject": "Write the parser", "task_description": "In a.txt"})
	w.run("claude_code", "TaskCreated", made)
	if n := len(w.requests()); n != 0 {
		t.Errorf("an agent's own list was told, %d times", n)
	}
	list := func(name, text string) { gittest.Write(t, filepath.Join(w.home, ".claude", "tasks", team), name, text) }
	list("1.json", `{"id":"1","subject":"Write the parser","description":"In a.txt","status":"pending","blocks":[],"blockedBy":[]}`)
	w.run("claude_code", "TaskCreated", made)
	want := wire.HookTask{Team: team, ID: "1", Title: "Write the parser"}
	if req := w.one(); req.Event != wire.HookPlan || req.Task == nil || *req.Task != want {
		t.Errorf("TaskCreated sends %+v", req.Task)
	}
	mate := m{"agent_id": "amate-55aebb63eff7e610", "agent_type": "mate", "teammate_name": "mate", "team_name": team}
	done := lead("TaskCompleted", m{"task_id": "1", "task_subject": "Write the parser"})
	idle := lead("TeammateIdle", nil)
	for k, v := range mate {
		done[k], idle[k] = v, v
	}
	w.run("claude_code", "TaskCompleted", done)
	if req := w.one(); req.Task == nil || !req.Task.Done || req.Task.Team != team || req.Session.ParentExternalID == "" {
		t.Errorf("TaskCompleted sends %+v of %+v", req.Task, req.Session)
	}

	list("1.json", `{"id":"1","subject":"Write the parser","status":"completed","owner":"mate","blockedBy":[]}`)
	list("2.json", `{"id":"2","subject":"Write the printer","status":"pending","blockedBy":["1"]}`)
	list("3.json", `{"id":"3","subject":"Try both","status":"pending","blockedBy":["2"]}`)
	list("4.json", `{"id":"4","subject":"Taken","status":"pending","owner":"other"}`)
	list("5.json", `{"id":5, broken`)
	told := w.run("claude_code", "TeammateIdle", idle)
	if told.code != 2 || !strings.Contains(told.stderr, "task 2 (⟦Write the printer") ||
		strings.Contains(told.stderr, "Try both") || strings.Contains(told.stderr, "Taken") {
		t.Errorf("an idle teammate is told %q, exit %d", told.stderr, told.code)
	}
	if again := w.run("claude_code", "TeammateIdle", idle); again.code != 0 || again.stdout+again.stderr != "" {
		t.Errorf("and then %q, exit %d: it could never stop", again.stderr, again.code)
	}
	idle["team_name"] = "../../../etc"
	if other := w.run("claude_code", "TeammateIdle", idle); other.code != 0 || len(w.requests()) != 0 {
		t.Errorf("a folder elsewhere was read: %q", other.stderr)
	}
}
