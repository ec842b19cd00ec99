package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/badline"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A claim goes to PostgreSQL three times, also right after another replica's:
// whose token it is, what is to be known, what is written. The ways are counted,
// not timed. Those of whatever else its replica does meanwhile are counted, too, and
// so is telling a connection of a statement that is new to it: of each replica's
// claims the one with the fewest counts. The answer is the intent as it is.
func TestAClaimGoesToPostgreSQLThreeTimes(t *testing.T) {
	for _, by := range []string{"a person", "an agent", "an agent with a draft", "an agent that claimed before", "an agent by its tool"} {
		t.Run(by, func(t *testing.T) {
			x, at, lines := twoCounted(t)
			claim := func(n int) []badline.Way {
				there, line := *x, lines[n%2]
				there.W = at[n%2]
				body := claimOf(fmt.Sprintf("src/f%d.go", n))
				token := x.W.Token(x.O, &x.Ada.User, coord.Scopes()...)
				if by != "a person" {
					a := there.Agent(x.Ada, teamtest.APIRepo)
					token, body["session_id"] = a.Token, a.Session
					if by == "an agent with a draft" {
						there.Hook(a, wire.HookPrompt, map[string]any{"prompt_excerpt": "Work on it"})
					}
				}
				post := daemontest.Request{Method: "POST", Path: "/v1/intents", Token: token, Body: body}
				if by == "an agent that claimed before" {
					there.W.Must(201, post, nil)
				}
				var made wire.Declared
				var shown coord.Intent
				line.Ways()
				if by == "an agent by its tool" {
					there.Must(token, "intent_declare", body, &made)
					made.Intent.Title, _ = body["title"].(string) // a model reads it marked as somebody's words
				} else {
					there.W.Must(201, post, &made)
				}
				ways := slices.DeleteFunc(line.Ways(), badline.Way.Besides)
				there.W.Must(200, daemontest.Request{Path: "/v1/intents/" + made.Intent.Ref, Token: token}, &shown)
				if diff := cmp.Diff(shown, made.Intent); diff != "" {
					t.Errorf("as it is shown (-), as it was answered (+):\n%s", diff)
				}
				return ways
			}
			inThreeWays(t, claim)
		})
	}
}

// twoCounted returns a team and two replicas, the team's first. Each has a line to
// PostgreSQL of its own, which counts.
func twoCounted(t *testing.T) (x *teamtest.Team, at [2]*daemontest.World, lines [2]*badline.Line) {
	t.Helper()
	dsn := storetest.Postgres(t)
	var through [2]string
	for i := range lines {
		lines[i], through[i] = lineTo(t, dsn)
		lines[i].CountWays()
	}
	x = teamtest.New(t, daemontest.Start(t, through[0]), "Acme")
	at = [2]*daemontest.World{x.W, x.W.ReplicaWith(func(cfg *daemon.Config) { cfg.Database = through[1] })}
	return x, at, lines
}

// claimOf is a declaration of work on a file that nobody else may edit.
func claimOf(file string) map[string]any {
	return map[string]any{"title": "hold " + file, "repo": teamtest.APIRepo, "mode": "exclusive",
		"scope": map[string]any{"paths": []string{file}}}
}

// inThreeWays wants a claim on each of two replicas that takes three ways.
func inThreeWays(t *testing.T, claim func(n int) []badline.Way) {
	t.Helper()
	const want = 3
	fewest := [2][]badline.Way{make([]badline.Way, 1000), make([]badline.Way, 1000)}
	enough := func(ways []badline.Way) bool { return len(ways) <= want }
	for n, end := 0, time.Now().Add(2*time.Minute); !enough(fewest[n%2]) || !enough(fewest[(n+1)%2]); n++ {
		if ways := claim(n); len(ways) < len(fewest[n%2]) {
			fewest[n%2] = ways
		}
		if time.Now().After(end) {
			break
		}
	}
	for i, ways := range fewest {
		if len(ways) > want || len(ways) == 0 {
			t.Errorf("replica %d: a claim goes to the database %d times, want %d:\n%s", i, len(ways), want, cmp.Diff(nil, ways))
		}
	}
}

// The record of a refused edit holds the org's lock and the index, so that others
// wait for it: it goes to PostgreSQL as seldom as it can. Reads of the log are left
// out: the edit waits for one, and meanwhile its replica follows the log by itself.
func TestARefusedEditGoesToPostgreSQLSeldom(t *testing.T) {
	x, at, lines := twoCounted(t)
	there, line := *x, lines[1]
	there.W = at[1]
	bob := there.Agent(x.Bob, teamtest.APIRepo)
	refused := func(n int) []badline.Way {
		file := fmt.Sprintf("src/f%d.go", n)
		x.W.Must(201, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: x.Ada.Token, Body: claimOf(file)}, nil)
		line.Ways()
		if r := there.Hook(bob, wire.HookPreEdit, map[string]any{"paths": []string{file}}); r.Decision != wire.Block {
			t.Errorf("%s: %+v", file, r)
		}
		return slices.DeleteFunc(line.Ways(), func(w badline.Way) bool {
			return w.Besides() || len(w) > 1 && strings.HasSuffix(w[0], "READ ONLY") && strings.HasPrefix(w[1], "SELECT event_seq FROM orgs ")
		})
	}
	const want = 11
	fewest := make([]badline.Way, 1000)
	for n, end := 0, time.Now().Add(2*time.Minute); len(fewest) > want && time.Now().Before(end); n++ {
		if ways := refused(n); len(ways) < len(fewest) {
			fewest = ways
		}
	}
	if len(fewest) > want {
		t.Errorf("a refused edit goes to the database %d times, want %d:\n%s", len(fewest), want, cmp.Diff(nil, fewest))
	}
}

// The database is 50 ms away from three replicas, and one of them has fallen
// silent with the org's lock in its hand: what one of the others has granted the
// other refuses, and says so. Its control are replicas that do not look whether
// others wrote.
func TestFarFromPostgreSQLNoClaimIsPassedOver(t *testing.T) {
	const pairs = 6
	for _, trusting := range []bool{false, true} {
		t.Run(fmt.Sprintf("trusting=%v", trusting), func(t *testing.T) {
			dsn := storetest.Postgres(t)
			lines := make([]*badline.Line, 3)
			at := make([]string, 3)
			for i := range lines {
				lines[i], at[i] = lineTo(t, dsn)
			}
			x := teamtest.New(t, daemontest.Start(t, at[0]), "Acme")
			worlds := []*daemontest.World{x.W}
			for _, through := range at[1:] {
				worlds = append(worlds, x.W.ReplicaWith(func(cfg *daemon.Config) { cfg.Database = through }))
			}
			t.Cleanup(func() { // before they are stopped
				for _, l := range lines {
					l.Silence(false)
					l.Set(badline.Quality{})
				}
			})
			claim := func(file string) daemontest.Request {
				return daemontest.Request{Method: "POST", Path: "/v1/intents", Token: x.Ada.Token, Body: claimOf(file)}
			}
			bob := x.Agent(x.Bob, teamtest.APIRepo)
			ask := func(w *daemontest.World, file string) wire.HookReply {
				there := *x
				there.W = w
				return there.Hook(bob, wire.HookPreEdit, map[string]any{"paths": []string{file}})
			}
			for _, w := range worlds[:2] {
				ask(w, "free.go")
				w.D.Live.Trusting.Store(trusting)
			}
			for _, l := range lines {
				l.Set(badline.Away(50 * time.Millisecond))
			}
			thaw := holdLock(t, at[2], x.O.ID) // until PostgreSQL takes it away
			lines[2].Silence(true)
			passed := 0
			for n := range pairs {
				file := fmt.Sprintf("src/f%d.go", n)
				worlds[n%2].Must(201, claim(file), nil)
				if r := ask(worlds[(n+1)%2], file); r.Decision != wire.Block || r.Unchecked != "" {
					passed++
				}
			}
			lines[2].Silence(false)
			thaw()
			if trusting != (passed > 0) {
				t.Errorf("%d of %d claims were passed over", passed, pairs)
			}
		})
	}
}

// holdLock takes an org's lock and does nothing with it until it is let go.
func holdLock(t *testing.T, dsn, org string) (thaw func()) {
	st := storetest.OpenDSN(t, dsn)
	holds, goOn, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var once sync.Once
	go func() {
		defer close(ended)
		_ = st.Write(context.Background(), org, func(tx *store.Tx) error {
			if _, err := tx.Org(context.Background(), org); err != nil {
				return err
			}
			once.Do(func() { close(holds) })
			<-goOn
			return errors.New("it has been away")
		})
	}()
	<-holds
	return sync.OnceFunc(func() {
		close(goOn)
		<-ended
	})
}

// Who holds the index may wait for the database for long. A decision waits as long
// as its agent does, and then comes from what is known to be claimed.
func TestADecisionWaitsForNobodyForLong(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		x := teamtest.New(t, daemontest.Start(t, dsn), "Acme")
		a, b := x.Agent(x.Ada, teamtest.APIRepo), x.Agent(x.Bob, teamtest.APIRepo)
		x.Must(a.Token, "intent_declare", map[string]any{"title": "Mine", "mode": "exclusive", "session_id": a.Session,
			"scope": map[string]any{"paths": []string{"auth.go"}}}, nil)
		edit := func(path string) wire.HookReply {
			return x.Hook(b, wire.HookPreEdit, map[string]any{"paths": []string{path}})
		}
		for range 2 { // the second finds a session that is known
			edit("other.go")
		}
		x.W.D.Ops.Moments.Doubt = 300 * time.Millisecond
		holds, goOn := make(chan struct{}), make(chan struct{})
		var once sync.Once
		var held sync.WaitGroup
		held.Go(func() {
			_ = x.W.D.Ops.Ground.Store.Write(context.Background(), x.O.ID, func(tx *store.Tx) error {
				return x.W.D.Live.Within(context.Background(), tx, x.O.ID, func(*live.Draft) error {
					once.Do(func() { close(holds) })
					<-goOn
					return nil
				})
			})
		})
		<-holds
		answers := make(chan wire.HookReply, 2)
		go func() {
			answers <- edit("auth.go")
			answers <- edit("other.go")
		}()
		for _, want := range []wire.Decision{wire.Block, wire.Allow} {
			select {
			case r := <-answers:
				if r.Decision != want || want == wire.Allow && r.Unchecked != wire.UncheckedDatabase {
					t.Errorf("%+v, want %s", r, want)
				}
			case <-time.After(time.Minute):
				t.Error("an edit waits for who holds the index")
			}
		}
		close(goOn)
		held.Wait()
		if line := `svc_decisions_total{answer="unchecked",event="pre_edit",kind="database"} 1`; !strings.Contains(x.W.Metrics(), line) {
			t.Errorf("no %s in\n%s", line, about(x.W.Metrics(), line))
		}
	})
}

// The time that an agent waits is that of the whole decision: look-ups that are
// each in time are together too late. What a look-up finds out after its decision
// was answered is known to the next: a database so far away that every look-up
// comes late frees no claim for long.
func TestALookUpThatComesLateServesTheNext(t *testing.T) {
	line, dsn := lineTo(t, storetest.Postgres(t))
	x := teamtest.New(t, daemontest.Start(t, dsn), "Acme")
	a, b := x.Agent(x.Ada, teamtest.APIRepo), x.Agent(x.Bob, teamtest.APIRepo)
	x.Must(a.Token, "intent_declare", map[string]any{"title": "Mine", "mode": "exclusive", "session_id": a.Session,
		"scope": map[string]any{"paths": []string{"auth.go"}}}, nil)
	there := *x
	there.W = x.W.Replica()
	there.Hook(a, wire.HookPreEdit, map[string]any{"paths": []string{"mine.go"}}) // it knows the org, and not the other's session
	there.W.D.Ops.Moments.Doubt = 300 * time.Millisecond
	t.Cleanup(func() { line.Set(badline.Quality{}) }) // before they are stopped
	c := x.Agent(x.Cyd, teamtest.APIRepo)
	line.Set(badline.Away(200 * time.Millisecond))
	if r := there.Hook(c, wire.HookPreEdit, map[string]any{"paths": []string{"free.go"}}); r.Unchecked != wire.UncheckedDatabase {
		t.Errorf("after several look-ups of 200 ms each: %+v", r)
	}
	line.Set(badline.Away(400 * time.Millisecond))
	await.True(t, "that the claim is known", func() bool {
		return there.Hook(b, wire.HookPreEdit, map[string]any{"paths": []string{"auth.go"}}).Decision == wire.Block
	})
}

// News of a database that is far away are read before they are asked for, where
// somebody is at work: a decision that comes right after a claim finds it known.
func TestNewsFromFarAwayAreReadAhead(t *testing.T) {
	dsn := storetest.Postgres(t)
	x := teamtest.New(t, daemontest.Start(t, dsn), "Acme")
	a, b := x.Agent(x.Ada, teamtest.APIRepo), x.Agent(x.Bob, teamtest.APIRepo)
	line, far := lineTo(t, dsn)
	there := *x
	there.W = x.W.ReplicaWith(func(c *daemon.Config) { c.Database = far })
	t.Cleanup(func() { line.Set(badline.Quality{}) }) // before it is stopped
	line.Set(badline.Away(100 * time.Millisecond))
	edit := func() wire.HookReply {
		return there.Hook(b, wire.HookPreEdit, map[string]any{"paths": []string{"auth.go"}})
	}
	if r := edit(); r.Decision != wire.Allow {
		t.Fatalf("before the claim: %+v", r)
	}
	x.Must(a.Token, "intent_declare", map[string]any{"title": "Mine", "mode": "exclusive", "session_id": a.Session,
		"scope": map[string]any{"paths": []string{"auth.go"}}}, nil)
	key := live.SessionKey{User: b.User.ID, Tool: "claude_code", External: b.External, Remotes: "github.com/" + teamtest.APIRepo}
	await.True(t, "that the claim is known where nobody asked", func() bool {
		ix, at, _ := there.W.D.Live.Remembered(x.O.ID, key)
		return at != nil && slices.ContainsFunc(ix.Workers(at.Repo.ID), func(id string) bool { return ix.Worker(id).Exclusive() })
	})
}

// A claim is told along with its commit: a replica that did not read it refuses
// what it claims, should its database be late from then on, whoever asks.
func TestAClaimIsKnownBeforeItIsRead(t *testing.T) {
	dsn := storetest.Postgres(t)
	x := teamtest.New(t, daemontest.Start(t, dsn), "Acme")
	line, through := lineTo(t, dsn)
	there := *x
	there.W = x.W.ReplicaWith(func(c *daemon.Config) { c.Database = through })
	t.Cleanup(func() { line.Silence(false) }) // before it is stopped
	bob, cyd := there.Agent(x.Bob, teamtest.APIRepo), there.Agent(x.Cyd, teamtest.WebRepo)
	cyd.Repo, cyd.External = teamtest.APIRepo, uuid.NewString() // who did not work there so far
	edit := func(by teamtest.Agent, path string) wire.HookReply {
		return there.Hook(by, wire.HookPreEdit, map[string]any{"paths": []string{path}})
	}
	if r := edit(bob, "auth.go"); r.Decision != wire.Allow || r.Unchecked != "" {
		t.Fatalf("before the claim: %+v", r)
	}
	there.W.D.Ops.Moments.Doubt = 300 * time.Millisecond
	paths := make([]string, 20) // more than one notice has room for
	for i := range paths {
		paths[i] = fmt.Sprintf("%sf%d.go", strings.Repeat(strings.Repeat("long", 25)+"/", 6), i)
	}
	claim := claimOf("auth.go")
	claim["scope"] = map[string]any{"paths": append(paths, "auth.go")}
	x.W.Must(201, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: x.Ada.Token, Body: claim}, nil)
	key := live.SessionKey{User: bob.User.ID, Tool: "claude_code", External: bob.External, Remotes: "github.com/" + teamtest.APIRepo}
	await.True(t, "that all of the claim is known where nobody asked", func() bool {
		ix, at, _ := there.W.D.Live.Remembered(x.O.ID, key)
		for _, id := range ix.Workers(at.Repo.ID) {
			if w := ix.Worker(id); w.Exclusive() && len(w.Claims) == len(paths)+1 {
				return true
			}
		}
		return false
	})
	line.Silence(true)
	for _, by := range []teamtest.Agent{bob, cyd} {
		for _, path := range []string{"auth.go", paths[0], paths[19]} {
			if r := edit(by, path); r.Decision != wire.Block || !strings.Contains(r.Reason, "exclusively") {
				t.Errorf("%s, after the claim: %+v", path, r)
			}
		}
		if r := edit(by, "free.go"); r.Decision != wire.Allow || r.Unchecked != wire.UncheckedDatabase {
			t.Errorf("a free file: %+v", r)
		}
	}
}

// What refuses edits is read first, and in one way, where nothing was read so
// far: the rest may take longer than an agent waits.
func TestClaimsAreReadFirst(t *testing.T) {
	dsn := storetest.Postgres(t)
	x := teamtest.New(t, daemontest.Start(t, dsn), "Acme")
	line, through := lineTo(t, dsn)
	line.CountWays()
	set := live.New(storetest.OpenDSN(t, through))
	line.Ways()
	if err := set.View(t.Context(), x.O.ID, func(*engine.Index) error { return nil }); err != nil {
		t.Fatal(err)
	}
	ways := slices.DeleteFunc(line.Ways(), func(w badline.Way) bool { return len(w) == 0 || w.Besides() })
	first := strings.Join(ways[0], " ")
	for _, what := range []string{"event_seq", "policies", "repo_remotes", "FROM repos", "conflict_feedback", "intents i", "sessions s",
		"FROM conflicts c"} {
		if !strings.Contains(first, what) {
			t.Errorf("%q is not read in the first of these ways:\n%s", what, cmp.Diff(nil, ways))
		}
	}
}

// A replica far from its database has told its connections what decisions ask
// before anybody asks for one: that would take longer than an agent waits.
func TestFarAwayConnectionsAreKeptAtHand(t *testing.T) {
	line, dsn := lineTo(t, storetest.Postgres(t))
	line.CountWays()
	t.Cleanup(func() { line.Set(badline.Quality{}) }) // before it is stopped
	line.Set(badline.Away(50 * time.Millisecond))
	daemontest.Start(t, dsn)
	told := 0
	await.True(t, "that many connections are told", func() bool {
		for _, w := range line.Ways() {
			if said := strings.Join(w, " "); strings.Contains(said, "subject_kind") && strings.Contains(said, "repo_remotes") {
				told++
			}
		}
		return told >= 16
	})
}

// Slow is not far: what takes long is to tell a new connection what decisions
// ask, as it does on a machine that has much to do.
func TestASlowDatabaseIsNotFarAway(t *testing.T) {
	line, dsn := lineTo(t, storetest.Postgres(t))
	w := daemontest.Start(t, dsn)
	t.Cleanup(func() { line.Set(badline.Quality{}) }) // before it is stopped
	measured := func() bool {
		w.D.Ops.Moments.MeasureDistance(t.Context())
		return w.D.Live.Far.Load()
	}
	line.Set(badline.Away(50 * time.Millisecond))
	if !measured() {
		t.Error("50 ms are not far")
	}
	line.Set(badline.Quality{Rate: 100_000}) // statements of 10 KB take 0.1 s
	await.True(t, "that it is not far", func() bool { return !measured() })
}
