package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

func addOrg(t testing.TB, s *store.Store, id string) {
	t.Helper()
	err := s.Write(t.Context(), id, func(tx *store.Tx) error {
		return tx.InsertOrg(t.Context(), coord.Org{ID: id, Slug: id, Name: id, DataMode: coord.DataFull, Plan: "self_hosted", CreatedAt: tx.Now})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMigratingTwiceChangesNothing(t *testing.T) {
	storetest.EachEmpty(t, func(t *testing.T, dsn string) {
		for range 2 {
			s, err := store.Open(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { s.Close() })
			pending, err := s.Pending(t.Context())
			if err != nil || len(pending) > 0 {
				t.Errorf("pending after open = %v, %v", pending, err)
			}
		}
	})
}

func TestReplicasMayStartAtOnce(t *testing.T) {
	storetest.EachEmpty(t, func(t *testing.T, dsn string) {
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				s, err := store.Open(t.Context(), dsn)
				if err != nil {
					t.Error(err)
					return
				}
				s.Close()
			})
		}
		wg.Wait()
	})
}

func TestANewerDatabaseStopsTheStart(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		s := storetest.OpenDSN(t, dsn)
		err := s.Write(t.Context(), "", func(tx *store.Tx) error {
			_, err := tx.ExecContext(t.Context(), `INSERT INTO migrations (version, name) VALUES (9999, '9999_future.sql')`)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		_, err = store.Open(t.Context(), dsn)
		if err == nil || !strings.Contains(err.Error(), "newer version") {
			t.Errorf("opening a newer database = %v, want a message that says so", err)
		}
	})
}

func TestAFailedWriteTakesNothingWithIt(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		boom := errors.New("boom")
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				err := s.Write(t.Context(), "x", func(tx *store.Tx) error {
					if err := tx.SetMeta(t.Context(), fmt.Sprintf("k%02d", i), "v"); err != nil {
						return err
					}
					if i%2 == 1 {
						return boom
					}
					return nil
				})
				if (i%2 == 1) != errors.Is(err, boom) {
					t.Errorf("write %d = %v", i, err)
				}
			})
		}
		wg.Wait()
		err := s.Read(t.Context(), func(tx *store.Tx) error {
			for i := range 40 {
				v, err := tx.Meta(t.Context(), fmt.Sprintf("k%02d", i))
				if err != nil {
					return err
				}
				if (v == "v") != (i%2 == 0) {
					t.Errorf("k%02d = %q", i, v)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestACancelledWriteDoesNotHurtOthers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				err := s.Write(ctx, "x", func(tx *store.Tx) error {
					if i%2 == 1 {
						cancel()
					}
					return tx.SetMeta(ctx, fmt.Sprintf("c%02d", i), "v")
				})
				if i%2 == 0 && err != nil {
					t.Errorf("write %d = %v", i, err)
				}
			})
		}
		wg.Wait()
	})
}

// A reader that follows the log while eight writers commit must see every
// event once, in order.
func TestEventIDsFollowCommitOrder(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		const writers, each = 8, 40
		addOrg(t, s, "acme")
		addOrg(t, s, "other")
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				for i := range each {
					org := "acme"
					if i%5 == 4 {
						org = "other"
					}
					err := s.Write(t.Context(), org, func(tx *store.Tx) error {
						return tx.Emit(t.Context(), coord.Event{OrgID: org, Type: coord.EventMessageSent,
							Payload: map[string]any{"n": fmt.Sprintf("%d/%d", w, i)}})
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		done := make(chan struct{})
		go func() { wg.Wait(); close(done) }()
		const want = writers * each * 4 / 5
		var seen []int64
		texts := map[any]bool{}
		for last, finished := int64(0), false; ; {
			var batch []coord.Event
			err := s.Read(t.Context(), func(tx *store.Tx) (err error) {
				batch, err = tx.EventsAfter(t.Context(), "acme", last, 7)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range batch {
				seen = append(seen, e.Seq)
				texts[e.Payload["n"]] = true
				last = e.Seq
			}
			if len(batch) == 0 && finished {
				break
			}
			select {
			case <-done:
				finished = true
			default:
			}
		}
		if len(seen) != want || len(texts) != want || !slices.IsSorted(seen) || seen[len(seen)-1] != want {
			t.Errorf("saw %d events, %d different, sorted %v, want %d without gaps", len(seen), len(texts), slices.IsSorted(seen), want)
		}
	})
}

func TestReadSeesOneMoment(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		err := s.Read(t.Context(), func(tx *store.Tx) error {
			if _, err := tx.Meta(t.Context(), "k"); err != nil {
				return err
			}
			err := s.Write(t.Context(), "", func(w *store.Tx) error { return w.SetMeta(t.Context(), "k", "new") })
			if err != nil {
				return err
			}
			v, err := tx.Meta(t.Context(), "k")
			if v != "" {
				t.Errorf("a later write showed up in an open read: %q", v)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func TestTakeCountsExactly(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		now := time.Unix(1000, 0)
		s.SetClock(func() time.Time { return now })
		take := func() error {
			return s.Write(t.Context(), "limits", func(tx *store.Tx) error {
				return tx.Take(t.Context(), "k", store.PerWindow(3, time.Minute), "slow down")
			})
		}
		for i := range 3 {
			if err := take(); err != nil {
				t.Fatalf("take %d = %v", i, err)
			}
		}
		err := take()
		if problem.KindOf(err) != problem.RateLimited || problem.RetryAfter(err) != 20 {
			t.Fatalf("fourth take = %v, retry after %d", err, problem.RetryAfter(err))
		}
		now = now.Add(20 * time.Second)
		if err := take(); err != nil {
			t.Errorf("take after the wait = %v", err)
		}
	})
}

func TestCommittedIsToldAfterTheCommit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		addOrg(t, s, "acme")
		told := make(chan []string, 10)
		s.Committed = func(orgs []string) { told <- orgs }
		s.Write(t.Context(), "acme", func(tx *store.Tx) error {
			tx.Emit(t.Context(), coord.Event{OrgID: "acme", Type: coord.EventMessageSent})
			return errors.New("no")
		})
		err := s.Write(t.Context(), "acme", func(tx *store.Tx) error {
			return tx.Emit(t.Context(), coord.Event{OrgID: "acme", Type: coord.EventMessageSent})
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := <-told; !slices.Equal(got, []string{"acme"}) || len(told) > 0 {
			t.Errorf("told of %v and %d more", got, len(told))
		}
	})
}

// The writers of a busy org wait for one another, not everybody else for them.
func TestABusyOrgLeavesRoomForOthers(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		hold, held := make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			s.Write(t.Context(), "busy", func(*store.Tx) error { close(held); <-hold; return nil })
		})
		<-held
		var waiting sync.WaitGroup
		for range 60 {
			waiting.Add(1)
			wg.Go(func() {
				waiting.Done()
				if err := s.Write(t.Context(), "busy", func(tx *store.Tx) error { return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		waiting.Wait()
		for range 50 { // the writers come meanwhile
			ctx, cancel := context.WithTimeout(t.Context(), await.Patience)
			err := s.Read(ctx, func(tx *store.Tx) error { _, err := tx.Meta(ctx, "x"); return err })
			cancel()
			if err != nil {
				t.Errorf("a reader beside a busy org: %v", err)
				break
			}
			runtime.Gosched()
		}
		close(hold)
		wg.Wait()
	})
}

// TestAReadWhoseTimeIsUpSaysSo, whatever it was doing: callers go by it.
func TestAReadWhoseTimeIsUpSaysSo(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		for name, fn := range map[string]func(context.Context, *store.Tx) error{
			"between two statements": func(ctx context.Context, tx *store.Tx) error { <-ctx.Done(); return nil },
			"before a statement": func(ctx context.Context, tx *store.Tx) error {
				<-ctx.Done()
				_, err := tx.Orgs(ctx)
				return err
			},
			"in a statement": func(ctx context.Context, tx *store.Tx) error {
				var n int
				return tx.QueryRowContext(ctx, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000000)
					SELECT COUNT(*) FROM n`).Scan(&n)
			},
		} {
			for range 5 { // the database may notice before or after we do
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				err := s.Read(ctx, func(tx *store.Tx) error { return fn(ctx, tx) })
				cancel()
				if problem.KindOf(err) != problem.Unavailable {
					t.Errorf("%s: %v, want that the database cannot serve", name, err)
				}
			}
		}
	})
}

// SQLite's log is copied while nobody commits: a commit that did it kept
// everybody waiting.
func TestTheLogIsCopiedBesideTheWriter(t *testing.T) {
	path := t.TempDir() + "/svc.db"
	s := storetest.OpenDSN(t, path)
	big := strings.Repeat("x", 1<<20)
	for i := range 16 { // 4,000 pages: more than is copied at once, fewer than a commit copies
		err := s.Write(t.Context(), "", func(tx *store.Tx) error { return tx.SetMeta(t.Context(), fmt.Sprint("big", i), big) })
		if err != nil {
			t.Fatal(err)
		}
	}
	look, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer look.Close()
	await.True(t, "the log to be copied", func() bool {
		var busy, logged, copied int
		if err := look.QueryRow(`PRAGMA wal_checkpoint(NOOP)`).Scan(&busy, &logged, &copied); err != nil {
			t.Fatal(err)
		}
		return logged-copied < 1000
	})
}

// Strangers can ask for passkeys, so the oldest questions make room.
func TestChallengesAreBounded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, s *store.Store) {
		ctx := context.Background()
		held := map[string]bool{}
		for i, hash := range []string{"a", "b", "c", "d"} {
			if err := s.Write(ctx, "signin", func(tx *store.Tx) error {
				return tx.InsertChallenge(ctx, hash, "", tx.Now.Add(time.Minute+time.Duration(i)*time.Second), 3)
			}); err != nil {
				t.Fatal(err)
			}
		}
		for _, hash := range []string{"a", "b", "c", "d", "d"} {
			if err := s.Write(ctx, "signin", func(tx *store.Tx) (err error) {
				held[hash], err = tx.TakeChallenge(ctx, hash, "")
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if want := map[string]bool{"a": false, "b": true, "c": true, "d": false}; !maps.Equal(held, want) {
			t.Errorf("held: %v", held)
		}
	})
}

// Whoever goes away as a read begins leaves SQLite's connection to the next.
func TestReadsGivenUpAsTheyBegin(t *testing.T) {
	s := storetest.OpenDSN(t, t.TempDir()+"/svc.db")
	for round := range 4000 { // one after the other: the driver notices in time only where another processor is free
		ctx := leaveAfter(t, 2) // by then database/sql has handed the read to the driver
		s.Read(ctx, func(*store.Tx) error { return nil })
		ctx.leave()
		err := s.Read(t.Context(), func(tx *store.Tx) error { _, err := tx.Meta(t.Context(), "x"); return err })
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}

// Whoever follows commits and goes away as it begins leaves SQLite's only
// writing connection to the writers.
func TestFollowingGivenUpAsItBegins(t *testing.T) {
	s := storetest.OpenDSN(t, t.TempDir()+"/svc.db")
	tail := s.Tail()
	defer tail.Close()
	for round := range 300 {
		ctx := leaveAfter(t, round%30)
		tail.Hold(ctx)
		ctx.leave()
		err := s.Write(t.Context(), "acme", func(tx *store.Tx) error { return tx.SetMeta(t.Context(), "round", fmt.Sprint(round)) })
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
}

// Whoever gives up cleaning leaves the writers their patience with other processes.
func TestScrubbingGivenUp(t *testing.T) {
	s := storetest.OpenDSN(t, t.TempDir()+"/svc.db")
	for round := range 20 {
		ctx := leaveAfter(t, round)
		s.Scrub(ctx)
		ctx.leave()
		var patience int
		err := s.Write(t.Context(), "acme", func(tx *store.Tx) error {
			return tx.QueryRowContext(t.Context(), `PRAGMA busy_timeout`).Scan(&patience)
		})
		if err != nil || patience == 0 {
			t.Fatalf("round %d: writers wait %d ms (%v)", round, patience, err)
		}
	}
}

// leaving ends after it was asked a number of times whether it has.
type leaving struct {
	context.Context
	leave context.CancelFunc
	after int64
	asked atomic.Int64
}

func leaveAfter(t *testing.T, times int) *leaving {
	ctx, leave := context.WithCancel(t.Context())
	return &leaving{Context: ctx, leave: leave, after: int64(times)}
}

func (l *leaving) Done() <-chan struct{} {
	if l.asked.Add(1) > l.after {
		l.leave()
	}
	return l.Context.Done()
}
