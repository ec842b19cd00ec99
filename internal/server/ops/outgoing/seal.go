package outgoing

import (
	"context"

	"github.com/svc-hq/svc/internal/server/store"
)

// Seal continues the chains of the orgs' logs, in small steps. Several replicas
// may run it.
func (s *Service) Seal(ctx context.Context) error {
	var orgs []string
	err := s.Read(ctx, func(tx *store.Tx) (err error) {
		orgs, err = tx.Unsealed(ctx)
		return err
	})
	for _, org := range orgs {
		if err == nil {
			err = s.inSteps(ctx, store.SealLock, func(tx *store.Tx) (int, error) { return tx.Seal(ctx, org, stepRows) })
		}
	}
	return err
}
