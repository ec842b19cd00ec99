package live_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// busy is a world in the middle of the story: every kind of record is there.
func busy(t *testing.T, st *store.Store) *world {
	w := newWorld(t, st)
	for _, s := range steps[:13] {
		w.commit(func(tx *store.Tx) error { return s.do(w, tx) })
	}
	return w
}

func (w *world) draft(fn func(*live.Draft)) {
	w.t.Helper()
	err := w.st.Write(w.ctx, org, func(tx *store.Tx) error {
		return w.set.Within(w.ctx, tx, org, func(d *live.Draft) error {
			fn(d)
			return nil
		})
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// trials are everything that can be done to a draft, on what is there and on
// what is not.
var trials = []struct {
	name string
	do   func(*live.Draft)
}{
	{"a worker is added", func(d *live.Draft) { d.PutWorker(&engine.Worker{ID: "new", Repo: api, User: bob}) }},
	{"a worker is replaced", func(d *live.Draft) { d.PutWorker(&engine.Worker{ID: "int1", Repo: api, User: bob}) }},
	{"a worker is taken out", func(d *live.Draft) { d.RemoveWorker("s2") }},
	{"a file is changed", func(d *live.Draft) { d.PutChange(live.ChangeOf(change("s2", "b.go", "s2", "s2"))) }},
	{"a file is changed otherwise", func(d *live.Draft) {
		d.PutChange(live.ChangeOf(change("s2", "a.go", "s2", "s2", coord.Hunk{Start: 90, Count: 1, LinesHash: "z"})))
	}},
	{"a change is taken back", func(d *live.Draft) {
		gone := change("s2", "a.go", "s2", "s2")
		gone.Facts.Status = coord.FileUnchanged
		d.PutChange(live.ChangeOf(gone))
	}},
	{"a use comes", func(d *live.Draft) { d.SetUses(web, "b.go", []engine.Use{{Key: "db:public.users", Line: 3}}) }},
	{"merged work comes", func(d *live.Draft) {
		row := store.IntentRow{Intent: coord.Intent{ID: "int2", Repo: api, Owner: ana}}
		d.PutMerged(live.ChangeOf(change("s1", "a.go", "int2", "s1")), row, coord.Time(3000))
	}},
	{"merged work is another", func(d *live.Draft) {
		d.SetMerged(api.ID, "m1", []store.MergedRow{{RepoID: api.ID, MergeID: "m1", Facts: coord.FileFacts{Path: "a.go"}}})
	}},
	{"rules are others", func(d *live.Draft) {
		most := 7
		d.SetRules(api.ID, policy.Merge(policy.Rules{ExclusiveMaxFiles: &most}), []coord.ConflictKind{coord.EditOverlap})
	}},
	{"links are others", func(d *live.Draft) { d.SetLinks(api.ID, nil) }},
	{"a finding is suppressed", func(d *live.Draft) { d.Suppress(engine.Suppression{Fingerprint: "new"}) }},
	{"a suppression is replaced", func(d *live.Draft) { d.Suppress(engine.Suppression{Fingerprint: "fp2", Keys: []string{"other"}}) }},
}

// What is tried on a draft is seen on it, and on nothing once it is over.
func TestADraftIsUndone(t *testing.T) {
	fingerprints = append(fingerprints, "new")
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := busy(t, st)
		before := w.seen(w.set)
		check := func(name string) {
			t.Helper()
			if diff := cmp.Diff(before, w.seen(w.set)); diff != "" {
				t.Fatalf("%s: before (-), after it was undone (+):\n%s", name, diff)
			}
		}
		for _, trial := range trials {
			w.draft(func(d *live.Draft) {
				trial.do(d)
				if maps.Equal(before, tellAll(d.View())) {
					t.Errorf("%s: the draft shows nothing of it", trial.name)
				}
			})
			check(trial.name)
		}
		w.draft(func(d *live.Draft) {
			for _, trial := range trials {
				trial.do(d)
			}
		})
		check("all of it")
		w.draft(func(d *live.Draft) {
			for _, trial := range slices.Backward(trials) {
				trial.do(d)
			}
		})
		check("all of it, backwards")
	})
}

// Whose findings may have changed is told until they are settled.
func TestDisturbed(t *testing.T) {
	w := busy(t, storetest.OpenDSN(t, t.TempDir()+"/svc.db"))
	shared := change("s1", "a.go", "int1", "s1")
	shared.Touched = append(shared.Touched, store.Touch{Worker: "s2", Session: "s2", At: coord.Time(3000)})
	for _, tt := range []struct {
		name string
		do   func(*live.Draft)
		want []string
	}{
		{"nothing", func(*live.Draft) {}, nil},
		{"a worker", func(d *live.Draft) { d.PutWorker(&engine.Worker{ID: "new", Repo: api}) }, []string{"new"}},
		{"one who is gone", func(d *live.Draft) { d.RemoveWorker("s2") }, []string{"s2"}},
		{"nobody who is not there", func(d *live.Draft) { d.RemoveWorker("nobody") }, nil},
		{"a change and who made it", func(d *live.Draft) { d.PutChange(live.ChangeOf(change("s2", "b.go", "s2", "s2"))) }, []string{"s2"}},
		{"who had changed it before, too", func(d *live.Draft) {
			d.PutChange(live.ChangeOf(change("s1", "a.go", "s2", "s2")))
		}, []string{"int1", "s2"}},
		{"all who share a file with a worker", func(d *live.Draft) {
			d.PutChange(live.ChangeOf(shared))
			d.Settled("s2")
			d.Settled("int1")
			d.RemoveWorker("s2")
		}, []string{"int1", "s2"}},
		{"not who is settled", func(d *live.Draft) {
			d.PutWorker(&engine.Worker{ID: "new", Repo: api})
			d.Settled("new")
		}, nil},
	} {
		w.draft(func(d *live.Draft) {
			tt.do(d)
			if got := d.Disturbed(); !slices.Equal(got, tt.want) {
				t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
			}
		})
	}
}

// A session's place is read once, and again after whatever may have changed it.
func TestPlacesAreRemembered(t *testing.T) {
	st := storetest.OpenDSN(t, t.TempDir()+"/svc.db")
	w := busy(t, st)
	key := live.SessionKey{User: "ana", Tool: "codex", External: "s1"}
	reads := 0
	read := func(session string, intent *string) func() (*live.Place, error) {
		return func() (*live.Place, error) {
			reads++
			return &live.Place{Repo: coord.Repo{ID: api.ID}, Session: store.SessionRow{Session: coord.Session{ID: session}, IntentID: intent}}, nil
		}
	}
	ask := func(want bool, load func() (*live.Place, error)) {
		t.Helper()
		if _, err := w.set.Session(w.ctx, org, key, func(*live.Place) bool { return want },
			func(context.Context) (*live.Place, error) { return load() }); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(n int, when string) {
		t.Helper()
		if reads != n {
			t.Errorf("%s: read %d times, want %d", when, reads, n)
		}
		reads = n
	}
	bound := read("s1", ptr("int1"))
	ask(true, bound)
	ask(true, bound)
	expect(1, "asked twice")
	ask(false, bound)
	expect(2, "what is remembered will not do")

	happen := func(what coord.EventType, id string) {
		w.commit(func(tx *store.Tx) error { return w.tell(tx, what, id, api.ID, nil) })
		ask(true, bound)
	}
	happen(coord.EventMessageSent, "m")
	happen(coord.EventSessionStarted, "s2")
	expect(2, "what happened concerns others")
	happen(coord.EventSessionEnded, "s1")
	expect(3, "the session changed")
	happen(coord.EventIntentUpdated, "int1")
	expect(4, "its intent changed")
	happen(coord.EventMemberUpdated, "ana")
	expect(5, "a member changed")
	happen(coord.EventRepoRegistered, api.ID)
	expect(6, "a repo changed")
	key.External = "s3"
	ask(true, read("s3", nil))
	happen(coord.EventIntentUpdated, "int1")
	expect(8, "it may have been bound")

	key.External = "nobody"
	nothing := func() (*live.Place, error) {
		reads++
		return nil, nil
	}
	ask(true, nothing)
	ask(true, nothing)
	expect(10, "nothing is not remembered")

	// What was read before something was forgotten may be old.
	key.External = "slow"
	ask(true, func() (*live.Place, error) {
		p, err := read("s1", ptr("int1"))()
		w.commit(func(tx *store.Tx) error { return w.tell(tx, coord.EventSessionEnded, "s1", api.ID, nil) })
		w.seen(w.set)
		return p, err
	})
	ask(true, read("s1", nil))
	expect(12, "it was forgotten while it was read")
}

// Readers, writers and those whose writes are undone never see half an index.
func TestReadersBesideWriters(t *testing.T) {
	st := storetest.OpenDSN(t, t.TempDir()+"/svc.db")
	w := busy(t, st)
	before := w.seen(w.set)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				err := w.set.View(w.ctx, org, func(ix *engine.Index) error {
					if diff := cmp.Diff(before, tellAll(ix)); diff != "" {
						t.Errorf("a reader sees a draft:\n%s", diff)
					}
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 20 {
		w.draft(func(d *live.Draft) {
			for _, trial := range trials {
				trial.do(d)
			}
		})
		if i%5 == 0 {
			w.undone()
		}
	}
	all.Wait()
}
