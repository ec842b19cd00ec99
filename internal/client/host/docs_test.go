package host

import (
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/doctable"
)

const docs = "../../../docs/hosts.md"

// The table of hosts in the documentation is written from the rows.
func TestTheDocumentationTellsWhatTheRowsSay(t *testing.T) {
	doc := doctable.Read(t, docs, "table")
	doc.Check(t, table(), *update, "go test ./internal/client/host -update")
	for _, h := range All() {
		if text := doc.Text; !strings.Contains(text, h.Name+".**") && !strings.Contains(text, h.Name+", ") &&
			!strings.Contains(text, ", "+h.Name) {
			t.Errorf("nothing is said about %s", h.Name)
		}
	}
}

func table() string {
	var b strings.Builder
	b.WriteString("| id | host | configured in | deny | context | session |\n|---|---|---|---|---|---|\n")
	for _, h := range All() {
		takes := "none"
		if len(h.Takes) > 0 {
			var list []string
			for _, m := range h.Takes {
				list = append(list, string(m))
			}
			takes = strings.Join(list, ", ")
		}
		var session []string
		moments := map[Moment]bool{}
		for name, e := range h.Events {
			moments[e.At] = moments[e.At] || !slices.Contains(h.Apart, name)
		}
		if !moments[SessionStart] {
			session = append(session, "start made up")
		}
		if !moments[SessionEnd] {
			session = append(session, "no end")
		}
		if !moments[AfterTool] {
			session = append(session, "nothing after tools")
		}
		if len(session) == 0 {
			session = []string{"start to end"}
		}
		b.WriteString("| `" + h.ID + "` | " + h.Name + " | `" + h.Configs[0] + "` | " + denies(h) + " | " + takes + " | " +
			strings.Join(session, ", ") + " |\n")
	}
	return b.String()
}

// denies says how a host is told to refuse a call.
func denies(h *Host) string {
	if h.Plugin != "" {
		return "plugin"
	}
	if o := h.deny(&Call{Host: h, At: BeforeTool}, "R", ""); o.Exit != 0 {
		return "exit code"
	}
	return "JSON"
}
