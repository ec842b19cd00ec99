package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"gopkg.in/yaml.v3"

	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/db"
)

var description = regexp.MustCompile(`fqName: "(svc_[^"]+)", help: "([^"]*)", ` +
	`(?:unit: "[^"]*", )?constLabels: \{[^}]*\}, variableLabels: \{([^}]*)\}`)

type described struct {
	help   string
	labels []string
}

// ourMetrics returns all metrics of svc by name.
func ourMetrics() map[string]described {
	all := make(chan *prometheus.Desc, 1000)
	newMetrics(watched{api: api.New(nil), store: &store.Store{DB: &db.DB{}}, queue: &jobs.Queue{}}).registry.Describe(all)
	close(all)
	out := map[string]described{}
	for d := range all {
		if m := description.FindStringSubmatch(d.String()); m != nil {
			out[m[1]] = described{m[2], strings.FieldsFunc(m[3], func(r rune) bool { return r == ',' })}
		}
	}
	return out
}

// The dashboard and the alert rules ask for metrics that there are, with labels
// that they have; and the dashboard leaves none out.
func TestDashboardAndRulesAskForWhatThereIs(t *testing.T) {
	ours := ourMetrics()
	shown := map[string]bool{}
	for _, q := range append(DashboardQueries(t), ruleQueries(t)...) {
		for _, use := range metricUse.FindAllStringSubmatch(q, -1) {
			name := use[1]
			if _, ok := ours[name]; !ok {
				name = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
			}
			d, ok := ours[name]
			if !ok {
				t.Errorf("there is no metric %s, which %s asks for", use[1], q)
				continue
			}
			shown[name] = true
			for _, label := range labelUse.FindAllStringSubmatch(use[2], -1) {
				if !slices.Contains(d.labels, label[1]) {
					t.Errorf("%s has no label %s, which %s asks for", name, label[1], q)
				}
			}
			for _, by := range groupUse.FindAllStringSubmatch(q, -1) {
				for _, label := range strings.FieldsFunc(by[1], func(r rune) bool { return r == ',' || r == ' ' }) {
					if label != "le" && label != "instance" && !slices.Contains(d.labels, label) {
						t.Errorf("%s has no label %s, by which %s groups", name, label, q)
					}
				}
			}
		}
	}
	for name := range ours {
		if !shown[name] {
			t.Errorf("the dashboard does not show %s", name)
		}
	}
}

var (
	metricUse = regexp.MustCompile(`\b(svc_[a-z_]+)(\{[^}]*\})?`)
	labelUse  = regexp.MustCompile(`([a-z_]+)\s*(?:=|!)`)
	groupUse  = regexp.MustCompile(`\b(?:by|on) \(([^)]*)\)`)
)

// docs/reference/metrics.md lists what GET /metrics tells of svc.
func TestTheReferenceOfMetricsIsCurrent(t *testing.T) {
	var rows []string
	for name, d := range ourMetrics() {
		labels := "none"
		if len(d.labels) > 0 {
			labels = "`" + strings.Join(d.labels, "`, `") + "`"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", name, labels, d.help))
	}
	slices.Sort(rows)
	if len(rows) < 4 {
		t.Fatalf("only %d metrics were found", len(rows))
	}
	text := "# Metrics\n\n<!-- written by SVC_UPDATE_DOCS=1 go test ./internal/server/daemon -run Metrics -->\n\n" +
		"`GET /metrics` tells these in the text format of Prometheus, and what the Go runtime (`go_…`) and the process (`process_…`) say.\n" +
		"None carries an org, a person or a path. They have an address of their own (`--metrics-addr`). `packaging/grafana/svc.json`\n" +
		"shows them, " +
		"`packaging/prometheus/svc.rules.yml` has alerts; a release has both.\n\n" +
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

// DashboardQueries returns what the dashboard asks Prometheus.
func DashboardQueries(t *testing.T) (out []string) {
	t.Helper()
	var board struct {
		UID    string
		Panels []struct {
			ID      int
			Title   string
			Type    string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	text, err := os.ReadFile("../../../packaging/grafana/svc.json")
	if err == nil {
		err = json.Unmarshal(text, &board)
	}
	if err != nil || board.UID != "svc" {
		t.Fatal(board.UID, err)
	}
	ids := map[int]bool{}
	for _, p := range board.Panels {
		if ids[p.ID] || p.Title == "" || p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %d %q shows nothing, or is there twice", p.ID, p.Title)
		}
		ids[p.ID] = true
		for _, to := range p.Targets {
			out = append(out, to.Expr)
		}
	}
	return out
}

func ruleQueries(t *testing.T) (out []string) {
	t.Helper()
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Annotations map[string]string
			}
		}
	}
	text, err := os.ReadFile("../../../packaging/prometheus/svc.rules.yml")
	if err == nil {
		err = yaml.Unmarshal(text, &rules)
	}
	if err != nil || len(rules.Groups) == 0 {
		t.Fatal(err)
	}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || r.Annotations["summary"] == "" {
				t.Errorf("an alert without a name or a summary: %v", r)
			}
			out = append(out, r.Expr)
		}
	}
	return out
}
