package daemon_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// Metrics have an address of their own; the one that everybody reaches has none.
func TestMetricsAreNotForEverybody(t *testing.T) {
	w := daemontest.StartWith(t, daemon.Config{Database: filepath.Join(t.TempDir(), "svc.db"),
		Pages: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "a page") })})
	for _, path := range []string{"/metrics", "/metrics/"} {
		res := w.Do(daemontest.Request{Method: "GET", Path: path})
		if strings.Contains(string(res.Body), "svc_") || path == "/metrics" && res.Status != http.StatusNotFound {
			t.Errorf("GET %s where everybody is: %d %.80s", path, res.Status, res.Body)
		}
	}
	if !strings.Contains(w.Metrics(), "\nsvc_streams 0\n") {
		t.Error("no metrics at their own address")
	}
	res, err := http.Get(strings.Replace(w.D.MetricsURL, "/metrics", "/v1/me", 1))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("the address of metrics answers /v1/me with %d", res.StatusCode)
	}
}

// An address that the operator chose must be free; the usual one need not be,
// and off is none.
func TestTheAddressOfMetrics(t *testing.T) {
	taken := daemontest.Start(t, filepath.Join(t.TempDir(), "svc.db"))
	at := strings.TrimSuffix(strings.TrimPrefix(taken.D.MetricsURL, "http://"), "/metrics")
	s := run(t, nil, "serve", "--addr", "127.0.0.1:0", "--metrics-addr", at)
	if s.code != 1 || !strings.Contains(s.err.String(), "choose another address with --metrics-addr") {
		t.Errorf("exit %d: %s", s.code, &s.err)
	}
	if s := run(t, nil, "serve", "--metrics-addr", "here"); s.code != 2 || !strings.Contains(s.err.String(), "host:port") {
		t.Errorf("exit %d: %s", s.code, &s.err)
	}
	off := daemontest.StartWith(t, daemon.Config{Database: filepath.Join(t.TempDir(), "svc.db"), MetricsAddr: "off"})
	if off.D.MetricsURL != "" {
		t.Errorf("metrics are off and at %s", off.D.MetricsURL)
	}
}

// The metrics tell what the product does: each figure moves with what it is
// about, on both databases.
func TestMetricsTellOfTheProduct(t *testing.T) {
	teamtest.Each(t, func(t *testing.T, x *teamtest.Team) {
		a, b := x.Agent(x.Ada, teamtest.APIRepo), x.Agent(x.Bob, teamtest.APIRepo)
		client := map[string]any{"client": map[string]any{"cli_version": "0.9.1"}}
		x.Hook(a, wire.HookPrompt, client)
		x.Must(a.Token, "intent_declare", map[string]any{"title": "Rework auth", "mode": "exclusive", "session_id": a.Session,
			"scope": map[string]any{"paths": []string{"auth.go"}}}, nil)
		edit := map[string]any{"paths": []string{"auth.go"}}
		if got := x.Hook(b, wire.HookPreEdit, edit).Decision; got != wire.Block {
			t.Fatalf("the edit of a claimed file: %s", got)
		}
		x.Hook(b, wire.HookPreEdit, map[string]any{"paths": []string{"free.go"}})
		page := x.W.Metrics()
		for _, want := range []string{
			`svc_decisions_total{answer="block",event="pre_edit",kind="exclusive_claim"} 1`,
			`svc_decisions_total{answer="allow",event="pre_edit",kind="none"} 1`,
			`svc_decision_seconds_count{stage="whole"} 2`,
			`svc_decision_seconds_count{stage="authentication"} 2`,
			`svc_decision_seconds_count{stage="transaction"} [12]`,
			`svc_decision_seconds_count{stage="commit_wait"} [12]`,
			`svc_decision_seconds_count{stage="index"} [12]`,
			`svc_sessions{host="claude_code",version="0.9.1"} 1`,
			`svc_sessions{host="claude_code",version="other"} 1`,
			`svc_intents{status="active"} [12]`,
			`svc_conflicts{kind="exclusive_claim",severity="block"} 1`,
			`svc_events_total [1-9][0-9]*`,
			`svc_index_orgs 1`,
			`svc_index_entries{of="work"} [1-9][0-9]*`,
			`svc_index_age_seconds [0-9.e-]+`,
			`svc_commit_writes_count [1-9][0-9]*`,
			`svc_commit_seconds_count [1-9][0-9]*`,
			`svc_database_connections_max{pool="readers"} [1-9][0-9]*`,
			`svc_waits 0`,
		} {
			if !regexp.MustCompile(`(?m)^` + strings.NewReplacer("{", `\{`, "}", `\}`).Replace(want) + `$`).MatchString(page) {
				t.Errorf("no %s in\n%s", want, about(page, want))
			}
		}
		// Its agent goes on calling tools while its hooks have stopped.
		x.W.Advance(2 * time.Hour)
		x.Must(a.Token, "channels", nil, nil)
		if err := x.W.D.Ops.Work.FlushBeats(t.Context()); err != nil { // as it does every few seconds
			t.Fatal(err)
		}
		if line := `svc_silent_sessions{host="claude_code"} 1`; !strings.Contains(x.W.Metrics(), line) {
			t.Errorf("no %s in\n%s", line, about(x.W.Metrics(), line))
		}
	})
}

// about returns the lines of a page about the metric of a line.
func about(page, line string) string {
	name, _, _ := strings.Cut(strings.Split(line, " ")[0], "{")
	var out []string
	for l := range strings.Lines(page) {
		if strings.HasPrefix(l, name) {
			out = append(out, l)
		}
	}
	return strings.Join(out, "")
}

// Streams and deliveries are counted.
func TestMetricsTellOfStreamsAndDeliveries(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.StartWith(t, daemon.Config{Database: dsn, Allow: "127.0.0.0/8"})
		o := w.Org("Acme")
		sink := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/bad" {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}))
		defer sink.Close()
		for _, path := range []string{"/good", "/bad"} {
			w.Must(201, daemontest.Request{Method: "POST", Path: "/v1/webhooks", Token: o.Owner(),
				Body: map[string]any{"url": sink.URL + path, "event_types": []string{"*"}}}, nil)
		}
		req, err := http.NewRequestWithContext(t.Context(), "GET", w.URL+"/v1/stream", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+o.Owner())
		res, err := http.DefaultClient.Do(req)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatal(res, err)
		}
		defer res.Body.Close()
		w.Must(201, daemontest.Request{Method: "POST", Path: "/v1/repos", Token: o.Owner(),
			Body: map[string]any{"full_name": "acme/api", "provider": "github"}}, nil)
		for _, line := range []string{`(?m)^svc_streams 1$`, `svc_deliveries_total\{outcome="delivered",to="webhook"\} [1-9]`,
			`svc_deliveries_total\{outcome="failed",to="webhook"\} [1-9]`} {
			await.True(t, line, func() bool { return regexp.MustCompile(line).MatchString(w.Metrics()) })
		}
	})
}

// Each request is one line at info: who, which operation, what came of it, how
// long it took, and the id that the answer has. Names and addresses are not in it.
func TestARequestIsALine(t *testing.T) {
	w := daemontest.Start(t, filepath.Join(t.TempDir(), "svc.db"))
	x := teamtest.New(t, w, "Acme")
	a := x.Agent(x.Ada, teamtest.APIRepo)
	res := w.Do(daemontest.Request{Method: "GET", Path: "/v1/intents/INT-9", Token: x.Cyd.Token})
	x.Must(a.Token, "who_is_online", nil, nil)
	w.Do(daemontest.Request{Method: "GET", Path: "/v1/me"})
	w.Stop()
	lines := w.Log.String()
	for _, want := range []string{
		`level=INFO msg=request operation="GET /v1/intents/{ref}" status=404 ms=[0-9.]+ request_id=` + res.Header.Get("X-Request-Id") +
			` org=` + x.O.ID + ` user=` + x.Cyd.ID + ` token=[0-9a-f-]{36}\n`,
		`level=INFO msg=request operation="tool who_is_online" status=200 ms=[0-9.]+ request_id=[0-9a-f-]{36} org=` + x.O.ID +
			` user=` + x.Ada.ID,
		`level=INFO msg=request operation="GET /v1/me" status=401 ms=[0-9.]+ request_id=[0-9a-f-]{36}\n`,
	} {
		if n := len(regexp.MustCompile(want).FindAllString(lines, -1)); n != 1 {
			t.Errorf("%d lines %s in\n%s", n, want, lines)
		}
	}
	if strings.Contains(lines, x.Cyd.Email) || strings.Contains(lines, "INT-9") {
		t.Errorf("the log has what it should not:\n%s", lines)
	}
}

// With --log-format json every line that svcd prints is JSON, those of the start
// as well.
func TestStartLinesObeyTheFormat(t *testing.T) {
	for _, args := range [][]string{nil, {"--owner", "ana@example.com"}} {
		var s svcd
		data := t.TempDir()
		for range 2 { // the first start, and a later one
			s.start(t, append([]string{"serve", "--addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0", "--data", data,
				"--log-format", "json"}, args...)...)
		}
		var said []string
		for line := range strings.Lines(s.out.String() + s.err.String()) {
			var record struct {
				Time, Level, Msg, URL, Metrics string
			}
			if err := json.Unmarshal([]byte(line), &record); err != nil || record.Msg == "" || record.Time == "" || record.Level == "" {
				t.Errorf("not a line of the log: %s", line)
			}
			if record.Msg == "listening" && (record.URL == "" || !strings.HasSuffix(record.Metrics, "/metrics")) {
				t.Errorf("where does it listen? %s", line)
			}
			said = append(said, record.Msg)
		}
		if !slices.Contains(said, "listening") {
			t.Errorf("said %q", said)
		}
	}
}

// start runs svcd until it has said all that it says at the start.
func (s *svcd) start(t *testing.T, args ...string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan struct{})
	lines := strings.Count(s.out.String(), "\n")
	go func() {
		defer close(ended)
		s.run(ctx, "svcd", []string{"HOME=" + t.TempDir()}, args...)
	}()
	await.True(t, "two lines more", func() bool { return strings.Count(s.out.String(), "\n") >= lines+2 })
	stop()
	<-ended
	if s.code != 0 {
		t.Fatalf("exit %d: %s", s.code, &s.err)
	}
}

// A trace shows the parts of a request's way, each within the one it is part of:
// authentication, the index, the transaction, the wait for its commit; and a
// job's call of another service.
func TestTracesShowTheWay(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		c := &collector{spans: map[string]*otlp.Span{}}
		server := httptest.NewServer(c)
		defer server.Close()
		w := daemontest.StartWith(t, daemon.Config{Database: dsn, OTLPEndpoint: server.URL, Allow: "127.0.0.0/8"})
		x := teamtest.New(t, w, "Acme")
		sink := httptest.NewServer(http.NotFoundHandler())
		defer sink.Close()
		w.Must(201, daemontest.Request{Method: "POST", Path: "/v1/webhooks", Token: x.Ada.Token,
			Body: map[string]any{"url": sink.URL, "event_types": []string{"*"}}}, nil)
		a := x.Agent(x.Ada, teamtest.APIRepo)
		x.Must(a.Token, "intent_declare", map[string]any{"title": "Rework auth", "session_id": a.Session,
			"scope": map[string]any{"paths": []string{"auth.go"}}}, nil)
		x.Hook(a, wire.HookPreEdit, map[string]any{"paths": []string{"free.go"}})
		await.True(t, "a delivery", func() bool {
			return strings.Contains(w.Metrics(), `svc_deliveries_total{outcome="failed",to="webhook"}`)
		})
		w.Stop()
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, way := range [][]string{
			{"tool intent_declare", "authentication"},
			{"tool intent_declare", "transaction", "commit_wait"},
			{"POST /v1/hooks/evaluate", "authentication"},
			{"POST /v1/hooks/evaluate", "index"},
			{"job webhook", "outgoing"},
		} {
			if !c.has(way) {
				t.Errorf("no spans %s", strings.Join(way, " > "))
			}
		}
	})
}
