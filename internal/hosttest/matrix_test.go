//go:build unix

package hosttest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/doctable"
)

// The documentation shows every host as its pinned version was last seen, and
// nothing that failed.
func TestTheDocumentedMatrixIsOfThePinnedVersions(t *testing.T) {
	_, lines := documented(t)
	for _, h := range rows {
		line, ok := lines[h.id]
		if !ok || !strings.Contains(line, "| "+h.version+" |") {
			t.Errorf("docs/hosts.md does not show %s %s: make test-hosts", h.name, h.version)
		}
		if strings.Contains(line, "| FAILS |") {
			t.Errorf("docs/hosts.md shows a failure: %s", line)
		}
	}
}

// record puts results into the documentation, leaves other hosts' lines as
// they are, and returns the table.
func record(t *testing.T, results map[string]result) string {
	t.Helper()
	doc, lines := documented(t)
	for _, h := range rows {
		if r, ok := results[h.id]; ok {
			lines[h.id] = line(h, r, time.Now())
		}
	}
	table := render(lines)
	doc.Write(t, table)
	return table
}

// documented returns the table in the documentation and its lines by host.
func documented(t *testing.T) (doc doctable.Table, lines map[string]string) {
	t.Helper()
	doc = doctable.Read(t, "../../docs/hosts.md", "seen")
	lines = map[string]string{}
	for l := range strings.Lines(doc.Rows) {
		if i := slices.IndexFunc(rows, func(h row) bool { return strings.HasPrefix(l, "| "+h.name+" |") }); i >= 0 {
			lines[rows[i].id] = l
		}
	}
	return doc, lines
}

func line(h row, r result, day time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %s |", h.name, h.version)
	for _, k := range behaviours {
		cell := "yes"
		if !r[k] {
			cell = "FAILS"
			if h.limits[k] != "" {
				cell = "no: " + h.limits[k]
			}
		}
		b.WriteString(" " + cell + " |")
	}
	fmt.Fprintf(&b, " %s |\n", day.UTC().Format(time.DateOnly))
	return b.String()
}

func render(lines map[string]string) string {
	var b strings.Builder
	b.WriteString("| host | version |")
	for _, k := range behaviours {
		b.WriteString(" " + string(k) + " |")
	}
	b.WriteString(" seen on |\n" + strings.Repeat("|---", len(behaviours)+3) + "|\n")
	for _, h := range rows {
		b.WriteString(lines[h.id])
	}
	return b.String()
}
