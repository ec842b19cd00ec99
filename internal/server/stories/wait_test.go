package stories

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A waiting is a wait_for call under way.
type waiting struct {
	done chan struct{}
	stop context.CancelFunc
	out  wire.Waited
	bad  problem.Body
	err  error
}

// wait calls wait_for at a replica.
func (s *story) wait(at *daemontest.World, a *agent, args map[string]any) *waiting {
	if a.session != "" && args["intent"] == nil && args["conflict"] == nil {
		args["session_id"] = a.session
	}
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0",
		"id":      1,
		"method":  "tools/call",
		"params":  map[string]any{"name": "wait_for", "arguments": args},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, "POST", at.URL+"/mcp", bytes.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Authorization":        "Bearer " + a.token,
		"Content-Type":         "application/json",
		"Accept":               "application/json, text/event-stream",
		"Mcp-Protocol-Version": "2025-06-18",
	} {
		req.Header.Set(k, v)
	}
	w := &waiting{done: make(chan struct{}), stop: cancel}
	go func() {
		defer close(w.done)
		defer cancel()
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			w.err = err
			return
		}
		defer res.Body.Close()
		var answer struct {
			Result struct {
				StructuredContent json.RawMessage
			}
		}
		if w.err = json.NewDecoder(res.Body).Decode(&answer); w.err != nil {
			return
		}
		var failed struct{ Error problem.Body }
		w.err = json.Unmarshal(answer.Result.StructuredContent, &failed)
		if w.bad = failed.Error; w.err == nil && w.bad.Status == 0 {
			w.err = json.Unmarshal(answer.Result.StructuredContent, &w.out)
		}
	}()
	s.t.Cleanup(cancel)
	return w
}

// result waits for the answer and shows it in one line.
func (s *story) result(w *waiting) string {
	s.t.Helper()
	select {
	case <-w.done:
	case <-time.After(await.Patience):
		s.t.Fatal("the wait does not end")
	}
	if w.err != nil {
		return "failed: " + w.err.Error()
	}
	if w.bad.Status != 0 {
		return strings.TrimSpace(strings.ReplaceAll(problemText(w.bad), "\n", ""))
	}
	out := w.out.Status + " " + w.out.Target
	if w.out.Outcome != nil {
		out += " " + *w.out.Outcome
	}
	if w.out.Granted {
		out += " granted"
	}
	if h := w.out.Holder; h != nil {
		out += " held by " + h.User.Name
		for _, e := range h.Evidence {
			out += fmt.Sprintf(" (%s %s)", e.Via, e.Selector)
		}
	}
	return out
}

func (s *story) waitingAt(w *daemontest.World, n int) {
	s.t.Helper()
	await.True(s.t, fmt.Sprintf("%d waits are open", n), func() bool { return w.D.Ops.Moments.Waiting() == n })
}

func (s *story) tell(lines ...string) {
	s.t.Helper()
	for _, line := range lines {
		if answer := s.do(fields(line)); strings.HasPrefix(answer, "4") {
			s.t.Fatalf("%s: %s", line, answer)
		}
	}
}

var waitCases = []struct {
	name   string
	before []string // what happened before
	args   map[string]any
	during string // what happens while bob waits
	want   string
}{
	{"what nobody holds is free at once", nil, map[string]any{"path": "other.go"}, "", "free other.go released"},
	{"one's own work never counts", []string{"declare bob paths=b.go"}, map[string]any{"path": "b.go"}, "", "free b.go released"},
	{"a path is free once its claim is released", nil, map[string]any{"path": "a.go"}, "close ana INT-1 abandoned", "free a.go released"},
	{"a path is free once the scope is narrowed", nil, map[string]any{"path": "a.go"}, "update ana INT-1 remove=a.go", "free a.go released"},
	{"a glob waits for all in it", nil, map[string]any{"path": "*.go"}, "close ana INT-1 merged", "free *.go released"},
	{"a changed file is free once the change is undone", []string{"close ana INT-1 abandoned", "post ana c.go base=b1 hunks=1+1:x"},
		map[string]any{"path": "c.go"},
		"post ana c.go status=unchanged", "free c.go released"},
	{
		"a symbol is free once released",
		[]string{"declare ana symbols=lib/x.go#F"},
		map[string]any{"symbol": "lib/x.go#F"},
		"close ana INT-1 merged",
		"free lib/x.go#F released",
	},
	{"an intent that merges", nil, map[string]any{"intent": "INT-1"}, "close ana INT-1 merged", "free INT-1 merged"},
	{"an intent that is abandoned", nil, map[string]any{"intent": 1}, "close ana INT-1 abandoned", "free INT-1 abandoned"},
	{"an intent that expires", nil, map[string]any{"intent": "INT-1"}, "advance 80h", "free INT-1 expired"},
	{"an intent that is handed off", nil, map[string]any{"intent": "INT-1"}, "handoff ana INT-1 cy", "free INT-1 handoff"},
	{
		"a conflict that is resolved",
		[]string{"declare bob paths=a.go"},
		map[string]any{"conflict": "CF-1"},
		"act ana CF-1 resolved",
		"free CF-1 resolved",
	},
	{
		"a conflict that is overridden",
		[]string{"declare bob paths=a.go"},
		map[string]any{"conflict": "CF-1"},
		`override root CF-1 "go on"`,
		"free CF-1 overridden",
	},
	{
		"a conflict that is stale",
		[]string{"declare bob paths=a.go"},
		map[string]any{"conflict": "1"},
		"close ana INT-1 abandoned",
		"free CF-1 stale",
	},
	{
		"the timeout tells who holds it",
		nil,
		map[string]any{"path": "a.go", "timeout_seconds": 1},
		"",
		"still_busy a.go held by Ana (claim a.go)",
	},
	{
		"nothing to wait for",
		nil,
		map[string]any{},
		"",
		"400 validation: some fields are invalid  path: give exactly one of path, symbol, intent and conflict",
	},
	{
		"two things to wait for",
		nil,
		map[string]any{"path": "a.go", "intent": "INT-1"},
		"",
		"400 validation: some fields are invalid  path: give exactly one of path, symbol, intent and conflict",
	},
	{"an intent that is not there", nil, map[string]any{"intent": "INT-99"}, "", "404 not-found: no intent INT-99 in this org"},
	{
		"a path that is none",
		nil,
		map[string]any{"path": "../x"},
		"",
		"400 validation: some fields are invalid  path: \"../x\" contains .., which may lead out of the repository; write it without",
	},
}

func TestWaitFor(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		for n, tt := range waitCases {
			t.Run(tt.name, func(t *testing.T) {
				s := newStory(t, w, fmt.Sprint("org", n))
				s.tell("person root admin", "join ana bob cy root", "declare ana paths=a.go mode=exclusive")
				s.tell(tt.before...)
				wait := s.wait(w, s.agent("bob"), maps.Clone(tt.args))
				if tt.during != "" {
					s.waitingAt(w, 1)
					s.tell(tt.during)
				}
				if got := s.result(wait); got != tt.want {
					t.Errorf("got  %s\nwant %s", got, tt.want)
				}
				s.waitingAt(w, 0)
			})
		}
	})
}

// Two wait for one exclusive path: whoever came first gets it, and the other
// goes on waiting, for the first.
func TestWhoWaitedFirstIsGrantedFirst(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		s := newStory(t, w, "acme")
		s.tell("join ana bob cy", "declare ana paths=a.go mode=exclusive", "declare cy paths=a.go mode=exclusive",
			"declare bob paths=a.go mode=exclusive")
		first := s.wait(w, s.agent("bob"), map[string]any{"path": "a.go"})
		s.waitingAt(w, 1)
		second := s.wait(w, s.agent("cy"), map[string]any{"path": "a.go", "timeout_seconds": 2})
		s.waitingAt(w, 2)
		s.tell("close ana INT-1 merged")
		if got, want := s.result(first), "free a.go released granted"; got != want {
			t.Errorf("the first: got %s, want %s", got, want)
		}
		if got, want := s.result(second), "still_busy a.go held by Bob (claim a.go)"; got != want {
			t.Errorf("the second: got %s, want %s", got, want)
		}
		if got := s.do(fields("intent INT-3")); !strings.HasPrefix(got, "INT-3 active of Bob, exclusive\n") {
			t.Errorf("the first holds\n%s", got)
		}
		if got := s.do(fields("pre cy a.go")); !strings.HasPrefix(got, "block\n") {
			t.Errorf("the second's edit: %s", got)
		}
	})
}

func TestAWaitEndsOnAnotherReplica(t *testing.T) {
	w := daemontest.Start(t, storetest.Postgres(t))
	r := w.Replica()
	s := newStory(t, w, "acme")
	s.tell("join ana bob", "declare ana paths=a.go mode=exclusive")
	wait := s.wait(r, s.agent("bob"), map[string]any{"path": "a.go"})
	s.waitingAt(r, 1)
	s.tell("close ana INT-1 abandoned")
	if got, want := s.result(wait), "free a.go released"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAWaitEndsWithItsClientAndLeavesNothingBehind(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		s := newStory(t, w, "acme")
		s.tell("join ana bob", "declare ana paths=a.go mode=exclusive")
		for range 4 {
			wait := s.wait(w, s.agent("bob"), map[string]any{"path": "a.go"})
			s.waitingAt(w, 1)
			wait.stop()
			s.waitingAt(w, 0)
		}
		await.True(t, "no goroutine of a wait is left", func() bool {
			buf := make([]byte, 4<<20)
			all := string(buf[:runtime.Stack(buf, true)])
			return w.D.Ops.Moments.Waiting() == 0 && !strings.Contains(all, "moments.(*Service).serve") &&
				!strings.Contains(all, "moments.(*Service).WaitFor")
		})
	})
}

func TestFourWaitsPerUser(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		s := newStory(t, w, "acme")
		s.tell("join ana bob cy", "declare ana paths=a.go mode=exclusive")
		var open []*waiting
		for range 4 {
			open = append(open, s.wait(w, s.agent("bob"), map[string]any{"path": "a.go"}))
		}
		s.waitingAt(w, 4)
		if got, want := s.result(s.wait(w, s.agent("bob"),
			map[string]any{"path": "a.go"})), "429 rate-limited: you have 4 waits open already; let one end first"; got != want {
			t.Errorf("the fifth: %s, want %s", got, want)
		}
		other := s.wait(w, s.agent("cy"), map[string]any{"path": "a.go"})
		s.waitingAt(w, 5)
		s.tell("close ana INT-1 abandoned")
		for _, o := range append(open, other) {
			if got, want := s.result(o), "free a.go released"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}
