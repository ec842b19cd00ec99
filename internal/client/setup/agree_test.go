package setup

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/host"
)

// What init asks a host to send, the hook must understand, and of the tools
// that the hook knows none may be filtered out by a matcher.
func TestHookAndInitAgree(t *testing.T) {
	for _, h := range Hosts() {
		row, ok := host.ByID(h.ID)
		if !ok {
			t.Errorf("%s: the hook knows no such host", h.ID)
			continue
		}
		for i := range h.files {
			if f := &h.files[i]; f.plugin {
				_, text, ok := host.Plugin(h.ID)
				if !ok || !slices.Contains(row.Configs, f.paths[0]) {
					t.Errorf("%s: the hook does not know its plugin at %s", h.ID, f.paths[0])
				}
				told := map[string][]string{}
				for name := range row.Events {
					if strings.Contains(string(text), name) {
						told[name] = nil
					}
				}
				everyMoment(t, row, row.Events, told)
			} else if f.hooks != nil {
				t.Run(h.ID, func(t *testing.T) { agree(t, row, f.hooks) })
			}
		}
	}
}

func agree(t *testing.T, row *host.Host, table *hookTable) {
	events, tools := row.Events, row
	if row.ID == "vscode" { // it reads the file of another host, and no matchers
		shared, _ := host.ByID("copilot_cli")
		events, tools = shared.Events, shared
	}
	matchers := map[string][]string{}
	for _, e := range table.events {
		if _, ok := events[e.name]; !ok {
			t.Errorf("the hook does not know %s", e.name)
		}
		matchers[e.name] = append(matchers[e.name], e.matcher)
	}
	everyMoment(t, row, events, matchers)
	for name, e := range events {
		var want []string
		switch e.At {
		case host.BeforeTool:
			want = slices.Concat(tools.Edits, tools.Shells, tools.Plans)
		case host.AfterTool:
			want = slices.Concat(tools.Edits, tools.Shells)
		case host.AfterFailure:
			want = tools.Shells // an edit that failed has changed nothing
		}
		asked, subscribed := matchers[name]
		for _, tool := range want {
			if subscribed && !slices.ContainsFunc(asked, func(m string) bool {
				return m == "" || regexp.MustCompile("^(?:"+m+")$").MatchString(tool)
			}) {
				t.Errorf("%s is not asked for %s", name, tool)
			}
		}
	}
}

// everyMoment checks that of all that a host tells, by the hook's row and the
// documentation, something is asked for: an end that nobody asks for is none.
func everyMoment(t *testing.T, row *host.Host, events map[string]host.Event, asked map[string][]string) {
	for name, e := range events {
		if !slices.Contains(row.Apart, name) && !momentAsked(events, asked, e.At) {
			t.Errorf("%s: nothing asks for %s (%s)", row.ID, name, e.At)
		}
	}
}

// momentAsked reports whether an event of a moment is asked for: some hosts
// have two names for one.
func momentAsked(events map[string]host.Event, asked map[string][]string, at host.Moment) bool {
	for name := range asked {
		if events[name].At == at {
			return true
		}
	}
	return false
}
