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
	for _, m := range []matrix{seenMatrix, sceneMatrix, wordMatrix} {
		_, lines := m.documented(t)
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
}

// A matrix is a table of the documentation: hosts and what was seen of them.
type matrix struct {
	name    string
	columns []behaviour
}

var (
	seenMatrix  = matrix{"seen", behaviours}
	sceneMatrix = matrix{"scenes", scenes}
	wordMatrix  = matrix{"words", measures}
)

// record puts results into the documentation, leaves other hosts' lines as
// they are, and returns the table.
func (m matrix) record(t *testing.T, results map[string]cells) string {
	t.Helper()
	doc, lines := m.documented(t)
	for _, h := range rows {
		if r, ok := results[h.id]; ok {
			lines[h.id] = m.line(h, r, time.Now())
		}
	}
	table := m.render(lines)
	doc.Write(t, table)
	return table
}

// documented returns the table in the documentation and its lines by host.
func (m matrix) documented(t *testing.T) (doc doctable.Table, lines map[string]string) {
	t.Helper()
	doc = doctable.Read(t, "../../docs/hosts.md", m.name)
	lines = map[string]string{}
	for l := range strings.Lines(doc.Rows) {
		if i := slices.IndexFunc(rows, func(h row) bool { return strings.HasPrefix(l, "| "+h.name+" |") }); i >= 0 {
			lines[rows[i].id] = l
		}
	}
	return doc, lines
}

// cells are what a line of a matrix says in its columns.
type cells map[behaviour]string

// cells says what was seen of a host.
func (h row) cells(r result) cells {
	out := cells{}
	for b, yes := range r {
		if out[b] = "yes"; !yes {
			out[b] = "FAILS"
		}
	}
	for b, limit := range h.limits {
		if !r[b] {
			out[b] = "no: " + limit
		}
	}
	return out
}

func (m matrix) line(h row, c cells, day time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | %s |", h.name, h.version)
	for _, k := range m.columns {
		cell := c[k]
		if cell == "" {
			cell = "FAILS"
		}
		b.WriteString(" " + cell + " |")
	}
	fmt.Fprintf(&b, " %s |\n", day.UTC().Format(time.DateOnly))
	return b.String()
}

func (m matrix) render(lines map[string]string) string {
	var b strings.Builder
	b.WriteString("| host | version |")
	for _, k := range m.columns {
		b.WriteString(" " + string(k) + " |")
	}
	b.WriteString(" seen on |\n" + strings.Repeat("|---", len(m.columns)+3) + "|\n")
	for _, h := range rows {
		b.WriteString(lines[h.id])
	}
	return b.String()
}
