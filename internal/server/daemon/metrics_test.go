package daemon

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-hq/svc/internal/server/api"
)

var described = regexp.MustCompile(`fqName: "(svc_[^"]+)", help: "([^"]*)", ` +
	`(?:unit: "[^"]*", )?constLabels: \{[^}]*\}, variableLabels: \{([^}]*)\}`)

// docs/reference/metrics.md lists what GET /metrics tells of svc.
func TestTheReferenceOfMetricsIsCurrent(t *testing.T) {
	all := make(chan *prometheus.Desc, 1000)
	newMetrics(api.New(nil)).registry.Describe(all)
	close(all)
	var rows []string
	for d := range all {
		if m := described.FindStringSubmatch(d.String()); m != nil {
			labels := "none"
			if m[3] != "" {
				labels = "`" + strings.Join(strings.Split(m[3], ","), "`, `") + "`"
			}
			rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", m[1], labels, m[2]))
		}
	}
	slices.Sort(rows)
	if len(rows) < 4 {
		t.Fatalf("only %d metrics were found", len(rows))
	}
	text := "# Metrics\n\n<!-- written by SVC_UPDATE_DOCS=1 go test ./internal/server/daemon -run Metrics -->\n\n" +
		"`GET /metrics` tells these in the text format of Prometheus, and what the Go runtime (`go_…`) and the process (`process_…`) say.\n" +
		"None carries an org, a person or a path. Keep the address to yourself: a proxy should not pass it on.\n\n" +
		"| Metric | Labels | What it is |\n|---|---|---|\n" + strings.Join(rows, "\n") + "\n"
	const file = "../../../docs/reference/metrics.md"
	if os.Getenv("SVC_UPDATE_DOCS") != "" {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != text {
		t.Errorf("docs/reference/metrics.md is not up to date (%v)", err)
	}
}
