package leases_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/leases"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// An edge follows one repository over HTTP, as the resident process does.
type edge struct {
	t     *testing.T
	at    *daemontest.World
	token string
	name  string
	copy  live.Copy
	mark  string
	asked time.Time
	lease time.Duration
}

func newEdge(t *testing.T, at *daemontest.World, token string) *edge {
	return &edge{t: t, at: at, token: token, name: uuid.NewString()}
}

func (e *edge) question() wire.FollowWork {
	return wire.FollowWork{Edge: e.name, Remotes: []string{"github.com/" + teamtest.APIRepo}, Epoch: e.copy.Epoch,
		Seen: e.copy.At, Next: e.copy.Next, Mark: e.mark}
}

// ask takes one answer.
func (e *edge) ask(q wire.FollowWork) wire.WorkFrame {
	e.t.Helper()
	var f wire.WorkFrame
	asked := time.Now()
	e.at.Must(200, daemontest.Request{Method: "POST", Path: "/v1/work/follow", Token: e.token, Body: q}, &f)
	if err := e.copy.Take(f); err != nil {
		e.t.Fatal(err)
	}
	e.mark, e.asked, e.lease = f.Mark, asked, time.Duration(f.LeaseMS)*time.Millisecond
	return f
}

// catchUp asks until the copy is complete, current and under a lease.
func (e *edge) catchUp() {
	e.t.Helper()
	for q := e.question(); ; q = e.question() {
		q.NoWait = true
		if f := e.ask(q); f.LeaseMS > 0 && e.copy.Complete() && !f.Reset {
			return
		}
	}
}

// exclusive reports whether the copy knows of a claim that keeps others out.
func (e *edge) exclusive() bool {
	for _, n := range e.copy.Index.Notes(e.copy.Repo.ID) {
		if n.Kind == engine.NoteWorker && e.copy.Index.Worker(n.Key).Exclusive() {
			return true
		}
	}
	return false
}

// declare begins to declare an intent, and returns what is closed once it is
// acknowledged.
func declare(x *teamtest.Team, at *daemontest.World, p teamtest.Person, path string, mode coord.Mode) chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		at.Must(201, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: p.Token, Body: map[string]any{
			"title": "Work on " + path, "repo": teamtest.APIRepo, "scope": map[string]any{"paths": []string{path}}, "mode": mode,
		}}, nil)
	}()
	return done
}

// within starts a team on a service with the given times.
func within(t *testing.T, dsn string, times leases.Times) *teamtest.Team {
	return teamtest.New(t, daemontest.StartWith(t, daemon.Config{Database: dsn, Leases: &times}), "Acme")
}

// long is long enough that nothing in a test is due to time alone.
var long = leases.Times{Lease: 10 * time.Minute, Period: 20 * time.Minute, Renew: 20 * time.Millisecond, Hold: 30 * time.Second}

// A claim that keeps others out is acknowledged once every edge knows of it;
// one that does not waits for nobody.
func TestAnExclusiveClaimWaitsForEdges(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		x := within(t, dsn, long)
		e := newEdge(t, x.W, x.Cyd.Token)
		e.catchUp()
		<-declare(x, x.W, x.Ada, "docs/a.md", coord.Shared) // though the edge does not answer
		e.catchUp()
		done := declare(x, x.W, x.Ada, "api/a.go", coord.Exclusive)
		f := e.ask(e.question()) // which is told at once, not after the hold
		if !e.exclusive() {
			t.Fatalf("the edge was told %d items and not of the claim", len(f.Items))
		}
		select {
		case <-done:
			t.Fatal("the claim was acknowledged before the edge said that it had seen it")
		default:
		}
		q := e.question()
		q.NoWait = true
		e.ask(q)
		<-done
	})
}

// An edge that does not answer is waited for until its lease has run out, and
// not longer.
func TestALeaseEnds(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		times := long
		times.Lease, times.Period = 400*time.Millisecond, 2*time.Second
		x := within(t, dsn, times)
		dead := newEdge(t, x.W, x.Cyd.Token)
		dead.catchUp()
		<-declare(x, x.W, x.Ada, "api/a.go", coord.Exclusive)
		if left := time.Until(dead.asked.Add(dead.lease)); left > 0 {
			t.Errorf("the claim was acknowledged %v before the lease ended", left)
		}
	})
}

func TestALeaseIsGivenBack(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		x := within(t, dsn, long)
		gone := newEdge(t, x.W, x.Cyd.Token)
		gone.catchUp()
		q := gone.question()
		q.Release = true
		x.W.Must(200, daemontest.Request{Method: "POST", Path: "/v1/work/follow", Token: x.Cyd.Token, Body: q}, nil)
		<-declare(x, x.W, x.Ada, "api/a.go", coord.Exclusive)
	})
}

// Policies, people and tokens count like claims: what makes decisions stricter
// waits, and an edge whose person lost their standing is asked who it is.
func TestStandingEndsAFollowing(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		times := long
		times.Lease, times.Period, times.Hold = 300*time.Millisecond, 2*time.Second, 100*time.Millisecond
		x := within(t, dsn, times)
		p := x.Newcomer()
		e := newEdge(t, x.W, p.Token)
		e.catchUp()
		removed := make(chan struct{})
		go func() {
			defer close(removed)
			x.W.Must(204, daemontest.Request{Method: "DELETE", Path: "/v1/members/" + p.ID, Token: x.Ada.Token}, nil)
		}()
		for {
			res := x.W.Do(daemontest.Request{Method: "POST", Path: "/v1/work/follow", Token: p.Token, Body: e.question()})
			if res.Status == http.StatusUnauthorized || res.Status == http.StatusForbidden {
				break
			}
			var f wire.WorkFrame
			res.JSON(t, &f)
			if err := e.copy.Take(f); err != nil {
				t.Fatal(err)
			}
		}
		<-removed
	})
}

// A claim taken at one replica waits for the edges of another, and for those
// of one that died, which nobody can ask.
func TestReplicasWaitForEachOthersEdges(t *testing.T) {
	times := long
	times.Lease, times.Period = time.Second, 2*time.Second
	x := within(t, storetest.Postgres(t), times)
	other := x.W.Replica()
	e := newEdge(t, other, x.Cyd.Token)
	e.catchUp()
	done := declare(x, x.W, x.Ada, "api/a.go", coord.Exclusive)
	for acknowledged := false; !acknowledged; {
		select {
		case <-done:
			acknowledged = true
		default:
			q := e.question()
			q.NoWait = true
			e.ask(q)
		}
	}
	if !e.exclusive() {
		t.Error("the claim was acknowledged and the edge of the other replica does not know of it")
	}
	// Now the other one dies: its note stands still.
	e.catchUp()
	other.Stop()
	<-declare(x, x.W, x.Ada, "api/b.go", coord.Exclusive)
	if left := time.Until(e.asked.Add(e.lease)); left > 0 {
		t.Errorf("the claim was acknowledged %v before the lease of the dead replica's edge ended", left)
	}
}

// A service that was killed and comes back honours the leases that it gave.
func TestALeaseOutlivesItsService(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		times := long
		times.Lease, times.Period = time.Second, 2*time.Second
		x := within(t, dsn, times)
		e := newEdge(t, x.W, x.Cyd.Token)
		e.catchUp()
		x.W.Restart() // what is left of a service that stops with leases out is what is left of one that was killed
		<-declare(x, x.W, x.Ada, "api/a.go", coord.Exclusive)
		if left := time.Until(e.asked.Add(e.lease)); left > 0 {
			t.Errorf("the claim was acknowledged %v before the lease ended that was given before", left)
		}
	})
}
