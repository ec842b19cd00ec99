package moments_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
)

// waiting calls inbox with waiting in the background.
func (x *team) waiting(a agent, seconds int) <-chan wire.Inbox {
	out := make(chan wire.Inbox, 1)
	go func() {
		var in wire.Inbox
		x.Must(a.Token, "inbox", map[string]any{"wait_seconds": seconds}, &in)
		out <- in
	}()
	return out
}

// waitsFull reports whether a wait of a person would be one too many.
func (x *team) waitsFull(a agent) bool {
	x.Helper()
	bad := x.Tool(a.Token, "inbox", map[string]any{"wait_seconds": 1}, nil)
	return bad != nil && bad.Status == 429
}

func TestWaitingForAMessage(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		a := x.Agent(x.Bob, apiRepo)
		got := x.waiting(a, 50)
		x.Send(x.Ada, "user:"+x.Cyd.Email, "not for bob")
		x.Send(x.Ada, "user:"+x.Bob.Email, "for bob")
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
		x.Send(x.Ada, "user:"+x.Bob.Email, "again")
		if in = <-x.waiting(a, 50); len(in.Items) != 1 || *in.TimedOut {
			t.Errorf("a wait with mail there = %+v", in)
		}
		// What a hook has told is not new, though still unread.
		x.Send(x.Ada, "user:"+x.Bob.Email, "by hook")
		teamtest.Contains(t, "the briefing", x.Hook(a, wire.HookPrompt, nil).InjectContext, "by hook")
		got = x.waiting(a, 50)
		x.Send(x.Ada, "user:"+x.Bob.Email, "by inbox")
		if in = <-got; len(in.Items) != 2 || !strings.Contains(in.Items[0].Body, "by inbox") {
			t.Errorf("inbox = %v", teamtest.Bodies(in.Items))
		}
		// Without waiting nothing is said of it.
		x.Must(a.Token, "inbox", nil, &in)
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
		a := x.Agent(x.Bob, apiRepo)
		there := *x
		there.W = x.W.Replica()
		got := there.waiting(a, 50)
		x.Send(x.Ada, "user:"+x.Bob.Email, "across")
		if in := <-got; len(in.Items) != 1 || *in.TimedOut {
			t.Errorf("inbox = %+v", in)
		}
	})
}

// At most four waits of a person are open; one that its caller left counts no
// more.
func TestOpenWaitsAreCounted(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		a := x.Agent(x.Bob, apiRepo)
		ctx, leave := context.WithCancel(t.Context())
		refused := make(chan bool, 6)
		for range 6 {
			req := x.W.Build(teamtest.ToolRequest(a.Token, "inbox", map[string]any{"wait_seconds": 55})).WithContext(ctx)
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
		bad := x.Tool(a.Token, "wait_for", map[string]any{"path": "a.go", "timeout_seconds": 1}, nil)
		if bad == nil || bad.Status != 429 {
			t.Errorf("wait_for beside four waits = %+v", bad)
		}
		if x.waitsFull(x.Agent(x.Ada, apiRepo)) {
			t.Error("another person's waits are counted, too")
		}
		leave()
		await.True(t, "the waits have ended", func() bool { return !x.waitsFull(a) })
	})
}
