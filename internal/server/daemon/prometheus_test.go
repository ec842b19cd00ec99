//go:build prometheus

package daemon_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// A real Prometheus reads the metrics and the rules, and answers every question of
// the dashboard; promtool finds nothing to say about either.
func TestPrometheusReadsThem(t *testing.T) {
	w := daemontest.StartWith(t, daemon.Config{Database: filepath.Join(t.TempDir(), "svc.db"), ShipTo: t.TempDir()})
	rules, err := filepath.Abs("../../../packaging/prometheus/svc.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	check := exec.Command("promtool", "check", "metrics")
	check.Stdin = strings.NewReader(w.Metrics())
	if said, err := check.CombinedOutput(); err != nil {
		t.Errorf("promtool check metrics: %v\n%s", err, said)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	dir := t.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%q]\nscrape_configs:\n"+
		"  - job_name: svcd\n    static_configs: [{targets: [%q]}]\n", rules,
		strings.TrimSuffix(strings.TrimPrefix(w.D.MetricsURL, "http://"), "/metrics"))
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	server := exec.Command("prometheus", "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+dir,
		"--web.listen-address="+at)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { server.Process.Kill(); server.Wait() }()
	ask := func(path string, query url.Values) (body struct {
		Status string
		Error  string
		Data   struct {
			Result []any
			Groups []struct {
				Rules []struct{ Name, Health, LastError string }
			}
		}
	}, err error) {
		res, err := http.Get("http://" + at + path + "?" + query.Encode())
		if err != nil {
			return body, err
		}
		defer res.Body.Close()
		return body, json.NewDecoder(res.Body).Decode(&body)
	}
	const scraped = `svc_streams and on (instance) svc_shipping_age_seconds and on (instance) up{job="svcd"} == 1`
	await.True(t, "that it has scraped svcd", func() bool {
		got, err := ask("/api/v1/query", url.Values{"query": {scraped}})
		return err == nil && len(got.Data.Result) > 0
	})
	for _, q := range daemon.DashboardQueries(t) {
		if got, err := ask("/api/v1/query", url.Values{"query": {q}}); err != nil || got.Status != "success" {
			t.Errorf("%s: %s %v", q, got.Error, err)
		}
	}
	await.True(t, "that it has tried every rule", func() bool {
		got, err := ask("/api/v1/rules", nil)
		if err != nil || len(got.Data.Groups) != 1 {
			return false
		}
		for _, r := range got.Data.Groups[0].Rules {
			if r.Health == "err" {
				t.Fatalf("%s: %s", r.Name, r.LastError)
			}
			if r.Health != "ok" {
				return false
			}
		}
		return true
	})
}
