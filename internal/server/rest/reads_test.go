package rest_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// BenchmarkDearReads: the reads that look at all live work and at weeks of the
// past, with 40 agents at work on one file and 10,000 intents behind them.
// Above 10 ms of processor time, PostgreSQL's own included, it fails.
func BenchmarkDearReads(b *testing.B) {
	const agents, most = 40, 10 * time.Millisecond
	for _, db := range databases {
		b.Run(db.name, func(b *testing.B) {
			h := newHistory(b, db.dsn(b), 10_000, 540)
			c := &throng{w: h.w, o: h.o, intents: make([]coord.Intent, agents)}
			for i := range agents {
				u := h.w.Member(h.o, coord.Member)
				c.tokens = append(c.tokens, h.w.Token(h.o, &u, coord.Scopes()...))
				c.hook(i, wire.HookSessionStart, nil)
				c.request(i, map[string]any{"repo": "acme/api", "scope": map[string]any{"paths": []string{"src/shared.go"}}})
			}
			get := func(path string) func() {
				return func() {
					h.w.Must(http.StatusOK, daemontest.Request{Path: path, Token: c.tokens[agents/2]}, nil)
				}
			}
			for _, row := range []struct {
				name string
				act  func()
			}{
				{"territory", get("/v1/territory?repo=acme/api")},
				{"attention", get("/v1/attention")},
				{"channels", h.tool(b, "channels")},
			} {
				b.Run(row.name, func(b *testing.B) {
					row.act() // what the first one costs is another matter
					var each []time.Duration
					for range b.N {
						each = append(each, h.spent(row.act))
					}
					took := middle(each)
					b.ReportMetric(0, "ns/op")
					b.ReportMetric(float64(took.Microseconds()), "cpu-µs")
					if b.N >= 20 && took > most {
						b.Errorf("takes %s of processor time, %s are the most", took, most)
					}
				})
			}
		})
	}
}

// BenchmarkDeclared: what one declare of a file that nobody else works on takes
// of the processor, with PostgreSQL's own. The goal of 1.5 ms on PostgreSQL is
// just missed, so nothing fails here yet.
func BenchmarkDeclared(b *testing.B) {
	for _, db := range databases {
		b.Run(db.name, func(b *testing.B) {
			h := newHistory(b, db.dsn(b), 100, 540)
			c := &throng{w: h.w, o: h.o, intents: make([]coord.Intent, 1)}
			u := h.w.Member(h.o, coord.Member)
			c.tokens = append(c.tokens, h.w.Token(h.o, &u, coord.Scopes()...))
			c.hook(0, wire.HookSessionStart, nil)
			var each, own []time.Duration
			const warm, times = 100, 200
			for n := range warm + times*b.N {
				act := func() {
					own = append(own, spent(func() {
						c.request(0, map[string]any{"repo": "acme/api", "branch": fmt.Sprint("b", n),
							"scope": map[string]any{"paths": []string{fmt.Sprintf("own/%d.go", n)}}})
					}))
				}
				if took := h.spent(act); n >= warm {
					each = append(each, took)
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(middle(each).Microseconds()), "cpu-µs")
			b.ReportMetric(float64(middle(own[warm:]).Microseconds()), "svcd-µs")
		})
	}
}
