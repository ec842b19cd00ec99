package live_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// declared writes an intent with its event, and returns what the index may take
// over of it.
func (w *world) declared(id string, owner coord.User, paths ...string) (told []live.Own) {
	w.t.Helper()
	var tx *store.Tx
	var row store.IntentRow
	err := w.st.Write(w.ctx, org, func(t *store.Tx) (err error) {
		tx = t
		row, err = w.intent(tx, id, owner, coord.IntentActive, paths...)
		row.UpdatedAt = tx.Now
		return errors.Join(err, w.tell(tx, coord.EventIntentDeclared, id, api.ID, nil))
	})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range tx.Emitted() {
		told = append(told, live.Own{Event: e, Intent: &row})
	}
	return told
}

// An index takes over what was told here without reading it, and knows the same
// as one that reads it.
func TestWhatWasToldHereIsNotRead(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st)
		w.seen(w.set)
		var asked []string
		st.Observed = func(statement string) {
			if strings.Contains(statement, "FROM events") || strings.Contains(statement, "FROM intents") {
				asked = append(asked, statement)
			}
		}
		w.set.Took(org, w.declared("int1", ana, "a.go"))
		w.set.Took(org, w.declared("int2", bob, "a.go", "docs/**"))
		w.set.Took(org, w.declared("int1", ana, "b.go"))
		asked = nil
		w.commit(func(tx *store.Tx) error {
			return w.set.Within(w.ctx, tx, org, func(d *live.Draft) error {
				if d.Worker("int1") == nil || d.Worker("int2") == nil {
					t.Error("it does not know what was told")
				}
				return nil
			})
		})
		if asked != nil {
			t.Errorf("it read %q", asked)
		}
		if diff := cmp.Diff(w.seen(live.New(st)), w.seen(w.set)); diff != "" {
			t.Errorf("read anew (-), taken over (+):\n%s", diff)
		}
	})
}

// Whatever is kept of what was told here, in whatever order, and whatever else
// happens in between, the index knows what is in the records.
func TestWhatWasToldHereIsOneReadAnew(t *testing.T) {
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		w := newWorld(t, st)
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 1))
		var late [][]live.Own
		next := 0
		for n := range 150 {
			switch r.IntN(8) {
			case 0, 1, 2:
				w.set.Took(org, w.declared(fmt.Sprint("int", 1+r.IntN(5)), []coord.User{ana, bob}[r.IntN(2)], files[r.IntN(2)], fmt.Sprint(n)))
			case 3: // it hears of this one later, or never
				late = append(late, w.declared(fmt.Sprint("int", 1+r.IntN(5)), ana, files[r.IntN(2)], fmt.Sprint(n)))
			case 4:
				if len(late) > 0 {
					w.set.Took(org, late[0])
					late = late[1:]
				}
			case 5:
				w.undone()
			case 6:
				if next < len(steps) && !strings.Contains(steps[next].name, "intent") {
					w.commit(func(tx *store.Tx) error { return steps[next].do(w, tx) })
				}
				next++
			default:
				w.set.Stale([]string{org})
				if diff := cmp.Diff(w.seen(live.New(st)), w.seen(w.set)); diff != "" {
					t.Fatalf("seed %d, step %d: read anew (-), followed (+):\n%s", seed, n, diff)
				}
			}
		}
	})
}
