package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/jobs"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

var quiet = slog.New(slog.DiscardHandler)

// start runs a queue until the test ends and returns a way to stop it sooner.
func start(t *testing.T, st *store.Store, kinds ...jobs.Kind) (q *jobs.Queue, stop func()) {
	t.Helper()
	q = jobs.NewQueue(st, quiet)
	q.Register(kinds...)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); q.Run(ctx) }()
	stop = func() { cancel(); <-done }
	t.Cleanup(stop)
	return q, stop
}

func add(t *testing.T, st *store.Store, n jobs.New) {
	t.Helper()
	if err := st.Write(t.Context(), "", func(tx *store.Tx) error { return jobs.Add(t.Context(), tx, n) }); err != nil {
		t.Fatal(err)
	}
}

func counts(t *testing.T, st *store.Store) string {
	t.Helper()
	var out []string
	err := st.Read(t.Context(), func(tx *store.Tx) error {
		cs, err := tx.JobCounts(t.Context())
		for _, c := range cs {
			out = append(out, fmt.Sprintf("%s %s %d", c.Kind, c.State, c.Count))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, ", ")
}

func kindOf(run func(context.Context, *jobs.Run) error) jobs.Kind {
	return jobs.Kind{Name: "k", Limit: 4, Timeout: time.Minute, Retry: jobs.Backoff(10*time.Millisecond, 20*time.Millisecond, 5), Run: run}
}

// Three replicas, workers that fail, panic and are stopped: an effect that
// ends its job in one transaction happens once.
func TestAnEffectInTheDatabaseHappensOnce(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		first := storetest.OpenDSN(t, dsn)
		const n = 150
		for i := range n {
			add(t, first, jobs.New{Kind: "k", Payload: i})
		}
		kind := jobs.Kind{Name: "k", Limit: 8, Timeout: time.Minute, Retry: jobs.Backoff(time.Millisecond, 5*time.Millisecond, 1000),
			Run: func(ctx context.Context, r *jobs.Run) error {
				switch rand.IntN(6) {
				case 0:
					return errors.New("bad luck")
				case 1:
					panic("worse luck")
				}
				return first.Write(ctx, "", func(tx *store.Tx) error {
					if err := tx.SetMeta(ctx, "effect-"+r.Payload, "once"); err != nil {
						return err
					}
					if _, err := tx.ExecContext(ctx,
						`INSERT INTO rate_limits (key, tat) VALUES ($1, 1) ON CONFLICT (key) DO UPDATE SET tat = rate_limits.tat + 1`,
						r.Payload); err != nil {
						return err
					}
					return r.Finish(ctx, tx)
				})
			}}
		stores := []*store.Store{first}
		if first.Name() == "postgres" {
			stores = append(stores, storetest.OpenDSN(t, dsn), storetest.OpenDSN(t, dsn))
		}
		var stops []func()
		for _, st := range stores {
			_, stop := start(t, st, kind)
			stops = append(stops, stop)
		}
		stops[0]() // a replica leaves in the middle
		start(t, first, kind)
		await.True(t, "all jobs done", func() bool { return counts(t, first) == "" })
		err := first.Read(t.Context(), func(tx *store.Tx) error {
			var rows, most int
			err := tx.QueryRowContext(t.Context(), `SELECT COUNT(*), MAX(tat) FROM rate_limits`).Scan(&rows, &most)
			if rows != n || most != 1 {
				t.Errorf("%d effects, one of them %d times; want %d, each once", rows, most, n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestAJobThatKeepsFailingIsGivenUpAndStaysVisible(t *testing.T) {
	st := storetest.Open(t)
	var tries atomic.Int32
	q, _ := start(t, st, kindOf(func(context.Context, *jobs.Run) error { tries.Add(1); return errors.New("no") }))
	add(t, st, jobs.New{Kind: "k", Key: "x"})
	await.True(t, "given up", func() bool { return counts(t, st) == "k failed 1" })
	if tries.Load() != 5 {
		t.Errorf("tried %d times, want 5", tries.Load())
	}
	detail, err := q.Ready(t.Context())
	if err != nil || detail != "0 due, 0 running, 0 scheduled, 1 failed" {
		t.Errorf("ready = %q, %v", detail, err)
	}
	add(t, st, jobs.New{Kind: "k", Key: "x"}) // the key is free again
	await.True(t, "second given up", func() bool { return counts(t, st) == "k failed 2" })
}

func TestAHopelessJobIsNotRetried(t *testing.T) {
	st := storetest.Open(t)
	var tries atomic.Int32
	start(t, st, kindOf(func(_ context.Context, r *jobs.Run) error { tries.Add(1); return r.Decode(new(int)) }))
	add(t, st, jobs.New{Kind: "k", Payload: "not a number"})
	await.True(t, "given up", func() bool { return counts(t, st) == "k failed 1" })
	if tries.Load() != 1 {
		t.Errorf("tried %d times, want 1", tries.Load())
	}
}

func TestAskedForWhileItRunsItRunsAnew(t *testing.T) {
	st := storetest.Open(t)
	began, goOn := make(chan struct{}, 10), make(chan struct{})
	start(t, st, kindOf(func(context.Context, *jobs.Run) error { began <- struct{}{}; <-goOn; return nil }))
	add(t, st, jobs.New{Kind: "k", Key: "x"})
	<-began
	add(t, st, jobs.New{Kind: "k", Key: "x"})
	add(t, st, jobs.New{Kind: "k", Key: "x"})
	close(goOn)
	<-began
	await.True(t, "done", func() bool { return counts(t, st) == "" })
	if len(began) != 0 {
		t.Error("it ran a third time")
	}
}

func TestOneKindDoesNotCrowdOutAnother(t *testing.T) {
	st := storetest.Open(t)
	hang := make(chan struct{})
	defer close(hang) // before the queue is stopped
	var busy, most atomic.Int32
	slow := kindOf(func(context.Context, *jobs.Run) error {
		most.Store(max(most.Load(), busy.Add(1)))
		<-hang
		return nil
	})
	slow.Name = "slow"
	done := make(chan struct{})
	start(t, st, slow, kindOf(func(context.Context, *jobs.Run) error { close(done); return nil }))
	for range 20 {
		add(t, st, jobs.New{Kind: "slow"})
	}
	await.True(t, "slow jobs run", func() bool { return busy.Load() == 4 })
	add(t, st, jobs.New{Kind: "k"})
	<-done
	if most.Load() != 4 {
		t.Errorf("%d slow jobs ran at once, want 4", most.Load())
	}
}

func TestShutdownLetsRunsFinishAndGivesBackTheRest(t *testing.T) {
	st := storetest.Open(t)
	q := jobs.NewQueue(st, quiet)
	q.Drain = 50 * time.Millisecond
	var wg sync.WaitGroup
	wg.Add(2)
	q.Register(kindOf(func(ctx context.Context, r *jobs.Run) error {
		wg.Done()
		<-r.Stopping
		if r.Payload == `"quick"` {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); q.Run(ctx) }()
	add(t, st, jobs.New{Kind: "k", Payload: "quick"})
	add(t, st, jobs.New{Kind: "k", Key: "slow", Payload: "slow"})
	wg.Wait()
	cancel()
	<-done
	if got := counts(t, st); got != "k due 1" {
		t.Errorf("after shutdown: %s, want the slow job back", got)
	}
	st.Read(t.Context(), func(tx *store.Tx) error {
		j, err := tx.JobByKey(t.Context(), "slow")
		if err != nil || j.Attempts != 0 || j.Lease != "" {
			t.Errorf("given back as %+v, %v", j, err)
		}
		return err
	})
}

func TestATimetableMovesAndLaterIsNoFailure(t *testing.T) {
	st := storetest.Open(t)
	var runs atomic.Int32
	start(t, st, kindOf(func(_ context.Context, r *jobs.Run) error {
		if runs.Add(1) < 10 {
			return jobs.Later(st.Now())
		}
		return nil
	}))
	far := st.Now().Add(time.Hour)
	move := func(at coord.Time) {
		t.Helper()
		if err := st.Write(t.Context(), "", func(tx *store.Tx) error {
			return jobs.Move(t.Context(), tx, jobs.New{Kind: "k", Key: "x", At: at})
		}); err != nil {
			t.Fatal(err)
		}
	}
	move(far)
	move(far.Add(time.Hour))
	var at coord.Time
	st.Read(t.Context(), func(tx *store.Tx) error {
		j, err := tx.JobByKey(t.Context(), "x")
		at = j.DueAt
		return err
	})
	if at != far.Add(time.Hour) {
		t.Errorf("due at %s, want %s", at, far.Add(time.Hour))
	}
	move(st.Now())
	await.True(t, "ten runs", func() bool { return runs.Load() == 10 && counts(t, st) == "" })
}

// What a server answered in Latin-1, or a text cut within a letter, is no
// reason for a job to run for ever.
func TestAFailureInNoAlphabetIsRecorded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		for _, text := range []string{"550 Empf\xe4nger unbekannt", strings.Repeat("ä", 400), "nul\x00byte"} {
			add(t, st, jobs.New{Kind: "k", Payload: text})
		}
		k := kindOf(func(ctx context.Context, r *jobs.Run) error {
			var text string
			if err := r.Decode(&text); err != nil {
				return err
			}
			return errors.New("x" + text + "\xe4\x00")
		})
		k.Retry = jobs.Backoff(time.Millisecond, time.Millisecond, 2)
		start(t, st, k)
		await.True(t, "three failures", func() bool { return counts(t, st) == "k failed 3" })
	})
}
