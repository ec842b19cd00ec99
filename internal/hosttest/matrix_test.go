//go:build unix

package hosttest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	docs  = "../../docs/hosts.md"
	begin = "<!-- seen:begin (written by make test-hosts) -->\n"
	end   = "<!-- seen:end -->\n"
)

// The documentation shows every host as its pinned version was last seen, and
// nothing that failed.
func TestTheDocumentedMatrixIsOfThePinnedVersions(t *testing.T) {
	_, lines, _ := documented(t)
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
	before, lines, after := documented(t)
	for _, h := range rows {
		if r, ok := results[h.id]; ok {
			lines[h.id] = line(h, r, time.Now())
		}
	}
	table := render(lines)
	if err := os.WriteFile(docs, []byte(before+begin+table+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
	return table
}

// documented splits the documentation at the table and returns the table's
// lines by host.
func documented(t *testing.T) (before string, lines map[string]string, after string) {
	t.Helper()
	data, err := os.ReadFile(docs)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), begin)
	table, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the marks of the matrix are gone from docs/hosts.md")
	}
	lines = map[string]string{}
	for l := range strings.Lines(table) {
		if i := slices.IndexFunc(rows, func(h row) bool { return strings.HasPrefix(l, "| "+h.name+" |") }); i >= 0 {
			lines[rows[i].id] = l
		}
	}
	return before, lines, after
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
