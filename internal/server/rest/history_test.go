package rest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver called pgx

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/api"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// BenchmarkTenTimesTheHistory calls every operation that can be called again
// and again, every tool and every event of a hook on two services, one with ten
// times the past of the other, and reports how much more processor time the
// older one takes, PostgreSQL's own included; above 1.3 times, over 20 calls or more, it fails.
// SVC_BENCH_PAST sets how many intents the younger has closed. The older one
// has worked at the same pace for ten times as long; with SVC_BENCH_DENSE at
// ten times the pace, for the same year and a half.
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
			days := []int{54, 540}
			if os.Getenv("SVC_BENCH_DENSE") != "" {
				days[0] = days[1]
			}
			young, old := newHistory(b, db.dsn(b), past, days[0]), newHistory(b, db.dsn(b), 10*past, days[1])
			for _, c := range calls() {
				b.Run(c.name, func(b *testing.B) {
					for _, h := range []*history{young, old} {
						h.dropWebhooks()
						h.prepare(b, c)() // what the first one costs is another matter
					}
					var each [2][]time.Duration
					for range b.N {
						for i, h := range []*history{young, old} {
							h.w.Write(h.o.ID, func(ctx context.Context, tx *store.Tx) error { // of what was sent and taken, for the limits
								_, err := tx.ExecContext(ctx, `DELETE FROM sends`)
								if err == nil {
									_, err = tx.ExecContext(ctx, `DELETE FROM rate_limits`)
								}
								return err
							})
							act := h.prepare(b, c)
							if strings.Contains(c.name, "webhooks") { // what it made is being sent
								comeToRest()
							}
							each[i] = append(each[i], h.spent(act))
						}
					}
					young, old := middle(each[0]), middle(each[1])
					ratio := float64(old) / float64(max(young, 1))
					b.ReportMetric(float64(young.Microseconds()), "µs-young")
					b.ReportMetric(float64(old.Microseconds()), "µs-old")
					b.ReportMetric(ratio, "old/young")
					if enough := 20; b.N >= enough && ratio > mostOlder {
						b.Errorf("takes %.2f times the processor with ten times the history (%s against %s); %.1f are the most", ratio, old, young, mostOlder)
					}
				})
			}
		})
	}
}

// dropWebhooks makes room for those that the next row makes: an org may have
// few.
func (h *history) dropWebhooks() {
	var page wire.Page[coord.Webhook]
	h.w.Must(http.StatusOK, daemontest.Request{Path: "/v1/webhooks", Token: h.o.Owner()}, &page)
	for _, x := range page.Items {
		h.w.Must(http.StatusNoContent, daemontest.Request{Method: "DELETE", Path: "/v1/webhooks/" + x.ID, Token: h.o.Owner()}, nil)
	}
	maps.DeleteFunc(h.made, func(row string, _ object) bool { return strings.Contains(row, "/v1/webhooks") })
}

// comeToRest waits until this process has nothing to do: what else it does counts,
// too.
func comeToRest() {
	const look = 10 * time.Millisecond
	for range 300 {
		before := processor()
		time.Sleep(look)
		if processor()-before < look/20 {
			return
		}
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

// spent returns the processor time that this process, and what PostgreSQL does
// for it, take for an act.
func (h *history) spent(act func()) time.Duration {
	pids := h.backends()
	theirs, ours := ran(pids), processor()
	act()
	ours = processor() - ours
	return ours + ran(pids) - theirs
}

// ran returns the processor time that processes have used, 0 where the system
// does not tell.
func ran(pids []int) (all time.Duration) {
	for _, pid := range pids {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid)); err == nil {
			var one time.Duration
			fmt.Sscanf(string(text), "%d", (*int64)(&one))
			all += one
		}
	}
	return all
}

// backends are PostgreSQL's processes for the service's database.
func (h *history) backends() []int {
	if h.watch == nil {
		return nil
	}
	rows, err := h.watch.Query(`SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	if err != nil {
		return nil
	}
	defer rows.Close()
	var out []int
	for rows.Next() {
		var pid int
		if rows.Scan(&pid) == nil {
			out = append(out, pid)
		}
	}
	return out
}

// A history is a service with a past, in which two people work.
type history struct {
	watch  *sql.DB // its PostgreSQL; nil if it has none
	w      *daemontest.World
	o      *daemontest.Org
	cookie string
	schema *api.API
	made   map[string]object
	n      int
}

func newHistory(b *testing.B, dsn string, intents, days int) *history {
	h := &history{schema: api.New(nil), made: map[string]object{}}
	storetest.Prepare(b, dsn)
	if strings.HasPrefix(dsn, "postgres") {
		var err error
		if h.watch, err = sql.Open("pgx", dsn); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { h.watch.Close() })
	}
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
	past := h.w.Store
	if h.watch != nil { // years are written in one statement, which may take its time
		past = storetest.OpenDSN(b, dsn+"&statement_timeout=600s")
	}
	storetest.Past{
		Org:     h.o.ID,
		Repo:    repo.ID,
		User:    h.o.Users[coord.Owner].ID,
		Other:   h.o.Users[coord.Member].ID,
		Intents: intents,
		Days:    days,
	}.Live(b, past)
	h.w.Restart() // as after a night: statistics are gathered, and days are summed up
	if err := errors.Join(h.w.Store.Analyze(b.Context()), h.w.D.Ops.Outgoing.Tidy(b.Context())); err != nil {
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
	tool string
}

// calls are every row of the table that answers more than once, every tool,
// and every event of a hook.
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
	for _, op := range api.Table {
		if op.Tool != "" {
			out = append(out, call{name: "tool " + op.Tool, op: op, tool: op.Tool})
		}
	}
	for _, e := range wire.HookEvents() {
		out = append(out, call{name: "hook " + string(e), hook: e})
	}
	return out
}

// prepare makes what a call is about and returns what makes it.
func (h *history) prepare(b *testing.B, c call) func() {
	b.Helper()
	h.n++
	switch {
	case c.hook != "":
		return h.hook(c.hook)
	case c.tool != "":
		return h.tool(b, c.tool)
	case c.name == "POST :v1:intents":
		scope := map[string]any{"paths": []string{fmt.Sprintf("more/%d.go", h.n)}}
		return func() {
			h.w.Must(201, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: h.o.Tokens[coord.Admin],
				Body: map[string]any{"title": "Now", "repo": "acme/api", "scope": scope}}, nil)
		}
	case c.name == "POST :v1:messages":
		return func() { message(h.w, h.o) }
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
		if q.Has("repo") {
			q.Set("repo", "acme/api") // the one that has a past
		}
	}
	return func() {
		res := h.w.Do(x.request(method, own.path+"?"+q.Encode(), own.body))
		if res.Status != c.op.Success {
			b.Fatalf("%s = %d\n%s", c.op.Route, res.Status, res.Body)
		}
	}
}

// hook returns a call of an event of the owner's agent.
func (h *history) hook(e wire.HookEvent) func() {
	path := fmt.Sprintf("now/edit%d.go", h.n%10)
	return func() {
		h.w.Must(200, daemontest.Request{Method: "POST", Path: "/v1/hooks/evaluate", Token: h.o.Owner(), Body: map[string]any{
			"event":          e,
			"session":        map[string]any{"tool": "codex", "external_id": "bench"},
			"paths":          []string{path},
			"prompt_excerpt": "Do it",
			"repo":           map[string]any{"remote_fingerprints": []string{"github.com/acme/api"}, "branch": "work"}}}, nil)
	}
}

// tool returns a call of a tool by the owner's agent.
func (h *history) tool(b *testing.B, name string) func() {
	session := sessionIn(h.w, h.o, "acme/api")
	make, ok := toolArguments[name]
	if !ok {
		b.Fatalf("say in toolArguments with what to call %s", name)
	}
	body := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": make(h)}}
	return func() {
		var out struct {
			Result struct {
				IsError bool
				Content []struct{ Text string }
			}
		}
		h.w.Must(200, daemontest.Request{Method: "POST", Path: "/mcp", Token: h.o.Owner(), Body: body,
			Header: map[string]string{"Accept": "application/json, text/event-stream", "X-Svc-Session": session}}, &out)
		if out.Result.IsError || len(out.Result.Content) == 0 {
			b.Fatalf("%s: %+v", name, out)
		}
	}
}

// declared is a new intent of a role.
func (h *history) declared(role coord.Role) string {
	h.n++
	var out wire.Declared
	h.w.Must(201, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: h.o.Tokens[role], Body: map[string]any{
		"title": "Now", "repo": "acme/api", "scope": map[string]any{"paths": []string{fmt.Sprintf("tool/%d.go", h.n)}}}}, &out)
	return out.Intent.Ref
}

// toolArguments are with what each tool can be called.
var toolArguments = map[string]func(*history) map[string]any{
	"team_context":    func(*history) map[string]any { return map[string]any{"paths": []string{"now/1.go"}} },
	"scope_check":     func(*history) map[string]any { return map[string]any{"paths": []string{"now/1.go"}} },
	"who_is_online":   func(*history) map[string]any { return map[string]any{} },
	"conflicts":       func(*history) map[string]any { return map[string]any{} },
	"channels":        func(*history) map[string]any { return map[string]any{} },
	"inbox":           func(*history) map[string]any { return map[string]any{} },
	"history_search":  func(*history) map[string]any { return map[string]any{"q": "tokens"} },
	"contract_lookup": func(*history) map[string]any { return map[string]any{"key": "http:GET /users"} },
	"channel_read":    func(*history) map[string]any { return map[string]any{"channel": "acme/api"} },
	"message_send": func(h *history) map[string]any {
		return map[string]any{"to": "user:" + h.o.Users[coord.Member].Email, "body": "Hello"}
	},
	"message_ack": func(h *history) map[string]any {
		id, _ := message(h.w, h.o)
		return map[string]any{"message": id}
	},
	"ask": func(h *history) map[string]any {
		return map[string]any{"to": "user:" + h.o.Users[coord.Member].Email, "question": fmt.Sprintf("Which one is number %d?", h.n)}
	},
	"answer": func(h *history) map[string]any {
		var out struct{ ID string }
		h.w.Must(201, daemontest.Request{Method: "POST", Path: "/v1/questions", Token: h.o.Tokens[coord.Member], Body: map[string]any{
			"to": "user:" + h.o.Users[coord.Owner].Email, "question": fmt.Sprintf("Which one is number %d?", h.n)}}, &out)
		return map[string]any{"question": out.ID, "answer": "That one."}
	},
	"intent_declare": func(h *history) map[string]any {
		return map[string]any{"title": "Next", "scope": map[string]any{"paths": []string{fmt.Sprintf("tool/own%d.go", h.n)}}}
	},
	"intent_update": func(h *history) map[string]any {
		return map[string]any{"intent": h.declared(coord.Owner), "patch": map[string]any{"summary": "More of it"}}
	},
	"intent_close": func(h *history) map[string]any {
		return map[string]any{"intent": h.declared(coord.Owner), "outcome": "abandoned"}
	},
	"intent_handoff": func(h *history) map[string]any {
		return map[string]any{"ref": h.declared(coord.Owner), "to": h.o.Users[coord.Member].Email, "note": "Yours"}
	},
	"intent_adopt": func(h *history) map[string]any {
		ref := h.declared(coord.Member)
		h.w.Must(200, daemontest.Request{Method: "POST", Path: "/v1/intents/" + ref + "/handoff", Token: h.o.Tokens[coord.Member],
			Body: map[string]any{"to": h.o.Users[coord.Owner].Email, "note": "Yours"}}, nil)
		return map[string]any{"ref": ref}
	},
	"conflict_respond": func(h *history) map[string]any {
		own := onConflict("", nil)(nil, h.w, h.o)
		return map[string]any{"conflict": path.Base(own.path), "action": "ack"}
	},
	"wait_for": func(h *history) map[string]any {
		return map[string]any{"path": "nobody/holds.go", "timeout_seconds": 1}
	},
}
