package rest_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// BenchmarkTenTimesTheHistory calls every operation that can be called again
// and again on two services, one with ten times the past of the other, and
// reports how much more processor time the older one takes; above 1.3 times,
// over 20 calls or more, it fails. SVC_BENCH_PAST sets how many intents the
// younger has closed.
func BenchmarkTenTimesTheHistory(b *testing.B) {
	for _, db := range []struct {
		name string
		dsn  func(testing.TB) string
	}{
		{"sqlite", func(t testing.TB) string { return t.TempDir() + "/svc.db" }},
		{"postgres", storetest.Postgres},
	} {
		b.Run(db.name, func(b *testing.B) {
			past := 1000
			fmt.Sscan(os.Getenv("SVC_BENCH_PAST"), &past)
			young, old := newHistory(b, db.dsn(b), past), newHistory(b, db.dsn(b), 10*past)
			for _, c := range calls() {
				b.Run(c.name, func(b *testing.B) {
					for _, h := range []*history{young, old} {
						h.call(b, c) // what the first one costs is another matter
					}
					var each [2][]time.Duration
					for range b.N {
						for i, h := range []*history{young, old} {
							h.w.Write(h.o.ID, func(ctx context.Context, tx *store.Tx) error { // of what was sent, for the limits
								_, err := tx.ExecContext(ctx, `DELETE FROM sends`)
								return err
							})
							start := processor()
							h.call(b, c)
							each[i] = append(each[i], processor()-start)
						}
					}
					young, old := middle(each[0]), middle(each[1])
					ratio := float64(old) / float64(max(young, 1))
					b.ReportMetric(float64(young.Microseconds()), "µs-young")
					b.ReportMetric(float64(old.Microseconds()), "µs-old")
					b.ReportMetric(ratio, "old/young")
					if enough := 20; b.N >= enough && ratio > mostOlder {
						b.Errorf("takes %.2f times the processor with ten times the history; %.1f are the most", ratio, mostOlder)
					}
				})
			}
		})
	}
}

// mostOlder is how much more an operation may take with ten times the history.
const mostOlder = 1.3

// middle returns the median: one call in which garbage was collected says
// nothing.
func middle(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// processor returns the processor time that this process has used.
func processor() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A history is a service with a past, in which two people work.
type history struct {
	w      *daemontest.World
	o      *daemontest.Org
	cookie string
	schema *api.API
	made   map[string]object
	n      int
}

func newHistory(b *testing.B, dsn string, intents int) *history {
	h := &history{schema: api.New(nil), made: map[string]object{}}
	storetest.Prepare(b, dsn)
	h.w = daemontest.Start(b, dsn)
	h.o = h.w.Org("Acme")
	h.cookie = h.w.Cookie(h.o.Users[coord.Owner])
	repo := coord.Repo{
		ID:            uuid.NewString(),
		FullName:      "acme/api",
		Provider:      coord.GitHub,
		DefaultBranch: "main",
		Remotes:       []string{"github.com/acme/api"},
	}
	h.w.Write(h.o.ID, func(ctx context.Context, tx *store.Tx) error { return tx.InsertRepo(ctx, h.o.ID, repo) })
	storetest.Past{
		Org:     h.o.ID,
		Repo:    repo.ID,
		User:    h.o.Users[coord.Owner].ID,
		Other:   h.o.Users[coord.Member].ID,
		Intents: intents,
	}.Live(b, h.w.Store)
	h.w.Restart() // as after a night: statistics are gathered, and days are summed up
	if err := h.w.D.Ops.Outgoing.Tidy(b.Context()); err != nil {
		b.Fatal(err)
	}
	for i := range 20 {
		h.w.Must(201, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: h.o.Tokens[coord.Member],
			Body: map[string]any{"title": "Now", "repo": "acme/api", "scope": map[string]any{"paths": []string{fmt.Sprintf("now/%d.go", i)}}}}, nil)
	}
	return h
}

// A call is something to do to a service.
type call struct {
	name string
	op   api.Op
	hook wire.HookEvent
}

// calls are every row of the table that answers more than once, and every
// event of a hook.
func calls() (out []call) {
	for _, op := range api.Table {
		method, path, _ := strings.Cut(op.Route, " ")
		once := []string{"GET /v1/stream", "PATCH /v1/org", "PUT /v1/policies", "POST /v1/webhooks/{id}/deliveries/{delivery}/redeliver"}
		if op.Route == "" || op.Success == 302 || slices.Contains(once, op.Route) {
			continue
		}
		if _, ok := objects[op.Route]; method == "GET" || ok && !strings.HasPrefix(path, "/v1/github") {
			out = append(out, call{name: strings.ReplaceAll(op.Route, "/", ":"), op: op})
		}
	}
	out = append(out, call{name: "POST :v1:intents"}, call{name: "POST :v1:messages"})
	for _, e := range wire.HookEvents() {
		out = append(out, call{name: "hook " + string(e), hook: e})
	}
	return out
}

func (h *history) call(b *testing.B, c call) {
	b.Helper()
	h.n++
	switch {
	case c.hook != "":
		path := fmt.Sprintf("now/edit%d.go", h.n%10)
		h.w.Must(200, daemontest.Request{Method: "POST", Path: "/v1/hooks/evaluate", Token: h.o.Owner(), Body: map[string]any{
			"event":          c.hook,
			"session":        map[string]any{"tool": "codex", "external_id": "bench"},
			"paths":          []string{path},
			"prompt_excerpt": "Do it",
			"repo":           map[string]any{"remote_fingerprints": []string{"github.com/acme/api"}, "branch": "work"}}}, nil)
		return
	case c.name == "POST :v1:intents":
		scope := map[string]any{"paths": []string{fmt.Sprintf("more/%d.go", h.n)}}
		h.w.Must(201, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: h.o.Tokens[coord.Admin],
			Body: map[string]any{"title": "Now", "repo": "acme/api", "scope": scope}}, nil)
		return
	case c.name == "POST :v1:messages":
		message(h.w, h.o)
		return
	}
	method, path, _ := strings.Cut(c.op.Route, " ")
	own := object{path: path}
	if make, ok := objects[c.op.Route]; ok {
		own = h.made[c.op.Route]
		if own.path == "" || method != "GET" {
			own = make(b, h.w, h.o)
			h.made[c.op.Route] = own
		}
	}
	x := walker{w: h.w, ours: h.o, cookie: h.cookie, schemas: h.schema, op: c.op}
	q := x.query()
	if more, ok := queries[c.op.Route]; ok {
		q = more(h.w, h.o)
	}
	res := h.w.Do(x.request(method, own.path+"?"+q.Encode(), own.body))
	if res.Status != c.op.Success {
		b.Fatalf("%s = %d\n%s", c.op.Route, res.Status, res.Body)
	}
}
