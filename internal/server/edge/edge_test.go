package edge_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/edge"
	"github.com/svc-hq/svc/internal/server/leases"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A line lies between an edge and the server, and can be cut.
type line struct {
	*httptest.Server
	cut  atomic.Bool
	deaf atomic.Bool  // to hooks
	n    atomic.Int64 // hooks that came through
}

func newLine(t *testing.T, to string) *line {
	l := &line{}
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(u)
	proxy.FlushInterval = -1
	proxy.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hook := strings.HasSuffix(r.URL.Path, "/hooks/evaluate")
		if hook && !l.cut.Load() {
			l.n.Add(1)
		}
		lost := func() bool { return l.cut.Load() || hook && l.deaf.Load() }
		if lost() {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
		if lost() {
			panic(http.ErrAbortHandler) // the answer is lost
		}
	}))
	t.Cleanup(l.Close)
	return l
}

// A desk is a person's machine with an edge.
type desk struct {
	*testing.T
	x     *teamtest.Team
	line  *line
	dir   string
	quiet time.Duration
	boot  func() time.Duration
	wall  func() time.Time
	edge  *edge.Edge
	http  *httptest.Server
}

func newDesk(t *testing.T, x *teamtest.Team) *desk {
	d := &desk{T: t, x: x, line: newLine(t, x.W.URL), dir: t.TempDir()}
	d.start()
	t.Cleanup(func() { d.edge.Close(); d.http.Close() })
	return d
}

func (d *desk) start() {
	d.edge = edge.New(edge.Options{Dir: d.dir, Key: "key", Log: slog.New(slog.DiscardHandler), Margin: 50 * time.Millisecond,
		Quiet: d.quiet, Boot: d.boot, Wall: d.wall})
	d.http = httptest.NewServer(d.edge)
}

// hook sends an event through the edge.
func (d *desk) hook(a teamtest.Agent, event wire.HookEvent, more map[string]any) (reply wire.HookReply, step wire.EdgeStep) {
	d.Helper()
	q := teamtest.HookRequest(a, event, more)
	body, err := json.Marshal(q.Body)
	if err != nil {
		d.Fatal(err)
	}
	req, err := http.NewRequest(q.Method, d.http.URL+wire.EdgePath+q.Path, bytes.NewReader(body))
	if err != nil {
		d.Fatal(err)
	}
	req.Header.Set(wire.EdgeKey, "key")
	req.Header.Set(wire.EdgeServer, d.line.URL)
	req.Header.Set(wire.EdgeBudget, "100000")
	req.Header.Set("Authorization", "Bearer "+a.Token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		d.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != 200 {
		d.Fatalf("%s = %s", event, res.Status)
	}
	if err := json.NewDecoder(res.Body).Decode(&reply); err != nil {
		d.Fatal(err)
	}
	return reply, wire.EdgeStep(res.Header.Get(wire.EdgeAnswer))
}

// edit asks for an edit until it is decided here.
func (d *desk) edit(a teamtest.Agent, path string) (reply wire.HookReply) {
	d.Helper()
	await.True(d, "an edit is decided here", func() bool {
		var step wire.EdgeStep
		reply, step = d.hook(a, wire.HookPreEdit, map[string]any{"paths": []string{path}})
		return step == wire.EdgeDecided
	})
	return reply
}

func claim(x *teamtest.Team, p teamtest.Person, path string) {
	x.Helper()
	x.W.Must(201, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: p.Token, Body: map[string]any{
		"title": "Work on " + path, "repo": teamtest.APIRepo, "scope": map[string]any{"paths": []string{path}}, "mode": coord.Exclusive,
	}}, nil)
}

// long is a lease that no test outlives, brief one whose end a test waits for.
const long, brief = 2 * await.Patience, time.Second

func each(t *testing.T, lease time.Duration, test func(*testing.T, *teamtest.Team, *desk)) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		times := leases.Times{Lease: lease, Period: lease + time.Second, Renew: 50 * time.Millisecond, Hold: 100 * time.Millisecond}
		x := teamtest.New(t, daemontest.StartWith(t, daemon.Config{Database: dsn, Leases: &times}), "Acme")
		test(t, x, newDesk(t, x))
	})
}

// An edit is decided without asking the server, and an acknowledged claim is
// known at once. The first refusal has the server's words and the name of its
// conflict; those that follow repeat it without asking.
func TestAnEditIsDecidedHere(t *testing.T) {
	each(t, long, func(t *testing.T, x *teamtest.Team, d *desk) {
		a := x.Agent(x.Cyd, teamtest.APIRepo)
		if r := d.edit(a, "api/a.go"); r.Decision != wire.Allow {
			t.Fatalf("a free edit = %+v", r)
		}
		before := d.line.n.Load()
		for range 20 {
			d.edit(a, "api/a.go")
		}
		if n := d.line.n.Load() - before; n > 5 {
			t.Errorf("%d of 20 edits went to the server", n)
		}
		claim(x, x.Ada, "api/a.go")
		first, step := d.hook(a, wire.HookPreEdit, map[string]any{"paths": []string{"api/a.go"}})
		if first.Decision != wire.Block || len(first.Conflicts) != 1 || !strings.Contains(first.Reason, first.Conflicts[0].Ref) {
			t.Fatalf("after an acknowledged claim = %s: %+v", step, first)
		}
		if again := d.edit(a, "api/a.go"); again.Decision != wire.Block || again.Reason != first.Reason {
			t.Errorf("first %s\nagain %s", first.Reason, again.Reason)
		}
	})
}

// A refusal does not need the server while the lease holds: without it there
// is only the conflict's name missing, until the server has recorded it.
func TestAClaimHoldsWithoutAServer(t *testing.T) {
	each(t, long, func(t *testing.T, x *teamtest.Team, d *desk) {
		a := x.Agent(x.Cyd, teamtest.APIRepo)
		d.edit(a, "api/b.go")
		claim(x, x.Ada, "api/a.go")
		d.line.deaf.Store(true)
		edit := map[string]any{"paths": []string{"api/a.go"}, "dedupe_key": uuid.NewString()}
		here := d.edit(a, "api/a.go")
		if here.Decision != wire.Block {
			t.Fatalf("without the server = %+v", here)
		}
		d.hook(a, wire.HookPreEdit, edit)
		d.line.deaf.Store(false)
		server := x.Hook(a, wire.HookPreEdit, map[string]any{"paths": []string{"api/a.go"}})
		await.True(t, "the refusal has its conflict", func() bool { return d.edit(a, "api/a.go").Reason == server.Reason })
		if !strings.HasPrefix(server.Reason, here.Reason) {
			t.Errorf("here  %s\nthere %s", here.Reason, server.Reason)
		}
		if r := d.edge.Report().Servers[0]; r.Refused != 0 {
			t.Errorf("%d reports were refused", r.Refused)
		}
	})
}

// Without a server an edit goes on as long as the lease holds decided, then
// unchecked, which is said and counted; reports wait and are sent once.
func TestWithoutAServer(t *testing.T) {
	each(t, brief, func(t *testing.T, x *teamtest.Team, d *desk) {
		a := x.Agent(x.Cyd, teamtest.APIRepo)
		d.edit(a, "api/a.go")
		d.line.cut.Store(true)
		d.line.CloseClientConnections()
		await.True(t, "an edit is unchecked", func() bool {
			r, step := d.hook(a, wire.HookPreEdit, map[string]any{"paths": []string{"api/a.go"}})
			return step == wire.EdgeUnchecked && r.Unchecked == wire.UncheckedServer && r.InjectContext != ""
		})
		for _, path := range []string{"api/b.go", "api/c.go", "api/d.go"} {
			_, step := d.hook(a, wire.HookPostEdit, map[string]any{"paths": []string{path}, "dedupe_key": uuid.NewString()})
			if step != wire.EdgeSpooled {
				t.Fatalf("a report = %s", step)
			}
		}
		d.edge.Close() // what is left of one that was killed
		d.http.Close()
		d.start()
		if n := d.edge.Report(); len(n.Servers) != 0 {
			t.Fatalf("%+v", n)
		}
		d.line.cut.Store(false)
		d.hook(a, wire.HookPreEdit, map[string]any{"paths": []string{"api/a.go"}})
		await.True(t, "the reports arrive", func() bool {
			var changes struct{ Items []any }
			x.W.Must(200, daemontest.Request{Method: "GET", Path: "/v1/events?type=change.recorded", Token: x.Ada.Token}, &changes)
			return len(changes.Items) == 3
		})
		await.True(t, "nothing waits", func() bool { return d.edge.Report().Servers[0].Spooled == 0 })
		for _, e := range x.W.Events(x.O.ID) {
			if e.Type == coord.EventHookUnchecked {
				t.Error("the edge counted edits that its hooks count")
			}
		}
	})
}

// A person who logs in again sends what the old token could not: while the edge
// runs, and after a restart.
func TestANewTokenSendsWhatTheOldOneCouldNot(t *testing.T) {
	each(t, brief, func(t *testing.T, x *teamtest.Team, d *desk) {
		for round, restart := range []bool{false, true} {
			a := x.Agent(x.Cyd, teamtest.APIRepo)
			var token struct {
				ID    string
				Token string
			}
			x.W.Must(201, daemontest.Request{Method: "POST", Path: "/v1/tokens", Token: x.Own(x.Ada),
				Body: map[string]any{"name": "old", "user_email": x.Cyd.Email}}, &token)
			old := a
			old.Token = token.Token
			d.hook(old, wire.HookPostEdit, map[string]any{"paths": []string{"api/z.go"}, "dedupe_key": uuid.NewString()})
			d.signed()
			d.line.deaf.Store(true)
			report := map[string]any{"paths": []string{"api/b.go"}, "dedupe_key": uuid.NewString()}
			if _, step := d.hook(old, wire.HookPostEdit, report); step != wire.EdgeSpooled {
				t.Fatalf("a report = %s", step)
			}
			x.W.Must(204, daemontest.Request{Method: "DELETE", Path: "/v1/tokens/" + token.ID, Token: x.Own(x.Ada)}, nil)
			if restart {
				d.edge.Close()
				d.http.Close()
				d.start()
			}
			d.line.deaf.Store(false)
			d.hook(a, wire.HookPreEdit, map[string]any{"paths": []string{"api/a.go"}})
			await.True(t, "the reports arrive", func() bool {
				var changes struct{ Items []any }
				x.W.Must(200, daemontest.Request{Method: "GET", Path: "/v1/events?type=change.recorded", Token: x.Ada.Token}, &changes)
				return len(changes.Items) == 2*(round+1)
			})
			await.True(t, "no other folder is left", func() bool { return len(d.folders()) <= 1 })
		}
	})
}

func (d *desk) folders() []string {
	all, err := filepath.Glob(filepath.Join(d.dir, "*"))
	if err != nil {
		d.Fatal(err)
	}
	return all
}

// signed waits until every folder says whose it is.
func (d *desk) signed() {
	await.True(d, "the folders are signed", func() bool {
		signed, err := filepath.Glob(filepath.Join(d.dir, "*", "whose"))
		return err == nil && len(signed) == len(d.folders())
	})
}

// Of a request without a token nothing is kept.
func TestAStrangerHasNoAccount(t *testing.T) {
	each(t, long, func(t *testing.T, x *teamtest.Team, d *desk) {
		for _, authorization := range []string{"", "Bearer "} {
			req, err := http.NewRequest("GET", d.http.URL+wire.EdgePath+"/v1/me", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set(wire.EdgeKey, "key")
			req.Header.Set(wire.EdgeServer, d.line.URL)
			req.Header.Set("Authorization", authorization)
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			if res.Body.Close(); res.StatusCode != http.StatusUnauthorized || res.Header.Get(wire.EdgeAnswer) != string(wire.EdgeAsked) {
				t.Errorf("%q = %s", authorization, res.Status)
			}
		}
		if r := d.edge.Report(); len(r.Servers) != 0 || len(d.folders()) != 0 {
			t.Errorf("%+v, folders %v", r, d.folders())
		}
	})
}

// An edge whose agents are silent gives its lease back, so that no claim waits
// for it, and decides again once they work.
func TestAQuietEdgeGivesItsLeaseBack(t *testing.T) {
	each(t, brief, func(t *testing.T, x *teamtest.Team, d *desk) {
		d.edge.Close()
		d.http.Close()
		d.quiet = 300 * time.Millisecond
		d.start()
		a := x.Agent(x.Cyd, teamtest.APIRepo)
		d.edit(a, "api/a.go")
		await.True(t, "the lease is given back", func() bool { return d.edge.Report().Servers[0].Repos[0].LeaseMS == 0 })
		claim(x, x.Ada, "api/b.go")
		if r := d.edit(a, "api/a.go"); r.Decision != wire.Allow {
			t.Errorf("a free edit = %+v", r)
		}
		if r, step := d.hook(a, wire.HookPreEdit, map[string]any{"paths": []string{"api/b.go"}}); r.Decision != wire.Block {
			t.Errorf("what was claimed meanwhile = %s: %+v", step, r)
		}
	})
}

// Nobody gets in without the key of the local service.
func TestTheEdgeHasADoor(t *testing.T) {
	e := edge.New(edge.Options{Dir: t.TempDir(), Key: "key", Log: slog.New(slog.DiscardHandler)})
	defer e.Close()
	for _, key := range []string{"", "yek"} {
		r := httptest.NewRequest("POST", wire.EdgePath+"/v1/intents", strings.NewReader("{}"))
		r.Header.Set(wire.EdgeKey, key)
		r.Header.Set(wire.EdgeServer, "http://127.0.0.1:1")
		w := httptest.NewRecorder()
		if e.ServeHTTP(w, r); w.Code != http.StatusUnauthorized {
			t.Errorf("with key %q = %d", key, w.Code)
		}
	}
}
