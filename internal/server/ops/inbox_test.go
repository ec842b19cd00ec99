package ops_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/wire"
)

// waiting calls inbox with waiting in the background.
func (x *team) waiting(a agent, seconds int) <-chan wire.Inbox {
	out := make(chan wire.Inbox, 1)
	go func() {
		var in wire.Inbox
		x.must(a.token, "inbox", map[string]any{"wait_seconds": seconds}, &in)
		out <- in
	}()
	return out
}

// waitsFull reports whether a wait of a person would be one too many.
func (x *team) waitsFull(a agent) bool {
	x.Helper()
	bad := x.tool(a.token, "inbox", map[string]any{"wait_seconds": 1}, nil)
	return bad != nil && bad.Status == 429
}

func TestWaitingForAMessage(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		a := x.agent(x.bob, apiRepo)
		got := x.waiting(a, 50)
		x.send(x.ada, "user:"+x.cyd.Email, "not for bob")
		x.send(x.ada, "user:"+x.bob.Email, "for bob")
		in := <-got
		if len(in.Items) != 1 || !strings.Contains(in.Items[0].Body, "for bob") || in.TimedOut == nil || *in.TimedOut || in.WaitedMS == nil {
			t.Errorf("inbox = %+v", in)
		}
		// Nothing new: it times out and says so.
		in = <-x.waiting(a, 1)
		if len(in.Items) != 0 || !*in.TimedOut || *in.WaitedMS < 900 {
			t.Errorf("an idle wait = %+v", in)
		}
		// What waits already is returned at once.
		x.send(x.ada, "user:"+x.bob.Email, "again")
		if in = <-x.waiting(a, 50); len(in.Items) != 1 || *in.TimedOut {
			t.Errorf("a wait with mail there = %+v", in)
		}
		// What a hook has told is not new, though still unread.
		x.send(x.ada, "user:"+x.bob.Email, "by hook")
		contains(t, "the briefing", x.hook(a, wire.HookPrompt, nil).InjectContext, "by hook")
		got = x.waiting(a, 50)
		x.send(x.ada, "user:"+x.bob.Email, "by inbox")
		if in = <-got; len(in.Items) != 2 || !strings.Contains(in.Items[0].Body, "by inbox") {
			t.Errorf("inbox = %v", bodies(in.Items))
		}
		// Without waiting nothing is said of it.
		x.must(a.token, "inbox", nil, &in)
		if in = (wire.Inbox{}); in.WaitedMS != nil || in.TimedOut != nil {
			t.Errorf("without waiting = %+v", in)
		}
	})
}

// A message wakes those who wait on another replica.
func TestWaitingOnAnotherReplica(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		if strings.HasSuffix(t.Name(), "sqlite") {
			return // SQLite has one replica
		}
		a := x.agent(x.bob, apiRepo)
		there := *x
		there.w = x.w.Replica()
		got := there.waiting(a, 50)
		x.send(x.ada, "user:"+x.bob.Email, "across")
		if in := <-got; len(in.Items) != 1 || *in.TimedOut {
			t.Errorf("inbox = %+v", in)
		}
	})
}

// At most four waits of a person are open; one that its caller left counts no
// more.
func TestOpenWaitsAreCounted(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		a := x.agent(x.bob, apiRepo)
		ctx, leave := context.WithCancel(t.Context())
		refused := make(chan bool, 6)
		for range 6 {
			req := x.w.Build(toolRequest(a.token, "inbox", map[string]any{"wait_seconds": 55})).WithContext(ctx)
			go func() {
				if res, err := patient.Do(req); err == nil {
					body, _ := io.ReadAll(res.Body)
					res.Body.Close()
					refused <- strings.Contains(string(body), "rate-limited")
				}
			}()
		}
		for range 2 { // the other four wait
			if !<-refused {
				t.Error("a wait ended without a message")
			}
		}
		bad := x.tool(a.token, "wait_for", map[string]any{"path": "a.go", "timeout_seconds": 1}, nil)
		if bad == nil || bad.Status != 429 {
			t.Errorf("wait_for beside four waits = %+v", bad)
		}
		if x.waitsFull(x.agent(x.ada, apiRepo)) {
			t.Error("another person's waits are counted, too")
		}
		leave()
		await.True(t, "the waits have ended", func() bool { return !x.waitsFull(a) })
	})
}
