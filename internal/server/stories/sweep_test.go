package stories

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// However many intents are quiet without being due, the one that is due ends;
// and an org whose sweep fails keeps no other from being swept.
func TestSweepFindsWhatIsDue(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		broken, o := w.Org("Aaa"), w.Org("Zzz") // swept in this order, too
		for _, org := range []*daemontest.Org{broken, o} {
			repo := coord.Repo{ID: uuid.NewString(), FullName: "acme/api", Provider: coord.GitHub, DefaultBranch: "main", CreatedAt: w.D.Now()}
			w.Write(org.ID, func(ctx context.Context, tx *store.Tx) error {
				if err := tx.InsertRepo(ctx, org.ID, repo); err != nil {
					return err
				}
				for n := range 600 {
					quiet := 2 * time.Hour
					if n == 599 {
						quiet = 20 * 24 * time.Hour
					}
					i := store.IntentRow{Intent: coord.Intent{ID: uuid.NewString(), OrgID: org.ID, Status: coord.IntentActive, Resume: coord.IntentActive,
						Title: fmt.Sprint("work ", n), Mode: coord.Shared, EffectiveMode: coord.Shared, Repo: coord.RepoName{ID: repo.ID},
						Owner: org.Users[coord.Member], CreatedAt: tx.Now, LastActivityAt: tx.Now.Add(-quiet)}}
					var err error
					if i.Number, err = tx.NextIntentNumber(ctx, org.ID); err != nil {
						return err
					}
					if err := tx.SaveIntent(ctx, &i); err != nil {
						return err
					}
				}
				return nil
			})
		}
		expired := func() (out []coord.Event) {
			t.Helper()
			err := w.Store.Read(t.Context(), func(tx *store.Tx) (err error) {
				out, err = tx.Events(t.Context(), o.ID, store.EventFilter{Types: []coord.EventType{coord.EventIntentExpired}, Limit: 1000})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		if err := w.D.Ops.Work.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if es := expired(); len(es) != 1 || es[0].Payload["ref"] != "INT-600" {
			t.Errorf("expired at first: %v", es)
		}
		w.Write(broken.ID, func(ctx context.Context, tx *store.Tx) error { // what the index cannot understand
			return tx.Emit(ctx, coord.Event{OrgID: broken.ID, Type: coord.EventIntentDeclared, Actor: coord.Entity{Kind: "system"},
				Subject: coord.Entity{Kind: "intent", ID: "gone"},
				Facts:   wire.IntentPayload{Ref: "INT-9000", Status: coord.IntentActive, OwnerID: uuid.NewString(), Mode: coord.Shared}})
		})
		w.Advance(30 * 24 * time.Hour)
		if err := w.D.Ops.Work.Sweep(t.Context()); err == nil || !strings.Contains(err.Error(), broken.ID) ||
			strings.Contains(err.Error(), o.ID) {
			t.Errorf("the error does not tell which org: %v", err)
		}
		if es := expired(); len(es) != 501 {
			t.Errorf("%d expired beside an org that fails", len(es))
		}
	})
}
