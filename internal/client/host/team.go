package host

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"

	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// A Task is one of the list that the agents of a Claude Code team share.
type Task struct{ Team, ID, Title string }

// plainName is what a name looks like that may be part of a path.
var plainName = lazy.Regexp(`^[A-Za-z0-9_-]{1,80}$`)

// teamTask is the task of an event, or nil where the list is one agent's own.
// Only what a teammate does names the team. The lead's events do not: there the
// list itself tells, whose folder is named after the session.
func teamTask(c *Call, p payload, getenv func(string) string) *Task {
	t := Task{Team: p.text([]string{"team_name"}), ID: p.text([]string{"task_id"}), Title: p.text([]string{"task_subject"})}
	if session := p.text([]string{"session_id"}); t.Team == "" && len(session) > 8 {
		t.Team = "session-" + session[:8]
	}
	folder := taskFolder(t.Team, getenv)
	if folder == "" || !plainName.Get().MatchString(t.ID) {
		return nil
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return nil
	}
	return &t
}

// taskFolder is where Claude Code keeps the tasks of a team.
func taskFolder(team string, getenv func(string) string) string {
	home := getenv("HOME")
	if !plainName.Get().MatchString(team) || home == "" && getenv("CLAUDE_CONFIG_DIR") == "" {
		return ""
	}
	return filepath.Join(cmp.Or(getenv("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude")), "tasks", team)
}

// maxFree is how many tasks are looked at: they are numbered from 1.
const maxFree = 200

// FreeTasks are those of a team that nobody has taken and that wait for no
// other.
func FreeTasks(team string, getenv func(string) string) (free []Task) {
	folder := taskFolder(team, getenv)
	if folder == "" {
		return nil
	}
	type record struct {
		ID, Subject, Status, Owner string
		BlockedBy                  []string
	}
	var pending []record
	open := map[string]bool{}
	for n := range maxFree {
		data, err := plain.Read(filepath.Join(folder, strconv.Itoa(n+1)+".json"), 64<<10)
		var r record
		if err != nil || json.Unmarshal(data, &r) != nil || r.Status == "completed" {
			continue
		}
		open[r.ID] = true
		if r.Status == "pending" && r.Owner == "" {
			pending = append(pending, r)
		}
	}
next:
	for _, r := range pending {
		for _, id := range r.BlockedBy {
			if open[id] {
				continue next
			}
		}
		free = append(free, Task{team, r.ID, r.Subject})
	}
	return free
}
