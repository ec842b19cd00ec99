package live_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A replica that stops for a moment while it writes loses the org's lock, and
// another commits events that have the ids of those that its index knows
// already. Neither while it does not know that yet nor after it has written
// anew does it answer as if the other's were its own.
func TestAnIndexOfAnOvertakenWriteIsNotTrusted(t *testing.T) {
	dsn := storetest.Postgres(t)
	w := newWorld(t, storetest.OpenDSN(t, dsn))
	other := storetest.OpenDSN(t, dsn)
	w.seen(w.set)
	declare := func(tx *store.Tx, id string, who coord.User) error {
		_, err := w.intent(tx, id, who, coord.IntentActive, id+".go")
		return errors.Join(err, w.tell(tx, coord.EventIntentDeclared, id, api.ID, nil))
	}
	runs := 0
	err := w.st.Write(w.ctx, org, func(tx *store.Tx) error {
		runs++
		err := declare(tx, "int1", ana)
		if runs > 1 {
			return err
		}
		if err == nil {
			err = w.set.Within(w.ctx, tx, org, func(*live.Draft) error { return nil })
		}
		if err != nil {
			return err
		}
		// It stops here: the other waits until the lock is taken away.
		if err := other.Write(w.ctx, org, func(tx *store.Tx) error { return declare(tx, "int2", bob) }); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(w.ctx, 100*time.Millisecond)
		defer cancel()
		known, err := w.knows(ctx, "int2")
		var p *problem.Error
		if !known && (!errors.As(err, &p) || p.Kind != problem.Unavailable) {
			t.Errorf("a reader is told of what is lost, not of what is committed: %v", err)
		}
		return nil
	})
	if err != nil || runs != 2 {
		t.Fatalf("written %d times: %v", runs, err)
	}
	for _, id := range []string{"int1", "int2"} {
		if known, err := w.knows(w.ctx, id); !known || err != nil {
			t.Errorf("%s is not known: %v", id, err)
		}
	}
}

// knows asks whether the index has a worker.
func (w *world) knows(ctx context.Context, id string) (known bool, err error) {
	return w.knowsBy(ctx, w.set.View, id)
}

type viewer = func(context.Context, string, func(*engine.Index) error) error

func (w *world) knowsBy(ctx context.Context, look viewer, id string) (known bool, err error) {
	err = look(ctx, org, func(ix *engine.Index) error {
		known = ix.Worker(id) != nil
		return nil
	})
	return known, err
}
