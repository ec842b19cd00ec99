package daemon_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/badline"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
	"github.com/svc-hq/svc/internal/server/trail"
)

// lineTo puts a line between a service and PostgreSQL.
func lineTo(t *testing.T, dsn string) (line *badline.Line, through string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	if line, err = badline.New(u.Host); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(line.Close)
	u.Host = line.Addr
	return line, u.String()
}

// While its database is silent the service refuses what it knows to be claimed,
// and says how old that is; of the rest it says that nobody looked. Both in the
// time that an agent waits.
func TestASilentDatabaseFreesNoClaim(t *testing.T) {
	line, dsn := lineTo(t, storetest.Postgres(t))
	x := teamtest.New(t, daemontest.Start(t, dsn), "Acme")
	t.Cleanup(func() { line.Silence(false) }) // before it is stopped
	a, b := x.Agent(x.Ada, teamtest.APIRepo), x.Agent(x.Bob, teamtest.APIRepo)
	x.Must(a.Token, "intent_declare", map[string]any{"title": "Mine", "mode": "exclusive", "session_id": a.Session,
		"scope": map[string]any{"paths": []string{"auth.go"}}}, nil)
	edit := func(path string) wire.HookReply {
		began := time.Now()
		r := x.Hook(b, wire.HookPreEdit, map[string]any{"paths": []string{path}})
		if took := time.Since(began); took > 30*time.Second { // one look-up is given up after 46
			t.Errorf("an edit waited for %v", took)
		}
		return r
	}
	for range 2 { // the second finds a session that is known
		if r := edit("other.go"); r.Decision != wire.Allow || r.Unchecked != "" {
			t.Fatalf("a free file: %+v", r)
		}
	}
	x.W.D.Ops.Moments.Doubt = 300 * time.Millisecond
	line.Silence(true)
	var reported sync.WaitGroup
	reported.Go(func() { // it waits with the index in hand
		x.Hook(a, wire.HookPostEdit, map[string]any{"paths": []string{"mine.go"}})
	})
	await.True(t, "that it is said how old the answer is", func() bool { // longer than a token is remembered for
		r := edit("auth.go")
		if r.Decision != wire.Block || !strings.Contains(r.Reason, "claimed auth.go exclusively") {
			t.Fatalf("a claimed file: %+v", r)
		}
		old := strings.Contains(r.Reason, "seconds ago: svc's database does not answer")
		if r := edit("other.go"); r.Decision != wire.Allow || old && r.Unchecked != wire.UncheckedDatabase {
			t.Fatalf("a free file: %+v", r)
		}
		return old
	})
	line.Silence(false)
	reported.Wait()
	await.True(t, "that it is checked again", func() bool {
		r := edit("auth.go")
		return r.Decision == wire.Block && len(r.Conflicts) == 1 && !strings.Contains(r.Reason, "seconds ago")
	})
}

// What a session brought is known without having been read: while the database is
// silent, a claimed file is refused to a session that has just begun, and also to
// one that is new here. Their person's own claims are not: it may have taken up
// that work.
func TestASilentDatabaseFreesNoClaimForWhoIsNew(t *testing.T) {
	line, dsn := lineTo(t, storetest.Postgres(t))
	x := teamtest.New(t, daemontest.Start(t, dsn), "Acme")
	t.Cleanup(func() { line.Silence(false) }) // before it is stopped
	a, b := x.Agent(x.Ada, teamtest.APIRepo), x.Agent(x.Bob, teamtest.APIRepo)
	for _, c := range []struct {
		by   teamtest.Agent
		path string
	}{{a, "auth.go"}, {b, "own.go"}} {
		x.Must(c.by.Token, "intent_declare", map[string]any{"title": "Hold " + c.path, "mode": "exclusive", "session_id": c.by.Session,
			"scope": map[string]any{"paths": []string{c.path}}}, nil)
	}
	begun := x.Agent(x.Bob, teamtest.APIRepo)
	unheard := begun
	unheard.External = uuid.NewString()
	stranger := x.Agent(x.Ada, "acme/elsewhere") // whose person is known there, and at the claims' repo
	newcomer := x.Agent(x.Cyd, "acme/elsewhere")
	newcomer.Repo, newcomer.External = teamtest.APIRepo, uuid.NewString()
	x.W.D.Ops.Moments.Doubt = 300 * time.Millisecond
	line.Silence(true)
	for name, c := range map[string]struct {
		who  teamtest.Agent
		path string
		want wire.Decision
	}{
		"begun":                   {begun, "auth.go", wire.Block},
		"new":                     {unheard, "auth.go", wire.Block},
		"new, a free file":        {unheard, "other.go", wire.Allow},
		"new, its person's claim": {unheard, "own.go", wire.Allow},
		"another repo's":          {stranger, "auth.go", wire.Allow},
		"a person's first":        {newcomer, "auth.go", wire.Block},
	} {
		r := x.Hook(c.who, wire.HookPreEdit, map[string]any{"paths": []string{c.path}})
		if r.Decision != c.want || c.want == wire.Allow && r.Unchecked != wire.UncheckedDatabase {
			t.Errorf("%s: %+v, want %s", name, r, c.want)
		}
	}
}

// Whose token it is takes longer to find out than an agent waits. It is known to
// the agent's next edit.
func TestATokenIsLookedForThoughNobodyWaits(t *testing.T) {
	dsn := storetest.Postgres(t)
	x := teamtest.New(t, daemontest.Start(t, dsn), "Acme")
	line, through := lineTo(t, dsn)
	there := *x
	there.W = x.W.ReplicaWith(func(c *daemon.Config) { c.Database = through })
	t.Cleanup(func() { line.Set(badline.Quality{}) }) // before it is stopped
	x.W.Must(201, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: x.Ada.Token, Body: claimOf("auth.go")}, nil)
	bob := x.Agent(x.Bob, teamtest.APIRepo)
	there.Agent(x.Cyd, teamtest.APIRepo) // the claim is known there, Bob is not
	there.W.D.Ops.Moments.Doubt = 300 * time.Millisecond
	impatient := http.Client{Timeout: 400 * time.Millisecond}
	line.Set(badline.Away(2 * impatient.Timeout))
	await.True(t, "that Bob's agent is told of the claim", func() bool {
		res, err := impatient.Do(there.W.Build(teamtest.HookRequest(bob, wire.HookPreEdit, map[string]any{"paths": []string{"auth.go"}})))
		if err != nil {
			return false
		}
		defer res.Body.Close()
		var r wire.HookReply
		return json.NewDecoder(res.Body).Decode(&r) == nil && r.Decision == wire.Block
	})
}

// A decision takes as long as its agent waits since it asked, whatever the time
// went for before it began.
func TestADecisionWaitsFromWhenItWasAsked(t *testing.T) {
	line, dsn := lineTo(t, storetest.Postgres(t))
	x := teamtest.New(t, daemontest.Start(t, dsn), "Acme")
	t.Cleanup(func() { line.Silence(false) }) // before it is stopped
	bob := x.Agent(x.Bob, teamtest.APIRepo)
	x.W.D.Ops.Moments.Doubt = 30 * time.Minute
	line.Silence(true)
	ctx, _ := trail.Begin(t.Context(), time.Now().Add(-time.Hour))
	r, err := x.W.D.Ops.Moments.EvaluateHook(ctx, &coord.Caller{OrgID: x.O.ID, UserID: x.Bob.ID},
		&wire.EvaluateHook{HookRequest: wire.HookRequest{
			Event:   wire.HookPreEdit,
			Session: wire.HookSession{Tool: "claude_code", ExternalID: bob.External},
			Repo:    wire.HookRepo{RemoteFingerprints: []string{"github.com/" + teamtest.APIRepo}},
			Paths:   []string{"free.go"},
		}})
	if err != nil || r.Unchecked != wire.UncheckedDatabase {
		t.Errorf("%+v: %v", r, err)
	}
}

// A write on a silent line ends, as one that is to be tried again, while the
// line is still silent; so does one that waits behind it, and one that has no
// connection yet. A caller that leaves does not wait for them.
func TestAWriteEndsOnASilentLine(t *testing.T) {
	t.Parallel()
	line, dsn := lineTo(t, storetest.Postgres(t))
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("statement_timeout", "3s")
	u.RawQuery = q.Encode()
	w := daemontest.Start(t, u.String())
	t.Cleanup(func() { line.Silence(false) }) // before it is stopped
	org := w.Org("acme")
	writeOf := func(ctx context.Context, org string, first func()) error {
		return w.Store.Write(ctx, org, func(tx *store.Tx) error {
			first()
			_, err := tx.RepoFiles(ctx, org)
			return err
		})
	}
	write := func(ctx context.Context, first func()) error { return writeOf(ctx, org.ID, first) }
	begun, silent := make(chan bool), make(chan bool)
	told := sync.OnceFunc(func() { close(begun) }) // it may be tried again
	failed := make(chan error, 3)
	go func() {
		failed <- write(t.Context(), func() { told(); <-silent })
	}()
	<-begun
	line.Silence(true)
	close(silent)
	go func() { failed <- write(t.Context(), func() {}) }()
	go func() { failed <- writeOf(t.Context(), "another", func() {}) }() // the only connection is taken
	leaving, leave := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, leave)
	if err := write(leaving, func() {}); !errors.Is(err, context.Canceled) {
		t.Errorf("who left was told %v", err)
	}
	for range 3 {
		if err := <-failed; problem.KindOf(err) != problem.Unavailable {
			t.Errorf("a write on a silent line: %v", err)
		}
	}
	line.Silence(false)
	if err := write(t.Context(), func() {}); err != nil {
		t.Errorf("a write on a line that is good again: %v", err)
	}
}
