package daemon_test

import (
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// A collector takes spans as OpenTelemetry's own types read them: what they do
// not know is an error.
type collector struct {
	mu    sync.Mutex
	busy  int    // how many requests are still turned away
	team  string // the header that requests are to have
	wrong []string
	spans map[string]*otlp.Span // by name
	all   []*otlp.Span
}

// has reports whether there are spans of these names, each the child of the one
// before.
func (c *collector) has(way []string) bool {
	parents := map[string]bool{}
	for i, name := range way {
		next := map[string]bool{}
		for _, s := range c.all {
			if s.Name == name && (i == 0 || parents[hexOf(s.ParentSpanId)]) {
				next[hexOf(s.SpanId)] = true
			}
		}
		parents = next
	}
	return len(parents) > 0
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy > 0 {
		c.busy--
		http.Error(w, "later", http.StatusServiceUnavailable)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var data otlp.TracesData
	if err := protojson.Unmarshal(body, &data); err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("X-Team") != c.team {
		c.wrong = append(c.wrong, r.URL.Path+" "+r.Header.Get("X-Team")+" "+string(body))
	}
	for _, of := range data.ResourceSpans {
		for _, from := range of.ScopeSpans {
			for _, s := range from.Spans {
				c.spans[s.Name] = s
				c.all = append(c.all, s)
			}
		}
	}
	io.WriteString(w, "{}")
}

// hexOf undoes protojson, which takes the hexadecimal ids of OTLP for base64.
func hexOf(id []byte) string { return base64.StdEncoding.EncodeToString(id) }

// The usual address of a collector works, a trace that a caller began goes on,
// a span is named after its route, and a collector that is busy gets the spans
// later.
func TestTracesReachACollector(t *testing.T) {
	c := &collector{busy: 1, team: "a b", spans: map[string]*otlp.Span{}}
	server := httptest.NewServer(c)
	defer server.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=a%20b")
	w := daemontest.StartWith(t, daemon.Config{Database: filepath.Join(t.TempDir(), "svc.db"), OTLPEndpoint: server.URL})
	o := w.Org("Acme")
	const traceID, parent = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	res := w.Do(daemontest.Request{Method: "GET", Path: "/v1/intents/INT-9", Token: o.Owner(),
		Header: map[string]string{"traceparent": "00-" + traceID + "-" + parent + "-01"}})
	if res.Status != http.StatusNotFound {
		t.Fatalf("status %d", res.Status)
	}
	w.Stop() // which sends what is left
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.wrong) > 0 {
		t.Errorf("the collector was sent what it cannot read:\n%s", strings.Join(c.wrong, "\n"))
	}
	span := c.spans["GET /v1/intents/{ref}"]
	if span == nil {
		t.Fatalf("no span of the request: %v", c.spans)
	}
	if hexOf(span.TraceId) != traceID || hexOf(span.ParentSpanId) != parent {
		t.Errorf("trace %s, parent %s, want the caller's", hexOf(span.TraceId), hexOf(span.ParentSpanId))
	}
	if _, err := hex.DecodeString(hexOf(span.SpanId)); err != nil || span.Kind != otlp.Span_SPAN_KIND_SERVER ||
		span.EndTimeUnixNano <= span.StartTimeUnixNano {
		t.Errorf("span %v", span)
	}
	status := int64(0)
	for _, a := range span.Attributes {
		if a.Key == "http.response.status_code" {
			status = a.Value.GetIntValue()
		}
	}
	if status != http.StatusNotFound {
		t.Errorf("status %d in %v", status, span.Attributes)
	}
}
