package live_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// An index that could not be brought up to date is built anew by the next
// reader, whoever found it broken.
func TestABrokenIndexIsBuiltAnew(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		err := st.Write(ctx, "acme", func(tx *store.Tx) error {
			return tx.InsertOrg(ctx, coord.Org{
				ID:        "acme",
				Slug:      "acme",
				Name:      "Acme",
				DataMode:  coord.DataFull,
				Plan:      "self_hosted",
				CreatedAt: tx.Now,
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		set := live.New(st)
		look := func() {
			t.Helper()
			if err := set.View(ctx, "acme", func(ix *engine.Index) error { ix.Worker("x"); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		look()
		err = st.Write(ctx, "acme", func(tx *store.Tx) error {
			return tx.Emit(ctx, coord.Event{
				OrgID:   "acme",
				Type:    coord.EventIntentDeclared,
				Actor:   coord.Entity{Kind: "system"},
				Subject: coord.Entity{Kind: "intent", ID: "gone"},
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Write(ctx, "acme", func(tx *store.Tx) error {
			return set.Within(ctx, tx, "acme", func(*live.Draft) error { return nil })
		}); err == nil {
			t.Fatal("the event about nothing was understood")
		}
		look()
	})
}

// A reader that comes while a write is under way, whose events the index knows
// already, does not make it anew: with a thousand at work that would take longer
// than the write.
func TestAWriteUnderWayMakesNoIndexAnew(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		set := live.New(st)
		err := st.Write(ctx, "acme", func(tx *store.Tx) error {
			return tx.InsertOrg(ctx, coord.Org{ID: "acme", Slug: "acme", Name: "Acme", DataMode: coord.DataFull, Plan: "self_hosted"})
		})
		if err != nil {
			t.Fatal(err)
		}
		look := func() (seen *engine.Index) {
			t.Helper()
			set.Stale([]string{"acme"})
			if err := set.View(ctx, "acme", func(ix *engine.Index) error { seen = ix; return nil }); err != nil {
				t.Fatal(err)
			}
			return seen
		}
		before := look()
		if err := st.Write(ctx, "acme", func(tx *store.Tx) error {
			err := tx.Emit(ctx, coord.Event{OrgID: "acme", Type: coord.EventOrgUpdated, Actor: coord.Entity{Kind: "system"}})
			err = errors.Join(err, set.Within(ctx, tx, "acme", func(*live.Draft) error { return nil }))
			if look() != before {
				t.Error("the index was made anew while a write was under way")
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if look() != before {
			t.Error("the index was made anew after the write")
		}
	})
}

// Whoever gives up while the index is brought up to date takes nothing from the
// others: they know what was committed before they asked. Claims are
// acknowledged, and edits allowed, by what they see.
func TestWhoGivesUpHidesNothing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st)
		for i, look := range []viewer{w.set.Recall, w.set.View} {
			id := fmt.Sprint("int", i)
			w.seen(w.set)
			w.commit(func(tx *store.Tx) error {
				_, err := w.intent(tx, id, ana, coord.IntentActive, id+".go")
				return errors.Join(err, w.tell(tx, coord.EventIntentDeclared, id, api.ID, nil))
			})
			first := &reluctant{Context: w.ctx, came: make(chan struct{}), leave: make(chan struct{})}
			var both sync.WaitGroup
			both.Go(func() {
				if _, err := w.knowsBy(first, w.set.View, id); err == nil {
					t.Error("who was to give up did not")
				}
			})
			<-first.came
			both.Go(func() {
				if known, err := w.knowsBy(w.ctx, look, id); !known || err != nil {
					t.Errorf("%s is not known, though it is committed: %v", id, err)
				}
			})
			await.True(t, "the second waits for the first", waitsForItsTurn)
			close(first.leave)
			both.Wait()
		}
	})
}

// A reluctant context has ended, which it tells when it is let.
type reluctant struct {
	context.Context
	once        sync.Once
	came, leave chan struct{}
}

func (r *reluctant) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

func (r *reluctant) Err() error {
	r.once.Do(func() { close(r.came) })
	<-r.leave
	return context.Canceled
}

// waitsForItsTurn reports whether a reader of an index waits for who brings it up
// to date.
func waitsForItsTurn() bool {
	stacks := make([]byte, 1<<20)
	for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if strings.Contains(stack, " [select") && strings.Contains(stack, "live.(*org).take") {
			return true
		}
	}
	return false
}

// An index knows every session at work, however many they are.
func TestAnIndexKnowsEverySession(t *testing.T) {
	st := storetest.OpenDSN(t, t.TempDir()+"/svc.db") // the number is the point: one database will do
	ctx := t.Context()
	const n = 10_500
	session := func(i int) string { return fmt.Sprint("session", i) }
	err := st.Write(ctx, "acme", func(tx *store.Tx) error {
		u := coord.User{ID: "u", Email: "u@example.com", Name: "U"}
		r := coord.Repo{ID: "r", FullName: "acme/api", Provider: coord.GitHub, DefaultBranch: "main"}
		err := errors.Join(tx.InsertOrg(ctx, coord.Org{ID: "acme", Slug: "acme", Name: "Acme", DataMode: coord.DataFull, Plan: "self_hosted"}),
			tx.InsertUser(ctx, u), tx.InsertRepo(ctx, "acme", r))
		for i := 0; i < n && err == nil; i++ {
			err = tx.InsertSession(ctx, store.SessionRow{Session: coord.Session{
				ID:              session(i),
				OrgID:           "acme",
				User:            u,
				Repo:            coord.RepoName{ID: "r"},
				Tool:            "codex",
				ExternalID:      session(i),
				LineageID:       session(i),
				StartedAt:       tx.Now,
				LastHeartbeatAt: tx.Now,
			}})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = live.New(st).View(ctx, "acme", func(ix *engine.Index) error {
		for i := range n {
			if ix.Worker(session(i)) == nil {
				return fmt.Errorf("%s is not known", session(i))
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
