package mcpserver_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A shooter sends one request again and again.
type shooter struct {
	client     *http.Client
	url, token string
	body       []byte
	header     http.Header
}

func newShooter(url, token, tool, arguments string, isModern bool) *shooter {
	h := http.Header{"Accept": {accept}, "Content-Type": {"application/json"}, "Authorization": {"Bearer " + token}}
	params := fmt.Sprintf(`"name":%q,"arguments":%s`, tool, arguments)
	if isModern {
		params += fmt.Sprintf(`,"_meta":{%q:%q,%q:{},%q:{"name":"t","version":"1"}}`, metaVersion, modern, metaCaps, metaClient)
		h.Set(headVersion, modern)
		h.Set(headMethod, "tools/call")
		h.Set(headName, tool)
	}
	return &shooter{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}, url: url + "/mcp", token: token, header: h,
		body: []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + params + `}}`)}
}

func (s *shooter) once(b *testing.B) {
	req, err := http.NewRequest(http.MethodPost, s.url, bytes.NewReader(s.body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header = s.header
	res, err := s.client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || res.StatusCode != 200 || !bytes.Contains(text, []byte(`"content"`)) {
		b.Fatalf("%v: %s: %s", err, res.Status, text)
	}
}

// compare sends n requests from each shooter, a few at a time in turn, so that
// a busy machine slows all alike, and returns the processor time of each:
// client, server and embedded database together.
func compare(b *testing.B, n int, shooters ...*shooter) []time.Duration {
	spent := make([]time.Duration, len(shooters))
	for _, s := range shooters {
		s.once(b)
	}
	const batch = 80
	for range n / batch {
		for i, s := range shooters {
			before := processorTime(b)
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for range batch / 8 {
						s.once(b)
					}
				})
			}
			wg.Wait()
			spent[i] += processorTime(b) - before
		}
	}
	return spent
}

func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bareEcho is the SDK's own server with a tool that does nothing.
func bareEcho(b *testing.B) string {
	srv := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	type in struct {
		Text string `json:"text"`
	}
	mcp.AddTool(srv, &mcp.Tool{Name: "echo", Description: "echo"},
		func(_ context.Context, _ *mcp.CallToolRequest, in in) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
		})
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
		return srv
	}, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	s := httptest.NewServer(mux)
	b.Cleanup(s.Close)
	return s.URL
}

// BenchmarkToolCalls compares our tools, each with its token, validation and
// database, with a tool of the SDK's that does nothing. Held to a ratio are
// those that neither write to a disk nor ask another process: intent_declare
// does the one, and on PostgreSQL all do the other, for which it is told.
func BenchmarkToolCalls(b *testing.B) {
	eachBench(b, func(b *testing.B, s *team) {
		ana, bob := s.agent("Ana", "acme/api"), s.agent("Bob", "acme/api")
		do[wire.Declared](ana, "intent_declare", args{"title": "x", "scope": paths("a.go"), "mode": "exclusive"})
		bare := bareEcho(b)
		sdk := s.sdkOnly(b)
		held := []string{"nothing_to_check"}
		if s.Store.Name() == "sqlite" { // no disk, and no way to another process
			held = append(held, "team_context", "inbox")
		}
		for _, tool := range []struct{ as, name, arguments string }{
			{"nothing_to_check", "scope_check", `{}`}, // all but the database: what the echo does too
			{"scope_check", "scope_check", `{"paths":["a.go"]}`}, {"who_is_online", "who_is_online", `{}`},
			{"team_context", "team_context", `{"paths":["a.go"]}`}, {"inbox", "inbox", `{}`},
			{"intent_declare", "intent_declare", `{"title":"y","scope":{"paths":["b.go"]},"branch":"work"}`}, // to the disk
		} {
			for _, isModern := range []bool{false, true} {
				era := map[bool]string{false: "2025", true: "2026"}[isModern]
				b.Run(tool.as+"/"+era, func(b *testing.B) {
					shooters := []*shooter{newShooter(bare, "", "echo", `{"text":"hello"}`, isModern),
						newShooter(s.URL, bob.token, tool.name, tool.arguments, isModern), newShooter(sdk, bob.token, tool.name, tool.arguments, isModern)}
					spent := make([]time.Duration, len(shooters))
					for b.Loop() {
						for i, d := range compare(b, 400, shooters...) {
							spent[i] += d
						}
					}
					ratio := spent[0].Seconds() / spent[1].Seconds()
					for i, unit := range []string{"echo/cpu-s", "calls/cpu-s", "calls-by-sdk/cpu-s"} {
						b.ReportMetric(float64(b.N)*400/spent[i].Seconds(), unit)
					}
					b.ReportMetric(ratio, "ratio")
					if slices.Contains(held, tool.as) && ratio < 0.8 {
						b.Errorf("a call costs too much: %.2f of the SDK's bare echo a second, want at least 0.8", ratio)
					}
				})
			}
		}
	})
}

// eachBench runs a benchmark on each database.
func eachBench(b *testing.B, bench func(*testing.B, *team)) {
	b.Run("sqlite", func(b *testing.B) { bench(b, start(b, filepath.Join(b.TempDir(), "svc.db"))) })
	b.Run("postgres", func(b *testing.B) { bench(b, start(b, storetest.Postgres(b))) })
}

// BenchmarkOpenWaits opens 1,000 waits of 250 people, and frees what they wait
// for: what the waits cost, and how long after the release the last are told.
func BenchmarkOpenWaits(b *testing.B) {
	const people, each, most = 250, 4, 50.0
	eachBench(b, func(b *testing.B, s *team) {
		ana := s.agent("Ana", "acme/api")
		tokens := make([]string, people)
		for i := range tokens {
			u := s.Member(s.org, coord.Member)
			tokens[i] = s.Token(s.org, &u, coord.Scopes()...)
		}
		for _, kind := range []string{"one-file", "a-file-each"} {
			b.Run(kind, func(b *testing.B) {
				for round := 0; b.Loop(); round++ {
					file := func(i int) string {
						if kind == "one-file" {
							return "a/0.go"
						}
						return fmt.Sprintf("a/%d.go", i)
					}
					d := do[wire.Declared](ana, "intent_declare", args{
						"title":      "x",
						"scope":      paths("a/**"),
						"branch":     fmt.Sprint(strings.ReplaceAll(kind, " ", "-"), round),
						"session_id": ana.session,
					})
					before := inUse()
					woken := make([]time.Time, people*each)
					conns := make([]net.Conn, people*each)
					for i := range conns {
						conns[i] = newShooter(s.URL, tokens[i%people], "wait_for", fmt.Sprintf(`{"path":%q,"repo":"acme/api"}`, file(i)), false).begin(b)
					}
					waiting(b, s.World, len(conns))
					cost := float64(inUse()-before) / 1e6
					var wg sync.WaitGroup
					for i, conn := range conns {
						wg.Go(func() {
							defer conn.Close()
							if n, err := conn.Read(make([]byte, 64)); n == 0 {
								b.Errorf("a wait broke off: %v", err)
							}
							woken[i] = time.Now()
						})
					}
					released := time.Now()
					do[wire.HandedOff](ana, "intent_close", args{"intent": d.Intent.Ref, "outcome": "merged"})
					wg.Wait()
					var took []time.Duration
					for _, t := range woken {
						took = append(took, t.Sub(released))
					}
					slices.Sort(took)
					b.ReportMetric(cost, "MB")
					b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
					b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
					b.ReportMetric(float64(took[0].Microseconds())/1000, "first-ms")
					if cost > most {
						b.Errorf("1,000 waits cost %.1f MB, want less than %.0f", cost, most)
					}
				}
			})
		}
	})
}

// BenchmarkWakeUp releases one file after another, each with five who wait for
// it among 1,000 open waits, and tells how long after the release's answer, and
// after it was asked for, they are told.
func BenchmarkWakeUp(b *testing.B) {
	const files, each, releases = 200, 5, 40
	eachBench(b, func(b *testing.B, s *team) {
		ana := s.agent("Ana", "acme/api")
		var tokens []string
		for range 250 {
			u := s.Member(s.org, coord.Member)
			tokens = append(tokens, s.Token(s.org, &u, coord.Scopes()...))
		}
		for round := 0; b.Loop(); round++ {
			var names []string
			for i := range files {
				names = append(names, fmt.Sprintf("a/%d.go", i))
			}
			d := do[wire.Declared](ana, "intent_declare", args{"title": "x", "scope": paths(names...), "branch": fmt.Sprint(round)})
			var conns []net.Conn
			for i := range files * each {
				conns = append(conns,
					newShooter(s.URL, tokens[i%len(tokens)], "wait_for", fmt.Sprintf(`{"path":%q,"repo":"acme/api"}`, names[i/each]), false).begin(b))
			}
			waiting(b, s.World, len(conns))
			var asked, answered []time.Duration
			for f := range releases {
				var wg sync.WaitGroup
				woken := make([]time.Time, each)
				for k, conn := range conns[f*each : (f+1)*each] {
					wg.Go(func() {
						_, _ = conn.Read(make([]byte, 64))
						woken[k] = time.Now()
					})
				}
				begun := time.Now()
				do[wire.Declared](ana, "intent_update", args{"intent": d.Intent.Ref, "patch": args{"scope_remove": paths(names[f])}})
				done := time.Now()
				wg.Wait()
				for _, t := range woken {
					asked, answered = append(asked, t.Sub(begun)), append(answered, max(0, t.Sub(done)))
				}
			}
			for name, ds := range map[string][]time.Duration{"asked": asked, "answered": answered} {
				slices.Sort(ds)
				b.ReportMetric(float64(ds[len(ds)/2].Microseconds())/1000, "p50-since-"+name+"-ms")
				b.ReportMetric(float64(ds[len(ds)*99/100].Microseconds())/1000, "p99-since-"+name+"-ms")
			}
			for _, conn := range conns {
				conn.Close()
			}
			waiting(b, s.World, 0)
		}
	})
}

// begin sends a request over a connection of its own, with as little memory as
// can be: the service is what is measured.
func (s *shooter) begin(b *testing.B) net.Conn {
	host := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/mcp")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		b.Fatal(err)
	}
	fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", host, len(s.body))
	if err := s.header.Write(conn); err != nil {
		b.Fatal(err)
	}
	if _, err := conn.Write(append([]byte("\r\n"), s.body...)); err != nil {
		b.Fatal(err)
	}
	return conn
}

// inUse returns the bytes that heap and stacks take once things have settled:
// each collection halves stacks that were needed deeper before.
func inUse() int64 {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
