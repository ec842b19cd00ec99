package moments

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
)

const (
	warmEvery = 30 * time.Second // less than after which a connection is asked whether it lives
	warmed    = 8                // connections
)

// KeepWarm keeps connections at hand that have been told of what a decision asks,
// if the database is far away: to make one and tell it takes more ways there and
// back than an agent waits for.
func (s *Service) KeepWarm(ctx context.Context) {
	for s.Store.Name() == "postgres" {
		if began := time.Now(); s.rehearse(ctx, 1) == nil && live.Far(time.Since(began)) {
			_ = s.rehearse(ctx, warmed) // a database that does not answer is told of elsewhere
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(warmEvery):
		}
	}
}

// rehearse asks, of nobody, what decisions ask, on so many connections at once.
func (s *Service) rehearse(ctx context.Context, connections int) error {
	ctx, cancel := context.WithTimeout(ctx, warmEvery)
	defer cancel()
	var open, ended sync.WaitGroup
	open.Add(connections)
	failed := make(chan error, connections)
	for range connections {
		ended.Go(func() {
			arrived := sync.OnceFunc(open.Done)
			defer arrived()
			failed <- s.Read(ctx, func(tx *store.Tx) error {
				arrived()
				open.Wait() // else they would take turns with one
				return tx.Foresee(ctx, func() { askOfNobody(ctx, tx) })
			})
		})
	}
	ended.Wait()
	close(failed)
	for err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

func askOfNobody(ctx context.Context, tx *store.Tx) {
	nobody := uuid.Nil.String()
	tx.CallerByToken(ctx, "")
	live.Rehearse(ctx, tx, nobody)
	tx.RepoByRemotes(ctx, nobody, []string{"none"})
	tx.SessionByName(ctx, nobody, nobody, "", "", nobody)
	tx.Turned(ctx, store.SessionRow{Session: coord.Session{ID: nobody, OrgID: nobody}})
}
