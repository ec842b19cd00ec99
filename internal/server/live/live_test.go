package live_test

import (
	"testing"

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
			return tx.InsertOrg(ctx, coord.Org{ID: "acme", Slug: "acme", Name: "Acme", DataMode: coord.DataFull, Plan: "self_hosted", CreatedAt: tx.Now})
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
			return tx.Emit(ctx, coord.Event{OrgID: "acme", Type: coord.EventIntentDeclared, Actor: coord.Entity{Kind: "system"}, Subject: coord.Entity{Kind: "intent", ID: "gone"}})
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Write(ctx, "acme", func(tx *store.Tx) error { return set.Within(ctx, tx, "acme", func(*live.Draft) error { return nil }) }); err == nil {
			t.Fatal("the event about nothing was understood")
		}
		look()
	})
}
