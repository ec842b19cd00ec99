//go:build unix

package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/doctable"
	"github.com/svc-hq/svc/internal/server/api"
)

// An action is something that the dashboard does with intents, conflicts,
// messages and questions, and what does the same from a terminal.
type action struct{ does, route, command string }

var actions = []action{
	{"see what waits for you", "GET /v1/attention", "svc attention"},
	{"dismiss it until it changes", "POST /v1/attention/dismiss", "svc attention dismiss"},
	{"mute a kind, a repository or a thread", "POST /v1/attention/mute", "svc attention mute"},
	{"list intents, by status, repository or owner", "GET /v1/intents", "svc intents list"},
	{"read an intent", "GET /v1/intents/{ref}", "svc intents show"},
	{"declare one", "POST /v1/intents", "svc intents declare"},
	{"change its title, summary, scope or status", "PATCH /v1/intents/{ref}", "svc intents update"},
	{"end it", "POST /v1/intents/{ref}/close", "svc intents close"},
	{"hand it to somebody", "POST /v1/intents/{ref}/handoff", "svc handoff"},
	{"let your agent take it up", "POST /v1/intents/{ref}/adopt", "svc intents adopt"},
	{"list conflicts, by status, repository, person, kind or severity", "GET /v1/conflicts", "svc conflicts list"},
	{"read a conflict with its evidence", "GET /v1/conflicts/{ref}", "svc conflicts show"},
	{"acknowledge it", "POST /v1/conflicts/{ref}/actions", "svc conflicts ack"},
	{"propose who goes first", "POST /v1/conflicts/{ref}/actions", "svc conflicts propose"},
	{"promise to rebase", "POST /v1/conflicts/{ref}/actions", "svc conflicts rebase"},
	{"call it settled", "POST /v1/conflicts/{ref}/actions", "svc conflicts resolve"},
	{"call it a false alarm", "POST /v1/conflicts/{ref}/actions", "svc conflicts false-alarm"},
	{"ask for an override", "POST /v1/conflicts/{ref}/actions", "svc conflicts request-override"},
	{"override it, on the page where a person confirms", "POST /v1/conflicts/{ref}/override", "svc conflicts override"},
	{"say whether the report was right", "POST /v1/conflicts/{ref}/feedback", "svc conflicts feedback"},
	{"read your messages", "GET /v1/messages", "svc messages list"},
	{"list the conversations", "GET /v1/conversations", "svc messages threads"},
	{"find one", "GET /v1/conversations/{id}", "svc messages show"},
	{"read it whole", "GET /v1/conversations/{id}/messages", "svc messages show"},
	{"write, with a subject or wanting an acknowledgement", "POST /v1/messages", "svc messages send"},
	{"reply", "POST /v1/conversations/{id}/messages", "svc messages send"},
	{"acknowledge a message", "POST /v1/messages/{id}/ack", "svc messages ack"},
	{"ask", "POST /v1/questions", "svc ask"},
	{"answer", "POST /v1/questions/{id}/answers", "svc answer"},
	{"search", "GET /v1/search", "svc search"},
}

var actedOn = regexp.MustCompile(`^[A-Z]+ /v1/(attention|intents|conflicts|messages|conversations|questions|search)\b`)

// Everything that the dashboard and the API can do with intents, conflicts,
// messages and questions is done by a command, and the documentation says by
// which.
func TestEveryActionHasACommand(t *testing.T) {
	known := map[string]bool{}
	rows := "| In the dashboard | From a terminal |\n|---|---|\n"
	for _, a := range actions {
		known[a.route] = true
		rows += fmt.Sprintf("| %s | `%s` |\n", a.does, a.command)
		path := strings.Fields(a.command)[1:]
		if code, out := within(t, append(path, "--help")...); code != 0 || !strings.Contains(out, "Usage:\n  "+a.command) {
			t.Errorf("there is no command %s: exit %d\n%s", a.command, code, out)
		}
	}
	there := map[string]bool{}
	for _, op := range api.Table {
		there[op.Route] = true
		if actedOn.MatchString(op.Route) && !known[op.Route] {
			t.Errorf("no command does %s; say in actions which one", op.Route)
		}
	}
	for _, a := range actions {
		if !there[a.route] {
			t.Errorf("%s: there is no %s", a.command, a.route)
		}
	}
	for _, route := range dashboardRoutes(t) {
		if actedOn.MatchString(route) && !known[route] {
			t.Errorf("the dashboard calls %s, which no command does", route)
		}
	}
	doctable.Read(t, "../../docs/commands.md", "actions").Check(t, rows, *update, "run go test ./internal/e2e -run EveryAction -update")
}

// dashboardRoutes are the routes that the dashboard's code names.
func dashboardRoutes(t *testing.T) (routes []string) {
	t.Helper()
	quoted := regexp.MustCompile(`"((?:GET|POST|PUT|PATCH|DELETE) /v1/[^"]+)"`)
	err := filepath.WalkDir("../../web/src", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(strings.TrimSuffix(path, "x"), ".ts") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range quoted.FindAllStringSubmatch(string(text), -1) {
			routes = append(routes, m[1])
		}
		return err
	})
	if err != nil || len(routes) < 30 {
		t.Fatalf("%d routes: %v", len(routes), err)
	}
	return routes
}
