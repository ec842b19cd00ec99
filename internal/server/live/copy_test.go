package live_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// follow brings a copy up to the present, and returns how many answers it took.
func (w *world) follow(c *live.Copy, set *live.Set) int {
	w.t.Helper()
	for n := 1; ; n++ {
		f, err := set.Frame(w.ctx, org, api.ID, wire.FollowWork{Epoch: c.Epoch, Seen: c.At, Next: c.Next})
		if err != nil {
			w.t.Fatal(err)
		}
		f.Repo = wire.EdgeRepo{ID: api.ID}
		snapshot := f.Reset || c.Next != ""
		if err := c.Take(f); err != nil {
			w.t.Fatal(err)
		}
		if c.Complete() && !snapshot {
			return n
		}
	}
}

// held is all that an index has of a repo, as text.
func held(ix *engine.Index) map[string]string {
	out := map[string]string{}
	for _, n := range ix.Notes(api.ID) {
		out[string(n.Kind)+" "+n.Key] = live.Text(ix, n)
	}
	return out
}

// A copy that is told what changed is one made anew, after every step.
func TestACopyThatIsToldOfChangesIsTheOriginal(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st)
		var early, late live.Copy
		w.follow(&early, w.set)
		w.follow(&late, w.set)
		for i, s := range steps {
			w.commit(func(tx *store.Tx) error { return s.do(w, tx) })
			var want map[string]string
			if err := w.set.View(w.ctx, org, func(ix *engine.Index) error { want = held(ix); return nil }); err != nil {
				t.Fatal(err)
			}
			w.follow(&early, w.set)
			if diff := cmp.Diff(want, held(early.Index)); diff != "" {
				t.Errorf("%s: original (-), copy (+):\n%s", s.name, diff)
			}
			if i%7 == 6 {
				w.follow(&late, w.set)
				if diff := cmp.Diff(want, held(late.Index)); diff != "" {
					t.Errorf("%s: original (-), late copy (+):\n%s", s.name, diff)
				}
			}
		}
		w.follow(&late, w.set)
		// Another replica has another epoch: the copy begins anew.
		w.follow(&early, live.New(st))
		if diff := cmp.Diff(held(late.Index), held(early.Index)); diff != "" {
			t.Errorf("followed (-), of another replica (+):\n%s", diff)
		}
	})
}

// A snapshot comes in pieces, each of a bounded size, and misses nothing of
// what happens while they come.
func TestASnapshotComesInPieces(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st)
		const n = 1300
		w.commit(func(tx *store.Tx) error {
			for i := range n {
				id := fmt.Sprintf("many%04d", i)
				if err := w.session(tx, id, ana); err != nil {
					return err
				}
				if err := w.tell(tx, coord.EventSessionStarted, id, api.ID, nil); err != nil {
					return err
				}
			}
			return nil
		})
		var c live.Copy
		pieces := 0
		for !c.Complete() || pieces == 0 {
			f, err := w.set.Frame(w.ctx, org, api.ID, wire.FollowWork{Epoch: c.Epoch, Seen: c.At, Next: c.Next})
			if err != nil {
				t.Fatal(err)
			}
			if f.Repo.ID = api.ID; len(f.Items) > 500 {
				t.Fatalf("a piece of %d", len(f.Items))
			}
			if err := c.Take(f); err != nil {
				t.Fatal(err)
			}
			pieces++
			id := fmt.Sprintf("many%04d", n-pieces) // a later piece would have told of it
			w.commit(func(tx *store.Tx) error {
				if err := tx.EndSession(w.ctx, id, tx.Now); err != nil {
					return err
				}
				return w.tell(tx, coord.EventSessionEnded, id, api.ID, nil)
			})
		}
		if pieces < 3 {
			t.Errorf("it came in %d pieces", pieces)
		}
		w.follow(&c, w.set)
		var want map[string]string
		if err := w.set.View(w.ctx, org, func(ix *engine.Index) error { want = held(ix); return nil }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, held(c.Index)); diff != "" {
			t.Errorf("original (-), copy (+):\n%s", diff)
		}
	})
}
