package live

import (
	"context"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/store"
)

// Foresee asks for what Within begins with, in tx.Foresee.
func (s *Set) Foresee(ctx context.Context, tx *store.Tx, orgID string) {
	o := s.org(orgID)
	o.mu.Lock()
	defer o.mu.Unlock()
	tx.LastSeq(ctx, orgID)
	if o.ix != nil {
		tx.EventsAfter(ctx, orgID, o.seq, maxDelta)
	}
}

// foreseeReloads asks for what applying most events asks for.
func foreseeReloads(ctx context.Context, tx *store.Tx, org string, events []coord.Event) error {
	return tx.Foresee(ctx, func() {
		for _, e := range events {
			switch e.Type.Part() {
			case coord.PartIntent:
				tx.IntentByID(ctx, org, e.Subject.ID)
				tx.Sessions(ctx, org, store.UnendedOn(e.Subject.ID))
			case coord.PartSession:
				tx.Session(ctx, org, e.Subject.ID)
			}
		}
	})
}
