package live_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A claim is told along with its commit: it is remembered where nobody has read
// it, all of it, until the log is read, which may have it that it is over.
func TestAClaimIsToldWithItsCommit(t *testing.T) {
	dsn := storetest.Postgres(t)
	w := newWorld(t, storetest.OpenDSN(t, dsn))
	w.commit(func(tx *store.Tx) error { return tx.AddRemote(w.ctx, org, api.ID, "github.com/acme/api") })
	there := live.New(storetest.OpenDSN(t, dsn))
	go there.Listen(w.ctx)
	w.seen(there)
	save := func(status coord.IntentStatus, mode coord.Mode, what coord.EventType, paths ...string) {
		w.commit(func(tx *store.Tx) error {
			return w.set.Within(w.ctx, tx, org, func(d *live.Draft) error {
				row, err := w.intent(tx, "int1", ana, status, paths...)
				row.Mode, row.EffectiveMode = mode, mode
				d.PutWorker(live.IntentWorker(row, nil))
				return errors.Join(err, tx.SaveIntent(w.ctx, &row), w.tell(tx, what, "int1", api.ID, nil))
			})
		})
	}
	claims := func() (out []string) {
		ix, at, _ := there.Remembered(org, live.SessionKey{User: bob.ID, Remotes: "github.com/acme/api"})
		if at == nil || at.Repo.ID != api.ID || at.Known() {
			t.Fatalf("a session that is new there works at %+v", at)
		}
		if w := ix.Worker("int1"); w != nil && w.Exclusive() {
			for _, c := range w.Claims {
				out = append(out, c.Selector)
			}
		}
		return out
	}
	tries := 0
	await.True(t, "that a claim is remembered there", func() bool {
		tries++
		var paths []string // more than one notice has room for
		for i := range 20 {
			paths = append(paths, fmt.Sprintf("%s/f%d-%02d.go", strings.Repeat("long", 200), tries, i))
		}
		save(coord.IntentActive, coord.Exclusive, coord.EventIntentDeclared, paths...)
		known := claims() // and those of before
		return !slices.ContainsFunc(paths, func(p string) bool { return !slices.Contains(known, p) })
	})
	save(coord.IntentActive, coord.Shared, coord.EventIntentUpdated, "a.go")
	if err := there.View(w.ctx, org, func(*engine.Index) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if got := claims(); got != nil {
		t.Errorf("what is over is remembered: %v", got)
	}
}
