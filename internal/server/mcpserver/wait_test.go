package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// later calls a tool and returns where its answer will come.
func later(a *agent, tool string, in args) <-chan said {
	out := make(chan said, 1)
	go func() { out <- a.call(tool, in) }()
	return out
}

// waiting waits until n waits are open at a replica.
func waiting(t testing.TB, w *daemontest.World, n int) {
	t.Helper()
	await.True(t, fmt.Sprintf("%d waits to be open", n), func() bool { return w.D.Ops.Moments.OpenWaits() == n })
}

func decode[T any](t testing.TB, s said) T {
	t.Helper()
	var out T
	daemontest.Response{Body: s.Data}.JSON(t, &out)
	return out
}

func TestWaitFor(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		ana, bob := s.agent("Ana", "acme/api"), s.agent("Bob", "acme/api")
		has(t, bob.call("wait_for", args{"path": "auth/login.go"}).Text, "auth/login.go is free")
		do[wire.Declared](ana, "intent_declare", args{
			"title": "Rework login",
			"scope": args{"paths": []string{"auth/login.go"}, "symbols": []string{"auth/token.go#Refresh"}},
			"mode":  "exclusive",
		})
		if own := do[wire.Waited](ana, "wait_for", args{"path": "auth/login.go"}); own.Status != "free" {
			t.Errorf("one's own claim: %+v", own)
		}
		busy := do[wire.Waited](bob, "wait_for", args{"path": "auth/login.go", "timeout_seconds": 1})
		if busy.Status != "still_busy" || busy.Holder == nil || busy.Holder.User.ID != ana.user.ID || len(busy.Holders) != 1 ||
			busy.WaitedMS < 900 || busy.Outcome != nil {
			t.Fatalf("busy: %+v", busy)
		}
		if e := busy.Holder.Evidence; len(e) != 1 || e[0].Via != coord.ViaClaim || *e[0].Mode != coord.Exclusive ||
			e[0].Selector != "auth/login.go" {
			t.Errorf("evidence: %+v", e)
		}
		var holding coord.Intent
		s.Must(200, daemontest.Request{Method: "GET", Path: "/v1/intents/INT-1", Token: bob.token}, &holding)
		ends := holding.LastActivityAt.Add(72 * time.Hour) // unless something happens
		for name, at := range map[string]*coord.Time{"the wait": busy.Holder.Evidence[0].ExpiresAt, "the intent": holding.Claims[0].ExpiresAt} {
			if at == nil || *at != ends {
				t.Errorf("%s says that the claim ends at %v, want %v", name, at, ends)
			}
		}
		do[wire.Declared](bob, "intent_declare", args{"title": "Fix login", "scope": paths("auth/login.go")})
		targets := []struct {
			in      args
			outcome string
		}{
			{args{"path": "auth/login.go"}, "released"},
			{args{"symbol": "auth/token.go#Refresh"}, "released"},
			{args{"intent": "INT-1"}, "merged"},
			{args{"conflict": "CF-1"}, "stale"},
		}
		var answers []<-chan said
		for _, x := range targets {
			answers = append(answers, later(bob, "wait_for", x.in))
		}
		waiting(t, s.World, 4)
		fifth := bob.fails("wait_for", args{"path": "auth/login.go"}, "rate-limited")
		has(t, fifth.Detail, "4 waits")
		do[wire.HandedOff](ana, "intent_close", args{"intent": "INT-1", "outcome": "merged"})
		for i, x := range targets {
			w := decode[wire.Waited](t, <-answers[i])
			if w.Status != "free" || *w.Outcome != x.outcome {
				t.Errorf("%v: %s, %v", x.in, w.Status, w.Outcome)
			}
		}
		waiting(t, s.World, 0)
		for _, tt := range []struct {
			in   args
			want string
		}{
			{args{}, "exactly one"},
			{args{"path": "a.go", "intent": 1}, "exactly one"},
			{args{"path": "../x"}, "path"},
			{args{"symbol": "nonsense"}, "symbol"},
		} {
			b := bob.fails("wait_for", tt.in, "validation")
			has(t, b.Errors[0].Path+b.Errors[0].Message, tt.want)
		}
		bob.fails("wait_for", args{"intent": "INT-99"}, "not-found")
		bob.fails("wait_for", args{"conflict": "CF-99"}, "not-found")
		bob.fails("wait_for", args{"path": "a.go", "repo": "acme/unheard"}, "not-found")
		waiting(t, s.World, 0)
	})
}

// A wait on one replica ends within moments of a release on another.
func TestAWaitEndsOnAnyReplica(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		ana, bob := s.agent("Ana", "acme/api"), s.agent("Bob", "acme/api")
		if strings.Contains(t.Name(), "postgres") {
			bob.at = s.Replica()
		}
		do[wire.Declared](ana, "intent_declare", args{"title": "x", "scope": paths("a.go"), "mode": "exclusive"})
		free := later(bob, "wait_for", args{"path": "a.go"})
		waiting(t, bob.at, 1)
		do[wire.HandedOff](ana, "intent_close", args{"intent": "INT-1", "outcome": "abandoned"})
		if w := decode[wire.Waited](t, <-free); w.Status != "free" {
			t.Errorf("waited: %+v", w)
		}
		message := later(bob, "inbox", args{"wait_seconds": 60})
		waiting(t, bob.at, 1)
		do[coord.Message](ana, "message_send", args{"to": "user:" + bob.user.Email, "body": "hello"})
		if in := decode[wire.Inbox](t, <-message); len(in.Items) != 1 || *in.TimedOut {
			t.Errorf("inbox: %+v", in)
		}
	})
}

// However a release on one replica falls in with the start of a wait on another,
// the wait ends: also when the release is older than the wait's subscription,
// and the other replica has not been told of it yet.
func TestAReleaseBesideTheStartOfAWaitIsSeen(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		ana, bob := s.agent("Ana", "acme/api"), s.agent("Bob", "acme/api")
		if strings.Contains(t.Name(), "postgres") {
			bob.at = s.Replica()
		}
		for range 30 {
			held := do[wire.Declared](ana, "intent_declare", args{"title": "x", "scope": paths("a.go"), "mode": "exclusive"})
			await.True(t, "the claim to be known there", func() bool {
				return len(do[wire.ScopeChecked](bob, "scope_check", args{"paths": []string{"a.go"}}).Findings) > 0
			})
			free := later(bob, "wait_for", args{"path": "a.go", "timeout_seconds": 30})
			do[wire.HandedOff](ana, "intent_close", args{"intent": held.Intent.Ref, "outcome": "abandoned"})
			if w := decode[wire.Waited](t, <-free); w.Status != "free" {
				t.Fatalf("waited: %+v", w)
			}
		}
	})
}

func TestInboxWaitsNoLongerThanAsked(t *testing.T) {
	s := start(t, t.TempDir()+"/svc.db")
	in := do[wire.Inbox](s.agent("Ana", "acme/api"), "inbox", args{"wait_seconds": 1})
	if len(in.Items) != 0 || !*in.TimedOut || *in.WaitedMS < 900 {
		t.Errorf("inbox: %+v", in)
	}
}

// waits fails if an answer has come.
func waits(t *testing.T, answer <-chan said) {
	t.Helper()
	select {
	case s := <-answer:
		t.Fatalf("it did not wait: %s", s.Data)
	default:
	}
}

// Who waits is told when the last who is in the way has gone: has narrowed
// their scope, ended, or become the one who waits.
func TestAWaitOutlivesWhatDoesNotFreeIt(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		ana, bob, cyd, dee := s.agent("Ana", "acme/api"), s.agent("Bob", "acme/api"), s.agent("Cyd", "acme/api"), s.agent("Dee", "acme/api")
		free := func(answer <-chan said) {
			t.Helper()
			if w := decode[wire.Waited](t, <-answer); w.Status != "free" {
				t.Errorf("waited: %+v", w)
			}
		}
		held := do[wire.Declared](ana, "intent_declare", args{"title": "x", "scope": paths("a.go", "b.go", "c.go")})
		a, b, c := later(dee, "wait_for",
			args{"path": "a.go"}), later(bob, "wait_for", args{"path": "b.go"}), later(dee, "wait_for", args{"path": "c.go"})
		waiting(t, s.World, 3)
		do[wire.Declared](ana, "intent_update", args{"intent": held.Intent.Ref, "patch": args{"scope_remove": paths("a.go")}})
		free(a)
		waits(t, b)
		also := do[wire.Declared](cyd, "intent_declare", args{"title": "y", "scope": paths("b.go")})
		do[wire.HandedOff](ana, "intent_handoff", args{"ref": held.Intent.Ref, "to": dee.user.Email})
		do[coord.Intent](dee, "intent_adopt", args{"ref": held.Intent.Ref})
		free(c)
		waits(t, b)
		do[wire.HandedOff](dee, "intent_close", args{"intent": held.Intent.Ref, "outcome": "merged"})
		waits(t, b)
		do[wire.HandedOff](cyd, "intent_close", args{"intent": also.Intent.Ref, "outcome": "merged"})
		free(b)
	})
}

// The first who waited gets the claim; the second sees that it is taken.
func TestTheFirstWhoWaitedIsGrantedTheClaim(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		ana := s.agent("Ana", "acme/api")
		do[wire.Declared](ana, "intent_declare", args{"title": "x", "scope": paths("a.go"), "mode": "exclusive"})
		bob, cyd := s.agent("Bob", "acme/api"), s.agent("Cyd", "acme/api")
		var answers []<-chan said
		for i, a := range []*agent{bob, cyd} {
			name := a.user.Name
			d := do[wire.Declared](a, "intent_declare", args{"title": name, "scope": paths("a.go"), "mode": "exclusive"})
			if d.Intent.EffectiveMode == coord.Exclusive {
				t.Fatalf("%s was granted a claim that is held", name)
			}
			answers = append(answers, later(a, "wait_for", args{"path": "a.go"}))
			waiting(t, s.World, i+1)
		}
		do[wire.HandedOff](ana, "intent_close", args{"intent": "INT-1", "outcome": "merged"})
		first := <-answers[0]
		if w := decode[wire.Waited](t, first); w.Status != "free" || !w.Granted {
			t.Errorf("the first: %s", first.Data)
		}
		has(t, first.Text, "honoured")
		waits(t, answers[1])
		do[wire.HandedOff](bob, "intent_close", args{"intent": "INT-2", "outcome": "merged"})
		if w := decode[wire.Waited](t, <-answers[1]); w.Status != "free" || !w.Granted {
			t.Errorf("the second: %+v", w)
		}
	})
}

// A client that goes away ends its wait, in either protocol, and leaves
// nothing behind.
func TestAWaitEndsWhenTheClientGoes(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		ana, bob := s.agent("Ana", "acme/api"), s.agent("Bob", "acme/api")
		do[wire.Declared](ana, "intent_declare", args{"title": "x", "scope": paths("a.go"), "mode": "exclusive"})
		do[wire.Waited](bob, "wait_for", args{"path": "a.go", "timeout_seconds": 1})
		before := runtime.NumGoroutine()
		for _, version := range []string{"2025-11-25", modern} {
			for _, call := range []string{`"name":"wait_for","arguments":{"path":"a.go"}`, `"name":"inbox","arguments":{"wait_seconds":50}`} {
				body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + call + `,"_meta":{"` + metaCaps + `":{}`
				h := map[string]string{"Accept": accept, headVersion: version}
				if version == modern {
					body += `,"` + metaVersion + `":"` + modern + `"`
					h[headMethod], h[headName] = "tools/call", strings.Split(call, `"`)[3]
				}
				ctx, cancel := context.WithCancel(t.Context())
				req := s.Build(daemontest.Request{
					Method: "POST",
					Path:   "/mcp",
					Token:  bob.token,
					Body:   []byte(body + "}}}"),
					Header: h,
				}).WithContext(ctx)
				gone := make(chan error, 1)
				go func() {
					res, err := http.DefaultClient.Do(req)
					if err == nil {
						text, _ := io.ReadAll(res.Body)
						res.Body.Close()
						t.Errorf("answered %s", text)
					}
					gone <- err
				}()
				waiting(t, s.World, 1)
				cancel()
				<-gone
				waiting(t, s.World, 0)
			}
		}
		http.DefaultClient.CloseIdleConnections()
		await.True(t, "no goroutine of a wait to be left", func() bool { return runtime.NumGoroutine() <= before+4 }) // others come and go
	})
}

// What is no file is leased: the first who asks has it, the next waits for it
// and has it as soon as it is released.
func TestAWaitForAResourceEndsWithTheLease(t *testing.T) {
	each(t, func(t *testing.T, s *team) {
		ana, bob := s.agent("Ana", "acme/api"), s.agent("Bob", "acme/api")
		s.Must(200, daemontest.Request{Method: "PUT", Path: "/v1/policies", Token: s.org.Owner(),
			Body: args{"rules": args{"resource_ranges": args{"slot": "1-1"}}}}, nil)
		wants := args{"title": "Deploy", "scope": args{"contracts": []string{"res:slot:*", "res:env:staging"}}}
		has(t, ana.call("intent_declare", wants).Text, "You have res:slot:1 until this intent ends: use 1.")
		told := bob.call("intent_declare", wants).Text
		has(t, told, "You wait for res:slot:*: all of 1-1 are taken. Call wait_for with symbol res:slot:*.")
		has(t, told, "INT-1 (Ana")
		has(t, told, "leased res:env:staging")
		answer := later(bob, "wait_for", args{"symbol": "res:slot:*"})
		waiting(t, s.World, 1)
		do[wire.HandedOff](ana, "intent_close", args{"intent": "INT-1", "outcome": "merged"})
		got := <-answer
		if w := decode[wire.Waited](t, got); w.Status != "free" || !w.Granted || w.Lease == nil || *w.Lease.Resource != "res:slot:1" {
			t.Errorf("the wait ended with %s", got.Data)
		}
		has(t, got.Text, "You have res:slot:1: use 1.")
		if w := do[wire.Waited](bob, "wait_for", args{"symbol": "res:env:staging"}); w.Lease == nil || w.Lease.TakenAt == nil {
			t.Errorf("staging: %+v", w)
		}
	})
}
